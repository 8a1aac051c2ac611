import type * as z from 'zod';
import type { BacktestJob } from './backtest-api.ts';
import type { BacktestCurve } from './backtest-curve.ts';
import type { TradeColumns } from './backtest-trades.ts';
import type { BacktestReportData } from './report.ts';

/** Data of a report that is one file, as its page reads them. */

type Job = z.infer<typeof BacktestJob>;

/** The fields of a backtest that its report shows. Notes and tags stay with the owner. */
type FileJob = Pick<
  Job,
  | 'job_id'
  | 'status'
  | 'strategy'
  | 'experiment_name'
  | 'created_at'
  | 'config'
  | 'warnings'
  | 'registered'
  | 'found_by'
>;

/** The columns of trades that the report shows. */
export const FILE_TRADE_COLUMNS = [
  'id',
  'pair',
  'side',
  'opened_at',
  'closed_at',
  'duration_minutes',
  'entry_price',
  'exit_price',
  'stake',
  'leverage',
  'enter_tag',
  'exit_reason',
  'fees',
  'funding',
  'profit',
  'profit_pct',
  'initial_stop_price',
  'stop_price',
  'left_open',
  'group',
  'position',
] satisfies (keyof TradeColumns)[];

/** Candles in a row. */
export interface FileCandles {
  readonly pair: string;
  /** Open times, Unix seconds. */
  readonly times: readonly number[];
  readonly open: readonly number[];
  readonly high: readonly number[];
  readonly low: readonly number[];
  readonly close: readonly number[];
  readonly volume: readonly number[];
}

export interface ReportFileData {
  readonly job: FileJob;
  /** The report without trades. */
  readonly report: Omit<z.infer<typeof BacktestReportData>, 'trades'>;
  /** Of every day. */
  readonly curve: BacktestCurve;
  readonly trades: Pick<TradeColumns, (typeof FILE_TRADE_COLUMNS)[number] | 'orders'>;
  /** Around the largest trades, by pair and time. They overlap nowhere. */
  readonly candles: readonly FileCandles[];
  /** Trade that is selected first: the largest. */
  readonly largest: number | null;
}

/** Where the data go in the built page, as base64 of their JSON, compressed with gzip. It appears there once. */
export const FILE_DATA_MARK = '@@report-data@@';
/** Lines around the library that draws candles, in the built page. A file without trades leaves it out. */
export const FILE_CANDLES_MARK = '<!-- candles -->';
/** Name of the built page among the files of the dashboard. */
export const FILE_PAGE_NAME = 'report-file.html';
