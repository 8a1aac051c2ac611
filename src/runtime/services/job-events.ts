import { JobsCursor } from '#contract/job-events-api.ts';
import { JobChanges, type JobChangesDeps } from '#domain/job-changes.ts';
import { type JobsEvent, type WatchJobsDeps, watchJobs } from '#domain/watch-jobs.ts';
import { callerOf } from '../authenticate.ts';
import { EventStreams, lastEventId, realTime, type ServerSentEvent } from '../event-streams.ts';
import type { Handlers } from '../handler.ts';

/** Handler of the event stream of jobs; `pause` defaults to real time. */
export function watchJobsHandler(
  deps: JobChangesDeps & Omit<WatchJobsDeps, 'pause'> & Partial<Pick<WatchJobsDeps, 'pause'>>,
  streams = new EventStreams(),
): Handlers<'backend'>['watchJobs'] {
  return async ({ query, headers, principal, signal, closing }) => {
    const cursor = lastEventId(headers, JobsCursor.optional()) ?? query.after;
    const changes = new JobChanges(deps, callerOf(principal), cursor);
    const first = await changes.next();
    if (first.length === 0 && changes.isIdle) return { status: 204, body: '' };
    // A client that received its time-out reads no stream.
    signal.throwIfAborted();
    const body = streams.open(
      principal.id,
      (stop) => sent(watchJobs({ pause: realTime, ...deps }, changes, first, stop)),
      closing,
    );
    // Disables response buffering in proxies.
    return { status: 200, body, headers: { 'X-Accel-Buffering': 'no' } };
  };
}

async function* sent(events: AsyncGenerator<JobsEvent>): AsyncGenerator<ServerSentEvent> {
  for await (const event of events) {
    if (event.kind === 'heartbeat') yield {};
    else {
      const { kind, id } = event;
      yield {
        event: kind,
        ...(id !== undefined && { id }),
        ...(event.kind === 'job' && { data: event.job }),
      };
    }
  }
}
