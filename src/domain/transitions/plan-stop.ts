import type { StopResult } from '#contract/registry/registry-api.ts';
import type { StoredVersion } from '#contract/registry/stored-registry.ts';
import type { TransitionCall, TransitionDeps } from './apply-transition.ts';
import type { FoundVersion } from './find-version.ts';
import { nextTimestamp, planTransition } from './plan-transition.ts';
import type { EndChallenges, StageTransition } from './registry-store.ts';

export interface StopDeps extends TransitionDeps {
  readonly endChallenges: EndChallenges;
}

/** The stage transition of a stop: the version in Production becomes Archived, and the model's running challenge ends. */
export async function planStop(
  deps: StopDeps,
  { model, version }: FoundVersion,
  { call, reason }: { readonly call: TransitionCall; readonly reason: string },
): Promise<{ readonly body: StopResult; readonly write: StageTransition }> {
  const at = nextTimestamp(deps, model);
  const stopped: StoredVersion = {
    ...version,
    stage: 'Archived',
    archived_at: at,
    stopped: true,
    stopped_reason: reason,
    updated_at: at,
  };
  const write = planTransition(deps, model, {
    action: 'stop',
    call,
    at,
    before: version,
    version: stopped,
    reason,
    challenges: await deps.endChallenges({ model: model.model_name, version: null, call, at }),
  });
  const message = `Version ${version.version} is stopped: no version is in Production.`;
  return { body: stopResult(model.model_name, version.version, message), write };
}

/** Response of a stop. */
export function stopResult(model_name: string, version: string, message: string): StopResult {
  return { success: true, message, model_name, previous_production: version, new_production: null };
}
