import type { ResolvedBacktestConfig } from '#contract/backtests/backtest.ts';
import type { ChangedCandles, ColumnsOf } from '#contract/backtests/backtest-columns.ts';
import type { BacktestReport } from '#contract/backtests/report.ts';
import { DAY_MS } from '#contract/values/durations.ts';
import { TIMEFRAME_MS, type Timeframe } from '#engine/timeframe.ts';
import type { SeriesMonth, SeriesStore } from '../ports.ts';
import { isoTime } from '../shared/iso-time.ts';

/** A series that a run read. */
interface ReadSeries {
  readonly symbol: string;
  readonly timeframe: Timeframe;
}

/**
 * Series that a run read and that differ from those of the backtest `of`. Their digests decide; the days that were written since
 * narrow the range down.
 */
export async function changedCandles(
  deps: { readonly series: Pick<SeriesStore, 'monthsOfMany'> },
  of: ColumnsOf,
  config: ResolvedBacktestConfig,
  { data, informative = [] }: Pick<BacktestReport, 'data' | 'informative'>,
): Promise<ChangedCandles[]> {
  const now = new Map(data.map((each) => [each.pair, each]));
  const others = informative.filter(({ pair, timeframe, digest }) =>
    of.informative.some(
      (before) => before.pair === pair && before.timeframe === timeframe && before.digest !== digest,
    ),
  );
  const own = of.pairs.filter(({ pair, digest }) => now.get(pair)?.digest !== digest);
  if (own.length === 0) return [];
  const range = rangeOf(config);
  const series = own.flatMap(({ pair }): ReadSeries[] => {
    const { source_timeframe: source = config.timeframe } = now.get(pair) ?? {};
    const frames = [source, ...(config.timeframe_detail ? [config.timeframe_detail] : [])];
    return [...new Set(frames)].map((timeframe) => ({ symbol: pair, timeframe }));
  });
  const months = await deps.series.monthsOfMany(config.exchange, series);
  const changed = series.flatMap(({ symbol, timeframe }) => {
    const written = writtenSince(months.get(`${symbol}#${timeframe}`) ?? [], Date.parse(of.read_at), range);
    return written ? [describe({ symbol, timeframe }, written)] : [];
  });
  const named = new Set([...changed.map(({ pair }) => pair)]);
  const read = (pair: string) => others.filter(({ read_by }) => read_by.includes(pair));
  // Funding, or a change that was not recorded.
  const unexplained = own.filter(({ pair }) => !named.has(pair) && read(pair).length === 0);
  return [
    ...changed,
    ...unexplained.map(({ pair }) => describe({ symbol: pair, timeframe: config.timeframe }, range)),
    ...others.map(({ pair, timeframe }) => describe({ symbol: pair, timeframe }, range)),
  ];
}

interface Range {
  /** Open time of the first candle, ms. */
  readonly from: number;
  /** Exclusive. */
  readonly to: number;
}

function rangeOf({ date_range }: ResolvedBacktestConfig): Range {
  return { from: Date.parse(date_range.start), to: Date.parse(date_range.end) };
}

/** Days with a candle that was written since a time, within the range where they overlap; undefined without any. */
function writtenSince(months: readonly SeriesMonth[], since: number, range: Range): Range | undefined {
  let found: Range | undefined;
  for (const { month, changes = [] } of months) {
    const start = Date.parse(`${month}-01T00:00:00Z`);
    for (const [first, last, at] of changes) {
      if (at < since) continue;
      const from = start + (first - 1) * DAY_MS;
      const to = start + last * DAY_MS;
      found = found ? { from: Math.min(found.from, from), to: Math.max(found.to, to) } : { from, to };
    }
  }
  if (!found || found.from >= range.to) return undefined;
  return { from: found.from, to: Math.min(found.to, range.to) };
}

function describe({ symbol, timeframe }: ReadSeries, { from, to }: Range): ChangedCandles {
  const step = TIMEFRAME_MS[timeframe];
  return { pair: symbol, timeframe, first: isoTime(from), last: isoTime(Math.max(from, to - step)) };
}
