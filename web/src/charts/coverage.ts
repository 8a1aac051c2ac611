import type { StoredSeries } from '../api/coverage.ts';
import { decimal } from '../ui/format.ts';

export type StoredMonth = StoredSeries['months'][number];

/**
 * State of a month of a series. `part` lost candles; `sparse` lost none: the series begins or ends in it, or it has times without trades.
 * `none` has no candle, `absent` is outside of the series.
 */
export type CoverState = 'full' | 'sparse' | 'part' | 'none' | 'corrupt' | 'absent';

export interface CoverCell {
  readonly state: CoverState;
  /** Text in the cell: percent of a part, a sign of damage. */
  readonly text: string;
}

/** Milliseconds of a candle. */
const TIMEFRAME_MS: Readonly<Record<string, number>> = {
  '1m': 60_000,
  '3m': 180_000,
  '5m': 300_000,
  '15m': 900_000,
  '30m': 1_800_000,
  '1h': 3_600_000,
  '2h': 7_200_000,
  '4h': 14_400_000,
  '6h': 21_600_000,
  '8h': 28_800_000,
  '12h': 43_200_000,
  '1d': 86_400_000,
  '3d': 259_200_000,
  '1w': 604_800_000,
};

export const TIMEFRAMES = Object.keys(TIMEFRAME_MS);

/** Length of a candle in milliseconds. */
export function timeframeMs(timeframe: string): number {
  return TIMEFRAME_MS[timeframe] ?? 0;
}

/** What a cell of the map shows of a month. */
export function cellOf(month: StoredMonth | undefined): CoverCell {
  if (!month) return { state: 'absent', text: '' };
  const { candles, expected, corrupt } = month;
  if (corrupt) return { state: 'corrupt', text: '!' };
  if (candles === 0) return { state: 'none', text: '–' };
  if (candles >= expected) return { state: 'full', text: '' };
  // Rounded down: a month that lacks one candle is not complete.
  return {
    state: isIncomplete(month) ? 'part' : 'sparse',
    text: String(Math.floor((candles / expected) * 100)),
  };
}

/** A month in words: formatted only where somebody looks, since a map has thousands. */
export function monthText(month: StoredMonth | undefined, name: string): string {
  if (!month) return `${name}: nothing stored`;
  const { candles, expected, gap_count, corrupt } = month;
  if (corrupt) return `${name}: corrupt, it is collected again when it is needed`;
  const gaps = gap_count === 1 ? '1 gap' : `${decimal(gap_count, 0)} gaps`;
  return `${name}: ${decimal(candles, 0)} of ${decimal(expected, 0)} candles, ${gaps}`;
}

/** The months of a series in words: how much is stored, and how many months lack candles. */
export function rowText(series: Pick<StoredSeries, 'months'>, months: readonly string[]): string {
  const stored = `${decimal(Math.floor(coverageOf(series) * 1_000) / 10, 1)} % stored`;
  const corrupt = series.months.filter((month) => month.corrupt).length;
  const incomplete = series.months.filter(isIncomplete).length;
  return `${months[0]} to ${months.at(-1)}: ${stored}, incomplete months: ${incomplete}, corrupt ones: ${corrupt}`;
}

/** Every month from the first to the last of some series, `YYYY-MM`. */
export function monthsOf(series: readonly StoredSeries[]): readonly string[] {
  const names = series.flatMap(({ months }) => [months[0]?.month, months.at(-1)?.month]);
  const sorted = names.filter((name) => name !== undefined).sort();
  const [first, last] = [sorted[0], sorted.at(-1)];
  const months: string[] = [];
  for (let month = first; month !== undefined && month <= last!; month = nextMonth(month)) months.push(month);
  return months;
}

function nextMonth(month: string): string {
  const [year, number] = month.split('-').map(Number);
  return new Date(Date.UTC(year!, number!)).toISOString().slice(0, 7);
}

/** Stored share of the candles that a series could have, 0 to 1. */
export function coverageOf({ months }: Pick<StoredSeries, 'months'>): number {
  const expected = months.reduce((sum, month) => sum + month.expected, 0);
  const candles = months.reduce((sum, month) => sum + month.candles, 0);
  return expected === 0 ? 0 : Math.min(1, candles / expected);
}

/** Time at which the last candle of a series closed, ms. */
export function closedAt({ last, timeframe }: Pick<StoredSeries, 'last' | 'timeframe'>): number {
  return Date.parse(last) + timeframeMs(timeframe);
}

/** Age from which a series counts as stale, ms: the default of the freshness check. */
const STALE_AFTER_MS = 24 * 3_600_000;

export function isStale(series: Pick<StoredSeries, 'last' | 'timeframe'>, now: number): boolean {
  return now - closedAt(series) > STALE_AFTER_MS;
}

/** True if candles were lost or are corrupt in some month. Closed times, and times without trades or outside of the series, are no problem. */
export function hasProblem({ months }: Pick<StoredSeries, 'months'>): boolean {
  return months.some(isIncomplete);
}

/** True for a month that lacks candles which its market had. */
export function isIncomplete({ missing, corrupt }: StoredMonth): boolean {
  return corrupt || missing.damage > 0;
}

/**
 * The stored series of each symbol that has candles of a timeframe, or shorter ones of which they can be computed: the one over the
 * longest time, then the longest timeframe.
 */
export function sourcesOf(series: readonly StoredSeries[], timeframe: string): readonly StoredSeries[] {
  const lengthOf = (each: StoredSeries) => closedAt(each) - Date.parse(each.first);
  const best = new Map<string, StoredSeries>();
  for (const each of series) {
    if (timeframeMs(timeframe) % timeframeMs(each.timeframe) !== 0) continue;
    const known = best.get(each.symbol);
    const more = known ? lengthOf(each) - lengthOf(known) : 1;
    const isLonger = known !== undefined && timeframeMs(each.timeframe) > timeframeMs(known.timeframe);
    if (more > 0 || (more === 0 && isLonger)) best.set(each.symbol, each);
  }
  return [...best.values()];
}

interface Days {
  readonly start: string;
  readonly end: string;
}

/** The range that every one of some series has candles in, UTC days; undefined without one. */
export function commonRange(series: readonly StoredSeries[]): Days | undefined {
  return daysOf(Math.max(...series.map(({ first }) => Date.parse(first))), Math.min(...series.map(closedAt)));
}

/** The range from the first candle of some series to the last one, UTC days; undefined without series. */
export function wholeRange(series: readonly StoredSeries[]): Days | undefined {
  return daysOf(Math.min(...series.map(({ first }) => Date.parse(first))), Math.max(...series.map(closedAt)));
}

function daysOf(start: number, end: number): Days | undefined {
  // Without series both are infinite.
  if (!Number.isFinite(start) || start >= end) return undefined;
  const day = (time: number) => new Date(time).toISOString().slice(0, 10);
  return { start: day(start), end: day(end) };
}
