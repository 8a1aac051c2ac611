import type { Clock } from '../ports.ts';

/** Time of an event stream. */
export interface StreamTime {
  readonly clock: Clock;
  /** Resolves after `ms`, or as soon as the signal is aborted. */
  readonly pause: (ms: number, signal: AbortSignal) => Promise<void>;
}

/** API Gateway ends a stream without data after 5 minutes, proxies on the way much earlier. */
const HEARTBEAT_MS = 15_000;
/** A function ends after 15 minutes. */
const LIFETIME_MS = 14 * 60_000;

/** End of a stream that begins now and time of its next heartbeat, Unix ms. */
export function streamTimes(clock: Clock): { readonly end: number; heartbeat: number } {
  return { end: clock.now() + LIFETIME_MS, heartbeat: clock.now() + HEARTBEAT_MS };
}

/** Waits for `ms`, or until the signal is aborted. Yields a heartbeat when one is due. */
export async function* waitWithHeartbeats(
  { clock, pause }: StreamTime,
  ms: number,
  times: { heartbeat: number },
  signal: AbortSignal,
): AsyncGenerator<{ readonly kind: 'heartbeat' }> {
  const until = clock.now() + ms;
  for (;;) {
    const now = clock.now();
    if (now >= times.heartbeat) {
      yield { kind: 'heartbeat' };
      times.heartbeat = clock.now() + HEARTBEAT_MS;
    }
    if (signal.aborted || now >= until) return;
    await pause(Math.min(until, times.heartbeat) - now, signal);
  }
}
