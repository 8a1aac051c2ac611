import { CodedError } from '#contract/errors.ts';
import { MAX_ID_LENGTH, MAX_NOTE_LENGTH } from '#contract/limits.ts';
import type { PromoteReply } from '#contract/registry-api.ts';
import type { ReleasePolicy, WaiveRequest } from '#contract/release-policy.ts';
import type { StoredChallenge } from '#contract/stored-challenge.ts';
import type { StoredVersion, Validation } from '#contract/stored-registry.ts';
import type { ValidationCheck } from '#contract/validation.ts';
import { spokenAgainst } from '../challenges/challenge-state.ts';
import type { ChallengeChange, ChallengeStore } from '../challenges/challenge-store.ts';
import { challengesEndedBy } from '../challenges/end-challenge.ts';
import { checkText } from '../validate.ts';
import { checkCertificate, checkPolicy, isNumberCheck } from './check-policy.ts';
import { existing, type FoundVersion, lookUpVersion } from './find-version.ts';
import { type Decision, type MoveDeps, type MoveReply, makeMove, type RegistryCall } from './make-move.ts';
import { momentAfter, planMove } from './plan-move.ts';
import { checkExpectedProduction, refusal } from './refuse-move.ts';
import type { RegistryMove } from './registry-store.ts';
import type { StagingChecks } from './staging-checks.ts';
import { currentValidation, remarksOn } from './validation.ts';
import { type AskedWaiver, needlessWaivers, readWaiver, remarkOn, waiverOf, withWaiver } from './waiver.ts';

export interface PromoteVersionDeps extends MoveDeps {
  readonly challenges: Pick<ChallengeStore, 'latest' | 'read'>;
  readonly stagingChecks: Pick<StagingChecks, 'outcome'> | null;
  /** Refuse a version whose validation is pending or was skipped. */
  readonly stagingDryRunRequired: boolean;
  /** Refuse a promotion by whoever registered the version. */
  readonly fourEyesRequired: boolean;
  readonly releasePolicy: ReleasePolicy;
}

export interface PromoteVersionInput {
  readonly model: string;
  /** A number or an alias. */
  readonly version: string;
  readonly comment?: string | undefined;
  /** Refuse unless this version is in Production; null: unless none is. */
  readonly expected_production?: string | null | undefined;
  readonly challenge_id?: string | undefined;
  /** Regardless of the validation, never of the release policy; admins only. */
  readonly force?: boolean | undefined;
  /** Admins only. */
  readonly waive?: WaiveRequest | undefined;
}

/**
 * Moves a version from Staging to Production and what is there to Archived, in one transaction; a version that is in
 * Production already stays as it is.
 * Throws RES002, RES003, RES005 (not staged, validation or release policy: `context.checks`, another version in Production
 * than expected), RES006 (archived), AUTH004, VAL004 and VAL005 (the waiver), SVC005.
 *
 * @param won the challenge that the version won: refused unless it awaits the promotion, which the same transaction records
 */
