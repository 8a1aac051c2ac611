import type { BacktestExecutionInput, ResolvedBacktestConfig } from '#contract/backtests/backtest.ts';
import { ceilToGrid, floorToGrid, isTimeframe, TIMEFRAME_MS } from '#engine/timeframe.ts';
import type { Clock, SeriesInfo, SeriesStore } from '../ports.ts';
import { isoTime } from '../shared/iso-time.ts';
import type { TimeInterval } from './missing-ranges.ts';

/** Maximum number of ranges in a message; a run of 200 pairs can lack more than a reader can use. */
const MAX_RANGES = 20;

/**
 * The candles that a run reads and that are not stored, by pair, timeframe and range, such as
 * `BTC/USDT:USDT 1h 2026-01-01T00:00:00.000Z to 2026-02-01T00:00:00.000Z`. Candles that are still forming are not missing, nor
 * those from before an exchange listed the symbol.
 *
 * @param read `start`: time from which candles are read; `timeframe`: stored timeframes, by default those of the run
 */
export async function missingCandles(
  { series, clock }: { readonly series: Pick<SeriesStore, 'getMany'>; readonly clock: Clock },
  { exchange, pairs, timeframe, timeframe_detail, date_range }: ResolvedBacktestConfig,
  read: Pick<BacktestExecutionInput, 'start' | 'informative'> & { readonly timeframe?: string | undefined },
): Promise<string[]> {
  const own = timeframe_detail === null ? [timeframe] : [timeframe, timeframe_detail];
  const wanted = read.timeframe?.split(',').filter(isTimeframe) ?? own;
  const { start: from, informative = [] } = read;
  const keys = [
    ...wanted.flatMap((each) => pairs.map((symbol) => ({ symbol, timeframe: each, start: from }))),
    ...informative,
  ];
  const stored = await series.getMany(exchange, keys);
  const ranges = keys.flatMap((key) => {
    const step = TIMEFRAME_MS[key.timeframe];
    const closed = floorToGrid(clock.now(), step);
    const start = ceilToGrid(Date.parse(key.start), step);
    const end = Math.min(ceilToGrid(Date.parse(date_range.end), step), closed);
    const missing = missingOf(stored.get(`${key.symbol}#${key.timeframe}`), { start, end }, step);
    return missing.map(
      (each) => `${key.symbol} ${key.timeframe} ${isoTime(each.start)} to ${isoTime(each.end)}`,
    );
  });
  const more = ranges.length - MAX_RANGES;
  return more > 0 ? [...ranges.slice(0, MAX_RANGES), `${more} more`] : ranges;
}

/** The parts of an interval that a series lacks: before its first candle, after its last, and its stored gaps. */
export function missingOf(
  info: SeriesInfo | undefined,
  { start, end }: TimeInterval,
  step: number,
): TimeInterval[] {
  if (!info) return start < end ? [{ start, end }] : [];
  const first = floorToGrid(Date.parse(info.first), step);
  const begins = info.complete_from === undefined ? first : Math.min(first, Date.parse(info.complete_from));
  const parts = [
    ...(begins > start ? [{ start, end: first }] : []),
    ...info.gaps.map(([from, count]) => ({ start: from, end: from + count * step })),
    { start: floorToGrid(Date.parse(info.last), step) + step, end },
  ];
  return parts
    .map((part) => ({ start: Math.max(part.start, start), end: Math.min(part.end, end) }))
    .filter((part) => part.start < part.end);
}

/** Warning about missing candles for a job with `collect: never`; empty when all are stored. */
export function notCollected(missing: readonly string[]): string[] {
  return missing.length === 0
    ? []
    : [`Not stored, and not collected because collect is never: ${missing.join('; ')}`];
}
