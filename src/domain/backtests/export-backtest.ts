import type { JobIn } from '#contract/backtests/backtest.ts';
import type { ExportFormat, ExportLink } from '#contract/backtests/backtest-export.ts';
import type { BacktestReport, Order, Trade } from '#contract/backtests/report.ts';
import { lookAheadOf } from '#contract/config/look-ahead.ts';
import { MAX_RESPONSE_BYTES } from '#contract/values/request-limits.ts';
import type { ResultStore } from '../ports.ts';
import { csvField } from './csv-field.ts';
import { getCompletedBacktest } from './get-backtest.ts';
import { type ReportFileDeps, reportFile } from './report-file.ts';
import {
  allPages,
  type PositionedPage,
  readTradePages,
  TRADE_FIELDS,
  tradeColumn,
  tradesOf,
} from './stored-trades.ts';

/** A file that is offered for download. */
export interface ExportFile {
  /** Safe in a header and as a file name: letters, digits, `.`, `_` and `-`. */
  readonly name: string;
  readonly contentType: string;
  /** Lower bound of its size: a file that is too large for a response is not made to find that out. Absent: unknown. */
  readonly leastBytes?: number;
  /** Key of the stored object with these bytes. Absent: there is none. */
  readonly storedAs?: string;
  /** Contents, made again at each call. */
  readonly chunks: () => AsyncIterable<string | Uint8Array>;
}

/** Addresses under which a browser can open a file without a token, for a few minutes. */
export interface Downloads {
  /** @param jobId backtest with which the file is deleted */
  offer(jobId: string, file: ExportFile): Promise<Pick<ExportLink, 'url' | 'expires_at'>>;
}

export interface ExportBacktestDeps extends ReportFileDeps {
  readonly downloads: Downloads;
}

/** The file itself, or its address. */
type Export =
  | { readonly file: Pick<ExportFile, 'name' | 'contentType'>; readonly content: string }
  | { readonly link: ExportLink };

/**
 * A completed backtest as a file. A file that is stored in this form or is over 5 MB is offered for download.
 * Throws RES001, RES005 (not completed), RES006, DATA005; `html` VAL005, HTTP503, SVC002 and SVC004 as well.
 */
export async function exportBacktest(
  deps: ExportBacktestDeps,
  jobId: string,
  { format, correlationId }: { readonly format: ExportFormat; readonly correlationId: string },
): Promise<Export> {
  const job = await getCompletedBacktest(deps, jobId);
  const file = await FORMATS[format](deps, job, correlationId);
  const content = file.storedAs === undefined ? await contentOf(file) : undefined;
  if (content !== undefined) return { file, content };
  return { link: { ...(await deps.downloads.offer(jobId, file)), file_name: file.name } };
}

/** Text of a file; undefined for one that is too large for a response. */
async function contentOf({ chunks, leastBytes = 0 }: ExportFile): Promise<string | undefined> {
  if (leastBytes > MAX_RESPONSE_BYTES) return undefined;
  const parts: string[] = [];
  let bytes = 0;
  for await (const chunk of chunks()) {
    parts.push(String(chunk));
    bytes += Buffer.byteLength(JSON.stringify(chunk));
    if (bytes > MAX_RESPONSE_BYTES) return undefined;
  }
  return parts.join('');
}

type Completed = JobIn<'completed'>;

/** Each format of an export. */
const FORMATS: Readonly<
  Record<ExportFormat, (deps: ReportFileDeps, job: Completed, correlationId: string) => Promise<ExportFile>>
> = {
  csv: async ({ results }, job) => ({
    name: fileName(job, 'trades.csv'),
    contentType: 'text/csv; charset=utf-8',
    leastBytes: leastBytesOf(job),
    chunks: () => csvOf(results, job),
  }),
  orders: async ({ results }, job) => ({
    name: fileName(job, 'orders.csv'),
    contentType: 'text/csv; charset=utf-8',
    chunks: () => ordersOf(results, job),
  }),
  json: async ({ results }, job) => ({
    name: fileName(job, 'report.json'),
    contentType: 'application/json',
    leastBytes: leastBytesOf(job),
    chunks: () => jsonOf(results, job),
  }),
  parquet: async ({ results }, job) => {
    const { key, read } = await results.tradesFile(job.results);
    return {
      name: fileName(job, 'trades.parquet'),
      contentType: 'application/vnd.apache.parquet',
      storedAs: key,
      chunks: async function* () {
        yield await read();
      },
    };
  },
  html: async (deps, job, correlationId) => {
    // Made once: it reads candles of another service.
    const page = await reportFile(deps, job, correlationId);
    return {
      name: fileName(job, 'report.html'),
      contentType: 'text/html; charset=utf-8',
      chunks: async function* () {
        yield page;
      },
    };
  },
};

