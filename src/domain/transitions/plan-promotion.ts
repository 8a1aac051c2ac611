import type { ValidationCheck } from '#contract/common/validation-check.ts';
import type { PromoteResult } from '#contract/registry/registry-api.ts';
import type { ReleasePolicy } from '#contract/registry/release-policy.ts';
import type { StoredChallenge } from '#contract/registry/stored-challenge.ts';
import type { StoredVersion, Validation } from '#contract/registry/stored-registry.ts';
import { CodedError } from '#contract/values/errors.ts';
import type { TransitionCall, TransitionDeps } from './apply-transition.ts';
import { currentValidation, type StagingChecks, warningsFor } from './check-status.ts';
import { checkExpectedProduction, type FoundVersion, rejection } from './find-version.ts';
import { nextTimestamp, planTransition } from './plan-transition.ts';
import type { ChallengeChange, RegistryStore, StageTransition } from './registry-store.ts';
import {
  checkCertificate,
  checkPolicy,
  isNumberCheck,
  needlessWaivers,
  type RequestedWaiver,
  waiverNotes,
  waiverOf,
  withWaiver,
} from './release-policy.ts';

export interface PromotionDeps extends TransitionDeps {
  readonly registry: RegistryStore;
  readonly stagingChecks: Pick<StagingChecks, 'outcome'> | null;
  /** Reject a version whose validation is pending or was skipped. */
  readonly stagingDryRunRequired: boolean;
  /** Reject a promotion by the user who registered the version. */
  readonly fourEyesRequired: boolean;
  readonly releasePolicy: ReleasePolicy;
}

/** A promotion to plan, requested by a caller or by the platform. */
export interface Promotion {
  readonly call: TransitionCall;
  readonly expected_production: string | null | undefined;
  readonly comment: string | null;
  readonly challengeId: string | null;
  readonly force?: boolean | undefined;
  readonly waiver: RequestedWaiver | null;
  /** Challenges that the promotion ends at that time. */
  readonly challenges: (at: string) => Promise<readonly ChallengeChange[]>;
}

/** The stage transition of a promotion, with every rule of it. Throws RES005, RES006, AUTH004 (four eyes), SVC005. */
export async function planPromotion(
  deps: PromotionDeps,
  found: FoundVersion,
  promotion: Promotion,
): Promise<{ readonly body: PromoteResult; readonly write: StageTransition }> {
  const { call, force, comment, waiver: requested } = promotion;
  checkStage(found);
  checkExpectedProduction(found.model, promotion.expected_production);
  checkFourEyes(deps, call, found.version);
  const staged = await currentValidation(deps.stagingChecks, found.version);
  const decided = decideChecks(deps, found.version, staged, { requested, call });
  checkGates(deps, found, staged, { ...decided, force });
  const at = nextTimestamp(deps, found.model);
  const waiver = waiverOf('promote', decided.required, requested, { call, at });
  const validation = { ...staged, checks: decided.stored };
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
    ...warningsFor(validation),
    ...(force ? ['forced'] : []),
    ...waiverNotes(waiver),
    ...(challenge ? spokenAgainst(challenge) : []),
  ];
  const write = planTransition(deps, found.model, {
    action: 'promote',
    call,
    at,
    before: found.version,
    version: promoted,
    archived: previous === null ? null : { version: previous, at, rolledBack: null },
    reason: comment,
    notes,
    waiver,
    challenges,
    challengeId: promotion.challengeId ?? won?.challenge_id ?? null,
  });
  return {
    body: { ...done(promoted, previous, notes), warnings: needlessWaivers(requested, waiver) },
    write,
  };
}

/** The challenge whose challenger a promotion promotes, if it ends one. */
function promotedIn(challenges: readonly ChallengeChange[]): StoredChallenge | undefined {
  return challenges.find(({ before, after }) => after.promoted_at !== (before?.promoted_at ?? null))?.after;
}

function checkStage(found: FoundVersion): void {
  const { stage, version } = found.version;
  if (stage === 'Archived') {
    throw rejection('RES006', found, `Version ${version} is in stage Archived. Roll back to it instead`);
  }
  if (stage === 'None')
    throw rejection('RES005', found, `Version ${version} is in stage None. Stage it first`);
}

function checkFourEyes(
  deps: Pick<PromotionDeps, 'fourEyesRequired'>,
  { actor }: TransitionCall,
  version: StoredVersion,
): void {
  if (!deps.fourEyesRequired || actor.id !== version.created_by) return;
  throw new CodedError('AUTH004', {
    message: 'The user who registered the version cannot promote it: ask another approver',
    context: { rule: 'four_eyes', created_by: version.created_by },
  });
}

/** Checks of a version that is to be promoted. */
interface DecidedChecks {
  /** Checks of the release policy, waived ones marked. */
  readonly required: readonly ValidationCheck[];
  /** All checks: those of the staging, with its policy checks replaced by the policy's current ones. */
  readonly all: readonly ValidationCheck[];
  /** Checks stored with the version: as `all`, with the staging's own look-ahead check. */
  readonly stored: ValidationCheck[];
}

/** Checks under the current release policy: the staging's checks and waivers of the same numbers no longer count. */
function decideChecks(
  { releasePolicy, clock }: Pick<PromotionDeps, 'releasePolicy' | 'clock'>,
  version: StoredVersion,
  staged: Validation,
  { requested, call }: { readonly requested: RequestedWaiver | null; readonly call: TransitionCall },
): DecidedChecks {
  const numbers = withWaiver(checkPolicy(releasePolicy, version, clock.now()), requested, call);
  const certificate = checkCertificate(releasePolicy, staged.checks, version);
  const certificates = withWaiver(certificate ? [certificate] : [], requested, call);
  const others = staged.checks.filter(({ name }) => !isNumberCheck(name));
  const replaced = others.filter(({ name }) => certificates.every((each) => each.name !== name));
  return {
    required: [...numbers, ...certificates],
    all: [...replaced, ...numbers, ...certificates],
    stored: [...others, ...numbers],
  };
}

/** Throws RES005 with all failed requirements. */
function checkGates(
  deps: Pick<PromotionDeps, 'stagingDryRunRequired'>,
  found: FoundVersion,
  validation: Validation,
  { required, all, force }: DecidedChecks & { readonly force: boolean | undefined },
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
  throw rejection('RES005', found, reasons.join('. '), { validation, checks: all });
}

const STATES: Record<Validation['status'], string> = {
  passed: 'passed',
  failed: 'failed',
  pending: 'is still running',
  skipped: 'was skipped',
};

function done(version: StoredVersion, previous: string | null, notes: readonly string[]): PromoteResult {
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

/** Prefix of a challenge's warning that the comparison of the registered backtests rejects the challenger. */
export const COMPARE_REJECTS = 'compare_rejects';

/** Warnings of a challenge's creation that speak against promoting its challenger. */
export function spokenAgainst({ warnings }: StoredChallenge): string[] {
  return warnings.filter((warning) => warning.startsWith(COMPARE_REJECTS));
}
