import type { RollbackResult } from '#contract/registry/registry-api.ts';
import type { StoredModel, StoredVersion } from '#contract/registry/stored-registry.ts';
import { CodedError } from '#contract/values/errors.ts';
import { MAX_NOTE_LENGTH } from '#contract/values/registry-limits.ts';
import { unknownModel } from '../shared/unknown-resources.ts';
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
import { rollbackTarget } from '../transitions/rollback-target.ts';

export interface RollbackModelDeps extends TransitionDeps {
  readonly registry: RegistryStore;
  readonly endChallenges: EndChallenges;
  /** True: a rollback without a reason is rejected. */
  readonly rollbackReasonRequired: boolean;
}

export interface RollbackModelInput {
  readonly model: string;
  /** The version to return to Production: a number or an alias. Default: {@link rollbackTarget}. */
  readonly version?: string | undefined;
  readonly reason?: string | undefined;
  /** Version that must be in Production; null: there must be none. Otherwise the rollback is rejected. */
  readonly expected_production?: string | null | undefined;
}

/**
 * Moves an archived version back to Production and marks the replaced version as rolled back, in one transaction. A
 * version that is in Production already is not changed. Requires no validation: stopping a loss must not wait.
 * Throws RES002, RES003, RES005 (not archived, no version before, another version in Production than expected), VAL004 (no reason;
 * neither `version` nor `expected_production`), VAL005, SVC005.
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
  const { model, version, expected_production } = input;
  if (version === undefined) checkProductionNamed(expected_production);
  const reference = version === undefined ? null : { model, version, field: 'version' };
  return applyTransition(
    deps,
    stageTransitions(deps.registry),
    { operation: 'rollbackModel', call, input },
    async (key) =>
      reference
        ? lookUpVersion(deps.registry, reference, key)
        : { ...(await deps.registry.read(model, [], key)), version: undefined },
    async (state) => {
      const found = reference ? existing(reference, state) : await versionBefore(deps, input, state.model);
      return planRollback(deps, found, { call, reason, expected_production });
    },
  );
}

/** Throws VAL004 without the version in Production, and VAL005 for the alias that follows it: a repeat would roll back again. */
function checkProductionNamed(expected: string | null | undefined): void {
  const field = 'expected_production';
  if (expected === undefined) {
    const message =
      'A rollback without version needs expected_production: pass the number of the version in Production, or null';
    throw new CodedError('VAL004', { message, field });
  }
  if (expected !== 'champion') return;
  const message =
    'A rollback without version needs the number of the version in Production: champion is any that is there';
  throw new CodedError('VAL005', { message, field, context: { value: expected } });
}

/** The version to which a rollback without a version returns. Throws RES002, RES005, SVC005. */
async function versionBefore(
  { registry }: Pick<RollbackModelDeps, 'registry'>,
  input: RollbackModelInput,
  model: StoredModel | undefined,
): Promise<FoundVersion> {
  if (!model) throw unknownModel(input.model);
  checkExpectedProduction(model, input.expected_production);
  const version = await rollbackTarget(registry, model);
  if (version.stage !== 'Production') return { model, version };
  // Another call has returned to it since the model was read: the newer model has another version in Production than expected.
  return versionBefore({ registry }, input, (await registry.read(model.model_name, [])).model);
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
