import type { SlippageModel } from '#contract/config/slippage-model.ts';
import { DAY_MS } from '#contract/values/durations.ts';
import { IMPACT_DAYS, type SpreadEstimator } from '#contract/values/slippage-limits.ts';
import type { Candles } from '../candles.ts';
import { finite, mean } from '../stats/moments.ts';
import { corwinSchultz } from './corwin-schultz.ts';
import { EdgeSums } from './edge.ts';

/**
 * Costs of the market fills of one pair, by the UTC day of the fill: equal-length columns from `firstDay` on. A row follows from
 * the days before it only. NaN: too few of them.
 */
export interface DailyCosts {
  /** Days since 1970-01-01. */
  readonly firstDay: number;
  /** Bid-ask spread as a ratio of the price; null without a spread in the model. */
  readonly spread: Float64Array | null;
  /** Price change by a fill of one unit of the base currency, as a ratio; it grows with the root of the amount. */
  readonly impact: Float64Array | null;
}

/** One UTC day of candles. */
interface Day {
  readonly number: number;
  readonly high: number;
  readonly low: number;
  readonly close: number;
  /** Base currency. */
  readonly volume: number;
  /** The moments of its candles; null unless the model estimates by them. */
  readonly edge: EdgeSums | null;
}

/** The price tick by time (ms), `units / scale`; null where it is unknown. */
interface TickTimes {
  at(time: number): { readonly units: number; readonly scale: number } | null;
}

/** Days of a pair, and the rows of its columns, one for each day from the first on. */
interface KnownDays {
  readonly days: readonly Day[];
  readonly firstDay: number;
  readonly rows: number;
}

/** Estimates the costs of a pair from all candles that are known of it, in one pass. `ticks`: least spread; absent: none. */
export function dailyCosts(
  { spread, spread_days, impact }: SlippageModel,
  candles: Candles,
  ticks: TickTimes | undefined,
): DailyCosts {
  const days = daysOf(candles, spread === 'edge');
  const firstDay = days[0]?.number ?? 0;
  // The day after the last one may have fills of longer candles.
  const rows = days.length === 0 ? 0 : days.at(-1)!.number - firstDay + 2;
  const known = { days, firstDay, rows };
  return {
    firstDay,
    spread: spread ? spreads(spread, spread_days!, known, ticks) : null,
    impact: impact === undefined ? null : impacts(impact, known),
  };
}

/** The days of the candles, without days whose beginning is missing. */
function daysOf(candles: Candles, withEdge: boolean): Day[] {
  const { timestamp, high, low, close, volume } = candles;
  const days: Day[] = [];
  for (let from = 0, { length } = timestamp; from < length; ) {
    const number = Math.floor(timestamp[from]! / DAY_MS);
    const end = (number + 1) * DAY_MS;
    let [highest, lowest, traded] = [high[from]!, low[from]!, 0];
    let to = from;
    for (; to < length && timestamp[to]! < end; to++) {
      if (high[to]! > highest) highest = high[to]!;
      if (low[to]! < lowest) lowest = low[to]!;
      traded += volume[to]!;
    }
    if (timestamp[from] === number * DAY_MS && lowest > 0) {
      const edge = withEdge ? new EdgeSums() : null;
      edge?.addRows(candles, Math.max(1, from), to);
      days.push({ number, high: highest, low: lowest, close: close[to - 1]!, volume: traded, edge });
    }
    from = to;
  }
  return days;
}

function spreads(
  estimator: SpreadEstimator,
  window: number,
  known: KnownDays,
  ticks: TickTimes | undefined,
): Float64Array {
  const { days, firstDay, rows } = known;
  const column = new Float64Array(rows).fill(Number.NaN);
  // Corwin and Schultz: of each day and the day before it, NaN where that one is missing.
  const pairs = days.map((day, index) => {
    const before = days[index - 1];
    return before?.number === day.number - 1
      ? corwinSchultz(before.high, before.low, day.high, day.low)
      : Number.NaN;
  });
  forEachWindow(known, window, (row, from, to) => {
    const spread = estimator === 'edge' ? edgeOf(days.slice(from, to)) : median(pairs.slice(from, to));
    const tick = ticks?.at((firstDay + row) * DAY_MS);
    const least = tick ? tick.units / tick.scale / days[to - 1]!.close : 0;
    column[row] = Math.max(spread, least);
  });
  return column;
}

function edgeOf(days: readonly Day[]): number {
  const sums = new EdgeSums();
  for (const { edge } of days) sums.add(edge!);
  return sums.spread;
}

/** Median of the values that are numbers; NaN without one. */
function median(values: readonly number[]): number {
  const sorted = values.filter((value) => !Number.isNaN(value)).sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
}

/**
 * Coefficient times the sample deviation of the daily log returns, by the root of the mean daily volume: the square-root law
 * (Toth et al., Phys. Rev. X 1, 021006, 2011) for an amount of 1.
 */
function impacts(coefficient: number, known: KnownDays): Float64Array {
  const { days, rows } = known;
  const column = new Float64Array(rows).fill(Number.NaN);
  const returns = days.map(({ number, close }, index) => {
    const before = days[index - 1];
    return before?.number === number - 1 ? Math.log(close / before.close) : Number.NaN;
  });
  forEachWindow(known, IMPACT_DAYS, (row, from, to) => {
    const inWindow = returns.slice(from, to).filter((value) => !Number.isNaN(value));
    if (inWindow.length < 2) return;
    const mean = inWindow.reduce((sum, each) => sum + each, 0) / inWindow.length;
    const squares = inWindow.reduce((sum, each) => sum + (each - mean) ** 2, 0);
    const volume = days.slice(from, to).reduce((sum, each) => sum + each.volume, 0) / (to - from);
    column[row] = (coefficient * Math.sqrt(squares / (inWindow.length - 1))) / Math.sqrt(volume);
  });
  return column;
}

/** Calls back for each row after the first with the days [from, to) that are in the `window` days before it, if there is one. */
function forEachWindow(
  { days, firstDay, rows }: KnownDays,
  window: number,
  action: (row: number, from: number, to: number) => void,
): void {
  let from = 0;
  let to = 0;
  for (let row = 1; row < rows; row++) {
    while (to < days.length && days[to]!.number < firstDay + row) to++;
    while (from < to && days[from]!.number < firstDay + row - window) from++;
    if (from < to) action(row, from, to);
  }
}

/** Mean spread over the traded days, and the number of these days without an estimate. */
export function estimatesOver(timestamp: Float64Array, costs: DailyCosts | undefined) {
  if (!costs?.spread && !costs?.impact) return { mean_spread_pct: null, days_without_estimate: 0 };
  const [first, last] = tradedDays(timestamp, costs);
  const ofDays = (column: Float64Array) => [...column.subarray(first, last + 1)];
  const known = costs.spread ? ofDays(costs.spread).filter((spread) => !Number.isNaN(spread)) : [];
  const unknown = ofDays((costs.spread ?? costs.impact)!).filter(
    (_, day) => Number.isNaN(costs.spread?.[first + day]) || Number.isNaN(costs.impact?.[first + day]),
  );
  return {
    mean_spread_pct: known.length > 0 ? finite(mean(known) * 100) : null,
    days_without_estimate: unknown.length,
  };
}

function tradedDays(timestamp: Float64Array, { firstDay }: DailyCosts): [first: number, last: number] {
  const dayOf = (time: number) => Math.max(0, Math.floor(time / DAY_MS) - firstDay);
  return [dayOf(timestamp[0]!), dayOf(timestamp.at(-1)!)];
}
