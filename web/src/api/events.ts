import { createParser } from 'eventsource-parser';
import {
  ApiError,
  authorization,
  type EventsOf,
  errorOf,
  type OperationId,
  type RequestOf,
  renewToken,
  urlOf,
} from './client.ts';

/** State of a followed stream. `refused` is final: pages poll. */
export type StreamState = 'connecting' | 'live' | 'retrying' | 'ended' | 'refused';

/** An event of a streaming operation, by name. */
export type StreamEvent<I extends OperationId> = {
  [N in keyof EventsOf<I>]: { readonly name: N; readonly id: string; readonly data: EventsOf<I>[N] };
}[keyof EventsOf<I>];

export interface FollowOptions<I extends OperationId> {
  readonly signal: AbortSignal;
  readonly onEvent: (event: StreamEvent<I>) => void;
  /** `error` comes with `retrying` and `refused`. */
  readonly onState?: (state: StreamState, error?: Error) => void;
  /** Last event id that the caller has; the stream sends what came after it. */
  readonly lastId?: string | undefined;
}

/** Milliseconds. Services send a comment every 15 s: a connection silent for three of them is dead. */
const TIMES = { firstRetry: 500, longestRetry: 30_000, silence: 45_000 } as const;

/** The stream broke, or said nothing for too long. */
class BrokenStream extends Error {}

/**
 * Follows the events of a streaming operation until it ends (204), is refused or `signal` is aborted. EventSource can send no
 * Authorization header; fetch can. After a break it continues from the last event id, so no event is lost or repeated.
 * Pauses between tries double up to 30 s with jitter: clients of a service that restarts do not come back in one wave.
 */
export async function follow<I extends OperationId>(
  id: I,
  request: RequestOf<I>,
  options: FollowOptions<I>,
): Promise<void> {
  const { signal, onState } = options;
  let lastId = options.lastId;
  let failures = 0;
  onState?.('connecting');
  while (!signal.aborted) {
    let retryAfter: number | undefined;
    const since = performance.now();
    try {
      const response = await connect(id, request, lastId, signal);
      if (response.status === 204) return onState?.('ended');
      if (!response.ok) throw await errorOf(response);
      onState?.('live');
      await read(response, signal, (event) => {
        // A service that dies after each snapshot makes no progress: the pauses keep growing.
        if (event.id && event.id !== lastId) failures = 0;
        if (event.id) lastId = event.id;
        // `reconnect` ends this connection; the next one continues.
        if (event.name !== 'reconnect') options.onEvent({ ...event, data: JSON.parse(event.data) } as never);
      });
    } catch (error) {
      if (signal.aborted) return;
      if (isRefusal(error)) return onState?.('refused', error);
      if (error instanceof ApiError) retryAfter = error.retryAfter;
      onState?.('retrying', error as Error);
    }
    failures = performance.now() - since > TIMES.longestRetry ? 1 : failures + 1;
    await pause(failures, retryAfter, signal);
  }
}

async function connect(
  id: OperationId,
  request: { readonly params?: object; readonly query?: object },
  lastId: string | undefined,
  signal: AbortSignal,
): Promise<Response> {
  const send = async () =>
    fetch(urlOf(id, request), {
      signal,
      cache: 'no-store',
      headers: {
        Accept: 'text/event-stream',
        ...(lastId ? { 'Last-Event-ID': lastId } : {}),
        ...(await authorization()),
      },
    });
  const response = await send();
  return response.status === 401 && (await renewToken()) ? send() : response;
}

/** A rejection stays one; a server error, a throttled call and a break of the network pass. */
function isRefusal(error: unknown): error is ApiError {
  return error instanceof ApiError && error.status < 500 && error.status !== 429 && error.status !== 408;
}

interface RawEvent {
  readonly name: string;
  readonly id: string;
  readonly data: string;
}

/** Reads a connection to its end. @throws BrokenStream after 45 s without a byte */
async function read(
  response: Response,
  signal: AbortSignal,
  onEvent: (event: RawEvent) => void,
): Promise<void> {
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
  const parser = createParser({
    onEvent: ({ event = 'message', id = '', data }) => onEvent({ name: event, id, data }),
  });
  let timer: ReturnType<typeof setTimeout> | undefined;
  try {
    for (;;) {
      const silence = new Promise<never>((_, reject) => {
        timer = setTimeout(() => reject(new BrokenStream('The stream went silent')), TIMES.silence);
      });
      const { done, value } = await Promise.race([reader.read(), silence]);
      clearTimeout(timer);
      if (done || signal.aborted) return;
      parser.feed(value);
    }
  } finally {
    clearTimeout(timer);
    void reader.cancel().catch(() => {});
  }
}

async function pause(failures: number, retryAfter: number | undefined, signal: AbortSignal): Promise<void> {
  const doubled = TIMES.firstRetry * 2 ** Math.min(10, Math.max(0, failures - 1));
  const jittered = Math.min(TIMES.longestRetry, doubled) * (0.75 + Math.random() / 2);
  const ms = Math.max(jittered, (retryAfter ?? 0) * 1_000);
  await new Promise<void>((resolve) => {
    const timer = setTimeout(done, ms);
    function done() {
      clearTimeout(timer);
      signal.removeEventListener('abort', done);
      resolve();
    }
    signal.addEventListener('abort', done);
  });
}
