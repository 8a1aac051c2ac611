import type { SizedLane } from '#contract/jobs/queue.ts';
import type { Executions } from '../jobs/execution-ports.ts';
import type { JobStore } from '../ports.ts';
import type { Lane, QueueJob } from './queue-ports.ts';

/** Maximum number of concurrent executions in each lane that has a setting for it. */
export type MaxRunning = Readonly<Record<SizedLane, number>>;

export interface BacktestLaneDeps {
  readonly jobs: Pick<JobStore, 'get'>;
  readonly executions: Executions;
  readonly maxRunning: MaxRunning;
}

/** The lane of backtests on Fargate, and of validations. */
export function backtestLane({ jobs, executions, maxRunning }: BacktestLaneDeps): Lane {
  return { name: 'backtest', maxRunning: maxRunning.backtest, jobs, executions };
}

/** The lane of backtests in functions. */
export function fastLane({ jobs, executions, maxRunning }: BacktestLaneDeps): Lane {
  // One slot at least: jobs may wait here when the setting becomes 0.
  return { name: 'fast', maxRunning: Math.max(1, maxRunning.fast), jobs, executions };
}

/** The lane of the canary. It runs on Fargate, which runs all that the fast lane does not. */
export function canaryLane({ jobs, executions }: BacktestLaneDeps): Lane {
  return { name: 'canary', maxRunning: 1, jobs, executions };
}

/** The lane in which a backtest waits and has its slots. */
export function laneOfBacktest(deps: BacktestLaneDeps, { queue }: Pick<QueueJob, 'queue'>): Lane {
  if (queue.lane === 'canary') return canaryLane(deps);
  return queue.lane === 'fast' ? fastLane(deps) : backtestLane(deps);
}
