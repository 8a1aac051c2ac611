import type { TRADE_FIELDS, TradeInput } from '#contract/registry/challenge-trade.ts';
import {
  type StoredAssignment,
  type StoredChallenge,
  type StoredTrade,
  TRADE_STATUSES,
  type TradeDetails,
  VARIANTS,
  type Variant,
} from '#contract/registry/stored-challenge.ts';
import { TRADE_LIMITS as LIMITS, TRADE_MODES, TRADE_SIDES } from '#contract/values/challenge-limits.ts';
import type { Digest } from '#contract/values/digest.ts';
import { CodedError } from '#contract/values/errors.ts';
import { MAX_ASSIGNMENT_KEY_LENGTH } from '#contract/values/registry-limits.ts';
import { TRADING_MODES } from '#contract/values/trading-modes.ts';
import { canonicalJson } from '#engine/digest.ts';
import { ACCEPTED_TIMES, isoTime, parseTime } from '../shared/iso-time.ts';
import { checkMaxLength, checkNumber, checkOneOf, checkSymbol } from '../shared/validate.ts';
import {
  assign,
  changed,
  currentStage,
  type Progress,
  stageAt,
  versionOf,
  withAssignment,
} from './challenge-state.ts';
import { countTrade } from './variant-totals.ts';

/** Stored items of a posted trade and of its key: the key stored with the trade, else the posted one. */
export interface Known {
  readonly trade: StoredTrade | undefined;
  readonly assignment: StoredAssignment | undefined;
}

/** Result of a posted trade. */
export interface AppliedTrade {
  readonly progress: Progress;
  readonly trade: StoredTrade;
  /** True for a repeat of a stored trade. */
  readonly duplicate: boolean;
  /** Assignment of its key, when it is new or the trade counts in it; null when it does not change. */
  readonly assignment: StoredAssignment | null;
}

/**
 * A challenge with one more trade in its totals, or with an open trade closed or marked to market again. For a trade that was opened
 * before the start, and after the end, only `late` rises. Throws RES005 for another trade of the same id and for one opened after the
 * end, VAL001 for one that closes before it opens or before the start, or is of the future, VAL005 for a version that is not of the
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
  const variant = variantOfTrade(challenge, posted);
  const { opened_at, assignment_key: key } = posted.details;
  const late = isLate(challenge, opened_at);
  if (challenge.status !== 'active') checkOpenedBefore(challenge, posted);
  const closed_at = closedAt(posted, opened_at, at);
  checkTimes(challenge, posted, at);
  const { require_assignment } = challenge;
  const isNewKey = key !== null && !known.assignment && !late && !require_assignment;
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
    unassigned: isUnassigned(challenge, known, { opened_at, closed_at }),
    late,
    ...posted.details,
    closed_at,
    open_digest: posted.status === 'open' ? posted.digest : null,
    closed_digest: posted.status === 'open' ? null : posted.digest,
    created_at: at,
    updated_at: at,
  };
  const counted = changed(progress, {
    trades: trade.sequence,
    late: challenge.late + (late ? 1 : 0),
    misassigned: challenge.misassigned + (trade.misassigned ? 1 : 0),
    unassigned: challenge.unassigned + (trade.unassigned ? 1 : 0),
    ...(!late && { last_traffic_at: at }),
  });
  const assigned = isNewKey && given ? withAssignment(counted, given) : counted;
  const done = countTrade(assigned, { now: trade, before: null, assignment: given });
  const fresh = isNewKey && given ? given : null;
  return { ...done, assignment: done.assignment ?? fresh, trade, duplicate: false };
}

/** A trade with a known ID: a repeat, an open trade with a new mark price, or its close. */
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
  const changes = posted.status === 'open' ? {} : closeOf(posted, stored, at);
  checkTimes(challenge, posted, at);
  const next = { ...stored, ...changes };
  const late = stored.late || isLate(challenge, next.opened_at);
  const unassigned = stored.unassigned || isUnassigned(challenge, known, next);
  const { profit_pct } = posted.details;
  const trade: StoredTrade = { ...next, profit_pct, late, unassigned, updated_at: at };
  const isTraffic = !late && posted.status === 'closed';
  const counted = changed(progress, {
    late: challenge.late + (late && !stored.late ? 1 : 0),
    unassigned: challenge.unassigned + (unassigned && !stored.unassigned ? 1 : 0),
    ...(isTraffic && { last_traffic_at: at }),
  });
  return { ...countTrade(counted, { now: trade, before: stored, assignment }), trade, duplicate: false };
}

/** True for a trade outside of the challenge: opened before its start, or logged after its end. */
function isLate({ status, created_at }: StoredChallenge, opened_at: string | null): boolean {
  return status !== 'active' || (opened_at !== null && opened_at < created_at);
}

/**
 * True for a trade without a key that was assigned before it, where one is required. An open time may precede the assignment by the
 * difference of two clocks; a trade that had closed by then has a known result.
 */
