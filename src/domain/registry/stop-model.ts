import type { StopResult } from '#contract/registry/registry-api.ts';
import type { StoredModel } from '#contract/registry/stored-registry.ts';
import { CodedError } from '#contract/values/errors.ts';
import { MAX_NOTE_LENGTH } from '#contract/values/registry-limits.ts';
import { unknownModel } from '../shared/unknown-resources.ts';
import { checkMaxLength, isBlank } from '../shared/validate.ts';
import {
  applyTransition,
  type IdempotencyKey,
  type TransitionCall,
  type TransitionResult,
} from '../transitions/apply-transition.ts';
import { checkExpectedProduction, numberOf } from '../transitions/find-version.ts';
import { planStop, type StopDeps, stopResult } from '../transitions/plan-stop.ts';
import { stageTransitions } from '../transitions/plan-transition.ts';
import type { RegistryStore } from '../transitions/registry-store.ts';

export interface StopModelDeps extends StopDeps {
  readonly registry: RegistryStore;
}

export interface StopModelInput {
  readonly model: string;
  readonly reason?: string | undefined;
  /** Version that must be in Production, a number or an alias; null: there must be none, so that nothing can be stopped. */
  readonly expected_production?: string | null | undefined;
}

/**
 * Moves the version in Production to Archived without a successor, in one transaction with the end of the model's running
 * challenge. A repeat that names the version whose stop left Production empty changes nothing.
 * Throws RES002, RES005 (no version in Production, or another one than expected), VAL004 (no reason), VAL005, SVC005.
 */
export async function stopModel(
  deps: StopModelDeps,
  call: TransitionCall,
  input: StopModelInput,
): Promise<TransitionResult<StopResult>> {
  const reason = checkMaxLength(input.reason, 'reason', MAX_NOTE_LENGTH);
  if (reason === null || isBlank(reason)) {
    throw new CodedError('VAL004', { message: 'A stop requires a reason: pass reason', field: 'reason' });
  }
  return applyTransition(
    deps,
    stageTransitions(deps.registry),
    { operation: 'stopModel', call, input },
    (key) => readProduction(deps.registry, input.model, key),
    async ({ model, version }) => {
      if (!model) throw unknownModel(input.model);
      if (isRepeat(model, input.expected_production)) {
        const stopped = model.stopped_version!;
        const message = `Version ${stopped} is stopped already: no version is in Production.`;
        return { body: stopResult(model.model_name, stopped, message), write: null };
      }
      checkExpectedProduction(model, input.expected_production);
      if (!version) throw nothingToStop(model);
      return planStop(deps, { model, version }, { call, reason });
    },
  );
}

/** The model, its version in Production, and an idempotency record. */
async function readProduction(registry: RegistryStore, name: string, key: IdempotencyKey | null) {
  const { model, idempotencyRecord } = await registry.read(name, [], key);
  const number = model?.production_version ?? null;
  const version = number === null ? undefined : (await registry.read(name, [number])).versions.get(number);
  return { model, version, idempotencyRecord };
}

/** True when the version named as expected is the one whose stop left Production empty: the answer to that stop was lost. */
function isRepeat(model: StoredModel, expected: string | null | undefined): boolean {
  if (model.stopped_version === null || !expected) return false;
  return (numberOf(expected, model) ?? expected) === model.stopped_version;
}

function nothingToStop({ model_name, stopped_version }: StoredModel): CodedError {
  const since = stopped_version === null ? '' : `: version ${stopped_version} was stopped`;
  return new CodedError('RES005', {
    message: `No version of ${model_name} is in Production${since}. No action is needed.`,
    field: 'model_name',
    context: { model_name, current_production: null, stopped_version },
  });
}
