import { randomUUID } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { type Command, Option } from 'commander';
import type { ExportFormat, ExportLink } from '#contract/backtests/backtest-export.ts';
import type { BacktestPositions } from '#contract/backtests/backtest-trades.ts';
import type { Trade } from '#contract/backtests/report.ts';
import { TRADES_LIMITS } from '#contract/values/backtest-limits.ts';
import type { PlatformOptions } from '../../../src/local/platform-options.ts';
import type { ApiClient } from '../client.ts';
import { latestId } from '../jobs.ts';
import { boundsText, given, integer, JSON_OPTION, queryOf, repeated, UsageError } from '../options.ts';
import { escapeControlChars, minute, moneyDigits, number, percent, table, wrap } from '../output.ts';
import { sessionWith, sourceText } from '../session.ts';
import { compareResults, comparisonText } from './comparison.ts';
import { backtestPath, type Job, loadResults } from './load-results.ts';

/** Limit of a file, which may be large and come from another host. */
export const FILE_TIMEOUT_MS = 5 * 60_000;
/** Name of standard output among files. */
export const STDOUT = '-';

/** Commands that read the results of completed backtests. Long because it is their table. */
export function addResultCommands(program: Command): void {
  const session = sessionWith(program);
  const withPages = sessionWith(program, 'backend', openDashboard);
  const ofBacktest = (name: string, description: string) =>
    program
      .command(name)
      .description(description)
      .argument('<job-id>', 'bt-<id>, or last: the newest backtest');

  addFilters(ofBacktest('trades', 'list the trades of a completed backtest, or save all of them as a file'))
    .option(
      '--groups',
      'list the positions: trades whose enter tags share what precedes the first colon, and that overlap',
    )
    .option('--csv', 'print all trades as CSV')
    .option('--parquet', 'save all trades as Parquet')
    .option(
      '--out <file>',
      'write CSV or Parquet to this file (default of --parquet: <job-id>-trades.parquet)',
    )
    .option(...JSON_OPTION)
    .action((jobId: string, options: TradesOptions) =>
      session(async (opened) => {
        const { client } = opened;
        const id = await latestId(client, jobId);
        if (options.groups) await printPositions(client, id, options, sourceText(opened));
        else if (options.csv || options.parquet) await saveTrades(client, id, options);
        else await printTrades(client, id, options, sourceText(opened));
      }),
    );

  ofBacktest('export', 'save a completed backtest as a file')
    .addOption(
      new Option(
        '--format <format>',
        'json: report, equity and trades; csv, parquet: trades; orders: orders of adjusted trades as CSV; html: one page',
      )
        .choices(['json', 'csv', 'parquet', 'orders', 'html'] satisfies ExportFormat[])
        .default('json'),
    )
    .option('--out <file>', 'file to write, - for standard output (default: <job-id>.<format>)')
    .option('--json', 'print JSON: the file and its size')
    .action((jobId: string, { format, out, json }: ExportOptions) =>
      (format === 'html' ? withPages : session)(async ({ client }) => {
        const id = await latestId(client, jobId);
        await saveExport(
          client,
          id,
          format,
          out ?? `${id}.${format === 'orders' ? 'orders.csv' : format}`,
          json,
        );
      }),
    );

  ofBacktest('report', 'save the report of a completed backtest as one page that opens without a network')
    .requiredOption('--html', 'as a page for a browser')
    .option('--out <file>', 'file to write; an existing one is replaced (default: <job-id>.html)')
    .option('--json', 'print JSON: the file and its size')
    .action((jobId: string, { out, json }: Omit<ExportOptions, 'format'>) =>
      withPages(async ({ client }) => {
        const id = await latestId(client, jobId);
        await saveExport(client, id, 'html', out ?? `${id}.html`, json);
      }),
    );

  program
    .command('diff')
    .description('compare two completed backtests: settings, inputs, metrics and equity')
    .argument('<a>', 'bt-<id>, or last: the newest backtest')
    .argument('<b>', 'bt-<id>, or last')
    .option(...JSON_OPTION)
    .action((a: string, b: string, { json }: { json?: boolean }) =>
      session(async (opened) => {
        const { client } = opened;
        const [first, second] = await Promise.all([resultsOf(client, a), resultsOf(client, b)]);
        if (json) return console.log(JSON.stringify(compareResults(first, second)));
        console.log(comparisonText(first, second));
        console.log(`Source: ${sourceText(opened)}`);
      }),
    );
}

/** The report's page is part of the dashboard: a platform that is started for the command reads it, or builds it in 3 s. */
async function openDashboard(): Promise<Partial<PlatformOptions>> {
  const { Dashboard } = await import('../../build/dashboard.ts');
  const dashboard = new Dashboard();
  await dashboard.open();
  return { dashboard: dashboard.state };
}

async function resultsOf(client: ApiClient, reference: string) {
  return loadResults(client, await client.get<Job>(backtestPath(await latestId(client, reference))));
}

