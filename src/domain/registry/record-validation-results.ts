import type { StoredBacktestJob } from '#contract/backtests/backtest.ts';
import { CodedError, type ErrorCode } from '#contract/values/errors.ts';
import { PLATFORM } from '#contract/values/names.ts';
import { applyTransition, type TransitionDeps } from '../transitions/apply-transition.ts';
import { type EndedValidations, type StagingOutcome, withOutcome } from '../transitions/check-status.ts';
import { existing, lookUpVersion } from '../transitions/find-version.ts';
import { nextTimestamp, planTransition, stageTransitions } from '../transitions/plan-transition.ts';
import type { RegistryStore } from '../transitions/registry-store.ts';
import { outcomeOf } from './start-staging-checks.ts';

export interface RecordValidationDeps extends TransitionDeps {
  readonly registry: RegistryStore;
  readonly validations: EndedValidations;
}

/** Maximum time from the start of the checks until the staging with their job is stored. The checks start first. */
const STAGING_MS = 10 * 60_000;
const UNKNOWN: readonly ErrorCode[] = ['RES002', 'RES003'];

/**
 * Records the result of a validation in the registry, then removes it from the list of ended validations. If no version waits
 * for the result, it stays in the list for {@link STAGING_MS}, because its staging may be stored later. Idempotent, so a crash
 * between the two writes is harmless. Ignores unfinished jobs and jobs of other kinds. Throws as {@link recordValidation}.
 */
export async function recordValidationResult(
  deps: RecordValidationDeps,
  job: StoredBacktestJob,
): Promise<void> {
  const outcome = outcomeOf(job);
  if (!outcome || !job.registered || job.kind !== 'validation') return;
  const { model_name: model, version } = job.registered;
  const recorded = await recordValidation(deps, {
    model,
    version,
    jobId: job.job_id,
    outcome,
    correlationId: job.execution_input.correlation_id,
  }).catch((error: unknown) => {
    // A registry that was restored to an earlier time may lack the version.
    if (error instanceof CodedError && UNKNOWN.includes(error.code)) return false;
    throw error;
  });
  const late = deps.clock.now() - Date.parse(job.updated_at) >= STAGING_MS;
  if (recorded || late) await deps.validations.forgetValidation(job.job_id);
}

/** Records the results of all validations that ended. An error of one does not stop the others. */
export async function recordValidationResults(
  deps: RecordValidationDeps,
  onError: (jobId: string, error: unknown) => void,
): Promise<void> {
  for await (const job of deps.validations.endedValidations()) {
    await recordValidationResult(deps, job).catch((error: unknown) => onError(job.job_id, error));
  }
}

interface RecordValidationInput {
  readonly model: string;
  readonly version: string;
  /** Job of the checks. Only a version that waits for this job is changed. */
  readonly jobId: string;
  readonly outcome: StagingOutcome;
  readonly correlationId: string;
}

/**
 * Copies the result of a staging's checks to the version that waits for it, in any stage. Idempotent. Returns true when this
 * call changed the version.
 * Throws RES002, RES003, RES005 (write conflict), SVC005.
 */
export async function recordValidation(
  deps: Omit<RecordValidationDeps, 'validations'>,
  input: RecordValidationInput,
): Promise<boolean> {
  const { model, version, jobId, outcome, correlationId } = input;
  const call = {
    actor: { id: PLATFORM, groups: [], isAdmin: false },
    idempotencyKey: null,
    correlationId,
  };
  const reference = { model, version, field: 'version' };
  const { body } = await applyTransition(
    deps,
    stageTransitions(deps.registry),
    null,
    () => lookUpVersion(deps.registry, reference, null),
    async (state) => {
      const found = existing(reference, state);
      const { validation } = found.version;
      if (validation.status !== 'pending' || validation.job_id !== jobId) return { body: false, write: null };
      const at = nextTimestamp(deps, found.model);
      const recorded = withOutcome(found.version, outcome);
      const after = { ...found.version, validation: recorded, updated_at: at };
      const notes = [`validation ${recorded.status}`];
      const change = { action: 'validate', call, at, before: found.version, version: after, notes } as const;
      return { body: true, write: planTransition(deps, found.model, change) };
    },
  );
  return body;
}
