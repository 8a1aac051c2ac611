import type { Protection } from '#contract/config/protections.ts';
import { DAY_MS, MINUTE_MS } from '#contract/values/durations.ts';
import { floorToGrid } from '../../timeframe.ts';
import { type Direction, LONG } from '../rules/prices.ts';
import type { ResolvedSettings } from '../settings.ts';
import type { Lock } from '../types.ts';
import type { Market } from './market.ts';
import type { TradeRecorder } from './trade-recorder.ts';

/** Exit reasons that count as a stop. */
const STOPS: readonly string[] = ['stop_loss', 'trailing_stop_loss', 'liquidation'];

type Side = 'long' | 'short';

/** A lock of a pair, or of all pairs where `market` is null. */
interface OwnLock extends Lock {
  readonly market: Market | null;
}

/** Reason to lock, before it is compared with the locks that exist. */
interface Finding {
  /** null: both sides. */
  readonly side: Side | null;
  /** End before rounding, ms. */
  readonly end: number;
  readonly reason: string;
}

/**
 * Protections of a run (docs/simulation.md#protections): after each exit they look at the trades closed in the lookback period
 * and lock a pair, or all pairs, against entries.
 */
export class Protections {
  /** In the order in which they were made. */
  readonly locks: OwnLock[] = [];
  /** Those that had not ended at the last exit: a long run may have a lock for every trade. */
  #present: OwnLock[] = [];
  readonly #rules: readonly Protection[];
  readonly #timeframeMs: number;
  readonly #timeframeMinutes: number;
  /** Balance to which drawdowns of equity refer, quote currency. */
  readonly #balance: number;
  readonly #trades: TradeRecorder;
  /** Columns of the recorder's trades, in the order of closing: a rule may read all of them after each exit. */
  readonly #closed = {
    closedAt: [] as number[],
    market: [] as number[],
    profit: [] as number[],
    profitRatio: [] as number[],
    side: [] as Side[],
    isStop: [] as boolean[],
  };
  /** Latest end of all locks, ms: no entry is locked from then on. */
  #lockedUntil = Number.NEGATIVE_INFINITY;

  /** `trades`: those of the run, recorded before {@link afterExit}. */
  constructor(
    { protections, timeframeMs, timeframeMinutes, tradableBalanceRatio, availableCapital }: ResolvedSettings,
    startingBalance: number,
    trades: TradeRecorder,
  ) {
    this.#rules = protections;
    this.#timeframeMs = timeframeMs;
    this.#timeframeMinutes = timeframeMinutes;
    this.#balance = availableCapital ?? startingBalance * tradableBalanceRatio;
    this.#trades = trades;
  }

  /** True when an entry at `time` (ms) is locked: the end of a lock is exclusive. */
  isLocked(market: Market, direction: Direction, time: number): boolean {
    if (time >= this.#lockedUntil) return false;
    return this.#hasLock(market, direction === LONG ? 'long' : 'short', time);
  }

  /** True when a lock of the pair or of all pairs ends after `time`. A lock of one side does not stand for both. */
  #hasLock(market: Market | null, side: Side | null, time: number): boolean {
    return this.#present.some(
      (lock) =>
        lock.until > time &&
        (lock.market === null || lock.market === market) &&
        (lock.side === null || lock.side === side),
    );
  }

  /** Applies all protections after a complete or partial exit in the candle of `time`, ms: first those of the pair. */
  afterExit(market: Market, direction: Direction, time: number): void {
    const side = direction === LONG ? 'long' : 'short';
    this.#present = this.#present.filter(({ until }) => until > time);
    this.#readClosed();
    for (const rule of this.#rules) this.#lock(market, this.#ofPair(rule, market, side, time), time);
    for (const rule of this.#rules) this.#lock(null, this.#ofAll(rule, side, time), time);
  }

  #readClosed(): void {
    const { closedAt, market, profit, profitRatio, side, isStop } = this.#closed;
    for (let row = closedAt.length; row < this.#trades.length; row++) {
      const trade = this.#trades.closed(row);
      closedAt.push(trade.closedAt);
      market.push(trade.market);
      profit.push(trade.profit);
      profitRatio.push(trade.profitRatio);
      side.push(trade.side);
      isStop.push(STOPS.includes(trade.exitReason));
    }
  }

  #lock(market: Market | null, finding: Finding | null, time: number): void {
    if (finding === null || this.#hasLock(market, finding.side, finding.end)) return;
    const { side, end, reason } = finding;
    // The start of the next candle, also when the end is the start of one.
    const until = floorToGrid(end, this.#timeframeMs) + this.#timeframeMs;
    // After a partial exit the last closed trade may be so old that its lock has ended.
    if (until <= time) return;
    const isKnown = (lock: OwnLock) =>
      lock.market === market && lock.side === side && lock.until === until && lock.reason === reason;
    if (this.#present.some(isKnown)) return;
    const lock = { market, pair: market?.input.pair ?? null, side, from: time, until, reason };
    this.locks.push(lock);
    this.#present.push(lock);
    this.#lockedUntil = Math.max(this.#lockedUntil, until);
  }

  #ofPair(rule: Protection, market: Market, side: Side, time: number): Finding | null {
    switch (rule.method) {
      case 'CooldownPeriod':
        return this.#cooldown(rule, market, time);
      case 'StoplossGuard':
        return this.#guardStops(rule, market, side, time);
      case 'LowProfitPairs':
        return this.#lowProfit(rule, market, side, time);
      case 'MaxDrawdown':
        return null;
    }
  }

  #ofAll(rule: Protection, side: Side, time: number): Finding | null {
    if (rule.method === 'MaxDrawdown') return this.#drawdown(rule, time);
    if (rule.method !== 'StoplossGuard' || rule.only_per_pair) return null;
    return this.#guardStops(rule, null, side, time);
  }

  #cooldown(rule: Protection, { index }: Market, time: number): Finding | null {
    const { market, closedAt } = this.#closed;
    const latest = market.lastIndexOf(index);
    if (latest < this.#firstSince(rule, time)) return null;
    return this.#finding(rule, closedAt[latest]!, null, 'a trade was closed');
  }

  /** `market`: null for the stops of all pairs. */
  #guardStops(
    rule: Extract<Protection, { method: 'StoplossGuard' }>,
    market: Market | null,
    side: Side,
    time: number,
  ): Finding | null {
    const { trade_limit = 10, only_per_side = false, required_profit = 0 } = rule;
    const { isStop, profitRatio, market: markets, side: sides, closedAt } = this.#closed;
    let stops = 0;
    let latest = -1;
    for (let row = this.#firstSince(rule, time), { length } = isStop; row < length; row++) {
      if (!isStop[row] || profitRatio[row] === 0 || profitRatio[row]! >= required_profit) continue;
      if (market !== null && markets[row] !== market.index) continue;
      if (only_per_side && sides[row] !== side) continue;
      stops++;
      latest = row;
    }
    if (stops < trade_limit) return null;
    const cause = `${stops} ${stops === 1 ? 'stop' : 'stops'}`;
    return this.#finding(rule, closedAt[latest]!, only_per_side ? side : null, cause);
  }

  #lowProfit(
    rule: Extract<Protection, { method: 'LowProfitPairs' }>,
    { index }: Market,
    side: Side,
    time: number,
  ): Finding | null {
    const { trade_limit = 1, only_per_side = false, required_profit = 0 } = rule;
    const { market, profitRatio, side: sides, closedAt } = this.#closed;
    let trades = 0;
    let profit = 0;
    let latest = -1;
    for (let row = this.#firstSince(rule, time), { length } = market; row < length; row++) {
      if (market[row] !== index) continue;
      trades++;
      latest = row;
      if (!only_per_side || sides[row] === side) profit += profitRatio[row]!;
    }
    if (trades < trade_limit || !(profit < required_profit)) return null;
    return this.#finding(rule, closedAt[latest]!, only_per_side ? side : null, `profit ${percent(profit)}`);
  }

  /** `ratios`: largest drop of their running sum below its maximum, which begins at 0; `equity`: of the balance, as a share. */
  #drawdown(rule: Extract<Protection, { method: 'MaxDrawdown' }>, time: number): Finding | null {
    const { trade_limit = 1, max_allowed_drawdown = 0, calculation_mode = 'ratios' } = rule;
    const { closedAt, profit, profitRatio } = this.#closed;
    const first = this.#firstSince(rule, time);
    const { length } = closedAt;
    if (length - first < trade_limit) return null;
    const isEquity = calculation_mode === 'equity';
    const changes = isEquity ? profit : profitRatio;
    let balance = this.#balance;
    if (isEquity) for (let row = 0; row < first; row++) balance += profit[row]!;
    let [sum, top, drawdown] = [0, 0, 0];
    for (let row = first; row < length; row++) {
      sum += changes[row]!;
      if (sum > top) top = sum;
      const drop = isEquity ? (top - sum) / (balance + top) : top - sum;
      if (drop > drawdown) drawdown = drop;
    }
    if (!(drawdown > max_allowed_drawdown)) return null;
    return this.#finding(rule, closedAt.at(-1)!, null, `drawdown ${percent(drawdown)}`);
  }

  /** The lock after a trade closed at `latest`, which ends a time after it or at a time of day. */
  #finding(rule: Protection, latest: number, side: Side | null, cause: string): Finding {
    return { side, end: this.#endAfter(rule, latest), reason: `${rule.method}: ${cause}` };
  }

  #endAfter(rule: Protection, latest: number): number {
    if (rule.unlock_at !== undefined) {
      const [hours, minutes] = rule.unlock_at.split(':').map(Number) as [number, number];
      const end = Math.floor(latest / DAY_MS) * DAY_MS + (hours * 60 + minutes) * MINUTE_MS;
      return end < latest ? end + DAY_MS : end;
    }
    const minutes =
      rule.stop_duration_candles === undefined
        ? (rule.stop_duration ?? DEFAULT_MINUTES)
        : rule.stop_duration_candles * this.#timeframeMinutes;
    return latest + minutes * MINUTE_MS;
  }

  /** Row of the first trade closed within the lookback period before `time`, whose start is excluded. */
  #firstSince(rule: Protection, time: number): number {
    const start = this.#lookbackStart(rule, time);
    let low = 0;
    const { closedAt } = this.#closed;
    let high = closedAt.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (closedAt[middle]! > start) high = middle;
      else low = middle + 1;
    }
    return low;
  }

  #lookbackStart(rule: Protection, time: number): number {
    const minutes =
      rule.lookback_period_candles === undefined
        ? (rule.lookback_period ?? DEFAULT_MINUTES)
        : rule.lookback_period_candles * this.#timeframeMinutes;
    return time - minutes * MINUTE_MS;
  }
}

/** Default of `lookback_period` and `stop_duration`. */
const DEFAULT_MINUTES = 60;

const percent = (ratio: number) => `${(ratio * 100).toFixed(2)} %`;
