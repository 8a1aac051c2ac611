import * as z from 'zod';
import { EVENT_SELECTION } from '../values/event-types.ts';
import { WATCH_LIMITS } from '../values/job-limits.ts';
import { LAST_EVENT_ID } from '../values/names.ts';
import { jobState } from './overview-api.ts';

/** Server-sent events of the jobs of all kinds. */

/** The time of the events and `~`, in streams with events; the time of the jobs, and ids of jobs. Times are Unix ms. */
export const JOB_EVENT_ID = new RegExp(
  `^(\\d{13}~)?\\d{13}(,(bt|ho|co)-[A-Za-z0-9]{1,64}){0,${WATCH_LIMITS.followed}}$`,
);

/** Position of a stream: the time up to which submissions are known, and the unfinished jobs that the client knows. */
export const JobsCursor = z.string().regex(JOB_EVENT_ID);

export const JobEventsQuery = z.object({
  types: z.string().regex(EVENT_SELECTION).optional().meta({
    description:
      'Types of events to send in addition to jobs, comma separated: `version.promoted`, `version.*` for all of a kind, `*` for all. Such a stream does not end when no job is unfinished. Default: jobs only',
  }),
  after: JobsCursor.optional().meta({
    description: `ID of the last received event; \`${LAST_EVENT_ID}\` takes precedence. Default: the stream begins with the unfinished jobs`,
  }),
});

/** Data of a `job` event. */
export const JobEvent = z.object(jobState).meta({ id: 'JobEvent' });
export type JobEvent = z.infer<typeof JobEvent>;
