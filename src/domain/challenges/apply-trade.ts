import { CodedError } from '#contract/errors.ts';
import type {
  ArmTotals,
  StoredAssignment,
  StoredChallenge,
  StoredTrade,
  Variant,
} from '#contract/stored-challenge.ts';
import type { Digest } from '#engine/digest.ts';
import { keyWith, NO_KEY, withClosed } from './arm-totals.ts';
import { assign, versionOf, withAssignment } from './assignment.ts';
import { changed, currentStage, type Progress, stageAt } from './challenge-state.ts';
import { withProfit } from './judge-challenge.ts';
import type { PostedTrade } from './read-trade.ts';

/** What is stored of a posted trade and of its key: the one with which it was stored, else the one posted. */
export interface Known {
  readonly trade: StoredTrade | undefined;
  readonly assignment: StoredAssignment | undefined;
}

/** What a posted trade comes to. */
export interface AppliedTrade {
  readonly progress: Progress;
  readonly trade: StoredTrade;
  /** It was stored already, as it is. */
  readonly duplicate: boolean;
  /** Of its key, when it is new or the trade counts in it; null when nothing of it is to be stored. */
  readonly assignment: StoredAssignment | null;
}

/**
 * A challenge with one more trade in its totals. After the end only `late` rises.
 * Throws RES005 for another trade of the same id and for one opened after the end, VAL005 for a version that is not of the
 * challenge.
 */
export function applyTrade(
  progress: Progress,
  posted: PostedTrade,
  known: Known,
  { at, digest }: { readonly at: string; readonly digest: Digest },
): AppliedTrade {
  const { challenge } = progress;
  if (known.trade) return applyAgain(progress, posted, { ...known, trade: known.trade }, at);
  const variant = armOf(challenge, posted);
  const late = challenge.status !== 'active';
  const { opened_at, assignment_key: key } = posted.details;
  if (late) checkOpenedBefore(challenge, posted);
  const isNewKey = key !== null && !known.assignment && !late;
  const given = isNewKey ? assign(challenge, key, digest, { at, entered: opened_at }) : known.assignment;
  const entered = opened_at ? stageAt(challenge, opened_at) : currentStage(challenge).canary_stage;
  const trade: StoredTrade = {
    schema_version: 1,
    challenge_id: challenge.challenge_id,
    trade_id: posted.tradeId,
    sequence: challenge.trades + 1,
    variant,
    canary_stage: given?.canary_stage ?? entered,
    status: posted.status,
    misassigned: given !== undefined && given.variant !== variant,
    late,
    ...posted.details,
    closed_at: closedAt(posted, at),
    open_digest: posted.status === 'open' ? posted.digest : null,
    closed_digest: posted.status === 'closed' ? posted.digest : null,
    created_at: at,
    updated_at: at,
  };
  const counted = changed(progress, {
    trades: trade.sequence,
    late: challenge.late + (late ? 1 : 0),
    misassigned: challenge.misassigned + (trade.misassigned ? 1 : 0),
    ...(!late && { last_traffic_at: at }),
  });
  const assigned = isNewKey && given ? withAssignment(counted, given) : counted;
  const applied = withTrade(assigned, { trade, before: null, assignment: given });
  return isNewKey && given ? { ...applied, assignment: applied.assignment ?? given } : applied;
}

