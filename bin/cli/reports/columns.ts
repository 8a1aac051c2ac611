import { Readable } from 'node:stream';
import type { Command } from 'commander';
import type { BacktestColumns, ChangedCandles } from '#contract/backtests/backtest-columns.ts';
import type { ExportLink } from '#contract/backtests/backtest-export.ts';
import type { TradeWhy } from '#contract/backtests/trade-reasons.ts';
import { COLUMNS_LIMITS } from '#contract/values/columns-limits.ts';
import { csvField } from '#domain/backtests/csv-field.ts';
import type { ApiClient } from '../client.ts';
import { latestId } from '../jobs.ts';
import { boundsText, given, integer, JSON_OPTION, queryOf, UsageError } from '../options.ts';
import { minute, number, percent, table } from '../output.ts';
import { sessionWith, sourceText } from '../session.ts';
import { computed } from './computed.ts';
import { backtestPath } from './load-results.ts';
import { FILE_TIMEOUT_MS, linked, STDOUT, save } from './results.ts';

/** Rows that fit on a screen. */
const DEFAULT_ROWS = 50;

interface ColumnsOptions {
  readonly pair?: string;
  readonly from?: string;
  readonly to?: string;
  readonly names?: string;
  readonly limit: number;
  readonly csv?: boolean;
  readonly parquet?: boolean;
  readonly out?: string;
  readonly json?: boolean;
}

/** Commands that say why a backtest did what it did. */
export function addReasonCommands(program: Command): void {
  const session = sessionWith(program);
  program
    .command('columns')
    .description('show candles, indicators and signals of a completed backtest, or save them as a file')
    .argument('<job-id>', 'bt-<id>, or last: the newest backtest')
    .option('--pair <pair>', 'pair, such as BTC/USDT:USDT; required where the backtest has several')
    .option('--from <time>', 'first candle, ISO 8601, UTC (default: the first of the backtest)')
    .option('--to <time>', 'end, exclusive (default: that of the backtest)')
    .option('--names <names>', 'columns, such as close,rsi,4h:rsi,signal:enter_long (default: all)')
    .option(
      '--limit <n>',
      `rows of the table or of --json, ${boundsText(COLUMNS_LIMITS.rows)}`,
      integer(COLUMNS_LIMITS.rows),
      DEFAULT_ROWS,
    )
    .option('--csv', 'print all rows as CSV')
    .option('--parquet', 'save all rows as Parquet')
    .option(
      '--out <file>',
      'write CSV or Parquet to this file (default of --parquet: <job-id>-columns.parquet)',
    )
    .option(...JSON_OPTION)
    .action((jobId: string, options: ColumnsOptions) =>
      session(async (opened) => {
        const { client } = opened;
        const id = await latestId(client, jobId);
        if (options.csv || options.parquet) await saveColumns(client, id, options);
        else await printColumns(client, id, options, sourceText(opened));
      }),
    );
  program
    .command('why')
    .description(
      'say why a trade of a completed backtest was entered and closed, with the values that decided',
    )
    .argument('<job-id>', 'bt-<id>, or last: the newest backtest')
    .argument('<trade>', 'id of the trade, as trades shows it', integer({ min: 1, max: 999_999_999 }))
    .option(...JSON_OPTION)
    .action((jobId: string, trade: number, { json }: { json?: boolean }) =>
      session(async (opened) => {
        const { client } = opened;
        const id = await latestId(client, jobId);
        const why = await computed<TradeWhy>(client, backtestPath(id, `/trades/${trade}/why`));
        if (json) return console.log(JSON.stringify(why));
        console.log(whyText(why));
        warnOfChanges(why.changed_candles ?? []);
        console.log(`Source: ${id}, ${sourceText(opened)}`);
      }),
    );
}

