import { createParser } from 'eventsource-parser';

/** State of a followed stream. `refused` is final: pages poll. */
export type StreamState = 'connecting' | 'live' | 'retrying' | 'ended' | 'refused';

export interface RawEvent {
  readonly name: string;
  readonly id: string;
  readonly data: string;
}

/** A rejected connection. */
export interface Rejection {
  readonly error: Error;
  /** True: another try would be rejected as well. */
  readonly isFinal: boolean;
  /** Seconds after which to try again, if the response says so. */
  readonly retryAfter?: number | undefined;
}

export interface StreamOptions {
  readonly signal: AbortSignal;
  /** Opens a connection that continues after an event id: its success, or why it was rejected. */
  readonly open: (lastId: string | undefined) => Promise<Response | Rejection>;
  readonly onEvent: (event: RawEvent) => void;
  /** `error` comes with `retrying` and `refused`. */
  readonly onState?: ((state: StreamState, error?: Error) => void) | undefined;
  /** Last event id that the caller has; the stream sends what came after it. */
  readonly lastId?: string | undefined;
}

/** Milliseconds. Services send a comment every 15 s: a connection silent for three of them is dead. */
const TIMES = { firstRetry: 500, longestRetry: 30_000, silence: 45_000 } as const;

/**
 * Follows server-sent events until the stream ends (204), is refused or `signal` is aborted. After a break it continues from the
 * last event id, so no event is lost or repeated. Pauses between tries double up to 30 s with jitter: clients of a service that
 * restarts do not come back in one wave.
 */
export async function followStream(options: StreamOptions): Promise<void> {
  const { signal, onState } = options;
  let lastId = options.lastId;
  let failures = 0;
  onState?.('connecting');
  while (!signal.aborted) {
    let retryAfter: number | undefined;
    const since = performance.now();
    try {
      const opened = await options.open(lastId);
      if (!(opened instanceof Response)) {
        if (opened.isFinal) return onState?.('refused', opened.error);
        retryAfter = opened.retryAfter;
        throw opened.error;
      }
      if (opened.status === 204) return onState?.('ended');
      onState?.('live');
      await read(opened, signal, (event) => {
        // A service that dies after each snapshot makes no progress: the pauses keep growing.
        if (event.id && event.id !== lastId) failures = 0;
        if (event.id) lastId = event.id;
        // `reconnect` ends this connection; the next one continues.
        if (event.name !== 'reconnect') options.onEvent(event);
      });
    } catch (error) {
      if (signal.aborted) return;
      onState?.('retrying', error as Error);
    }
    failures = performance.now() - since > TIMES.longestRetry ? 1 : failures + 1;
    await pause(failures, retryAfter, signal);
  }
}

/** Reads a connection to its end. @throws Error after 45 s without a byte */
async function read(
  response: Response,
  signal: AbortSignal,
  onEvent: (event: RawEvent) => void,
): Promise<void> {
  const reader = response.body!.getReader();
  const decoder = new TextDecoder();
  const parser = createParser({
    onEvent: ({ event = 'message', id = '', data }) => onEvent({ name: event, id, data }),
  });
  let timer: ReturnType<typeof setTimeout> | undefined;
  try {
    for (;;) {
      const silence = new Promise<never>((_, reject) => {
        timer = setTimeout(() => reject(new Error('The stream went silent')), TIMES.silence);
      });
      const { done, value } = await Promise.race([reader.read(), silence]);
      clearTimeout(timer);
      if (done || signal.aborted) return;
      parser.feed(decoder.decode(value, { stream: true }));
    }
  } finally {
    clearTimeout(timer);
    void reader.cancel().catch(() => {});
  }
}

async function pause(failures: number, retryAfter: number | undefined, signal: AbortSignal): Promise<void> {
  const doubled = TIMES.firstRetry * 2 ** Math.min(10, failures - 1);
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
    if (signal.aborted) done();
  });
}
