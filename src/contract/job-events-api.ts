import * as z from 'zod';
import { WATCH_LIMITS } from './limits.ts';
import { LAST_EVENT_ID } from './names.ts';
import { jobState } from './overview-api.ts';

/** Server-sent events of the jobs of all kinds. */

/** A time, Unix ms, and ids of jobs. */
export const JOB_EVENT_ID = new RegExp(
  `^\\d{13}(,(bt|ho|co)-[A-Za-z0-9]{1,64}){0,${WATCH_LIMITS.followed}}$`,
);

/** Position of a stream: the time up to which submissions are known, and the unfinished jobs that the client knows. */
export const JobsCursor = z.string().regex(JOB_EVENT_ID);

export const JobEventsQuery = z.object({
  after: JobsCursor.optional().meta({
    description: `ID of the last received event; \`${LAST_EVENT_ID}\` takes precedence. Default: the stream begins with the unfinished jobs`,
  }),
});

/** Data of a `job` event. */
export const JobEvent = z.object(jobState).meta({ id: 'JobEvent' });
export type JobEvent = z.infer<typeof JobEvent>;