/** A strategy's name may have any character. */
export function fileName({ job_id, config }: Completed, suffix: string): string {
  return `${config.strategy.replaceAll(/[^A-Za-z0-9_-]+/g, '-')}-${job_id}-${suffix}`;
}

/** Bytes of the shortest trade: 24 separators, a pair, two times, and a character for each other field. */
const LEAST_TRADE_BYTES = 70;

function leastBytesOf({ result }: Completed): number {
  return result.total_trades * LEAST_TRADE_BYTES;
}

/** Trades as RFC 4180: a header, then a line for each trade. */
async function* csvOf(results: ResultStore, { results: location }: Completed): AsyncGenerator<string> {
  yield csvHeader();
  for await (const page of readTradePages(results, location, allPages(location)))
    yield csvLines(tradesOf(page));
}

export const csvHeader = () => `${TRADE_FIELDS.join(',')}\r\n`;

export function csvLines(trades: readonly Trade[]): string {
  return trades.map((trade) => `${TRADE_FIELDS.map((name) => csvField(trade[name])).join(',')}\r\n`).join('');
}

/** The orders of the adjusted trades: a header, then a line for each order. */
async function* ordersOf(results: ResultStore, { results: location }: Completed): AsyncGenerator<string> {
  yield `trade_id,number,${ORDER_FIELDS.join(',')}\r\n`;
  for await (const page of readTradePages(results, location, allPages(location)))
    for (const { id, orders = [] } of tradesOf(page))
      for (const [index, order] of orders.entries())
        yield `${id},${index + 1},${ORDER_FIELDS.map((name) => csvField(order[name])).join(',')}\r\n`;
}

const ORDER_FIELDS = [
  'side',
  'placed_at',
  'filled_at',
  'price',
  'amount',
  'fee',
  'funding',
  'tag',
] satisfies (keyof Order)[];

/** Fields whose texts are made together: 12 bytes for each value. */
const FIELDS_AT_ONCE = 4;

/**
 * The report as `report-data` returns it, with daily equity, and with all trades as columns. Each column needs all stored pages: they
 * stay in memory as tables, which have half the size of the text (160 bytes for a trade).
 */
async function* jsonOf(results: ResultStore, job: Completed): AsyncGenerator<string> {
  const [report, equity] = await Promise.all([
    results.read(job.results, 'report'),
    results.read(job.results, 'equity'),
  ]);
  const { job_id, timing, warnings } = job;
  const head = {
    job_id,
    ...(report as BacktestReport),
    warnings,
    timing,
    look_ahead: lookAheadOf(job),
    equity,
  };
  yield `${JSON.stringify(head).slice(0, -1)},"trades":{`;
  const pages: PositionedPage[] = [];
  for await (const page of readTradePages(results, job.results, allPages(job.results))) pages.push(page);
  for (let from = 0; from < TRADE_FIELDS.length; from += FIELDS_AT_ONCE) {
    const names = TRADE_FIELDS.slice(from, from + FIELDS_AT_ONCE);
    // The elements of each column, a string for each stored page.
    const elements = new Map(names.map((name) => [name, [] as string[]]));
    for (const page of pages) {
      const trades = tradesOf(page);
      for (const [name, texts] of elements)
        texts.push(JSON.stringify(tradeColumn(trades, name)).slice(1, -1));
    }
    for (const [name, texts] of elements) {
      yield `${name === TRADE_FIELDS[0] ? '' : ','}"${name}":[`;
      for (const [index, text] of texts.entries()) yield index === 0 ? text : `,${text}`;
      yield ']';
    }
  }
  const adjusted = pages.flatMap(tradesOf).filter(({ orders }) => orders);
  const orders = Object.fromEntries(adjusted.map(({ id, orders }) => [id, orders]));
  yield adjusted.length === 0 ? '}}\n' : `},"orders":${JSON.stringify(orders)}}\n`;
}
