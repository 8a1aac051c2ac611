import { CodedError } from '#contract/errors.ts';

/** What is written of a server-sent event; one without a name is a comment that keeps the connection open. */
export interface ServerSentEvent {
  readonly event?: string;
  /** Sent back as `Last-Event-ID` by a client that asks again. */
  readonly id?: number;
  /** Written as JSON. */
  readonly data?: unknown;
}

/** Streams that one process serves at once; each looks into the database once a second. */
const MOST_STREAMS = 100;
/** Milliseconds after which a client whose stream has ended asks again. */
const RETRY_MS = 3_000;

/** The streams of events that a host serves. */
export class EventStreams {
  readonly #most: number;
  #open = 0;

  constructor(most = MOST_STREAMS) {
    this.#most = most;
  }

  /**
   * A stream of these events. They are asked for as fast as they are read and no faster. The signal given to `events` is
   * aborted when the reader has gone, or with `closing`: then what comes to its end by itself is still written.
   * Throws HTTP503 when as many are open as this process serves.
   */
  open(
    events: (signal: AbortSignal) => AsyncGenerator<ServerSentEvent>,
    closing?: AbortSignal,
  ): ReadableStream<Uint8Array> {
    if (this.#open >= this.#most) {
      throw new CodedError('HTTP503', {
        message: 'Too many streams are open: poll the job, or try again later',
        context: { streams: this.#open },
      });
    }
    this.#open++;
    const gone = new AbortController();
    const signal = closing ? AbortSignal.any([gone.signal, closing]) : gone.signal;
    let isOpen = true;
    const end = () => {
      if (isOpen) this.#open--;
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
