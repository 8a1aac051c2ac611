import { CodedError } from '#contract/errors.ts';
import type { StoredAssignment, StoredChallenge, StoredTrade, Variant } from '#contract/stored-challenge.ts';
import type { Digest } from '#engine/digest.ts';
import { assign, versionOf, withAssignment } from './assignment.ts';
import { changed, currentStage, type Progress, stageAt } from './challenge-state.ts';
import { countTrade } from './count-trade.ts';
import { checkOrder, type PostedTrade } from './read-trade.ts';

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
 * A challenge with one more trade in its totals, or with one that is open closed or marked anew. After the end only `late`
 * rises. Throws RES005 for another trade of the same id and for one opened after the end, VAL001 for one that closes before it
 * opens, VAL005 for a version that is not of the challenge.
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
    closed_at: closedAt(posted, opened_at, at),
    open_digest: posted.status === 'open' ? posted.digest : null,
    closed_digest: posted.status === 'open' ? null : posted.digest,
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
  const done = countTrade(assigned, { now: trade, before: null, assignment: given });
  const fresh = isNewKey && given ? given : null;
  return { ...done, assignment: done.assignment ?? fresh, trade, duplicate: false };
}

/** A trade whose id is known: the same again, an open one with another mark, or its close. */
function applyAgain(
  progress: Progress,
  posted: PostedTrade,
  known: Known & { readonly trade: StoredTrade },
  at: string,
): AppliedTrade {
  const { trade: stored, assignment } = known;
  if (isRepeat(posted, stored)) return { progress, trade: stored, duplicate: true, assignment: null };
  const { challenge } = progress;
  checkFollows(challenge, posted, stored);
  const late = challenge.status !== 'active';
  const changes = posted.status === 'open' ? {} : closeOf(posted, stored, at);
  const trade: StoredTrade = {
    ...stored,
    ...changes,
    profit_pct: posted.details.profit_pct,
    late: stored.late || late,
    updated_at: at,
  };
  const isTraffic = !late && posted.status === 'closed';
  const counted = changed(progress, {
    late: challenge.late + (trade.late && !stored.late ? 1 : 0),
    ...(isTraffic && { last_traffic_at: at }),
  });
  return { ...countTrade(counted, { now: trade, before: stored, assignment }), trade, duplicate: false };
}

/** Whether it says nothing new: an old mark of what has been closed, too, and an open trade once more without its mark. */
function isRepeat({ status, digest, details }: PostedTrade, stored: StoredTrade): boolean {
  if (digest === stored.closed_digest) return true;
  if (status !== 'open' || digest !== stored.open_digest) return false;
  return stored.status !== 'open' || details.profit_pct === null || details.profit_pct === stored.profit_pct;
}

/** What tells a trade from another that was posted under its id by mistake. */
const OF_ONE_TRADE = ['assignment_key', 'pair', 'side'] as const;

function agree({ details }: PostedTrade, stored: StoredTrade, name: (typeof OF_ONE_TRADE)[number]): boolean {
  return details[name] === null || stored[name] === null || details[name] === stored[name];
}

/** Throws RES005 unless the trade stored is open and this one closes it, or marks it anew. */
function checkFollows(challenge: StoredChallenge, posted: PostedTrade, stored: StoredTrade): void {
  const sameArm = armOf(challenge, posted) === stored.variant;
  const closes = posted.status === 'closed' && OF_ONE_TRADE.every((name) => agree(posted, stored, name));
  const follows = closes || posted.digest === stored.open_digest;
  if (stored.status === 'open' && follows && sameArm) return;
  throw new CodedError('RES005', {
    message: sameArm
      ? `Trade ${posted.tradeId} is stored with another content`
      : `Trade ${posted.tradeId} is stored as one of the ${stored.variant}`,
    field: `${posted.path}trade_id`,
    context: { trade_id: posted.tradeId, status: stored.status, variant: stored.variant },
  });
}

/** What the close of a trade tells of it beyond what its opening did. */
function closeOf(posted: PostedTrade, stored: StoredTrade, at: string): Partial<StoredTrade> {
  const given = Object.fromEntries(Object.entries(posted.details).filter(([, value]) => value !== null));
  const opened_at = stored.opened_at ?? posted.details.opened_at;
  return {
    ...given,
    assignment_key: stored.assignment_key,
    opened_at,
    closed_at: closedAt(posted, opened_at, at),
    status: 'closed',
    closed_digest: posted.digest,
  };
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

/** When it closed, now unless it says so; null when it has not. Throws VAL001 when it opened after that. */
function closedAt({ status, details, path }: PostedTrade, opened_at: string | null, at: string) {
  if (status !== 'closed') return null;
  const closed_at = details.closed_at ?? at;
  checkOrder({ opened_at, closed_at }, `${path}${details.closed_at === null ? 'opened_at' : 'closed_at'}`);
  return closed_at;
}
