import type { PromoteResult } from '#contract/registry/registry-api.ts';
import type { WaiveRequest } from '#contract/registry/release-policy.ts';
import { MAX_NOTE_LENGTH } from '#contract/values/registry-limits.ts';
import { MAX_ID_LENGTH } from '#contract/values/request-limits.ts';
import { checkMaxLength } from '../shared/validate.ts';
import {
  applyTransition,
  type TransitionCall,
  type TransitionResult,
} from '../transitions/apply-transition.ts';
import { existing, type FoundVersion, lookUpVersion } from '../transitions/find-version.ts';
import { type PromotionDeps, planPromotion } from '../transitions/plan-promotion.ts';
import { stageTransitions } from '../transitions/plan-transition.ts';
import type { EndChallenges } from '../transitions/registry-store.ts';
import { needlessWaivers, readWaiver } from '../transitions/release-policy.ts';

export interface PromoteVersionDeps extends PromotionDeps {
  readonly endChallenges: EndChallenges;
}

export interface PromoteVersionInput {
  readonly model: string;
  /** A number or an alias. */
  readonly version: string;
  readonly comment?: string | undefined;
  /** Version that must be in Production; null: there must be none. Otherwise the promotion is rejected. */
  readonly expected_production?: string | null | undefined;
  readonly challenge_id?: string | undefined;
  /** Ignores the validation, but not the release policy. Admins only. */
  readonly force?: boolean | undefined;
  /** Admins only. */
  readonly waive?: WaiveRequest | undefined;
}

/**
 * Moves a version from Staging to Production and the replaced version to Archived, in one transaction; a version that
 * is in Production already is not changed.
 * Throws RES002, RES003, RES005 (not staged, validation or release policy: `context.checks`, another version in
 * Production than expected), RES006 (archived), AUTH004, VAL004 and VAL005 (the waiver), SVC005.
 */
export async function promoteVersion(
  deps: PromoteVersionDeps,
  call: TransitionCall,
  input: PromoteVersionInput,
): Promise<TransitionResult<PromoteResult>> {
  const comment = checkMaxLength(input.comment, 'comment', MAX_NOTE_LENGTH);
  const challengeId = checkMaxLength(input.challenge_id, 'challenge_id', MAX_ID_LENGTH);
  const waiver = readWaiver(input.waive);
  const { model, version, expected_production, force } = input;
  const reference = { model, version, field: 'version', modelField: 'name' };
  return applyTransition(
    deps,
    stageTransitions(deps.registry),
    { operation: 'promoteVersion', call, input },
    (key) => lookUpVersion(deps.registry, reference, key),
    async (state) => {
      const found = existing(reference, state);
      if (found.version.stage === 'Production') {
        return { body: { ...unchanged(found), warnings: needlessWaivers(waiver, null) }, write: null };
      }
      return planPromotion(deps, found, {
        call,
        expected_production,
        comment,
        challengeId,
        force,
        waiver,
        challenges: (at) => deps.endChallenges({ model, version: found.version.version, call, at }),
      });
    },
  );
}

function unchanged({ model, version }: FoundVersion): PromoteResult {
  return {
    success: true,
    message: `Version ${version.version} is in Production already.`,
    archived_versions: [],
    previous_stage: 'Production',
    new_stage: 'Production',
    model_name: model.model_name,
    version: version.version,
    previous_production: version.version,
    promoted_at: version.promoted_at,
  };
}