export async function promoteVersion(
  deps: PromoteVersionDeps,
  call: RegistryCall,
  input: PromoteVersionInput,
  won?: string,
): Promise<MoveReply<PromoteReply>> {
  const comment = checkText(input.comment, 'comment', MAX_NOTE_LENGTH);
  const challengeId = checkText(input.challenge_id, 'challenge_id', MAX_ID_LENGTH);
  const waiver = readWaiver(input.waive);
  const { model, version } = input;
  const reference = { model, version, field: 'version', modelField: 'name' };
  return makeMove(
    deps,
    { operation: 'promoteVersion', call, input },
    (key) => lookUpVersion(deps.registry, reference, key),
    async (state): Promise<Decision<PromoteReply>> => {
      const found = existing(reference, state);
      if (found.version.stage === 'Production' && won === undefined) {
        return { body: { ...unchanged(found), warnings: needlessWaivers(waiver, null) }, move: null };
      }
      const { expected_production, force } = input;
      return planPromotion(deps, found, {
        ...{ call, expected_production, comment, challengeId, force, waiver },
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
  readonly waiver: AskedWaiver | null;
  /** Those that it ends at that time. */
  readonly challenges: (at: string) => Promise<readonly ChallengeChange[]>;
}

/** The move of a promotion, with every rule of it. Throws RES005, RES006, AUTH004 as {@link promoteVersion}, SVC005. */
export async function planPromotion(
  deps: Omit<PromoteVersionDeps, 'challenges'>,
  found: FoundVersion,
  promotion: Promotion,
): Promise<{ readonly body: PromoteReply; readonly move: Omit<RegistryMove, 'reply'> }> {
  const { call, force, comment, waiver: asked } = promotion;
  checkStage(found);
  checkExpectedProduction(found.model, promotion.expected_production);
  checkFourEyes(deps, call, found.version);
  const staged = await currentValidation(deps.stagingChecks, found.version);
  const judged = judge(deps, found.version, staged, { asked, call });
  checkGates(deps, found, staged, { ...judged, force });
  const at = momentAfter(deps, found.model);
  const waiver = waiverOf('promote', judged.required, asked, { call, at });
  const validation = { ...staged, checks: judged.stored };
  const promoted: StoredVersion = {
    ...found.version,
    stage: 'Production',
    validation,
    promoted_at: at,
    updated_at: at,
    waivers: [...found.version.waivers, ...(waiver ? [waiver] : [])],
  };
  const previous = found.model.production_version;
  const challenges = await promotion.challenges(at);
  const challenge = promotedIn(challenges);
  const won = challenge?.outcome === 'challenger_wins' ? challenge : null;
  const notes = [
    ...remarksOn(validation),
    ...(force ? ['forced'] : []),
    ...remarkOn(waiver),
    ...(challenge ? spokenAgainst(challenge) : []),
  ];
  const move = planMove(deps, found.model, {
    ...({ action: 'promote', call, at, before: found.version, version: promoted } as const),
    archived: previous === null ? null : { version: previous, at, rolledBack: null },
    ...{ reason: comment, notes, waiver, challenges },
    challengeId: promotion.challengeId ?? won?.challenge_id ?? null,
  });
  return { body: { ...done(promoted, previous, notes), warnings: needlessWaivers(asked, waiver) }, move };
}

/** The challenge whose challenger a promotion promotes, if it ends one. */
function promotedIn(challenges: readonly ChallengeChange[]): StoredChallenge | undefined {
  return challenges.find(({ before, after }) => after.promoted_at !== (before?.promoted_at ?? null))?.after;
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

/** Checks of a version as it is to be promoted. */
interface JudgedChecks {
  /** Those of the release policy, waived ones marked. */
  readonly required: readonly ValidationCheck[];
  /** All: those of the staging, with the policy's in the place of what it says of the same. */
  readonly all: readonly ValidationCheck[];
  /** What the version keeps: as `all`, with the staging's own word on the look-ahead. */
  readonly stored: ValidationCheck[];
}

/** The release policy as of now: what the staging said of its numbers, or waived of them, no longer counts. */
function judge(
  { releasePolicy, clock }: Pick<PromoteVersionDeps, 'releasePolicy' | 'clock'>,
  version: StoredVersion,
  staged: Validation,
  { asked, call }: { readonly asked: AskedWaiver | null; readonly call: RegistryCall },
): JudgedChecks {
  const numbers = withWaiver(checkPolicy(releasePolicy, version, clock.now()), asked, call);
  const certificate = checkCertificate(releasePolicy, staged.checks, version);
  const certificates = withWaiver(certificate ? [certificate] : [], asked, call);
  const others = staged.checks.filter(({ name }) => !isNumberCheck(name));
  const replaced = others.filter(({ name }) => certificates.every((each) => each.name !== name));
  return {
    required: [...numbers, ...certificates],
    all: [...replaced, ...numbers, ...certificates],
    stored: [...others, ...numbers],
  };
}

/** Throws RES005 that names all that stands against the promotion. */
function checkGates(
  deps: Pick<PromoteVersionDeps, 'stagingDryRunRequired'>,
  found: FoundVersion,
  validation: Validation,
  { required, all, force }: JudgedChecks & { readonly force: boolean | undefined },
): void {
  const { status } = validation;
  const { version } = found.version;
  const passes = force || status === 'passed' || (status !== 'failed' && !deps.stagingDryRunRequired);
  const missed = required.filter((check) => check.status === 'failed' || check.status === 'pending');
  if (passes && missed.length === 0) return;
  const reasons = [
    ...(passes ? [] : [`The validation of version ${version} ${STATES[status]}`]),
    ...(missed.length > 0 ? [`Version ${version} misses the release policy`] : []),
    ...missed.map(({ name, message }) => `${name}: ${message}`),
  ];
  throw refusal('RES005', found, reasons.join('. '), { validation, checks: all });
}

const STATES: Record<Validation['status'], string> = {
  passed: 'passed',
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
