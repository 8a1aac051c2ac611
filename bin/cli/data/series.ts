import { createInterface } from 'node:readline/promises';
import { type Command, Option } from 'commander';
import type {
  ChangedSeries,
  DayCondition,
  SeriesCondition,
  SeriesDetails,
  SeriesList,
  UndoneImports,
} from '#contract/market-data/series.ts';
import { formatCount } from '#contract/values/format-count.ts';
import { listNames } from '#contract/values/list-names.ts';
import { TOUCHSTONE } from '#contract/values/names.ts';
import { ALL_TIMEFRAMES } from '#contract/values/timeframes.ts';
import { type ApiClient, ApiError } from '../client.ts';
import { given, JSON_OPTION, queryOf, UsageError } from '../options.ts';
import { minute, number, table, wrap } from '../output.ts';
import { type RunInSession, sourceText } from '../session.ts';

const EXCHANGE = ['--exchange <key>', 'such as binanceusdm (default: the one that has the symbol)'] as const;
const FORCE = ['--force', 'also while jobs, collections or registered versions use it'] as const;
const timeframeOption = (description: string) =>
  new Option('--timeframe <timeframe>', description).choices(ALL_TIMEFRAMES);

/** Commands on whole series. Long because it is the table of the commands. */
export function addSeriesCommands(data: Command, session: RunInSession): void {
  data
    .command('list')
    .description('list the stored series of all exchanges')
    .option('--exchange <key>', 'only those of an exchange')
    .option(...JSON_OPTION)
    .action((options: SeriesOptions) => session((opened) => printList(opened, options)));
  data
    .command('show')
    .description(
      'show stored series: range, what uses them, the import that can be undone, condition of the days',
    )
    .argument('<symbol>', 'such as BTC/USDT:USDT')
    .addOption(timeframeOption('one series (default: all of the symbol)'))
    .option(...EXCHANGE)
    .option(...JSON_OPTION)
    .action((symbol: string, options: SeriesOptions) =>
      session(({ client }) => printDetails(client, symbol, options)),
    );
  data
    .command('delete')
    .description('delete the candles of a symbol, and its funding rates unless a timeframe is named')
    .argument('<symbol>', 'such as BTC/USDT:USDT')
    .addOption(timeframeOption('one series (default: all of the symbol)'))
    .option(...EXCHANGE)
    .option(...FORCE)
    .option(...JSON_OPTION)
    .action((symbol: string, options: ChangeOptions) =>
      session(({ client }) => change(client, { path: 'delete', symbol, done: 'Deleted' }, options)),
    );
  data
    .command('rename')
    .description('give stored series another symbol, another exchange, or both')
    .argument('<symbol>', 'such as XBT/USDT:USDT')
    .argument('[new-symbol]', 'such as BTC/USDT:USDT (default: the same, with --to-exchange)')
    .option('--to-exchange <key>', 'exchange of the result (default: the same)')
    .addOption(timeframeOption('one series (default: all of the symbol, with its funding rates)'))
    .option(...EXCHANGE)
    .option(...FORCE)
    .option(...JSON_OPTION)
    .action((symbol: string, toSymbol: string | undefined, options: ChangeOptions) =>
      session(({ client }) =>
        change(client, { path: 'rename', symbol, done: 'Renamed to' }, { ...options, toSymbol }),
      ),
    );
  data
    .command('copy')
    .description('copy stored series to another exchange')
    .argument('<symbol>', 'such as BTC/USDT:USDT')
    .requiredOption('--to-exchange <key>', 'exchange of the copy')
    .option('--to-symbol <symbol>', 'symbol of the copy (default: the same)')
    .addOption(timeframeOption('one series (default: all of the symbol, with its funding rates)'))
    .option(...EXCHANGE)
    .option(...JSON_OPTION)
    .action((symbol: string, options: ChangeOptions) =>
      session(({ client }) => change(client, { path: 'copy', symbol, done: 'Copied to' }, options)),
    );
  data
    .command('undo')
    .description('take the last import of a symbol back: what it replaced is restored')
    .argument('<symbol>', 'such as BTC/USDT:USDT')
    .addOption(timeframeOption('one series (default: those that the import changed)'))
    .option(...EXCHANGE)
    .option(...JSON_OPTION)
    .action((symbol: string, options: SeriesOptions) =>
      session(({ client }) => undo(client, symbol, options)),
    );
}

