import { setTimeout as sleep } from 'node:timers/promises';
import type * as z from 'zod';
import { CodedError } from '#contract/values/errors.ts';
import { LAST_EVENT_ID } from '#contract/values/names.ts';

/** A server-sent event; without a name it is a comment that keeps the connection open. */
export interface ServerSentEvent {
  readonly event?: string;
  /** The client sends it back as `Last-Event-ID` when it reconnects. */
  readonly id?: number | string;
  /** Written as JSON. */
  readonly data?: unknown;
}

/** Maximum number of open streams per process; each reads the database once per second. */
const MAX_STREAMS = 100;
/** Maximum number of open streams per caller, so that one caller cannot use all streams. */
const MAX_STREAMS_PER_CALLER = 25;
/** Reconnection delay of clients after the end of a stream, ms. */
const RETRY_MS = 3_000;

/** Pause of a stream in real time. */
export const realTime = (ms: number, signal: AbortSignal): Promise<void> =>
  sleep(ms, undefined, { signal }).catch(() => undefined);

/** ID that a reconnecting client has; undefined without one. Throws VAL005 when the header is not an ID of this stream. */
export function lastEventId<T>(headers: Headers, schema: z.ZodType<T>): T | undefined {
  const value = headers.get(LAST_EVENT_ID) ?? undefined;
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  throw new CodedError('VAL005', {
    message: `${LAST_EVENT_ID} is the id of an event`,
    field: LAST_EVENT_ID,
    context: { value: value!.slice(0, 100) },
  });
}

/** Event streams of one host. */
export class EventStreams {
  readonly #max: number;
  readonly #maxPerCaller: number;
  /** Number of open streams by caller. */
  readonly #open = new Map<string, number>();

  constructor(max = MAX_STREAMS, maxPerCaller = MAX_STREAMS_PER_CALLER) {
    this.#max = max;
    this.#maxPerCaller = maxPerCaller;
  }

  /**
   * Opens a stream of these events. Events are requested at the speed of the reader. The signal passed to `events` is aborted
   * when the reader disconnects or on `closing`; after `closing`, events until the generator returns are still written.
   * Throws HTTP503 when the process or the caller has reached its maximum of open streams.
   *
   * @param caller id of the principal; anonymous callers count as one
   */
  open(
    caller: string,
    events: (signal: AbortSignal) => AsyncGenerator<ServerSentEvent>,
    closing?: AbortSignal,
  ): ReadableStream<Uint8Array> {
    this.#checkLimits(caller);
    this.#count(caller, 1);
    const gone = new AbortController();
    const signal = closing ? AbortSignal.any([gone.signal, closing]) : gone.signal;
    let isOpen = true;
    const end = () => {
      if (isOpen) this.#count(caller, -1);
      isOpen = false;
    };
    const texts = written(events(signal));
    return new ReadableStream<Uint8Array>(
      {
        pull: async (controller) => {
          const { value, done } = await texts.next();
          if (!isOpen) return;
          if (!done) return controller.enqueue(ENCODER.encode(value));
          end();
          controller.close();
        },
        cancel: async () => {
          end();
          gone.abort();
          await texts.return(undefined);
        },
      },
      { highWaterMark: 0 },
    );
  }

  #checkLimits(caller: string): void {
    const ofCaller = this.#open.get(caller) ?? 0;
    const all = [...this.#open.values()].reduce((sum, count) => sum + count, 0);
    const [streams, max, whose] =
      ofCaller >= this.#maxPerCaller
        ? [ofCaller, this.#maxPerCaller, 'You have']
        : [all, this.#max, 'The service has'];
    if (streams < max) return;
    throw new CodedError('HTTP503', {
      message: `${whose} ${streams} open event streams, the maximum. Close one, or poll the job instead.`,
      context: { streams, max },
    });
  }

  #count(caller: string, change: 1 | -1): void {
    const count = (this.#open.get(caller) ?? 0) + change;
    if (count > 0) this.#open.set(caller, count);
    else this.#open.delete(caller);
  }
}

const ENCODER = new TextEncoder();

async function* written(events: AsyncGenerator<ServerSentEvent>): AsyncGenerator<string> {
  yield `retry: ${RETRY_MS}\n\n`;
  for await (const { event, id, data } of events) {
    const lines = [
      ...(id === undefined ? [] : [`id: ${id}`]),
      ...(event === undefined
        ? [': still here']
        : [`event: ${event}`, `data: ${JSON.stringify(data ?? {})}`]),
    ];
    yield `${lines.join('\n')}\n\n`;
  }
}
