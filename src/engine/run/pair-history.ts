import type { ResolvedBacktestConfig } from '#contract/backtest.ts';
import { type Candles, indexAtOrAfter, sliceCandles } from '#engine/candles.ts';
import type { Instrument } from '#engine/instrument.ts';
import { derivePriceTicks, type PriceTicks } from '#engine/simulator/rules/precision.ts';
import type { FundingEvents } from '#engine/simulator/types.ts';
import type { StrategyDefinition } from '#engine/strategy.ts';
import { TIMEFRAME_MS } from '#engine/timeframe.ts';
import { type CandleQuality, checkCandles } from './check-candles.ts';
import { fillGaps } from './fill-gaps.ts';
import { historyStart, startupRows } from './history.ts';

/** Everything read of one pair, as stored. */
export interface PairData {
  readonly pair: string;
  /** Of the run's timeframe, from {@link historyStart} as far as stored; gaps are allowed, rows beyond the end ignored. */
  readonly candles: Candles;
  readonly funding?: FundingEvents;
  /** Of the detail timeframe. */
  readonly detail?: Candles;
  /** Prices and amounts follow its steps and limits; without it nothing is rounded and no order too small. */
  readonly instrument?: Instrument;
}

/** The candles of one pair as a run sees them: checked, without holes, cut to what it reads. */
export interface PairHistory {
  readonly data: PairData;
  /** As stored. */
  readonly read: Candles;
  /** The same with holes filled. */
  readonly candles: Candles;
  readonly filled: number;
  readonly quality: CandleQuality;
  /** With an instrument: the price ticks of all these candles. */
  readonly ticks?: PriceTicks;
  /** Rows before the first that the strategy judges. */
  readonly startup: number;
  /** First row that is traded on. */
  readonly from: number;
  /** First candle and end (exclusive) of the run, ms. */
  readonly start: number;
  readonly end: number;
  readonly stepMs: number;
}

/** A pair that cannot be traded in this run, and why. */
export interface SkippedPair {
  readonly pair: string;
  readonly reason: string;
}

/** Fewer candles leave no room for a signal, an entry and the end of the run. */
export const MIN_CANDLES = 3;

/** When a run trades: its first candle and its end (exclusive), ms. */
export function tradedRange({ date_range, timeframe }: ResolvedBacktestConfig): {
  start: number;
  end: number;
} {
  const stepMs = TIMEFRAME_MS[timeframe];
  const start = Math.ceil(Date.parse(date_range.start) / stepMs) * stepMs;
  return { start, end: Date.parse(date_range.end) };
}

/**
 * Checks the candles of a pair and fills its gaps. A pair whose data does not reach back far enough gives up its first candles
 * instead and joins later.
 *
 * @throws BacktestError `invalid_candles` or `strategy`
 */
export function readHistory(
  strategy: StrategyDefinition,
  config: ResolvedBacktestConfig,
  data: PairData,
): PairHistory | SkippedPair {
  const stepMs = TIMEFRAME_MS[config.timeframe];
  const { params, timeframe, ml_engine } = config;
  const { start, end } = tradedRange(config);
  const startup = startupRows(strategy, params, timeframe, ml_engine);
  const read = candlesBetween(data.candles, historyStart(strategy, params, timeframe, start, ml_engine), end);
  const quality = checkCandles(data.pair, read, stepMs);
  const { candles, filled } = fillGaps(read, stepMs);
  const rows = candles.timestamp.length;
  const from = Math.max(startup, indexAtOrAfter(candles.timestamp, start));
  if (rows - from < MIN_CANDLES) {
    return { pair: data.pair, reason: tooFew(data.pair, rows, startup, config) };
  }
  const { instrument } = data;
  const ticks = instrument && derivePriceTicks(candles, instrument.priceTick);
  return { data, read, candles, filled, quality, startup, from, start, end, stepMs, ...(ticks && { ticks }) };
}

/** The candles that open in [from, to), as views. */
export function candlesBetween(candles: Candles, from: number, to: number): Candles {
  return sliceCandles(
    candles,
    indexAtOrAfter(candles.timestamp, from),
    indexAtOrAfter(candles.timestamp, to),
  );
}

function tooFew(pair: string, rows: number, startup: number, config: ResolvedBacktestConfig): string {
  const { start, end } = config.date_range;
  if (rows === 0) return `${pair} has no ${config.timeframe} candles between ${start} and ${end}.`;
  return (
    `${pair} has ${rows} ${config.timeframe} candles up to ${end}: the strategy needs ` +
    `${startup} before its first signal and ${MIN_CANDLES} to trade on from ${start}.`
  );
}
