import { releasePolicyVariables } from '#contract/env/release-policy-env.ts';
import type { StageConfig } from './config.ts';

/** Slots of the job queue as environment variables. */
export function slotVariables({ maxRunning }: StageConfig) {
  return {
    MAX_RUNNING_BACKTESTS: String(maxRunning.backtest),
    MAX_RUNNING_FAST: String(maxRunning.fast),
    MAX_RUNNING_HYPEROPTS: String(maxRunning.hyperopt),
  };
}

/** Rules of a promotion, for every function that promotes. */
export function promotionVariables({ stagingDryRunRequired, fourEyesRequired, releasePolicy }: StageConfig) {
  return {
    STAGING_DRY_RUN_REQUIRED: stagingDryRunRequired ? 'true' : 'false',
    REQUIRE_FOUR_EYES: fourEyesRequired ? 'true' : 'false',
    ...releasePolicyVariables(releasePolicy),
  } as const;
}
