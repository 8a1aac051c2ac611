import { EVENT_SCHEMAS } from '../platform/events.ts';
import { JobEvent, JobEventsQuery } from '../platform/job-events-api.ts';
import { WATCH_LIMITS } from '../values/job-limits.ts';
import type { Operation } from '../values/operation.ts';

const JOB_EVENTS = [
  'Server-sent events. The stream begins with a `job` event for each unfinished job and continues with one for each change of status or progress, and for each new job.',
  `A client that reconnects with \`Last-Event-ID\` gets the jobs that have ended in between; an event may be repeated. A stream follows up to ${WATCH_LIMITS.followed} unfinished jobs, the oldest ones; further ones when these have ended.`,
  '`reconnect` ends a connection: after 14 minutes, and when no job has been unfinished for a minute. The next connection then gets 204. A comment is sent every 15 s.',
  'With `types` the stream also has the events of the catalogue, named by their type, within five seconds of the change. Each is sent at least once: `id` is the same for every delivery. `Last-Event-ID` continues up to 24 hours back.',
].join(' ');

/** The stream of the events of jobs. */
export const JOB_EVENT_OPERATIONS = [
  {
    id: 'watchJobs',
    service: 'backend',
    method: 'GET',
    path: '/api/v1/events',
    tag: 'Overview',
    summary: 'Follow the jobs of all kinds that the caller may see',
    description: JOB_EVENTS,
    query: JobEventsQuery,
    success: {
      200: {
        description: 'Events',
        contentType: 'text/event-stream',
        events: { job: JobEvent, ...EVENT_SCHEMAS },
      },
      204: { description: 'No job is unfinished and none has ended since: do not reconnect' },
    },
    errors: ['DATA005', 'SVC005', 'HTTP503'],
    access: 'viewer',
    streams: true,
  },
] as const satisfies readonly Operation[];
