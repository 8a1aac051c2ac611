import type { JobIn } from '#contract/backtests/backtest.ts';
import type { EquityData } from '#contract/backtests/backtest-api.ts';
import type { BacktestCurve, BacktestCurveQuery } from '#contract/backtests/backtest-curve.ts';
import { DAY_MS } from '#contract/values/durations.ts';
import { drawdownSeries } from '#engine/metrics/equity-curve.ts';
import type { CandleCurve } from '#engine/report/candle-curve.ts';
import { parseRange } from '../data/time-range.ts';
import type { JobStore, ResultStore } from '../ports.ts';
import { getCompletedBacktest } from './get-backtest.ts';

/** Points of a run at equal distances. */
interface Points {
  readonly resolution: BacktestCurve['resolution'];
  /** Time of the first point, ms. */
  readonly start: number;
  /** Distance, ms. */
  readonly step: number;
  readonly equity: ArrayLike<number>;
  /** Percent, zero or negative. */
  readonly drawdown: ArrayLike<number>;
  readonly market: ArrayLike<number> | null;
}

/**
 * Equity, drawdown and market of a completed backtest for a chart. A result without a stored curve has its days only.
 * Throws RES001, RES005 (not completed), RES006, VAL001 for invalid times, DATA005.
 */
export async function getBacktestCurve(
  deps: { readonly jobs: JobStore; readonly results: ResultStore },
  jobId: string,
  query: BacktestCurveQuery,
): Promise<BacktestCurve> {
  const { start = Number.NEGATIVE_INFINITY, end = Number.POSITIVE_INFINITY } = parseRange(
    { start: query.from, end: query.to },
    ['from', 'to'],
  );
  const job = await getCompletedBacktest(deps, jobId);
  const points = await readPoints(deps.results, job, query.resolution);
  const { resolution, step, equity, drawdown, market } = points;
  // First rows at or after both times.
  const rowAt = (time: number) =>
    Math.min(Math.max(0, Math.ceil((time - points.start) / step)), equity.length);
  const from = rowAt(start);
  const to = Math.max(from, rowAt(end));
  const rows = selectRows([equity, drawdown, ...(market ? [market] : [])], from, to, query.points);
  return {
    resolution,
    step_seconds: step / 1_000,
    decimated: rows.length < to - from,
    total: to - from,
    times: rows.map((row) => (points.start + row * step) / 1_000),
    equity: rows.map((row) => equity[row]!),
    drawdown: rows.map((row) => roundPercent(drawdown[row]!)),
    market: market && rows.map((row) => market[row]!),
  };
}

async function readPoints(
  results: ResultStore,
  job: JobIn<'completed'>,
  resolution: BacktestCurve['resolution'],
): Promise<Points> {
  const curve = await results.readCurve(job.results);
  if (curve && resolution === 'candle') {
    const { start, step, equity, market } = curve;
    return { resolution, start, step, equity, market, drawdown: drawdownSeries(curve.wallet, equity) };
  }
  const { dates, equity, drawdown } = (await results.read(job.results, 'equity')) as EquityData;
  const start = Date.parse(dates[0]!);
  const market = curve ? dates.map((_, day) => marketAtEnd(curve, start + day * DAY_MS)) : null;
  return { resolution: 'day', start, step: DAY_MS, equity, drawdown, market };
}

/** Market value at the last candle that opens on a day; before the curve begins the wallet. */
function marketAtEnd({ start, step, wallet, market }: CandleCurve, day: number): number {
  const after = Math.ceil((day + DAY_MS - start) / step);
  return after <= 0 ? wallet : (market[Math.min(after, market.length) - 1] ?? wallet);
}

/** Four decimals: a chart shows fewer. */
function roundPercent(value: number): number {
  return Math.round(value * 1e4) / 1e4;
}

/**
 * Rows of [from, to) for a chart of at most `points`: all, or of each bucket those with the smallest and largest value of each
 * column, and the first and last row of the range. Every row is a real point, so times and values stay exact.
 */
function selectRows(
  columns: readonly ArrayLike<number>[],
  from: number,
  to: number,
  points: number,
): number[] {
  const count = to - from;
  if (count <= points) return Array.from({ length: count }, (_, index) => from + index);
  const buckets = Math.floor((points - 2) / (2 * columns.length));
  const rows = new Set<number>([from, to - 1]);
  for (let bucket = 0; bucket < buckets; bucket++) {
    const first = from + Math.floor((bucket * count) / buckets);
    const end = from + Math.floor(((bucket + 1) * count) / buckets);
    for (const column of columns) for (const row of extremes(column, first, end)) rows.add(row);
  }
  return [...rows].sort((a, b) => a - b);
}

/** First rows of [from, end) with the smallest and with the largest value. */
function extremes(column: ArrayLike<number>, from: number, end: number): [number, number] {
  let smallest = from;
  let largest = from;
  for (let row = from + 1; row < end; row++) {
    if (column[row]! < column[smallest]!) smallest = row;
    if (column[row]! > column[largest]!) largest = row;
  }
  return [smallest, largest];
}