function isUnassigned(
  { require_assignment }: StoredChallenge,
  { assignment }: Known,
  { opened_at, closed_at }: Pick<TradeDetails, 'opened_at' | 'closed_at'>,
): boolean {
  if (!require_assignment || !assignment) return require_assignment;
  const from = isoTime(Date.parse(assignment.at) - 1000 * LIMITS.ahead_seconds);
  return (opened_at !== null && opened_at < from) || (closed_at !== null && closed_at < assignment.at);
}

/** Throws VAL001 for a trade that was closed before the start of the challenge, and for a time of the future. */
function checkTimes({ created_at }: StoredChallenge, { details, path }: PostedTrade, at: string): void {
  const until = isoTime(Date.parse(at) + 1000 * LIMITS.ahead_seconds);
  for (const name of ['closed_at', 'opened_at'] as const) {
    const time = details[name];
    if (time === null) continue;
    const isAhead = time > until;
    if (!isAhead && (name === 'opened_at' || time >= created_at)) continue;
    const message = isAhead
      ? `${name} is more than ${LIMITS.ahead_seconds} s in the future: ${time}, now ${at}. Correct it, or the clock of the trader`
      : `${name} is before the start of the challenge: ${time}, started ${created_at}. Log trades of the challenge only`;
    const context = { [name]: time, started_at: created_at, now: at };
    throw new CodedError('VAL001', { message, field: `${path}${name}`, context });
  }
}

/** True for a repeat: also an old mark price of a closed trade, and an open trade posted again without its mark price. */
function isRepeat({ status, digest, details }: PostedTrade, stored: StoredTrade): boolean {
  if (digest === stored.closed_digest) return true;
  if (status !== 'open' || digest !== stored.open_digest) return false;
  return stored.status !== 'open' || details.profit_pct === null || details.profit_pct === stored.profit_pct;
}

/** Fields that distinguish a trade from another one posted under its ID by mistake. */
const OF_ONE_TRADE = ['assignment_key', 'pair', 'side'] as const;

function agree({ details }: PostedTrade, stored: StoredTrade, name: (typeof OF_ONE_TRADE)[number]): boolean {
  return details[name] === null || stored[name] === null || details[name] === stored[name];
}

/** Throws RES005 unless the stored trade is open and this one closes it or changes its mark price. */
function checkFollows(challenge: StoredChallenge, posted: PostedTrade, stored: StoredTrade): void {
  const sameVariant = variantOfTrade(challenge, posted) === stored.variant;
  const closes = posted.status === 'closed' && OF_ONE_TRADE.every((name) => agree(posted, stored, name));
  const follows = closes || posted.digest === stored.open_digest;
  if (stored.status === 'open' && follows && sameVariant) return;
  throw new CodedError('RES005', {
    message: sameVariant
      ? `Trade ${posted.tradeId} is already stored with different content: use another trade_id`
      : `Trade ${posted.tradeId} is already stored for the ${stored.variant}: use another trade_id`,
    field: `${posted.path}trade_id`,
    context: { trade_id: posted.tradeId, status: stored.status, variant: stored.variant },
  });
}

/** Fields that the close of a trade adds to its opening. */
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

function variantOfTrade(challenge: StoredChallenge, { variant, version, path }: PostedTrade): Variant {
  const named = (['champion', 'challenger'] as const).find(
    (variant) => versionOf(challenge, variant) === version,
  );
  if (version === undefined) return variant!;
  if (named && (variant === undefined || variant === named)) return named;
  throw new CodedError('VAL005', {
    message: named
      ? `Version ${version} is the ${named}, not the ${variant}`
      : `Version ${version.slice(0, 100)} is not part of this challenge: pass ${challenge.champion_version} or ${challenge.challenger_version}`,
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
    message: `The challenge is ${status}: trades opened after its end are not logged`,
    field: `${path}opened_at`,
    context: { challenge_id, status, ended_at, opened_at: details.opened_at },
  });
}

/** Close time of the trade: given or now; null for an open trade. Throws VAL001 when it opened after that. */
function closedAt({ status, details, path }: PostedTrade, opened_at: string | null, at: string) {
  if (status !== 'closed') return null;
  const closed_at = details.closed_at ?? at;
  checkOrder({ opened_at, closed_at }, `${path}${details.closed_at === null ? 'opened_at' : 'closed_at'}`);
  return closed_at;
}

/** A trade as it was posted, with every rule checked that the challenge itself does not decide. */
export interface PostedTrade {
  readonly tradeId: string;
  /** Path of the trade in the request: empty, or `trades.3.`. */
  readonly path: string;
  readonly variant: Variant | undefined;
  readonly version: string | undefined;
  readonly status: StoredTrade['status'];
  readonly details: TradeDetails;
  /** Digest of the request, to recognize repeats. For an open trade it excludes the mark price, which may change. */
  readonly digest: string;
}