function addFilters(command: Command): Command {
  return command
    .option('--pair <pair>', 'only this pair, such as BTC/USDT:USDT; repeatable', repeated, [])
    .addOption(new Option('--side <side>', 'only this side').choices(['long', 'short']))
    .option('--exit-reason <text>', 'only this exit reason')
    .option('--enter-tag <text>', 'only this enter tag')
    .option('--group <text>', 'only this group: the enter tag up to its first colon')
    .option('--from <time>', 'only trades closed from this time on, ISO 8601, UTC')
    .option('--to <time>', 'only trades closed before this time')
    .option('--sort <field>', 'field to sort by, -profit: the largest first', 'id')
    .option(
      '--limit <n>',
      `trades on a page, ${boundsText(TRADES_LIMITS)}`,
      integer(TRADES_LIMITS),
      DEFAULT_TRADES,
    )
    .option('--page <n>', 'page, from 1', integer({ min: 1, max: 1_000_000 }), 1);
}

/** Trades that fit on a screen. */
const DEFAULT_TRADES = 50;

interface Filters {
  readonly pair: readonly string[];
  readonly side?: string;
  readonly exitReason?: string;
  readonly enterTag?: string;
  readonly group?: string;
  readonly from?: string;
  readonly to?: string;
}

interface TradesOptions extends Filters {
  readonly sort: string;
  readonly limit: number;
  readonly page: number;
  readonly groups?: boolean;
  readonly csv?: boolean;
  readonly parquet?: boolean;
  readonly out?: string;
  readonly json?: boolean;
}

interface ExportOptions {
  readonly format: ExportFormat;
  readonly out?: string;
  readonly json?: boolean;
}

interface TradesPage {
  readonly items: readonly Trade[];
  readonly page: number;
  readonly pages: number;
  readonly total: number;
}

const filtersOf = ({ pair, side, exitReason, enterTag, group, from, to }: Filters) =>
  given({
    pair: pair.join(',') || undefined,
    side,
    exit_reason: exitReason,
    enter_tag: enterTag,
    group,
    from,
    to,
  });

function readTrades(
  client: ApiClient,
  id: string,
  query: Readonly<Record<string, unknown>>,
): Promise<TradesPage> {
  return client.get<TradesPage>(backtestPath(id, `/trades?${queryOf(query)}`));
}

async function printTrades(
  client: ApiClient,
  id: string,
  options: TradesOptions,
  source: string,
): Promise<void> {
  const { sort, limit, page, json } = options;
  const found = await readTrades(client, id, { ...filtersOf(options), sort, limit, page });
  if (json) return console.log(JSON.stringify(found));
  if (found.items.length === 0) return console.log(`No trades match on page ${page} of ${found.pages}.`);
  console.log(tradeTable(found.items));
  const first = (page - 1) * limit + 1;
  const more = page < found.pages ? `. Next: --page ${page + 1}; all of them: --csv` : '';
  console.log(`Trades ${first} to ${first + found.items.length - 1} of ${number(found.total, 0)}${more}`);
  console.log(`Source: ${id}, ${source}`);
}

async function printPositions(
  client: ApiClient,
  id: string,
  { group, limit, page, json, ...others }: TradesOptions,
  source: string,
): Promise<void> {
  const { groups: _, sort, csv, parquet, out, ...filters } = others;
  if (csv || parquet || out || sort !== 'id' || Object.keys(filtersOf(filters)).length > 0)
    throw new UsageError('--groups takes --group, --limit, --page and --json only.');
  const query = queryOf(given({ group, limit, page }));
  const found = await client.get<BacktestPositions>(backtestPath(id, `/positions?${query}`));
  if (json) return console.log(JSON.stringify(found));
  if (found.items.length === 0)
    return console.log('No positions: no enter tag of a trade has a colon, such as spread-1:long.');
  const digits = moneyDigits(Math.max(...found.items.map(({ stake }) => stake)));
  const titles = [
    'Position',
    'Group',
    'Pairs',
    'Opened (UTC)',
    'Closed (UTC)',
    'Legs',
    'Stake',
    'Profit',
    '%',
  ];
  const rows = found.items.map((each) => [
    each.position,
    wrap(each.group, 30),
    wrap(each.pairs.join(', '), 30),
    minute(each.opened_at),
    minute(each.closed_at),
    each.legs,
    number(each.stake, digits),
    number(each.profit, digits),
    percent(each.profit_pct),
  ]);
  console.log(table(titles, rows));
  const more = page < found.pages ? `. Next: --page ${page + 1}` : '';
  console.log(`${found.items.length} of ${number(found.total, 0)} positions${more}`);
  console.log(`Source: ${id}, ${source}`);
}

