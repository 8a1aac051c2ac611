import type { StoredBacktestJob } from '#contract/backtest.ts';
import { CodedError, type ErrorCode } from '#contract/errors.ts';
import type { MoveDeps } from './make-move.ts';
import { recordValidation } from './record-validation.ts';
import type { EndedValidations } from './staging-checks.ts';
import { outcomeOf } from './start-staging-checks.ts';

export interface SettleDeps extends MoveDeps {
  readonly validations: EndedValidations;
}

/** The checks are started before the staging that names their job is stored: it may still be on its way. */
const STAGING_MS = 10 * 60_000;
const UNKNOWN: readonly ErrorCode[] = ['RES002', 'RES003'];

/**
 * Tells the registry how a validation ended, and forgets the job when it did. One that no version waits for is asked about
 * again until its staging cannot come any more. Repeating it does no harm, so a death between the two writes does none.
 * Does nothing for a job that is under way or is no validation. Throws as {@link recordValidation}.
 */
export async function settleValidation(deps: SettleDeps, job: StoredBacktestJob): Promise<void> {
  const outcome = outcomeOf(job);
  if (!outcome || !job.registered || job.kind !== 'validation') return;
  const { model_name: model, version } = job.registered;
  const recorded = await recordValidation(deps, {
    ...{ model, version, jobId: job.job_id, outcome },
    correlationId: job.execution_input.correlation_id,
  }).catch((error: unknown) => {
    // A registry that was restored to an earlier time does not know the version.
    if (error instanceof CodedError && UNKNOWN.includes(error.code)) return false;
    throw error;
  });
  const late = deps.clock.now() - Date.parse(job.updated_at) >= STAGING_MS;
  if (recorded || late) await deps.validations.forgetValidation(job.job_id);
}

/** Settles all that ended. One job's fault does not stop the others. */
export async function settleValidations(
  deps: SettleDeps,
  onFault: (jobId: string, error: unknown) => void,
): Promise<void> {
  for await (const job of deps.validations.endedValidations()) {
    await settleValidation(deps, job).catch((error: unknown) => onFault(job.job_id, error));
  }
}
