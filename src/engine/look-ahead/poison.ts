import { DAY_MS } from '#contract/values/durations.ts';
import type { ReadInformative } from '../analysis/informative.ts';
import { type Candles, indexAtOrAfter, lazyCandles } from '../candles.ts';
import type { FundingEvents } from '../simulator/types.ts';
import { TIMEFRAME_MS } from '../timeframe.ts';
import type { DailyVolumes } from '../universe/daily-volumes.ts';

/** Changes of what a cut must not know. Each keeps candles valid. */
export const POISONS = ['times_3', 'times_third', 'reversed'] as const;
export type Poison = (typeof POISONS)[number];

/** Words for findings. */
export const POISONED: Readonly<Record<Poison, string>> = {
  times_3: 'had three times their prices',
  times_third: 'had a third of their prices',
  reversed: 'were in reversed order',
};

const FACTORS: Readonly<Record<Poison, number>> = { times_3: 3, times_third: 1 / 3, reversed: 1 };

/**
 * A copy of the first `rows` candles of which those that close after `time`, ms, are changed. The open of a candle that is forming
 * then stays.
 */
export function poisonCandles(
  candles: Candles,
  rows: number,
  time: number,
  stepMs: number,
  how: Poison,
): Candles {
  const from = indexAtOrAfter(candles.timestamp, time - stepMs + 1);
  if (from >= rows) return lazyCandles((name) => candles[name].slice(0, rows));
  const forms = candles.timestamp[from]! <= time;
  const open = candles.open[from]!;
  return lazyCandles((name) => {
    const column = changed(candles, name, from, rows, how);
    if (!forms) return column;
    if (name === 'open') column[from] = open;
    if (name === 'high') column[from] = Math.max(column[from]!, open);
    if (name === 'low') column[from] = Math.min(column[from]!, open);
    return column;
  });
}

function changed(
  candles: Candles,
  name: keyof Candles,
  from: number,
  rows: number,
  how: Poison,
): Float64Array {
  const column = candles[name].slice(0, rows);
  if (name === 'timestamp') return column;
  if (how !== 'reversed') scale(column, from, FACTORS[how]);
  else {
    // A candle that runs backwards opens at its close.
    const source = name === 'open' ? 'close' : name === 'close' ? 'open' : name;
    column.set(candles[source].slice(from, rows).reverse(), from);
  }
  return column;
}

function scale(column: Float64Array, from: number, factor: number): void {
  for (let row = from, { length } = column; row < length; row++) column[row] = column[row]! * factor;
}

/** Informative candles that close by `end`, ms, with those changed that close after `time`. */
export function poisonInformative(
  given: readonly ReadInformative[],
  time: number,
  end: number,
  how: Poison,
): ReadInformative[] {
  return given.map((each) => {
    const stepMs = TIMEFRAME_MS[each.timeframe];
    const rows = indexAtOrAfter(each.candles.timestamp, end - stepMs + 1);
    return { ...each, candles: poisonCandles(each.candles, rows, time, stepMs, how) };
  });
}

/** Detail candles up to `end`, ms, with those changed that open at `time` or later. */
export function poisonDetail(
  detail: Candles,
  time: number,
  end: number,
  stepMs: number,
  how: Poison,
): Candles {
  return poisonCandles(detail, indexAtOrAfter(detail.timestamp, end), time, stepMs, how);
}

/** Funding events with those changed that come after `time`, ms. */
export function poisonFunding({ timestamp, rate, markPrice }: FundingEvents, time: number, how: Poison) {
  const from = indexAtOrAfter(timestamp, time + 1);
  const changed = (column: Float64Array) => {
    const copy = column.slice();
    if (how === 'reversed') copy.subarray(from).reverse();
    else scale(copy, from, FACTORS[how]);
    return copy;
  };
  return { timestamp, rate: changed(rate), markPrice: changed(markPrice) };
}

/** Volumes of a universe's candidates with those days changed that end after `time`, ms. */
export function poisonVolumes(
  candidates: readonly DailyVolumes[],
  time: number,
  how: Poison,
): DailyVolumes[] {
  return candidates.map((each, index) => {
    const value = each.value.slice();
    const from = Math.max(0, Math.floor((time - each.start) / DAY_MS));
    if (how === 'reversed') value.subarray(from).reverse();
    // Different factors change the ranking.
    else scale(value, from, FACTORS[how] ** (index + 1));
    return { ...each, value };
  });
}

const MIN_POISONED = 100;
const MAX_POISONED = 500;

/** Number of candles after a cut that are changed: at least the startup candles. */
export function poisonedRows(startup: number): number {
  return Math.min(MAX_POISONED, Math.max(MIN_POISONED, startup));
}