function tradeTable(trades: readonly Trade[]): string {
  const hasOrders = trades.some(({ orders }) => orders);
  const digits = moneyDigits(Math.max(...trades.map(({ stake }) => stake)));
  return table(
    [
      'Id',
      'Pair',
      'Side',
      'Opened (UTC)',
      'Closed (UTC)',
      'Entry',
      'Exit',
      'Stake',
      'Profit',
      '%',
      ...(hasOrders ? ['Orders'] : []),
      'Exit reason',
    ],
    trades.map((trade) => [
      trade.id,
      trade.pair,
      trade.side,
      minute(trade.opened_at),
      minute(trade.closed_at),
      exactPrice(trade.entry_price),
      exactPrice(trade.exit_price),
      number(trade.stake, digits),
      number(trade.profit, digits),
      percent(trade.profit_pct),
      ...(hasOrders ? [trade.orders?.length ?? 2] : []),
      wrap([trade.exit_reason, trade.enter_tag && `(tag ${trade.enter_tag})`].filter(Boolean).join(' '), 30),
    ]),
  );
}

/** A price without the last digits of a product, such as 123855.47600000001: those of a market have up to 12. */
const exactPrice = (price: number): number => Number(price.toPrecision(12));

/** Saves or prints all trades as a file; with filters as CSV of the trades that match. */
async function saveTrades(client: ApiClient, id: string, options: TradesOptions): Promise<void> {
  const { csv, parquet, out, json } = options;
  if (csv && parquet) throw new UsageError('Pass either --csv or --parquet.');
  if (csv && json && (out ?? STDOUT) === STDOUT) {
    throw new UsageError(
      '--csv prints CSV. For JSON of the file add --out <file>, for JSON of a page leave out --csv.',
    );
  }
  const isFiltered = Object.keys(filtersOf(options)).length > 0 || options.sort !== 'id';
  if (parquet) {
    if (isFiltered)
      throw new UsageError(
        'Parquet has all trades, in the order of closing. Leave out filters and --sort, or use --csv.',
      );
    return saveExport(client, id, 'parquet', out ?? `${id}-trades.parquet`, json);
  }
  if (!isFiltered) return saveExport(client, id, 'csv', out ?? STDOUT, json);
  await save(out ?? STDOUT, Readable.from(filteredCsv(client, id, options)), json);
}

/** The lines of the trades that match, in the format of the export. */
async function* filteredCsv(client: ApiClient, id: string, options: TradesOptions): AsyncGenerator<string> {
  const { csvHeader, csvLines } = await import('#domain/backtests/export-backtest.ts');
  yield csvHeader();
  for (let page = 1, pages = 1; page <= pages; page++) {
    const query = { ...filtersOf(options), sort: options.sort, limit: TRADES_LIMITS.max, page };
    const found = await readTrades(client, id, query);
    pages = found.pages;
    yield csvLines(found.items);
  }
}

/** Saves an export. Throws ApiError, or an error that says why the file could not be read or written. */
async function saveExport(
  client: ApiClient,
  id: string,
  format: ExportFormat,
  out: string,
  json: boolean | undefined,
): Promise<void> {
  const signal = AbortSignal.timeout(FILE_TIMEOUT_MS);
  const exported = await client.open(backtestPath(id, `/export?format=${format}`), {}, signal);
  const { body } =
    exported.status === 201
      ? await linked(exported.url, (await exported.json()) as ExportLink, signal)
      : exported;
  await save(out, Readable.from(body!), json);
}

/** The file at the address that the service offers, which takes no token. */
export async function linked(base: string, { url }: ExportLink, signal: AbortSignal): Promise<Response> {
  const file = await fetch(new URL(url, base), { signal });
  if (!file.ok) throw new Error(`The file could not be read: HTTP status ${file.status}. Try again.`);
  return file;
}

const printable = (line: string) => escapeControlChars(line.replace(/\r$/, ''));

/** Writes a file completely or not at all: a page that is cut off opens and says that it is damaged. */
export async function save(out: string, content: Readable, json: boolean | undefined): Promise<void> {
  if (out === STDOUT) {
    // A strategy's tags must not steer the terminal. A file or a pipe gets the bytes as they are.
    if (process.stdout.isTTY) content.setEncoding('utf8');
    for await (const chunk of content) {
      process.stdout.write(
        process.stdout.isTTY ? String(chunk).split('\n').map(printable).join('\n') : chunk,
      );
    }
    return;
  }
  const draft = `${out}.${randomUUID()}`;
  const file = createWriteStream(draft);
  try {
    await pipeline(content, file);
    await rename(draft, out);
  } catch (error) {
    await rm(draft, { force: true });
    throw new Error(`${out} cannot be written: ${(error as Error).message}. Choose another file with --out.`);
  }
  if (json) return console.log(JSON.stringify({ file: out, bytes: file.bytesWritten }));
  const next = out.endsWith('.html') ? ' Open it in a browser.' : '';
  console.log(`Saved ${out}, ${number(Math.ceil(file.bytesWritten / 1_000), 0)} KB.${next}`);
}
