import type { RollbackResult } from '#contract/registry/registry-api.ts';
import type { StoredVersion } from '#contract/registry/stored-registry.ts';
import { CodedError } from '#contract/values/errors.ts';
import { MAX_NOTE_LENGTH } from '#contract/values/registry-limits.ts';
import { checkMaxLength, isBlank } from '../shared/validate.ts';
import {
  applyTransition,
  type Decision,
  type TransitionCall,
  type TransitionDeps,
  type TransitionResult,
} from '../transitions/apply-transition.ts';
import {
  checkExpectedProduction,
  existing,
  type FoundVersion,
  lookUpVersion,
  rejection,
} from '../transitions/find-version.ts';
import { nextTimestamp, planTransition, stageTransitions } from '../transitions/plan-transition.ts';
import type { EndChallenges, RegistryStore, StageTransition } from '../transitions/registry-store.ts';

export interface RollbackModelDeps extends TransitionDeps {
  readonly registry: RegistryStore;
  readonly endChallenges: EndChallenges;
  /** True: a rollback without a reason is rejected. */
  readonly rollbackReasonRequired: boolean;
}

export interface RollbackModelInput {
  readonly model: string;
  /** The version to return to Production: a number or an alias. */
  readonly version: string;
  readonly reason?: string | undefined;
  /** Version that must be in Production; null: there must be none. Otherwise the rollback is rejected. */
  readonly expected_production?: string | null | undefined;
}

/**
 * Moves an archived version back to Production and marks the replaced version as rolled back, in one transaction. A
 * version that is in Production already is not changed. Requires no validation: stopping a loss must not wait.
 * Throws RES002, RES003, RES005 (not archived, another version in Production than expected), VAL004, VAL005, SVC005.
 */
export async function rollbackModel(
  deps: RollbackModelDeps,
  call: TransitionCall,
  input: RollbackModelInput,
): Promise<TransitionResult<RollbackResult>> {
  const reason = checkMaxLength(input.reason, 'reason', MAX_NOTE_LENGTH);
  if (deps.rollbackReasonRequired && isBlank(reason ?? '')) {
    throw new CodedError('VAL004', { message: 'A rollback requires a reason: pass reason', field: 'reason' });
  }
  const reference = { model: input.model, version: input.version, field: 'version' };
  return applyTransition(
    deps,
    stageTransitions(deps.registry),
    { operation: 'rollbackModel', call, input },
    (key) => lookUpVersion(deps.registry, reference, key),
    (state) => planRollback(deps, existing(reference, state), { ...input, call, reason }),
  );
}

/** Decision about a rollback to a version as it was read, under the rules of {@link rollbackModel}. Throws RES005, SVC005. */
export async function planRollback(
  deps: TransitionDeps & Pick<RollbackModelDeps, 'endChallenges'>,
  found: FoundVersion,
  rollback: Pick<RollbackModelInput, 'expected_production'> & {
    readonly call: TransitionCall;
    readonly reason: string | null;
  },
): Promise<Decision<RollbackResult, StageTransition>> {
  const { call, reason, expected_production } = rollback;
  const { stage, version: number } = found.version;
  const previous = found.model.production_version;
  if (stage === 'Production') {
    const message = `Version ${number} is in Production already.`;
    return { body: resultOf(found.version, number, message), write: null };
  }
  if (stage !== 'Archived') {
    throw rejection(
      'RES005',
      found,
      `Version ${number} was never in Production. Stage and promote it instead`,
    );
  }
  checkExpectedProduction(found.model, expected_production);
  const at = nextTimestamp(deps, found.model);
  const restored: StoredVersion = {
    ...found.version,
    stage: 'Production',
    promoted_at: at,
    archived_at: null,
    rolled_back: false,
    rolled_back_reason: null,
    stopped: false,
    stopped_reason: null,
    updated_at: at,
  };
  const write = planTransition(deps, found.model, {
    action: 'rollback',
    call,
    at,
    before: found.version,
    version: restored,
    archived: previous === null ? null : { version: previous, at, rolledBack: { reason } },
    reason,
    challenges: await deps.endChallenges({ model: found.model.model_name, version: number, call, at }),
  });
  const message = `Version ${number} is in Production again${previous === null ? '' : `; version ${previous} is archived`}.`;
  return { body: resultOf(restored, previous, message), write };
}

function resultOf(version: StoredVersion, previous: string | null, message: string): RollbackResult {
  return {
    success: true,
    message,
    previous_production: previous,
    new_production: version.version,
    model_name: version.model_name,
  };
}
