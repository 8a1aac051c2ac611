import { CodedError } from '#contract/errors.ts';
import type { PromoteReply } from '#contract/registry-api.ts';
import type { StoredVersion, Validation } from '#contract/stored-registry.ts';
import type { ChallengeChange, ChallengeStore } from '../challenges/challenge-store.ts';
import { challengesEndedBy } from '../challenges/end-challenge.ts';
import { checkText } from '../validate.ts';
import { existing, type FoundVersion, lookUpVersion } from './find-version.ts';
import { type Decision, type MoveDeps, type MoveReply, makeMove, type RegistryCall } from './make-move.ts';
import { momentAfter, planMove } from './plan-move.ts';
import { checkExpectedProduction, refusal } from './refuse-move.ts';
import type { RegistryMove } from './registry-store.ts';
import { MAX_COMMENT } from './stage-version.ts';
import type { StagingChecks } from './staging-checks.ts';
import { currentValidation, remarksOn } from './validation.ts';

export interface PromoteVersionDeps extends MoveDeps {
  readonly challenges: Pick<ChallengeStore, 'latest' | 'read'>;
  readonly stagingChecks: Pick<StagingChecks, 'outcome'> | null;
  /** Refuse a version whose validation is pending or was skipped. */
  readonly stagingDryRunRequired: boolean;
  /** Refuse a promotion by whoever registered the version. */
  readonly fourEyesRequired: boolean;
}

export interface PromoteVersionInput {
  readonly model: string;
  /** A number or an alias. */
  readonly version: string;
  readonly comment?: string | undefined;
  /** Refuse unless this version is in Production; null: unless none is. */
  readonly expected_production?: string | null | undefined;
  readonly challenge_id?: string | undefined;
  /** Whatever the validation says; admins alone. */
  readonly force?: boolean | undefined;
}

/**
 * Moves a version from Staging to Production and what is there to Archived, in one transaction; a version that is in
 * Production already stays as it is.
 * Throws RES002, RES003, RES005 (not staged, validation, another version in Production than expected), RES006 (archived),
 * AUTH004, VAL005, SVC005.
 *
 * @param won the challenge that the version won: refused unless it awaits the promotion, which the same transaction records
 */
export async function promoteVersion(
  deps: PromoteVersionDeps,
  call: RegistryCall,
  input: PromoteVersionInput,
  won?: string,
): Promise<MoveReply<PromoteReply>> {
  const comment = checkText(input.comment, 'comment', MAX_COMMENT);
  const challengeId = checkText(input.challenge_id, 'challenge_id', 100);
  const { model, version } = input;
  const reference = { model, version, field: 'version', modelField: 'name' };
  return makeMove(
    deps,
    { operation: 'promoteVersion', call, input },
    (key) => lookUpVersion(deps.registry, reference, key),
    async (state): Promise<Decision<PromoteReply>> => {
      const found = existing(reference, state);
      if (found.version.stage === 'Production' && won === undefined) {
        return { body: unchanged(found), move: null };
      }
      const { expected_production, force } = input;
      return planPromotion(deps, found, {
        ...{ call, expected_production, comment, challengeId, force },
        challenges: (at) =>
          challengesEndedBy(deps.challenges, found.model, { call, at, version: found.version.version, won }),
      });
    },
  );
}

/** A promotion that is to be planned, whoever asked for it. */
interface Promotion {
  readonly call: RegistryCall;
  readonly expected_production: string | null | undefined;
  readonly comment: string | null;
  readonly challengeId: string | null;
  readonly force?: boolean | undefined;
  /** Those that it ends at that time. */
  readonly challenges: (at: string) => Promise<readonly ChallengeChange[]>;
}

/** The move of a promotion, with every rule of it. Throws RES005, RES006, AUTH004 as {@link promoteVersion}, SVC005. */
export async function planPromotion(
  deps: Omit<PromoteVersionDeps, 'challenges'>,
  found: FoundVersion,
  promotion: Promotion,
): Promise<{ readonly body: PromoteReply; readonly move: Omit<RegistryMove, 'reply'> }> {
  const { call, force, comment, challengeId } = promotion;
  checkStage(found);
  checkExpectedProduction(found.model, promotion.expected_production);
  checkFourEyes(deps, call, found.version);
  const validation = await currentValidation(deps.stagingChecks, found.version);
  if (!force) checkValidation(deps, found, validation);
  const at = momentAfter(deps, found.model);
  const promoted: StoredVersion = {
    ...found.version,
    stage: 'Production',
    validation,
    promoted_at: at,
    updated_at: at,
  };
  const previous = found.model.production_version;
  const notes = [...remarksOn(validation), ...(force ? ['forced'] : [])];
  const move = planMove(deps, found.model, {
    ...({ action: 'promote', call, at, before: found.version, version: promoted } as const),
    archived: previous === null ? null : { version: previous, at, rolledBack: null },
    ...{ reason: comment, notes, challengeId },
    challenges: await promotion.challenges(at),
  });
  return { body: done(promoted, previous, notes), move };
}

function checkStage(found: FoundVersion): void {
  const { stage, version } = found.version;
  if (stage === 'Archived') {
    throw refusal('RES006', found, `Version ${version} is archived: roll back to it`);
  }
  if (stage === 'None') throw refusal('RES005', found, `Version ${version} is not staged: stage it first`);
}

function checkFourEyes(
  deps: Pick<PromoteVersionDeps, 'fourEyesRequired'>,
  { actor }: RegistryCall,
  version: StoredVersion,
): void {
  if (!deps.fourEyesRequired || actor.id !== version.created_by) return;
  throw new CodedError('AUTH004', {
    message: 'Another person than who registered the version must promote it',
    context: { rule: 'four_eyes', created_by: version.created_by },
  });
}

function checkValidation(
  deps: Pick<PromoteVersionDeps, 'stagingDryRunRequired'>,
  found: FoundVersion,
  validation: Validation,
): void {
  const { status } = validation;
  if (status === 'passed' || (status !== 'failed' && !deps.stagingDryRunRequired)) return;
  const message = `The validation of version ${found.version.version} ${STATES[status]}`;
  throw refusal('RES005', found, message, { validation });
}

const STATES: Record<Exclude<Validation['status'], 'passed'>, string> = {
  failed: 'failed',
  pending: 'is under way',
  skipped: 'was skipped',
};

function done(version: StoredVersion, previous: string | null, notes: readonly string[]): PromoteReply {
  const archived = previous === null ? '' : `; version ${previous} is archived`;
  const remarks = notes.length === 0 ? '' : ` (${notes.join(', ')})`;
  return {
    success: true,
    message: `Version ${version.version} is in Production${remarks}${archived}.`,
    archived_versions: previous === null ? [] : [previous],
    previous_stage: 'Staging',
    new_stage: 'Production',
    model_name: version.model_name,
    version: version.version,
    previous_production: previous,
    promoted_at: version.promoted_at,
  };
}

function unchanged({ model, version }: FoundVersion): PromoteReply {
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
