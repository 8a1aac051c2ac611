import type { JobEvent } from '#contract/job-events-api.ts';
import type { JobChanges } from './job-changes.ts';
import type { Log } from './ports.ts';
import { type StreamTime, streamTimes, waitWithHeartbeats } from './stream-time.ts';

/** Event of the stream of jobs. An ID is valid once all events before it are sent. */
export type JobsEvent =
  | { readonly kind: 'job'; readonly id: string | undefined; readonly job: JobEvent }
  | { readonly kind: 'reconnect'; readonly id?: string }
  | { readonly kind: 'heartbeat' };

export interface WatchJobsDeps extends StreamTime {
  readonly log: Log;
}

/** Pauses between two reads: the shortest while something changes. */
const SHORTEST_PAUSE_MS = 2_000;
const LONGEST_PAUSE_MS = 5_000;
const SLOWER = 1.5;
/** A stream without an unfinished job ends after this time. */
const IDLE_MS = 60_000;

/**
 * Follows the jobs that a caller can see: `first`, then their changes. `reconnect` ends the stream: no job has been unfinished for a
 * minute, the time limit is reached, storage cannot be read, or the signal was aborted.
 */
export async function* watchJobs(
  deps: WatchJobsDeps,
  changes: JobChanges,
  first: readonly JobEvent[],
  signal: AbortSignal,
): AsyncGenerator<JobsEvent> {
  try {
    yield* follow(deps, changes, first, signal);
  } catch (error) {
    deps.log.error('failed to stream jobs', { error });
    yield { kind: 'reconnect' };
  }
}

async function* follow(
  deps: WatchJobsDeps,
  changes: JobChanges,
  first: readonly JobEvent[],
  signal: AbortSignal,
): AsyncGenerator<JobsEvent> {
  const { clock } = deps;
  const times = streamTimes(clock);
  let jobs = first;
  let pause = 0;
  let idleSince: number | undefined;
  for (;;) {
    for (const [index, job] of jobs.entries()) {
      yield { kind: 'job', id: index === jobs.length - 1 ? changes.cursor : undefined, job };
    }
    idleSince = changes.isIdle ? (idleSince ?? clock.now()) : undefined;
    pause = jobs.length > 0 ? SHORTEST_PAUSE_MS : Math.min(LONGEST_PAUSE_MS, pause * SLOWER);
    yield* waitWithHeartbeats(deps, pause, times, signal);
    const isIdle = idleSince !== undefined && clock.now() - idleSince >= IDLE_MS;
    if (signal.aborted || isIdle || clock.now() >= times.end) {
      yield { kind: 'reconnect', id: changes.cursor };
      return;
    }
    jobs = await changes.next();
  }
}