/** Throws VAL001, VAL002, VAL004, VAL005, naming the field. */
export function readTrade(
  trade: TradeInput,
  fields: typeof TRADE_FIELDS,
  digest: Digest,
  path = '',
): PostedTrade {
  const at = (name: string) => `${path}${name}`;
  const status = checkOneOf(trade.status ?? 'closed', at('status'), TRADE_STATUSES);
  if (trade.variant === undefined && trade.version === undefined) {
    const message = 'variant and version are missing: pass variant (champion or challenger) or version';
    throw new CodedError('VAL004', { message, field: at('variant') });
  }
  const same = status === 'open' ? fields.filter((name) => name !== 'profit_pct') : fields;
  checkError(trade, status, at);
  const sent = Object.fromEntries(same.map((name) => [name, trade[name]]));
  return {
    tradeId: nonEmpty(trade.trade_id!, at('trade_id'), LIMITS.trade_id),
    path,
    variant: trade.variant === undefined ? undefined : checkOneOf(trade.variant, at('variant'), VARIANTS),
    version: trade.version === undefined ? undefined : String(trade.version),
    status,
    details: readDetails(trade, at),
    digest: digest(canonicalJson({ ...sent, status })),
  };
}

/** An error has a message instead of a profit. Throws VAL005. */
function checkError(trade: TradeInput, status: StoredTrade['status'], at: (name: string) => string): void {
  const isError = status === 'error';
  const names = isError ? (['profit_pct', 'profit_abs'] as const) : (['error_message'] as const);
  const wrong = names.find((name) => trade[name] !== undefined);
  if (!wrong) return;
  const message = isError
    ? `status error excludes ${wrong}: remove it`
    : 'error_message requires status error: remove it or set the status';
  throw new CodedError('VAL005', { message, field: at(wrong), context: { status } });
}

function readDetails(trade: TradeInput, at: (name: string) => string): TradeDetails {
  const number = (name: 'profit_abs' | 'stake_amount' | 'fee_abs') =>
    trade[name] === undefined ? null : checkNumber(trade[name], at(name), LIMITS.amount);
  const time = (name: 'opened_at' | 'closed_at') => readTime(trade[name], at(name));
  const leverage =
    trade.leverage === undefined ? null : checkNumber(trade.leverage, at('leverage'), LIMITS.leverage);
  const profitBounds = { ...LIMITS.profit_pct, min: LIMITS.profit_pct.min * (leverage ?? 1) };
  const { profit_pct, pair, side, mode, assignment_key } = trade;
  const tradingMode =
    trade.trading_mode === undefined
      ? undefined
      : checkOneOf(trade.trading_mode, at('trading_mode'), TRADING_MODES);
  const details = {
    profit_pct: profit_pct === undefined ? null : checkNumber(profit_pct, at('profit_pct'), profitBounds),
    profit_abs: number('profit_abs'),
    stake_amount: number('stake_amount'),
    fee_abs: number('fee_abs'),
    leverage,
    pair: pair === undefined ? null : checkSymbol(pair, at('pair'), tradingMode),
    side: side === undefined ? null : checkOneOf(side, at('side'), TRADE_SIDES),
    opened_at: time('opened_at'),
    closed_at: time('closed_at'),
    exit_reason: checkMaxLength(trade.exit_reason, at('exit_reason'), LIMITS.exit_reason),
    exchange: checkMaxLength(trade.exchange, at('exchange'), LIMITS.exchange),
    mode: mode === undefined ? null : checkOneOf(mode, at('mode'), TRADE_MODES),
    error_message: checkMaxLength(trade.error_message, at('error_message'), LIMITS.error_message),
    assignment_key:
      assignment_key === undefined
        ? null
        : nonEmpty(assignment_key, at('assignment_key'), MAX_ASSIGNMENT_KEY_LENGTH),
  };
  checkOrder(details, at('opened_at'));
  return details;
}

/** Throws VAL001, naming the field, for a trade that closes before it opens. */
function checkOrder(
  { opened_at, closed_at }: Pick<TradeDetails, 'opened_at' | 'closed_at'>,
  field: string,
): void {
  if (opened_at === null || closed_at === null || opened_at <= closed_at) return;
  const message = 'opened_at is after closed_at: correct one of them. Without closed_at a trade closes now';
  throw new CodedError('VAL001', { message, field, context: { opened_at, closed_at } });
}

function readTime(text: string | undefined, field: string): string | null {
  if (text === undefined) return null;
  const time = parseTime(text);
  if (time !== undefined) return isoTime(time);
  throw new CodedError('VAL001', {
    message: `${field} must be a time: ${ACCEPTED_TIMES}`,
    field,
    context: { value: text.slice(0, 100) },
  });
}

/** The string. Throws VAL005 for an empty one and beyond `max` characters. */
export function nonEmpty(text: string, field: string, max: number): string {
  if (text === '') throw new CodedError('VAL005', { message: `${field} must not be empty`, field });
  return checkMaxLength(text, field, max)!;
}