/** The reasons of a trade in the order of time, each with its values. */
function whyText({ trade, entry, additions = [], partial_exits = [], exit }: TradeWhy): string {
  const changes = [...additions, ...partial_exits].sort((a, b) => a.candle.localeCompare(b.candle));
  const parts = [entry, ...changes, exit].map(({ candle, text, values }) => {
    const rows = Object.entries(values).map(([name, value]) => [name, cellOf(value)] as const);
    return `${minute(candle)}  ${text}\n${table(['Value', ''], rows)}`;
  });
  const head = `Trade ${trade.id}: ${trade.side} ${trade.pair}, profit ${percent(trade.profit_pct)}`;
  return [head, ...parts].join('\n\n');
}

const pathOf = (id: string, { pair, from, to, names }: ColumnsOptions, more: Record<string, unknown>) =>
  backtestPath(id, `/columns?${queryOf({ ...given({ pair, from, to, names }), ...more })}`);

async function printColumns(
  client: ApiClient,
  id: string,
  options: ColumnsOptions,
  source: string,
): Promise<void> {
  const page = await computed<BacktestColumns>(client, pathOf(id, options, { limit: options.limit }));
  if (options.json) return console.log(JSON.stringify(page));
  const names = Object.keys(page.columns);
  const rows = page.times.map((time, row) => [
    minute(new Date(time * 1_000).toISOString()),
    ...names.map((name) => cellOf(page.columns[name]![row]!)),
  ]);
  console.log(
    rows.length === 0 ? 'No candle of the backtest is in this range.' : table(['Time (UTC)', ...names], rows),
  );
  const more = page.next_cursor ? '. All of them: --csv or --parquet' : '';
  console.log(
    `${number(rows.length, 0)} of ${number(page.rows, 0)} rows of ${page.pair}, ${page.timeframe}${more}`,
  );
  warnOfChanges(page.changed_candles);
  console.log(`Source: ${id}, ${source}`);
}

/** Digits of a value in a table. */
const DIGITS = 8;

function cellOf(value: number | string | null): number | string | null {
  return typeof value === 'number' ? Number(value.toPrecision(DIGITS)) : value;
}

/** Warns on standard error that the candles are not those that the backtest read. */
export function warnOfChanges(changed: readonly ChangedCandles[]): void {
  for (const { pair, timeframe, first, last } of changed)
    console.error(
      `Warning: candles of ${pair} ${timeframe} from ${minute(first)} to ${minute(last)} changed since the backtest.`,
    );
}

async function saveColumns(client: ApiClient, id: string, options: ColumnsOptions): Promise<void> {
  const { csv, parquet, out, json } = options;
  if (csv && parquet) throw new UsageError('Pass either --csv or --parquet.');
  if (csv && json && (out ?? STDOUT) === STDOUT)
    throw new UsageError(
      '--csv prints CSV. For JSON of the file add --out <file>, for JSON of a page leave out --csv.',
    );
  // Waits for the computation, and warns before anything is written.
  const { changed_candles } = await computed<BacktestColumns>(client, pathOf(id, options, { limit: 1 }));
  warnOfChanges(changed_candles);
  if (csv) return save(out ?? STDOUT, Readable.from(csvOf(client, id, options)), json);
  const link = await client.get<ExportLink>(pathOf(id, options, { format: 'parquet' }));
  const file = await linked(client.baseUrl, link, AbortSignal.timeout(FILE_TIMEOUT_MS));
  await save(out ?? `${id}-columns.parquet`, Readable.from(file.body!), json);
}

/** A header, then a line for each row. */
async function* csvOf(client: ApiClient, id: string, options: ColumnsOptions): AsyncGenerator<string> {
  let cursor: string | null = null;
  do {
    const more: Record<string, unknown> = { limit: COLUMNS_LIMITS.rows.max, ...(cursor && { cursor }) };
    const page: BacktestColumns = await computed<BacktestColumns>(client, pathOf(id, options, more));
    const names = Object.keys(page.columns);
    if (cursor === null) yield `${['time', ...names].map(csvField).join(',')}\r\n`;
    yield page.times
      .map((time, row) => {
        const values = names.map((name) => csvField(page.columns[name]![row]!));
        return `${[new Date(time * 1_000).toISOString(), ...values].join(',')}\r\n`;
      })
      .join('');
    cursor = page.next_cursor;
  } while (cursor !== null);
}
