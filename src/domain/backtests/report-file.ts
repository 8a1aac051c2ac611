import type { JobIn } from '#contract/backtests/backtest.ts';
import type { TradeColumns } from '#contract/backtests/backtest-trades.ts';
import type { BacktestReport, ReportSettings } from '#contract/backtests/report.ts';
import {
  FILE_CANDLES_MARK,
  FILE_DATA_MARK,
  FILE_TRADE_COLUMNS,
  type FileCandles,
  type ReportFileData,
} from '#contract/backtests/report-file.ts';
import { lookAheadOf } from '#contract/config/look-ahead.ts';
import { CURVE_LIMITS } from '#contract/values/backtest-limits.ts';
import { CodedError } from '#contract/values/errors.ts';
import { TIMEFRAME_MS } from '#engine/timeframe.ts';
import { readCandles } from '../data/market-data.ts';
import type { DataProxy, JobStore, ResultStore } from '../ports.ts';
import { getBacktestCurve } from './get-backtest-curve.ts';
import { allPages, readTradePages, tradeColumns, tradesOf } from './stored-trades.ts';

export interface ReportFileDeps {
  readonly jobs: JobStore;
  readonly results: ResultStore;
  readonly dataProxy: DataProxy;
  /** The built page. Throws HTTP503 while it is not built. */
  readonly reportPage: () => Promise<string>;
  /** Compresses by gzip and encodes in base64; equal texts give equal results. */
  readonly gzipBase64: (text: string) => string;
}

/** A file of more trades would take a browser minutes. */
const MAX_TRADES = 100_000;
/** Trades whose candles are in the file. */
const LARGEST_TRADES = 50;
/** Candles before and after a trade. */
const CONTEXT = 60;
/** Candles of all trades: 300 KB of the file, and one request even if they are in a row. */
const MAX_CANDLES = 10_000;
/** Requests for candles at the same time. */
const CONCURRENT_READS = 8;

/**
 * The report as one page with its data. Equal inputs give equal bytes.
 * Throws VAL005 (too many trades), HTTP503 (the page is not built), SVC002, SVC004, DATA005.
 */
export async function reportFile(
  deps: ReportFileDeps,
  job: JobIn<'completed'>,
  correlationId: string,
): Promise<string> {
  if (job.result.total_trades > MAX_TRADES) {
    throw new CodedError('VAL005', {
      message: `A report as one page has at most ${MAX_TRADES} trades, and this one has ${job.result.total_trades}: use csv, parquet or json`,
      field: 'format',
    });
  }
  const [page, data] = await Promise.all([deps.reportPage(), dataOf(deps, job, correlationId)]);
  const [head, candles, tail] = page.split(FILE_CANDLES_MARK) as [string, string, string];
  const whole = data.trades.id.length > 0 ? [head, candles, tail] : [head, tail];
  // A function: in a text `$` would have a meaning, and base64 has none anyway.
  return whole.join('').replace(FILE_DATA_MARK, () => deps.gzipBase64(JSON.stringify(data)));
}

async function dataOf(
  deps: ReportFileDeps,
  job: JobIn<'completed'>,
  correlationId: string,
): Promise<ReportFileData> {
  const { job_id, status, experiment_name, created_at, config, warnings, timing, results } = job;
  const [stored, curve, columns] = await Promise.all([
    deps.results.read(results, 'report'),
    getBacktestCurve(deps, job_id, { resolution: 'day', points: CURVE_LIMITS.default }),
    readColumns(deps.results, job),
  ]);
  const trades = {
    ...(Object.fromEntries(
      FILE_TRADE_COLUMNS.map((name) => [name, columns[name]]),
    ) as ReportFileData['trades']),
    ...(columns.orders && { orders: columns.orders }),
  };
  const largest = largestTrades(trades);
  const report = stored as BacktestReport;
  return {
    job: {
      job_id,
      status,
      experiment_name,
      created_at,
      warnings,
      strategy: config.strategy,
      config: { ...config, collect: job.execution_input.collect ?? 'if_stale' },
      registered: job.registered ?? null,
      found_by: job.found_by ?? null,
    },
    report: { ...report, job_id, warnings, timing, look_ahead: lookAheadOf(job) },
    curve,
    trades,
    candles: await readWindows(
      deps.dataProxy,
      windowsOf(trades, largest, report.settings),
      job,
      correlationId,
    ),
    largest: largest[0] === undefined ? null : trades.id[largest[0]]!,
  };
}

