import { JobsCursor } from '#contract/platform/job-events-api.ts';
import type { Caller } from '#domain/access/access.ts';
import { EventFeed, type EventFeedDeps } from '#domain/events/event-feed.ts';
import { JobChanges, type JobChangesDeps } from '#domain/job-events/job-changes.ts';
import {
  type JobsEvent,
  nextPass,
  type Watched,
  type WatchJobsDeps,
  watchJobs,
} from '#domain/job-events/watch-jobs.ts';
import { callerOf } from '../authenticate.ts';
import { EventStreams, lastEventId, realTime, type ServerSentEvent } from '../event-streams.ts';
import type { GroupHandlers } from '../handler.ts';

/** Handler of the event stream of jobs; `pause` defaults to real time. */
export function watchJobsHandler(
  deps: JobChangesDeps & EventFeedDeps & Omit<WatchJobsDeps, 'pause'> & Partial<Pick<WatchJobsDeps, 'pause'>>,
  streams = new EventStreams(),
): GroupHandlers<'jobEvents'>['watchJobs'] {
  return async ({ query, headers, principal, signal, closing }) => {
    const cursor = lastEventId(headers, JobsCursor.optional()) ?? query.after;
    const caller = callerOf(principal);
    const watched = watchedBy(deps, caller, query.types, cursor);
    const first = await nextPass(watched);
    if (!watched.feed && first.jobs.length === 0 && watched.changes.isIdle) return { status: 204, body: '' };
    // A client that received its time-out reads no stream.
    signal.throwIfAborted();
    const body = streams.open(
      principal.id,
      (stop) => sent(watchJobs({ pause: realTime, ...deps }, watched, first, stop)),
      closing,
    );
    // Disables response buffering in proxies.
    return { status: 200, body, headers: { 'X-Accel-Buffering': 'no' } };
  };
}

/** Sources of a stream that continues at a position: time of the events, `~`, position of the jobs. */
function watchedBy(
  deps: JobChangesDeps & EventFeedDeps,
  caller: Caller,
  types: string | undefined,
  cursor: string | undefined,
): Watched {
  const [jobs, since] = cursor?.split('~').reverse() ?? [];
  const changes = new JobChanges(deps, caller, jobs);
  if (types === undefined) return { changes };
  return {
    changes,
    feed: new EventFeed(deps, caller, types, since === undefined ? undefined : Number(since)),
  };
}

async function* sent(events: AsyncGenerator<JobsEvent>): AsyncGenerator<ServerSentEvent> {
  for await (const event of events) {
    if (event.kind === 'heartbeat') {
      yield {};
      continue;
    }
    const id = event.id === undefined ? {} : { id: event.id };
    if (event.kind === 'job') yield { event: 'job', ...id, data: event.job };
    else if (event.kind === 'event') yield { event: event.event.type, ...id, data: event.event };
    else yield { event: 'reconnect', ...id };
  }
}
