import type { PlatformEvent } from '#contract/platform/events.ts';
import type { JobEvent } from '#contract/platform/job-events-api.ts';
import type { EventFeed } from '../events/event-feed.ts';
import type { Log } from '../ports.ts';
import { type StreamTime, streamTimes, waitWithHeartbeats } from '../shared/stream-heartbeats.ts';
import type { JobChanges } from './job-changes.ts';

/** Event of the stream of jobs. An ID is valid once all events before it are sent. */
export type JobsEvent =
  | { readonly kind: 'job'; readonly id: string | undefined; readonly job: JobEvent }
  | { readonly kind: 'event'; readonly id: string | undefined; readonly event: PlatformEvent }
  | { readonly kind: 'reconnect'; readonly id?: string }
  | { readonly kind: 'heartbeat' };

export interface WatchJobsDeps extends StreamTime {
  readonly log: Log;
}

/** Sources of a stream. */
export interface Watched {
  readonly changes: JobChanges;
  /** Absent: the stream has jobs only, and ends when none has been unfinished for a minute. */
  readonly feed?: EventFeed | undefined;
}

/** Jobs and events of one pass. */
export interface WatchedPass {
  readonly jobs: readonly JobEvent[];
  readonly events: readonly PlatformEvent[];
}

/** Pauses between two reads: the shortest while something changes. */
const SHORTEST_PAUSE_MS = 2_000;
const LONGEST_PAUSE_MS = 5_000;
const SLOWER = 1.5;
/** A stream without an unfinished job ends after this time. */
const IDLE_MS = 60_000;

/** Position of a stream: that of its events, if it has them, and that of its jobs. */
function cursorOf({ changes, feed }: Watched): string {
  return feed ? `${feed.since}~${changes.cursor}` : changes.cursor;
}

/** Jobs and events since the last pass. */
export async function nextPass({ changes, feed }: Watched): Promise<WatchedPass> {
  const [jobs, events] = await Promise.all([changes.next(), feed?.next() ?? []]);
  return { jobs, events };
}

/**
 * Follows the jobs and events that a caller can see: `first`, then what follows. `reconnect` ends the stream: the time limit is
 * reached, storage cannot be read, the signal was aborted, or no job of a stream without events has been unfinished for a minute.
 */
export async function* watchJobs(
  deps: WatchJobsDeps,
  watched: Watched,
  first: WatchedPass,
  signal: AbortSignal,
): AsyncGenerator<JobsEvent> {
  try {
    yield* follow(deps, watched, first, signal);
  } catch (error) {
    deps.log.error('failed to stream jobs', { error });
    yield { kind: 'reconnect' };
  }
}

async function* follow(
  deps: WatchJobsDeps,
  watched: Watched,
  first: WatchedPass,
  signal: AbortSignal,
): AsyncGenerator<JobsEvent> {
  const { clock } = deps;
  const times = streamTimes(clock);
  let pass = first;
  let pause = 0;
  let idleSince: number | undefined;
  for (;;) {
    yield* eventsOfPass(pass, cursorOf(watched));
    idleSince = watched.changes.isIdle && !watched.feed ? (idleSince ?? clock.now()) : undefined;
    const isQuiet = pass.jobs.length === 0 && pass.events.length === 0;
    pause = isQuiet
      ? Math.min(LONGEST_PAUSE_MS, Math.max(SHORTEST_PAUSE_MS, pause * SLOWER))
      : SHORTEST_PAUSE_MS;
    yield* waitWithHeartbeats(deps, pause, times, signal);
    const isIdle = idleSince !== undefined && clock.now() - idleSince >= IDLE_MS;
    if (signal.aborted || isIdle || clock.now() >= times.end) {
      yield { kind: 'reconnect', id: cursorOf(watched) };
      return;
    }
    pass = await nextPass(watched);
  }
}

/** The last event of a pass has the position after it. */
function* eventsOfPass({ jobs, events }: WatchedPass, cursor: string): Generator<JobsEvent> {
  const all: (PlatformEvent | JobEvent)[] = [...jobs, ...events];
  for (const [index, each] of all.entries()) {
    const id = index === all.length - 1 ? cursor : undefined;
    yield 'specversion' in each ? { kind: 'event', id, event: each } : { kind: 'job', id, job: each };
  }
}
