import {
  type LoggedTrade,
  type RejectedTrade,
  TRADE_FIELDS,
  type TradeInput,
  type TradesLogged,
} from '#contract/registry/challenge-trade.ts';
import type {
  StoredAssignment,
  StoredChallenge,
  StoredTrade,
  TradeResult,
} from '#contract/registry/stored-challenge.ts';
import { TRADE_LIMITS } from '#contract/values/challenge-limits.ts';
import { CodedError } from '#contract/values/errors.ts';
import { applyCanaryRules } from './apply-deadlines.ts';
import { type AppliedTrade, applyTrade, type PostedTrade, readTrade } from './apply-trade.ts';
import { closedTrades, type Progress } from './challenge-state.ts';
import { TRADES_AT_ONCE } from './challenge-store.ts';
import { decideChallenge } from './decide-challenge.ts';
import { recommendationOf } from './evaluate-challenge.ts';
import { MAX_PERMUTED, stageProfits } from './variant-totals.ts';
import { type ChallengeDeps, type FoundChallenge, writeChallenge } from './write-challenge.ts';

export interface LogTradesInput {
  readonly challengeId: string;
  readonly body: TradeInput & { readonly trades?: readonly TradeInput[] | undefined };
}

export interface LogTradesResponse {
  readonly body: TradesLogged;
  /** True if the call stored a new trade or a change of one. */
  readonly isNew: boolean;
}

/**
 * Logs one trade, or up to 100 in the given order. Each trade is counted once by its ID, in one transaction with the totals. The
 * result of each trade is the same as in a separate call. A batch is stored in parts: a client that gets no response repeats
 * the whole batch.
 * Throws VAL001, VAL002, VAL004, VAL005 before anything is stored; CHL001, SVC005; RES005 for a single trade, which a
 * batch reports in the trade's item.
 */
export async function logTrades(
  deps: ChallengeDeps,
  { challengeId, body }: LogTradesInput,
): Promise<LogTradesResponse> {
  const { trades: batch } = body;
  if (batch === undefined) {
    const posted = readTrade(body, TRADE_FIELDS, deps.digest);
    const { items, challenge } = await logSome(deps, challengeId, [posted]);
    const item = items[0]!;
    if ('error' in item) throw item.thrown;
    return { body: { ...item, ...challengeSummary(challenge) }, isNew: !item.duplicate };
  }
  checkBatch(batch);
  const posted = batch.map((trade, index) => readTrade(trade, TRADE_FIELDS, deps.digest, `trades.${index}.`));
  const items: (LoggedTrade | RejectedTrade)[] = [];
  let challenge: StoredChallenge | undefined;
  for (let start = 0; start < posted.length; start += TRADES_AT_ONCE) {
    const done = await logSome(deps, challengeId, posted.slice(start, start + TRADES_AT_ONCE));
    items.push(...done.items.map(withoutThrown));
    challenge = done.challenge;
  }
  const isNew = items.some((item) => item.accepted && !item.duplicate);
  return { body: { challenge_id: challengeId, items, ...challengeSummary(challenge!) }, isNew };
}

function checkBatch(batch: readonly unknown[]): void {
  if (batch.length > 0 && batch.length <= TRADE_LIMITS.trades) return;
  throw new CodedError('VAL005', {
    message: `trades must be 1 to ${TRADE_LIMITS.trades}`,
    field: 'trades',
    context: { count: batch.length, max: TRADE_LIMITS.trades },
  });
}

type Rejected = RejectedTrade & { readonly thrown: CodedError };

function withoutThrown(item: LoggedTrade | Rejected): LoggedTrade | RejectedTrade {
  if (!('thrown' in item)) return item;
  const { thrown: _, ...rejected } = item;
  return rejected;
}

interface Logged {
  readonly items: readonly (LoggedTrade | Rejected)[];
  readonly challenge: StoredChallenge;
}

