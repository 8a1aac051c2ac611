import type { LaneName } from '#contract/queue.ts';
import type { Executions } from '../execution-ports.ts';
import type { HyperoptExecutions, HyperoptStore } from '../hyperopt/hyperopt-ports.ts';
import type { JobStore } from '../ports.ts';
import type { Lane } from './queue-ports.ts';

/** Maximum number of concurrent executions in each lane. */
export type MaxRunning = Readonly<Record<LaneName, number>>;

export interface BacktestLaneDeps {
  readonly jobs: Pick<JobStore, 'get'>;
  readonly executions: Executions;
  readonly maxRunning: MaxRunning;
}

export interface HyperoptLaneDeps {
  readonly hyperoptJobs: Pick<HyperoptStore, 'get'>;
  readonly hyperoptExecutions: HyperoptExecutions;
  readonly maxRunning: MaxRunning;
}

/** The lane of backtests and validations. */
export function backtestLane({ jobs, executions, maxRunning }: BacktestLaneDeps): Lane {
  return { name: 'backtest', maxRunning: maxRunning.backtest, jobs, executions };
}

/** The lane of hyperopt jobs. */
export function hyperoptLane({ hyperoptJobs, hyperoptExecutions, maxRunning }: HyperoptLaneDeps): Lane {
  return {
    name: 'hyperopt',
    maxRunning: maxRunning.hyperopt,
    jobs: hyperoptJobs,
    executions: hyperoptExecutions,
  };
}
