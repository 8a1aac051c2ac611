import type { Challenge } from '#contract/registry/challenge-api.ts';
import type { MinAssignments } from '#contract/registry/release-policy.ts';
import {
  ANALYSIS_UNITS,
  CANARY_STAGE_NAMES,
  type CanaryStage,
  ON_ROLLBACK,
  type StoredChallenge,
} from '#contract/registry/stored-challenge.ts';
import type { StoredModel, StoredVersion } from '#contract/registry/stored-registry.ts';
import {
  CHALLENGE_ID_PREFIX,
  CHALLENGE_DEFAULTS as DEFAULTS,
  CHALLENGE_LIMITS as LIMITS,
  MIN_TRADES,
} from '#contract/values/challenge-limits.ts';
import { HOUR_MS } from '#contract/values/durations.ts';
import { CodedError } from '#contract/values/errors.ts';
import { isoTime } from '../shared/iso-time.ts';
import { unknownModel } from '../shared/unknown-resources.ts';
import { checkNumber, checkOneOf } from '../shared/validate.ts';
import {
  applyTransition,
  type TransitionCall,
  type TransitionResult,
} from '../transitions/apply-transition.ts';
import { comparisonOfVersions } from '../transitions/compare-evidence.ts';
import { existing, numberOf, rejection } from '../transitions/find-version.ts';
import { COMPARE_REJECTS } from '../transitions/plan-promotion.ts';
import { stageTransitions } from '../transitions/plan-transition.ts';
import { sameRunWarnings } from '../transitions/same-run.ts';
import { begin, CHAMPION_NOT_IN_PRODUCTION, newStage, withEvent } from './challenge-state.ts';
import { challengeView } from './read-challenges.ts';
import { type ChallengeDeps, writeChallenge } from './write-challenge.ts';

export interface CreateChallengeDeps extends ChallengeDeps {
  /** Minimum closed trades per variant for a promotion, regardless of the request. */
  readonly challengeMinTrades: number;
  /** Hours that a challenge must have lasted before its verdict. */
  readonly challengeMinHours: number;
  /** Assignments that each variant must have before the verdict. */
  readonly challengeMinAssignments: MinAssignments;
  /** Default of `require_assignment`. */
  readonly challengeRequireAssignment: boolean;
}

export interface CreateChallengeInput {
  readonly model: string;
  /** A version number or an alias, as `challenger_version`. */
  readonly champion_version: string;
  readonly challenger_version: string;
  readonly min_trades?: number | undefined;
  readonly max_duration_hours?: number | undefined;
  readonly enable_canary?: boolean | undefined;
  readonly max_drawdown_pct?: number | undefined;
  readonly max_errors?: number | undefined;
  readonly approval_stages?: readonly string[] | undefined;
  readonly analysis_unit?: string | undefined;
  readonly on_rollback?: string | undefined;
  readonly auto_promote?: boolean | undefined;
  readonly require_assignment?: boolean | undefined;
}

/**
 * Starts a test of two versions of a model.
 * Throws RES002, RES003 (unknown version), RES005 (another challenge is active), RES006 (archived version), VAL005 (equal
 * versions, or a value out of bounds), SVC005.
 */
export async function createChallenge(
  deps: CreateChallengeDeps,
  call: TransitionCall,
  input: CreateChallengeInput,
): Promise<TransitionResult<Challenge>> {
  const settings = readSettings(input, deps.challengeRequireAssignment);
  return applyTransition(
    deps,
    stageTransitions(deps.challenges),
    { operation: 'createChallenge', call, input },
    (key) => readVersions(deps, input, key),
    async (state) => {
      const { model, versions } = checkVersions(input, state);
      if (model.active_challenge_id !== null) throw alreadyActive(model.active_challenge_id);
      const ended = await deps.registry.endedVersions(model.model_name);
      const same = versions.flatMap((version) => sameRunWarnings(ended, version));
      const created = newChallenge(deps, { call, model, versions, settings });
      const challenge = { ...created, warnings: [...created.warnings, ...same] };
      const { challenge: after, events } = withEvent(begin(challenge), {}, startOf(challenge, call));
      return {
        body: challengeView(after),
        write: { before: null, after, events, modelRevision: model.revision },
      };
    },
  );
}

