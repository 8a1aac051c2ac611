import * as z from 'zod';
import { BacktestResult } from '../backtests/backtest.ts';
import { paginated } from '../common/page.ts';
import { PAGE_FIELDS, stringParameter } from '../common/parameters.ts';
import { Timestamp } from '../common/time.ts';
import { LOOK_AHEAD_STATES } from '../config/look-ahead.ts';
import { JobCounted } from '../jobs/job-list-api.ts';

import { formatInteger } from '../values/format-count.ts';
import { JOB_LIST_LIMITS } from '../values/job-limits.ts';

/** Requests and responses of the list of experiments. */

export const ExperimentsQuery = z.object({
  ...PAGE_FIELDS,
  owner: stringParameter(
    200,
    'User whose experiments are listed; others than the caller for admins only. Default: the caller',
  ).optional(),
});

const newest = `the newest ${formatInteger(JOB_LIST_LIMITS.counted)} jobs`;

const Experiment = z
  .object({
    name: z.string().meta({ description: '`experiment_name` of its jobs' }),
    jobs: JobCounted.meta({ description: 'Backtests and hyperopt jobs of the owner' }),
    unfinished: z.int().meta({ description: `Pending and running ones, among ${newest}` }),
    best: z
      .object({ job_id: z.string(), exchange: z.string(), look_ahead: z.enum(LOOK_AHEAD_STATES) })
      .extend(
        BacktestResult.pick({
          total_profit_pct: true,
          sharpe_ratio: true,
          max_drawdown_pct: true,
          undefined_metrics: true,
        }).shape,
      )
      .nullable()
      .meta({
        description: `Completed backtest with the highest \`total_profit_pct\`, among ${newest}, without those with a found look-ahead bias; null without one`,
      }),
    last: z.object({ job_id: z.string(), created_at: Timestamp }).meta({ description: 'Newest job' }),
  })
  .meta({ id: 'Experiment' });

export const ExperimentList = paginated(Experiment).meta({ id: 'ExperimentList' });
