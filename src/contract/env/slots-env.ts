import type { SizedLane } from '../jobs/queue.ts';
import { digits, type EnvValues } from './env-fields.ts';

/** Slots of each lane of the job queue. */
export const slots = {
  /** Maximum number of concurrent backtests and validations. */
  MAX_RUNNING_BACKTESTS: digits({ min: 1, max: 10_000 }),
  /** Maximum number of concurrent backtests in functions; 0: none. */
  MAX_RUNNING_FAST: digits({ min: 0, max: 10_000 }),
  /** Maximum number of concurrent hyperopt jobs. */
  MAX_RUNNING_HYPEROPTS: digits({ min: 1, max: 1_000 }),
};

/** Slots of each lane that an environment sets. */
export function maxRunning(env: EnvValues<typeof slots>): Record<SizedLane, number> {
  return {
    backtest: env.MAX_RUNNING_BACKTESTS,
    fast: env.MAX_RUNNING_FAST,
    hyperopt: env.MAX_RUNNING_HYPEROPTS,
  };
}