async function readColumns(results: ResultStore, job: JobIn<'completed'>): Promise<TradeColumns> {
  const trades = [];
  for await (const page of readTradePages(results, job.results, allPages(job.results))) {
    trades.push(...tradesOf(page));
  }
  return tradeColumns(trades);
}

/** Rows of the trades with the largest profits and losses, the largest first. */
function largestTrades({ profit }: ReportFileData['trades']): number[] {
  const rows = profit.map((_, row) => row);
  rows.sort((a, b) => Math.abs(profit[b]!) - Math.abs(profit[a]!) || a - b);
  return rows.slice(0, LARGEST_TRADES);
}

/** Candles in a row, Unix seconds; `to` is exclusive. */
interface Window {
  readonly pair: string;
  readonly from: number;
  readonly to: number;
}

/**
 * Windows around the trades, the largest first until there are enough, joined where they touch. They end with the candles of the
 * run: later ones arrive after it, and would change the page.
 */
function windowsOf(
  { pair, opened_at, closed_at }: ReportFileData['trades'],
  rows: readonly number[],
  { timeframe, first_candle, last_candle }: ReportSettings,
): Window[] {
  const step = TIMEFRAME_MS[timeframe] / 1_000;
  const first = Date.parse(first_candle) / 1_000;
  const end = Date.parse(last_candle) / 1_000 + step;
  const chosen: Window[] = [];
  let candles = 0;
  for (const row of rows) {
    const from = Math.max(first, opened_at[row]! - CONTEXT * step);
    const to = Math.min(end, closed_at[row]! + (CONTEXT + 1) * step);
    const count = (to - from) / step;
    if (candles + count > MAX_CANDLES) continue;
    candles += count;
    chosen.push({ pair: pair[row]!, from, to });
  }
  chosen.sort((a, b) => (a.pair < b.pair ? -1 : a.pair > b.pair ? 1 : a.from - b.from));
  const joined: Window[] = [];
  for (const next of chosen) {
    const last = joined.at(-1);
    const touches = last?.pair === next.pair && next.from <= last.to;
    if (touches) joined[joined.length - 1] = { ...last, to: Math.max(last.to, next.to) };
    else joined.push(next);
  }
  return joined;
}

async function readWindows(
  proxy: DataProxy,
  windows: readonly Window[],
  { config: { exchange, trading_mode, timeframe } }: JobIn<'completed'>,
  correlationId: string,
): Promise<FileCandles[]> {
  const read: FileCandles[] = [];
  const iso = (seconds: number) => new Date(seconds * 1_000).toISOString();
  for (let at = 0; at < windows.length; at += CONCURRENT_READS) {
    const batch = windows.slice(at, at + CONCURRENT_READS).map(async ({ pair, from, to }) => {
      const range = { start: iso(from), end: iso(to), limit: MAX_CANDLES };
      const candles = await readCandles(proxy, {
        exchange,
        ...(trading_mode && { trading_mode }),
        symbol: pair,
        timeframe,
        ...range,
        correlationId,
      });
      const column = (name: 'open' | 'high' | 'low' | 'close' | 'volume') =>
        candles.map((each) => each[name]);
      return {
        pair,
        times: candles.map(({ timestamp }) => Date.parse(timestamp) / 1_000),
        open: column('open'),
        high: column('high'),
        low: column('low'),
        close: column('close'),
        volume: column('volume'),
      };
    });
    read.push(...(await Promise.all(batch)));
  }
  return read.filter(({ times }) => times.length > 0);
}
