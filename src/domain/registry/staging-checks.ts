import type { StoredBacktestJob } from '#contract/backtest.ts';
import type { StoredVersion } from '#contract/stored-registry.ts';
import type { ValidationCheck } from '#contract/validation.ts';

/** What came of the checks that need a task. */
export interface StagingOutcome {
  readonly status: 'passed' | 'failed';
  /** Smoke run, determinism, look-ahead; or the one line that says why they could not be run. */
  readonly checks: readonly ValidationCheck[];
}

/**
 * The checks of a staging that need a task: they run where backtests run. The job is the truth; a version's stored
 * `validation` follows it, so while that is `pending` it is read together with {@link outcome}.
 */
export interface StagingChecks {
  /**
   * Stores the job of a version's checks and starts it, before the move that names it in `validation.job_id`: a job
   * without its version ends unnoticed, a version without its job would wait for ever. The same version means the same job.
   * Throws DATA005 when it cannot be stored.
   */
  start(version: StoredVersion, correlationId: string): Promise<string>;
  /** Undefined while the job is under way. */
  outcome(jobId: string): Promise<StagingOutcome | undefined>;
}

/** The jobs of staging checks that have ended, until the registry knows of them. */
export interface EndedValidations {
  endedValidations(): AsyncIterable<StoredBacktestJob>;
  /** The registry knows of it, or never will have to. */
  forgetValidation(jobId: string): Promise<void>;
}
