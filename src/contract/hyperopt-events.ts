import * as z from 'zod';
import { TRIAL_STATES } from './hyperopt.ts';
import { FoundParams } from './hyperopt-api.ts';
import { HYPEROPT_LIMITS } from './hyperopt-request.ts';
import { integerParameter } from './parameters.ts';

/** Server-sent events of a hyperopt job. */

/** The header in which a client names the last event it has. */
export const LAST_EVENT_ID = 'Last-Event-ID';

/** The last trial has the id of all trials together, the end of the job one more. */
const lastId = { min: 0, max: HYPEROPT_LIMITS.n_trials.max + 1 };

export const HyperoptEventsQuery = z.object({
  after: integerParameter({
    ...lastId,
    description: `Id of the last event that is known; \`${LAST_EVENT_ID}\` goes over it. Default 0: all events`,
  }).optional(),
});

/** Data of a `trial` event. Everything of the trial is in the list of trials. */
export const HyperoptTrialEvent = z
  .object({
    number: z.int().meta({ description: 'From 0, in the order of suggestion' }),
    state: z.enum(TRIAL_STATES).exclude(['running']),
    value: z.number().nullable().meta({ description: 'Objective value; null unless complete' }),
    params: FoundParams,
    best_value: z
      .number()
      .nullable()
      .meta({ description: 'Best value of the trials finished so far; null before the first complete one' }),
    progress: z.int().meta({ description: 'Percent of the trials that had ended by then' }),
  })
  .meta({ id: 'HyperoptTrialEvent' });

export const HYPEROPT_EVENTS = [
  'Server-sent events; the data of each is JSON.',
  '`snapshot` comes first: the job as `GET /api/v1/hyperopt/{job_id}` answers it.',
  '`trial` follows for each trial that has ended, in the order in which they ended: `number`, `state`, `value` (null unless complete), `params`, and `best_value` and `progress` as they were then. Its id counts from 1 without gaps.',
  '`status` is the job once it is terminal; then the stream ends.',
  '`reconnect` ends a stream after 14 minutes or when the service stops. A client that reconnects with the last ID misses no event.',
  'A comment every 15 seconds keeps the connection open.',
].join('\n');