/** A trade whose id is known: the same again, or the close of an open one. */
function applyAgain(
  progress: Progress,
  posted: PostedTrade,
  { trade: stored, assignment }: Known & { readonly trade: StoredTrade },
  at: string,
): AppliedTrade {
  if (posted.digest === stored.open_digest || posted.digest === stored.closed_digest) {
    return { progress, trade: stored, duplicate: true, assignment: null };
  }
  const { challenge } = progress;
  const sameArm = armOf(challenge, posted) === stored.variant;
  if (stored.status !== 'open' || posted.status !== 'closed' || !sameArm) {
    throw new CodedError('RES005', {
      message: sameArm
        ? `Trade ${posted.tradeId} is stored with another content`
        : `Trade ${posted.tradeId} is stored as one of the ${stored.variant}`,
      field: `${posted.path}trade_id`,
      context: { trade_id: posted.tradeId, status: stored.status, variant: stored.variant },
    });
  }
  const late = challenge.status !== 'active';
  const given = Object.fromEntries(Object.entries(posted.details).filter(([, value]) => value !== null));
  const trade: StoredTrade = {
    ...stored,
    ...given,
    assignment_key: stored.assignment_key,
    opened_at: stored.opened_at ?? posted.details.opened_at,
    closed_at: closedAt(posted, at),
    status: 'closed',
    late: stored.late || late,
    closed_digest: posted.digest,
    updated_at: at,
  };
  const counted = changed(progress, {
    late: challenge.late + (trade.late && !stored.late ? 1 : 0),
    ...(!late && { last_traffic_at: at }),
  });
  return withTrade(counted, { trade, before: stored, assignment });
}

interface CountedTrade {
  readonly trade: StoredTrade;
  /** As it was; null of a new one. */
  readonly before: StoredTrade | null;
  /** Of its key, if it has one. */
  readonly assignment: StoredAssignment | undefined;
}

/** The totals with a trade as it is now instead of as it was; a late or misassigned one is in none. */
function withTrade(progress: Progress, counted: CountedTrade): AppliedTrade {
  const { trade, assignment } = counted;
  const applied = { trade, duplicate: false, assignment: null };
  if (trade.late || trade.misassigned) return { ...applied, progress };
  const { challenge } = progress;
  const stages = challenge.stages.map((stage) =>
    stage.canary_stage === trade.canary_stage
      ? { ...stage, [trade.variant]: totalsWith(stage[trade.variant], counted, challenge) }
      : stage,
  );
  if (trade.status === 'open') return { ...applied, progress: changed(progress, { stages }) };
  const key = assignment && withRevision(keyWith(assignment, trade.profit_pct!));
  const several = challenge.keys_with_several_trades + (key?.closed === 2 ? 1 : 0);
  const closed = changed(progress, { stages, keys_with_several_trades: several });
  const isChallenger = trade.variant === 'challenger';
  return {
    ...applied,
    progress: isChallenger ? withProfit(closed, trade.profit_pct!) : closed,
    assignment: key ?? null,
  };
}

function totalsWith(
  totals: ArmTotals,
  { trade, before, assignment }: CountedTrade,
  { analysis_unit }: StoredChallenge,
): ArmTotals {
  if (trade.status === 'open') return { ...totals, open: totals.open + 1 };
  const open = totals.open - (before === null ? 0 : 1);
  return withClosed({ ...totals, open }, trade.profit_pct!, assignment ?? NO_KEY, analysis_unit);
}

function withRevision(assignment: StoredAssignment): StoredAssignment {
  return { ...assignment, revision: assignment.revision + 1 };
}

function armOf(challenge: StoredChallenge, { variant, version, path }: PostedTrade): Variant {
  const named = (['champion', 'challenger'] as const).find((arm) => versionOf(challenge, arm) === version);
  if (version === undefined) return variant!;
  if (named && (variant === undefined || variant === named)) return named;
  throw new CodedError('VAL005', {
    message: named
      ? `Version ${version} is the ${named}`
      : `Version ${version.slice(0, 100)} is not of this challenge`,
    field: `${path}version`,
    context: {
      version: version.slice(0, 100),
      champion_version: challenge.champion_version,
      challenger_version: challenge.challenger_version,
    },
  });
}

function checkOpenedBefore(challenge: StoredChallenge, { details, path }: PostedTrade): void {
  const { ended_at, status, challenge_id } = challenge;
  if (details.opened_at === null || details.opened_at < ended_at!) return;
  throw new CodedError('RES005', {
    message: `The challenge is ${status}: a trade opened after its end is none of it`,
    field: `${path}opened_at`,
    context: { challenge_id, status, ended_at, opened_at: details.opened_at },
  });
}

function closedAt({ status, details }: PostedTrade, at: string): string | null {
  return status === 'open' ? null : (details.closed_at ?? at);
}
