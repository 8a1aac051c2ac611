import type { ReportInformative } from '#contract/backtests/report-informative.ts';
import type { Digest } from '#contract/values/digest.ts';
import { type Candles, indexAtOrAfter, sliceCandles } from '../candles.ts';
import { digestCandles } from '../digest.ts';
import { type Startup, startupOn } from '../startup.ts';
import type { InformativePair } from '../strategy.ts';
import { floorToGrid, TIMEFRAME_MS, type Timeframe } from '../timeframe.ts';
import { checkCandles, fillGaps } from './candle-checks.ts';

/** A series that a strategy reads in addition to the candles that it trades. */
export interface InformativeSeries {
  /** Key of its columns in `informative`: `4h`, `BTC/{stake} 1d`. */
  readonly key: string;
  readonly pair: string;
  readonly timeframe: Timeframe;
}

/** Candles of an informative series. */
export interface InformativeCandles extends InformativeSeries {
  /** Timeframe of the stored candles; shorter than `timeframe` when these were computed. */
  readonly source: Timeframe;
  /** Closed candles of `timeframe`, from {@link informativeStart} as far as stored. Gaps are allowed. */
  readonly candles: Candles;
  /** Candles of which `candles` were made. Pairs of a run that were given the same object share the columns. */
  readonly origin?: Candles;
}

/** Informative candles of one pair of a run: checked, gaps filled, cut to the candles that the run reads. */
export interface ReadInformative extends InformativeCandles {
  /** Stored candles in the range of `candles`. */
  readonly read: Candles;
}

/** Fields of a strategy that name informative series. */
export interface InformativeFacts {
  readonly informativeTimeframes?: readonly Timeframe[];
  readonly informative?: readonly InformativePair[];
}

/** Placeholder in the pair of an informative series: quote currency and settlement currency of the traded pair. */
export const STAKE = '{stake}';

/**
 * Series that a strategy reads for the traded `pair`: its other timeframes, then other pairs. A spot pair reads the spot pairs of
 * perpetuals; the keys of their columns stay as declared.
 */
export function informativeSeries(
  { informativeTimeframes = [], informative = [] }: InformativeFacts,
  pair: string,
): InformativeSeries[] {
  const stake = pair.slice(pair.indexOf('/') + 1);
  const isSpot = !pair.includes(':');
  return [
    ...informativeTimeframes.map((timeframe) => ({ key: timeframe, pair, timeframe })),
    ...informative.map((each) => ({
      key: informativeKey(each),
      pair: isSpot ? each.pair.replace(STAKE, stake).split(':')[0]! : each.pair.replace(STAKE, stake),
      timeframe: each.timeframe,
    })),
  ];
}

/** Key of the columns of another pair. */
export function informativeKey({ pair, timeframe }: InformativePair): string {
  return `${pair} ${timeframe}`;
}

/**
 * Open time of the first informative candle to read, ms: `startup` candles close before the first decision, and one more
 * covers the candle that is then still open.
 *
 * @param start time of the first decision or of the first training row, ms
 */
export function informativeStart(start: number, startup: number, timeframe: Timeframe): number {
  const stepMs = TIMEFRAME_MS[timeframe];
  return floorToGrid(start, stepMs) - (startup + 1) * stepMs;
}

/**
 * Checks the given informative candles, cuts them to the run's range and fills their gaps.
 *
 * @param start as for {@link informativeStart}
 * @param end end of the run, ms: later closes are not read
 * @throws BacktestError `invalid_candles`
 */
export function readInformative(
  given: readonly InformativeCandles[],
  { start, end, startup }: { readonly start: number; readonly end: number; readonly startup: Startup },
): ReadInformative[] {
  return given.map((each) => {
    const stepMs = TIMEFRAME_MS[each.timeframe];
    const { timestamp } = each.candles;
    const from = informativeStart(start, startupOn(startup, each.timeframe), each.timeframe);
    const read = sliceCandles(
      each.candles,
      indexAtOrAfter(timestamp, from),
      indexAtOrAfter(timestamp, end - stepMs + 1),
    );
    checkCandles(`${each.pair} ${each.timeframe}`, read, stepMs, true);
    return { ...each, read, candles: fillGaps(read, stepMs).candles, origin: each.candles };
  });
}

/** The informative candles that had closed by `time`, ms, as views. */
export function closedBy<T extends InformativeCandles>(given: readonly T[], time: number): T[] {
  return given.map((each) => {
    const rows = indexAtOrAfter(each.candles.timestamp, time - TIMEFRAME_MS[each.timeframe] + 1);
    return { ...each, candles: sliceCandles(each.candles, 0, rows) };
  });
}

/** Time by which the startup candles of every series have closed, ms; infinite when a series has fewer. */
export function informativeReady(given: readonly InformativeCandles[], startup: Startup): number {
  const ready = given.map(({ candles: { timestamp }, timeframe }) => {
    const count = startupOn(startup, timeframe);
    return timestamp.length < Math.max(count, 1)
      ? Number.POSITIVE_INFINITY
      : timestamp[0]! + count * TIMEFRAME_MS[timeframe];
  });
  return Math.max(Number.NEGATIVE_INFINITY, ...ready);
}

/** The report's rows of the informative series that a pair read. */
export function describeInformative(
  given: readonly ReadInformative[],
  digest: Digest,
): Omit<ReportInformative, 'read_by'>[] {
  return given.map(({ pair, timeframe, source, read, candles }) => {
    const rows = candles.timestamp.length;
    const iso = (row: number) => new Date(candles.timestamp.at(row)!).toISOString();
    return {
      pair,
      timeframe,
      origin: source === timeframe ? 'stored' : 'computed',
      source_timeframe: source,
      candles: rows,
      filled_candles: rows - read.timestamp.length,
      first: rows > 0 ? iso(0) : null,
      last: rows > 0 ? iso(-1) : null,
      digest: digestCandles(read, digest),
    };
  });
}

/** Warnings about informative candles that end before the candles that are traded. */
export function informativeWarnings(pair: string, given: readonly ReadInformative[], end: number): string[] {
  return given.flatMap(({ pair: other, timeframe, candles: { timestamp } }) => {
    const stepMs = TIMEFRAME_MS[timeframe];
    const last = timestamp.at(-1);
    if (last === undefined || last + stepMs >= floorToGrid(end, stepMs)) return [];
    return [
      `The ${timeframe} candles of ${other} end with the candle at ${new Date(last).toISOString()}: later rows of ${pair} repeat its values.`,
    ];
  });
}