/** Logs some trades in one transaction. */
function logSome(deps: ChallengeDeps, id: string, posted: readonly PostedTrade[]): Promise<Logged> {
  const keys = posted.flatMap(({ details: { assignment_key: key } }) => (key === null ? [] : [key]));
  const question = { trades: posted.map(({ tradeId }) => tradeId), assignmentKeys: keys };
  return writeChallenge(deps, id, question, async (found) => {
    const log = new TradeLog(deps, found);
    for (const trade of posted) await log.add(trade);
    const response = (challenge: StoredChallenge) => ({ items: log.items, challenge });
    return { response, progress: log.progress, more: { trades: log.trades, assignments: log.assignments } };
  });
}

/** Trades that are being logged together. */
class TradeLog {
  progress: Progress;
  readonly items: (LoggedTrade | Rejected)[] = [];
  readonly #deps: ChallengeDeps;
  readonly #found: FoundChallenge;
  readonly #trades = new Map<string, StoredTrade>();
  readonly #assignments = new Map<string, StoredAssignment>();
  /** Stored trades, read at most once. If another call writes in between, this write conflicts and is repeated. */
  #stored: Promise<readonly TradeResult[]> | null = null;

  constructor(deps: ChallengeDeps, found: FoundChallenge) {
    this.#deps = deps;
    this.#found = found;
    this.progress = found.progress;
  }

  get trades() {
    return changesOf(this.#trades, this.#found.trades);
  }

  get assignments() {
    return changesOf(this.#assignments, this.#found.assignments);
  }

  async add(posted: PostedTrade): Promise<void> {
    const { at } = this.#found;
    const { digest } = this.#deps;
    try {
      const applied = applyTrade(this.progress, posted, this.#known(posted), { at, digest });
      if (!applied.duplicate) await this.#store(applied);
      this.items.push(itemOf(applied));
    } catch (error) {
      if (!(error instanceof CodedError) || error.code === 'SVC005') throw error;
      this.items.push(rejectionOf(posted, error));
    }
  }

  #known({ tradeId, details }: PostedTrade) {
    const trade = this.#trades.get(tradeId) ?? this.#found.trades.get(tradeId);
    const { assignment_key: key } = trade ?? details;
    if (key === null) return { trade, assignment: undefined };
    return { trade, assignment: this.#assignments.get(key) ?? this.#found.assignments.get(key) };
  }

  async #store({ progress, trade, assignment }: AppliedTrade): Promise<void> {
    this.#trades.set(trade.trade_id, trade);
    if (assignment) this.#assignments.set(assignment.assignment_key, assignment);
    const decided =
      trade.status !== 'open'
        ? await decideChallenge(progress, this.#found.at, () => this.#profits())
        : progress;
    this.progress = applyCanaryRules(decided, this.#found.now);
  }

  /** The last profits by stage, of stored trades and of the trades being logged. */
  async #profits() {
    const { challenge } = this.progress;
    this.#stored ??= this.#deps.challenges.lastTrades(challenge.challenge_id, MAX_PERMUTED);
    const before = (await this.#stored).filter(({ trade_id }) => !this.#trades.has(trade_id));
    return stageProfits(challenge, [...before, ...this.#trades.values()]);
  }
}

/** New and changed items, by ID. */
function changesOf<T>(now: ReadonlyMap<string, T>, found: ReadonlyMap<string, T>) {
  return [...now].map(([id, after]) => ({ before: found.get(id) ?? null, after }));
}

function itemOf({ trade, duplicate }: AppliedTrade): LoggedTrade {
  const { challenge_id, trade_id, variant, canary_stage, status, misassigned, unassigned, late } = trade;
  const flags = { accepted: true, duplicate, misassigned, unassigned, late };
  return { challenge_id, trade_id, variant, canary_stage, trade_status: status, ...flags };
}

function rejectionOf({ tradeId }: PostedTrade, thrown: CodedError): Rejected {
  const { code, message, field, context } = thrown;
  return {
    trade_id: tradeId,
    accepted: false,
    error: { code, message, field, context: { ...context } },
    thrown,
  };
}

function challengeSummary(challenge: StoredChallenge) {
  const { champion, challenger } = closedTrades(challenge);
  return {
    status: challenge.status,
    champion_trades: champion,
    challenger_trades: challenger,
    recommendation: recommendationOf(challenge),
  };
}