function readSettings(input: CreateChallengeInput, requiresAssignment: boolean) {
  const { min_trades = DEFAULTS.min_trades, max_duration_hours = DEFAULTS.max_duration_hours } = input;
  const { max_drawdown_pct, max_errors } = input;
  return {
    min_trades: checkNumber(min_trades, 'min_trades', LIMITS.min_trades),
    max_duration_hours: checkNumber(max_duration_hours, 'max_duration_hours', LIMITS.max_duration_hours),
    max_drawdown_pct:
      max_drawdown_pct === undefined
        ? null
        : checkNumber(max_drawdown_pct, 'max_drawdown_pct', LIMITS.max_drawdown_pct),
    max_errors: max_errors === undefined ? null : checkNumber(max_errors, 'max_errors', LIMITS.max_errors),
    enable_canary: input.enable_canary ?? DEFAULTS.enable_canary,
    approval_stages: readGates(input),
    analysis_unit: checkOneOf(input.analysis_unit ?? DEFAULTS.analysis_unit, 'analysis_unit', ANALYSIS_UNITS),
    on_rollback: checkOneOf(input.on_rollback ?? DEFAULTS.on_rollback, 'on_rollback', ON_ROLLBACK),
    auto_promote: input.auto_promote ?? DEFAULTS.auto_promote,
    require_assignment: input.require_assignment ?? requiresAssignment,
  };
}

/** Stages that need an approval. Throws VAL005 for the first stage, for a repeated one, and for any stage without a canary. */
function readGates({
  approval_stages = [],
  enable_canary = DEFAULTS.enable_canary,
}: CreateChallengeInput): CanaryStage[] {
  const field = 'approval_stages';
  const stages = approval_stages.map((stage, index) =>
    checkOneOf(stage, `${field}.${index}`, CANARY_STAGE_NAMES.slice(1)),
  );
  if (new Set(stages).size < stages.length) {
    throw new CodedError('VAL005', {
      message: 'approval_stages names a stage twice: name each once',
      field,
      context: { value: stages },
    });
  }
  if (enable_canary || stages.length === 0) return stages;
  throw new CodedError('VAL005', {
    message: 'approval_stages needs a canary: remove it or set enable_canary',
    field,
  });
}

const FIELDS = ['champion_version', 'challenger_version'] as const;

async function readVersions(
  deps: ChallengeDeps,
  input: CreateChallengeInput,
  key: Parameters<ChallengeDeps['registry']['read']>[2],
) {
  const { registry } = deps;
  const named = FIELDS.map((field) => input[field]);
  const read = () => registry.read(input.model, named.filter(isNumber), key);
  const first = await read();
  const active = first.model?.active_challenge_id ?? null;
  const { model, versions, idempotencyRecord } =
    active !== null && (await hasEnded(deps, active)) ? await read() : first;
  const numbers = named.map((name) => (model && numberOf(name, model)) ?? name);
  const aliased = numbers.filter((number, index) => number !== named[index]);
  const more = aliased.length > 0 ? (await registry.read(input.model, aliased)).versions : versions;
  return {
    model,
    idempotencyRecord,
    found: numbers.map((number) => versions.get(number) ?? more.get(number)),
  };
}

function isNumber(name: string): boolean {
  return /^[1-9]\d{0,8}$/.test(name);
}

/** True when the active challenge's time limit has passed; stores its end. */
function hasEnded(deps: ChallengeDeps, id: string): Promise<boolean> {
  return writeChallenge(deps, id, {}, async ({ progress }) => ({
    response: ({ status }) => status !== 'active',
    progress,
  }));
}

function checkVersions(
  input: CreateChallengeInput,
  { model, found }: Awaited<ReturnType<typeof readVersions>>,
): { readonly model: StoredModel; readonly versions: readonly [StoredVersion, StoredVersion] } {
  if (!model) throw unknownModel(input.model);
  const versions = FIELDS.map((field, index) => {
    const reference = { model: input.model, version: input[field], field };
    const { version } = existing(reference, { model, version: found[index], idempotencyRecord: undefined });
    if (version.stage !== 'Archived') return version;
    throw rejection(
      'RES006',
      { model, version, field },
      `Version ${version.version} is in stage Archived: name another version`,
    );
  }) as [StoredVersion, StoredVersion];
  const [champion, challenger] = versions;
  if (champion.version !== challenger.version) return { model, versions };
  throw new CodedError('VAL005', {
    message: 'champion_version and challenger_version are the same version: name two versions',
    field: 'challenger_version',
    context: { champion_version: champion.version, challenger_version: challenger.version },
  });
}

