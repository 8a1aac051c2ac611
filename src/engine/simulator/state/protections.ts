import type { Protection } from '#contract/protections.ts';
import { DAY_MS, floorToGrid } from '../../timeframe.ts';
import { type Direction, LONG } from '../rules/prices.ts';
import { MINUTE_MS, type ResolvedSettings } from '../settings.ts';
import type { Lock } from '../types.ts';
import type { Market } from './market.ts';
import type { Closed, TradeRecorder } from './trade-recorder.ts';

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
 * Protections of a run (reference 2026.9, section 5): after each exit they look at the trades closed in the lookback period and
 * lock a pair, or all pairs, against entries.
 */
export class Protections {
  /** In the order in which they were made. */
  readonly locks: OwnLock[] = [];
  readonly #rules: readonly Protection[];
  readonly #timeframeMs: number;
  readonly #timeframeMinutes: number;
  /** Balance to which drawdowns of equity refer, quote currency. */
  readonly #balance: number;
  readonly #trades: TradeRecorder;
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

  /** True when an entry at `time` (ms) is locked: the end of a lock is exclusive (5.1). */
  isLocked(market: Market, direction: Direction, time: number): boolean {
    if (time >= this.#lockedUntil) return false;
    return this.#hasLock(market, direction === LONG ? 'long' : 'short', time);
  }

  /** True when a lock of the pair or of all pairs ends after `time`. A lock of one side does not stand for both. */
  #hasLock(market: Market | null, side: Side | null, time: number): boolean {
    return this.locks.some(
      (lock) =>
        lock.until > time &&
        (lock.market === null || lock.market === market) &&
        (lock.side === null || lock.side === side),
    );
  }

  /** Applies all protections after a complete or partial exit in the candle of `time`, ms: first those of the pair. */
  afterExit(market: Market, direction: Direction, time: number): void {
    const side = direction === LONG ? 'long' : 'short';
    for (const rule of this.#rules) this.#lock(market, this.#ofPair(rule, market, side, time), time);
    for (const rule of this.#rules) this.#lock(null, this.#ofAll(rule, side, time), time);
  }

  #lock(market: Market | null, finding: Finding | null, time: number): void {
    if (finding === null || this.#hasLock(market, finding.side, finding.end)) return;
    const { side, end, reason } = finding;
    // The start of the next candle, also when the end is the start of one.
    const until = floorToGrid(end, this.#timeframeMs) + this.#timeframeMs;
    const isKnown = (lock: OwnLock) =>
      lock.market === market && lock.side === side && lock.until === until && lock.reason === reason;
    if (this.locks.some(isKnown)) return;
    this.locks.push({ market, pair: market?.input.pair ?? null, side, from: time, until, reason });
    this.#lockedUntil = Math.max(this.#lockedUntil, until);
  }

  #ofPair(rule: Protection, market: Market, side: Side, time: number): Finding | null {
    const trades = () => this.#closedSince(rule, time).filter((trade) => trade.market === market.index);
    switch (rule.method) {
      case 'CooldownPeriod':
        return this.#finding(rule, trades(), null, 'a trade was closed');
      case 'StoplossGuard':
        return this.#guardStops(rule, trades(), side);
      case 'LowProfitPairs':
        return this.#lowProfit(rule, trades(), side);
      case 'MaxDrawdown':
        return null;
    }
  }

  #ofAll(rule: Protection, side: Side, time: number): Finding | null {
    if (rule.method === 'MaxDrawdown') return this.#drawdown(rule, this.#closedSince(rule, time), time);
    if (rule.method !== 'StoplossGuard' || rule.only_per_pair) return null;
    return this.#guardStops(rule, this.#closedSince(rule, time), side);
  }

  #guardStops(
    rule: Extract<Protection, { method: 'StoplossGuard' }>,
    trades: readonly Closed[],
    side: Side,
  ): Finding | null {
    const { trade_limit = 10, only_per_side = false, required_profit = 0 } = rule;
    const stops = trades.filter(
      (trade) =>
        STOPS.includes(trade.exitReason) &&
        trade.profitRatio !== 0 &&
        trade.profitRatio < required_profit &&
        (!only_per_side || trade.side === side),
    );
    if (stops.length < trade_limit) return null;
    return this.#finding(
      rule,
      stops,
      only_per_side ? side : null,
      `${stops.length} ${stops.length === 1 ? 'stop' : 'stops'}`,
    );
  }

  #lowProfit(
    rule: Extract<Protection, { method: 'LowProfitPairs' }>,
    trades: readonly Closed[],
    side: Side,
  ): Finding | null {
    const { trade_limit = 1, only_per_side = false, required_profit = 0 } = rule;
    if (trades.length < trade_limit) return null;
    const counted = only_per_side ? trades.filter((trade) => trade.side === side) : trades;
    const profit = counted.reduce((sum, { profitRatio }) => sum + profitRatio, 0);
    if (!(profit < required_profit)) return null;
    return this.#finding(rule, trades, only_per_side ? side : null, `profit ${percent(profit)}`);
  }

  #drawdown(
    rule: Extract<Protection, { method: 'MaxDrawdown' }>,
    trades: readonly Closed[],
    time: number,
  ): Finding | null {
    const { trade_limit = 1, max_allowed_drawdown = 0, calculation_mode = 'ratios' } = rule;
    if (trades.length < trade_limit) return null;
    const drawdown =
      calculation_mode === 'ratios'
        ? largestDrop(trades.map(({ profitRatio }) => profitRatio))
        : largestRelativeDrop(
            trades.map(({ profit }) => profit),
            this.#balance + this.#profitBefore(rule, time),
          );
    if (!(drawdown > max_allowed_drawdown)) return null;
    return this.#finding(rule, trades, null, `drawdown ${percent(drawdown)}`);
  }

  /** The lock after `trades`, which ends a time after the latest of them or at a time of day; null without trades. */
  #finding(rule: Protection, trades: readonly Closed[], side: Side | null, cause: string): Finding | null {
    if (trades.length === 0) return null;
    const latest = Math.max(...trades.map(({ closedAt }) => closedAt));
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

  /** Trades closed within the lookback period before `time`, its start excluded, in the order of closing. */
  #closedSince(rule: Protection, time: number): Closed[] {
    const start = this.#lookbackStart(rule, time);
    const found: Closed[] = [];
    for (let row = this.#trades.length - 1; row >= 0; row--) {
      const trade = this.#trades.closed(row);
      if (trade.closedAt <= start) break;
      found.push(trade);
    }
    return found.reverse();
  }

  #profitBefore(rule: Protection, time: number): number {
    const start = this.#lookbackStart(rule, time);
    let sum = 0;
    for (let row = 0; row < this.#trades.length; row++) {
      const { closedAt, profit } = this.#trades.closed(row);
      if (closedAt > start) break;
      sum += profit;
    }
    return sum;
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

/** Largest drop of a running sum below its maximum, which begins at 0. */
function largestDrop(values: readonly number[]): number {
  let [sum, top, drop] = [0, 0, 0];
  for (const value of values) {
    sum += value;
    top = Math.max(top, sum);
    drop = Math.max(drop, top - sum);
  }
  return drop;
}

/** Largest drop of `balance` plus a running sum below its maximum, as a share of that maximum. */
function largestRelativeDrop(profits: readonly number[], balance: number): number {
  let [sum, top, drop] = [0, 0, 0];
  for (const profit of profits) {
    sum += profit;
    top = Math.max(top, sum);
    drop = Math.max(drop, (top - sum) / (balance + top));
  }
  return drop;
}

const percent = (ratio: number) => `${(ratio * 100).toFixed(2)} %`;