interface SeriesOptions {
  readonly exchange?: string;
  readonly timeframe?: string;
  readonly json?: boolean;
}

interface ChangeOptions extends SeriesOptions {
  readonly toExchange?: string | undefined;
  readonly toSymbol?: string | undefined;
  readonly force?: boolean | undefined;
}

const allSeries = async (client: ApiClient, exchange: string | undefined) =>
  (await client.get<SeriesList>(`/api/v1/series?${queryOf({ exchange })}`)).items;

async function printList(
  session: Parameters<Parameters<RunInSession>[0]>[0],
  { exchange, json }: SeriesOptions,
) {
  const items = await allSeries(session.client, exchange);
  if (json) return console.log(JSON.stringify({ items }));
  if (items.length === 0) {
    console.log(`No candles are stored. Collect or import some: ${TOUCHSTONE} import --help`);
    return;
  }
  console.log(
    table(
      ['Exchange', 'Symbol', 'Timeframe', 'First (UTC)', 'Last (UTC)', 'Candles', 'Gaps', 'Changed (UTC)'],
      items.map((each) => [
        each.exchange,
        each.symbol,
        each.timeframe,
        minute(each.first),
        minute(each.last),
        number(each.count, 0),
        number(each.gap_count, 0),
        minute(each.updated_at),
      ]),
    ),
  );
  console.log(`Source: ${sourceText(session)}`);
}

/** The exchange that is given, else the only one that has the symbol; undefined, for that of the platform, when none has. */
async function exchangeWith(
  client: ApiClient,
  symbol: string,
  { exchange }: SeriesOptions,
): Promise<string | undefined> {
  if (exchange !== undefined) return exchange;
  const all = await allSeries(client, undefined);
  const names = [...new Set(all.filter((each) => each.symbol === symbol).map((each) => each.exchange))];
  if (names.length <= 1) return names[0];
  throw new UsageError(`${symbol} is stored of ${listNames(names)}. Name one: --exchange ${names[0]}`);
}

const CONDITION_DAYS = 366;

/** All days of a series. */
async function conditionOf(client: ApiClient, series: SeriesDetails): Promise<DayCondition[]> {
  const days: DayCondition[] = [];
  const { exchange, symbol, timeframe } = series;
  for (let from: string | null | undefined; from !== null; ) {
    const query = queryOf({ exchange, symbol, timeframe, from, limit: CONDITION_DAYS });
    const page: SeriesCondition = await client.get<SeriesCondition>(`/api/v1/series/condition?${query}`);
    days.push(...page.items);
    from = page.next_from;
  }
  return days;
}