function alreadyActive(challengeId: string): CodedError {
  return new CodedError('RES005', {
    message: 'The model has an active challenge: end it before you create another',
    field: 'model_name',
    context: { active_challenge_id: challengeId },
  });
}

function newChallenge(
  deps: CreateChallengeDeps,
  of: {
    readonly call: TransitionCall;
    readonly model: StoredModel;
    readonly versions: readonly [StoredVersion, StoredVersion];
    readonly settings: ReturnType<typeof readSettings>;
  },
): StoredChallenge {
  const { call, model, settings } = of;
  const [champion, challenger] = of.versions;
  const now = deps.clock.now();
  const at = isoTime(now);
  const effective_min_trades = Math.max(settings.min_trades, deps.challengeMinTrades);
  const { challengeMinHours: min_hours, challengeMinAssignments: assignments } = deps;
  return {
    schema_version: 2,
    challenge_id: `${CHALLENGE_ID_PREFIX}${deps.ids.ulid()}`,
    model_name: model.model_name,
    champion_version: champion.version,
    challenger_version: challenger.version,
    status: 'active',
    outcome: null,
    reason: null,
    ...settings,
    effective_min_trades,
    min_hours,
    min_assignments: assignments === MIN_TRADES ? effective_min_trades : assignments,
    stages: [newStage(settings.enable_canary ? 'stage_1' : 'stage_4', at)],
    hold: null,
    acknowledged_holds: [],
    planned_look: null,
    equity: { profit: 0, peak: 0, drawdown: 0 },
    trades: 0,
    misassigned: 0,
    unassigned: 0,
    late: 0,
    keys_with_several_trades: 0,
    evaluations: 0,
    evaluated_trades: 0,
    warnings: [
      ...warningsOf(champion, challenger),
      ...(settings.max_duration_hours > min_hours ? [] : [tooShort(settings.max_duration_hours, min_hours)]),
      ...(deps.challengeRequireAssignment && !settings.require_assignment ? [NOT_REQUIRED] : []),
    ],
    revision: 1,
    events: 0,
    created_by: call.actor.id,
    creator: { groups: [...call.actor.groups], is_admin: call.actor.isAdmin },
    created_at: at,
    updated_at: at,
    last_traffic_at: at,
    ends_at: isoTime(now + settings.max_duration_hours * HOUR_MS),
    ended_at: null,
    promoted_at: null,
    promotion_rejected: null,
  };
}

function warningsOf(champion: StoredVersion, challenger: StoredVersion): string[] {
  return [
    ...(champion.stage === 'Production' ? [] : [`${CHAMPION_NOT_IN_PRODUCTION}: it is in ${champion.stage}`]),
    ...(challenger.stage === 'Staging' ? [] : [`challenger_not_in_staging: it is in ${challenger.stage}`]),
    ...rejectionOf(champion, challenger),
  ];
}

/** Warning when the comparison of the backtests rejects the challenger. */
function rejectionOf(champion: StoredVersion, challenger: StoredVersion): string[] {
  const { decision, recommendation } = comparisonOfVersions(champion, challenger);
  if (decision !== 'REJECT') return [];
  return [`${COMPARE_REJECTS}: by their backtests the challenger should be rejected: ${recommendation}`];
}

const NOT_REQUIRED =
  'require_assignment is off: trades whose key was not assigned count; on this platform the default is on';

function tooShort(max: number, min: number): string {
  return `no_verdict_possible: the challenge ends after ${max} h; on this platform a verdict needs more than ${min} h`;
}

function startOf({ created_at }: StoredChallenge, { actor, correlationId }: TransitionCall) {
  return { action: 'create', at: created_at, actor: actor.id, correlationId } as const;
}
