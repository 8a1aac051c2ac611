import type { JobIn } from '#contract/backtest.ts';
import type { ExportFormat, ExportLink } from '#contract/backtest-export.ts';
import { lookAheadOf } from '#contract/look-ahead.ts';
import type { BacktestReport, Trade } from '#contract/report.ts';
import { getCompletedBacktest } from './get-backtest.ts';
import type { ResultStore } from './ports.ts';
import { type ReportFileDeps, reportFile } from './report-file.ts';
import { allPages, readTradePages, tradeColumns, tradesOf } from './stored-trades.ts';

/** A file that is offered for download. */
export interface ExportFile {
  /** Safe in a header and as a file name: letters, digits, `.`, `_` and `-`. */
  readonly name: string;
  readonly contentType: string;
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

/** Largest file in a response, bytes. A function's response has 6 MB at most, as a string of JSON. */
const MAX_DIRECT_BYTES = 5 * 1024 * 1024;

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

/** Text of a file; undefined for one over {@link MAX_DIRECT_BYTES}. */
async function contentOf({ chunks }: ExportFile): Promise<string | undefined> {
  const parts: string[] = [];
  let bytes = 0;
  for await (const chunk of chunks()) {
    parts.push(String(chunk));
    bytes += Buffer.byteLength(JSON.stringify(chunk));
    if (bytes > MAX_DIRECT_BYTES) return undefined;
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
    chunks: () => csvOf(results, job),
  }),
  json: async ({ results }, job) => ({
    name: fileName(job, 'report.json'),
    contentType: 'application/json',
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
function fileName({ job_id, config }: Completed, suffix: string): string {
  return `${config.strategy.replaceAll(/[^A-Za-z0-9_-]+/g, '-')}-${job_id}-${suffix}`;
}

const COLUMNS = [
  ...(['id', 'pair', 'side', 'opened_at', 'closed_at', 'duration_minutes', 'entry_price'] as const),
  ...(['exit_price', 'amount', 'stake', 'leverage', 'enter_tag', 'exit_reason', 'fees'] as const),
  ...(['slippage_cost', 'funding', 'profit', 'profit_pct', 'initial_stop_price', 'stop_price'] as const),
  ...(['liquidation_price', 'lowest_price', 'highest_price', 'left_open'] as const),
] satisfies (keyof Trade)[];

/** Trades as RFC 4180: a header, then a line for each trade. */
async function* csvOf(results: ResultStore, { results: location }: Completed): AsyncGenerator<string> {
  yield `${COLUMNS.join(',')}\r\n`;
  for await (const page of readTradePages(results, location, allPages(location))) {
    const lines = tradesOf(page).map((trade) => COLUMNS.map((name) => csvField(trade[name])).join(','));
    yield `${lines.join('\r\n')}\r\n`;
  }
}

/** Text that a spreadsheet would calculate (OWASP, CSV injection). Tags and reasons are made by strategies, which may be code of others. */
const FORMULA = /^[=+\-@＝＋－＠\t\r\n]/;

function csvField(value: Trade[keyof Trade]): string {
  if (value === null) return '';
  if (typeof value !== 'string') return String(value);
  const text = FORMULA.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** The report as `report-data` returns it, with daily equity, and with all trades as columns. */
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
  // The elements of each column, a string for each stored page.
  const elements = new Map(COLUMNS.map((name) => [name, [] as string[]]));
  for await (const page of readTradePages(results, job.results, allPages(job.results))) {
    const columns = tradeColumns(tradesOf(page));
    for (const [name, texts] of elements) texts.push(JSON.stringify(columns[name]).slice(1, -1));
  }
  for (const [index, [name, texts]] of [...elements].entries()) {
    yield `${index === 0 ? '' : ','}"${name}":[${texts.join(',')}]`;
  }
  yield '}}\n';
}