async function printDetails(client: ApiClient, symbol: string, options: SeriesOptions): Promise<void> {
  const exchange = await exchangeWith(client, symbol, options);
  const stored = (await allSeries(client, exchange)).filter(
    (each) => each.symbol === symbol && (!options.timeframe || each.timeframe === options.timeframe),
  );
  // The service says what is not stored, or that the symbol is invalid.
  const timeframes =
    stored.length > 0 ? stored.map(({ timeframe }) => timeframe) : [options.timeframe ?? '1h'];
  const items: (SeriesDetails & { readonly days: readonly DayCondition[] })[] = [];
  for (const timeframe of timeframes) {
    const query = queryOf({ symbol, timeframe, exchange });
    const details = await client.get<SeriesDetails>(`/api/v1/series/details?${query}`);
    items.push({ ...details, days: await conditionOf(client, details) });
  }
  if (options.json) return console.log(JSON.stringify({ items }));
  console.log(
    table(
      ['Series', 'First (UTC)', 'Last (UTC)', 'Candles', 'Days', 'Complete', 'Gap', 'Closed', 'Revised'],
      items.map(({ days, ...each }) => [
        `${each.exchange} ${each.symbol} ${each.timeframe}`,
        minute(each.first),
        minute(each.last),
        number(each.count, 0),
        ...[days.length, ...CONDITIONS.map((name) => countOf(days, name))].map((count) => number(count, 0)),
      ]),
    ),
  );
  for (const { days, timeframe, kept_import: kept } of items) {
    const uneven = days.filter(({ condition }) => condition === 'gap' || condition === 'revised');
    if (uneven.length > 0)
      console.log(wrap(`${timeframe}: ${listNames(uneven.map(dayText), { shown: DAYS_SHOWN })}`, 100));
    if (kept)
      console.log(
        `${timeframe}: the import of ${minute(kept.at)} can be undone: ${TOUCHSTONE} data undo ${symbol}`,
      );
  }
  console.log(`Funding rates: ${items[0]!.funding ? 'stored' : 'none'}`);
  const used = items[0]!.used_by.map(
    ({ kind, id, status }) => `${kind} ${id ?? 'of another user'} (${status})`,
  );
  console.log(
    used.length > 0 ? `Used by: ${listNames(used)}` : 'Used by no unfinished job and no staged version.',
  );
}

const CONDITIONS = ['complete', 'gap', 'closed', 'revised'] as const;
const DAYS_SHOWN = 10;

const countOf = (days: readonly DayCondition[], name: DayCondition['condition']) =>
  days.filter(({ condition }) => condition === name).length;

function dayText({ date, condition, candles, expected, changed_at }: DayCondition): string {
  return condition === 'gap'
    ? `${date} gap (${candles} of ${expected})`
    : `${date} revised${changed_at ? ` ${minute(changed_at)}` : ''}`;
}

interface Change {
  readonly path: 'delete' | 'rename' | 'copy';
  readonly symbol: string;
  /** First words of the result. */
  readonly done: string;
}

async function change(
  client: ApiClient,
  { path, symbol, done }: Change,
  options: ChangeOptions,
): Promise<void> {
  const body = given({
    symbol,
    timeframe: options.timeframe,
    exchange: await exchangeWith(client, symbol, options),
    to_exchange: options.toExchange,
    to_symbol: options.toSymbol,
    force: options.force,
  });
  const send = (forced: object) =>
    client.post<ChangedSeries>(`/api/v1/series/${path}`, { ...body, ...forced });
  const changed = await send({}).catch(async (error: unknown) => {
    if (!(await isConfirmed(error))) throw error;
    return send({ force: true });
  });
  if (options.json) return console.log(JSON.stringify(changed));
  const parts = [...changed.timeframes, ...(changed.funding ? ['funding rates'] : [])];
  console.log(`${done} ${changed.exchange} ${changed.symbol}: ${parts.join(', ')}`);
}

/** Asks on a terminal whether a series that is in use is to be changed anyway. */
async function isConfirmed(error: unknown): Promise<boolean> {
  const isUsed = error instanceof ApiError && Array.isArray(error.context.used_by);
  if (!isUsed || !process.stdin.isTTY || !process.stderr.isTTY) return false;
  const prompt = createInterface({ input: process.stdin, output: process.stderr });
  try {
    return /^y(es)?$/i.test((await prompt.question(`${error.message}\nContinue anyway? (y/N) `)).trim());
  } finally {
    prompt.close();
  }
}

async function undo(client: ApiClient, symbol: string, options: SeriesOptions): Promise<void> {
  const exchange = await exchangeWith(client, symbol, options);
  const body = given({ symbol, exchange, timeframe: options.timeframe });
  const undone = await client.post<UndoneImports>('/api/v1/series/undo', body);
  if (options.json) return console.log(JSON.stringify(undone));
  for (const { timeframe, import: of, count } of undone.items) {
    const left = count > 0 ? `${formatCount(count, 'candle')} stored` : 'no longer stored';
    console.log(
      `${undone.exchange} ${symbol} ${timeframe}: the import of ${minute(of.at)} was undone, ${left}`,
    );
  }
}
