import * as z from 'zod';
import { paginated } from '../common/page.ts';
import { booleanParameter, namedParameters, PAGE_FIELDS, stringParameter } from '../common/parameters.ts';
import { LOOK_AHEAD_STATES } from '../config/look-ahead.ts';
import { BACKTEST_LIMITS } from '../values/backtest-limits.ts';
import { formatInteger } from '../values/format-count.ts';
import { ANNOTATION_LIMITS, JOB_LIST_LIMITS, JOB_STATUSES } from '../values/job-limits.ts';
import { ALL_TIMEFRAMES } from '../values/timeframes.ts';
import { SessionName } from './trial-ledger.ts';

/** Parameters, fields and envelope that the lists of jobs of every kind share. */

const covered = `Covers the newest ${formatInteger(JOB_LIST_LIMITS.searched)} jobs that pass the other filters, see \`searched\``;

/** Orders of every list of jobs. */
const COMMON_SORTS = [
  'created_at',
  'strategy',
  'owner',
  'exchange',
  'session',
  'look_ahead',
  'deflated_sharpe_ratio',
] as const;

/** Order by a parameter of the run. */
const PARAMETER_SORT = z
  .templateLiteral(['params.', z.string().min(1).max(100)])
  .meta({ title: 'params.<name>' });

/** Parameters of a list of jobs. @param sorts further values that it can be sorted by */
export function jobListFields<const Sort extends string>(sorts: readonly Sort[]) {
  return {
    ...PAGE_FIELDS,
    status: z.enum(JOB_STATUSES).optional().meta({ description: 'Only jobs in this status' }),
    experiment_name: stringParameter(
      BACKTEST_LIMITS.experiment_name.max,
      'Only jobs of this experiment',
    ).optional(),
    strategy: stringParameter(100, 'Only jobs of this strategy').optional(),
    q: stringParameter(
      JOB_LIST_LIMITS.q.max,
      `Only jobs with each of these words in ID, strategy, experiment, exchange, pairs, notes or tags, in either case. ${covered}`,
    ).optional(),
    // Short, because agents read them: `covered` holds for each of them.
    session: stringParameter(64, 'Only of this session; see `searched`').optional(),
    owner: stringParameter(200, 'Only of this user').optional(),
    exchange: stringParameter(50, 'Only on this exchange').optional(),
    tag: stringParameter(ANNOTATION_LIMITS.tag, 'Only with this tag').optional(),
    look_ahead: z.enum(LOOK_AHEAD_STATES).optional().meta({ description: 'Only in this state' }),
    params: namedParameters(
      'Only with these values of parameters by name, such as `params.fast=10`',
    ).optional(),
    sort: z
      .union([z.enum([...COMMON_SORTS, ...sorts]), PARAMETER_SORT])
      .optional()
      .meta({
        description: `Order of the list; jobs without the value come last, and by a metric those with a found look-ahead bias after them. ${covered}. Default: newest first, all jobs`,
      }),
    sort_order: z.enum(['asc', 'desc']).default('desc').meta({ description: 'Order of `sort`' }),
    count: booleanParameter('Also count the jobs that pass the filters, see `count` of the response').default(
      false,
    ),
  };
}

/** Fields of a listed job of any kind that come from its own item. */
export const listedJobFields = {
  owner: z.string(),
  session: SessionName,
  exchange: z.string(),
  pairs: z.array(z.string()),
  timeframe: z.enum(ALL_TIMEFRAMES),
  started_at: z.string().nullable().meta({ format: 'date-time', description: 'null: not started' }),
  finished_at: z.string().nullable().meta({ format: 'date-time', description: 'null: not finished' }),
};

/** Number of jobs. */
export const JobCounted = z.object({
  value: z.int(),
  relation: z
    .enum(['exact', 'at_least'])
    .meta({ description: '`at_least`: more jobs than `value` may pass the filters' }),
});

/** Page of a list of jobs. */
export function jobPage<T extends z.ZodType>(item: T) {
  return paginated(item).extend({
    searched: z
      .object({
        jobs: z.int().meta({ description: 'Jobs that were searched: the newest ones' }),
        complete: z
          .boolean()
          .meta({ description: 'false: older jobs that pass the other filters exist and were not searched' }),
      })
      .nullable()
      .meta({
        description:
          'Reach of `q`, `sort`, `pinned` and of the filters that cover the newest jobs; null without them: the list has all jobs',
      }),
    count: JobCounted.nullable().meta({
      description: `Jobs on all pages that the caller may see; null unless requested. Ends at ${formatInteger(JOB_LIST_LIMITS.counted)}`,
    }),
  });
}
