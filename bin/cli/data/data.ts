import { randomUUID } from 'node:crypto';
import { text } from 'node:stream/consumers';
import { setTimeout as wait } from 'node:timers/promises';
import { type Command, Option } from 'commander';
import type * as z from 'zod';
import type { Collection, CollectionList, Instruments } from '#contract/market-data/market-data.ts';
import { BACKTEST_DEFAULTS } from '#contract/values/backtest-limits.ts';
import { CALENDAR_NAMES } from '#contract/values/calendars.ts';
import { COLLECTION_STATUSES } from '#contract/values/market-data-limits.ts';
import { ALL_TIMEFRAMES, TIMEFRAMES } from '#contract/values/timeframes.ts';
import type { ProxyEnvelope, ProxyHttpResponse } from '#runtime/data-proxy/envelope.ts';
import type { ApiClient } from '../client.ts';
import { given, JSON_OPTION, LIMIT, queryOf, UsageError } from '../options.ts';
import { minute, number, progressBar, statusWithError, table, wrap } from '../output.ts';
import { tradingModeOption } from '../run-options.ts';
import { sessionWith, userToken, withSession, withStorage } from '../session.ts';
import type { ImportCommandOptions } from './import.ts';
import { addSeriesCommands } from './series.ts';
import { addStoredDataCommands } from './stored-data.ts';

/** A file of leverage tiers as freqtrade names it: `binance_leverage_tiers.json`. */
const isTiersFile = (path: string) => /leverage_tiers\.json$/i.test(path);

/** Long because it is the table of the commands. */
export function addDataCommands(program: Command): void {
  const url = () => program.opts<{ url?: string }>().url;
  const collecting = sessionWith(program, 'data_collection');
  const ofCollections = <T>(work: (client: ApiClient) => Promise<T>): Promise<T> =>
    collecting(({ client }) => work(client));
  program
    .command('import')
    .description(
      'import candles and funding rates: CSV, Parquet, Feather, JSON, freqtrade data folders, Binance public data, Databento, Tardis, TradingView; leverage tiers (docs/importing.md)',
    )
    .argument('<path>', 'a folder, or a file; what it does not say is said by the options')
    .option(
      '--exchange <key>',
      "exchange of the candles (default: named by the folder, else the platform's, else binanceusdm)",
    )
    .option(
      '--symbols <list>',
      'symbols of files that do not say them completely, such as ETH/BTC, or ESH5=ES/USD:USD for the series ESH5',
    )
    .addOption(
      new Option('--timeframe <timeframe>', 'timeframe (default: by name, else by the rows)').choices(
        ALL_TIMEFRAMES,
      ),
    )
    .option('--columns <list>', 'columns by name or number, such as time=when,volume=traded or time=1')
    .option(
      '--time-zone <zone>',
      'zone of times that state none, such as Europe/Athens or UTC-5 (default: UTC)',
    )
    .option('--spot', 'names such as BTCUSDT are spot pairs')
    .option('--skip-invalid', 'leave out and count wrong rows, which otherwise reject their file')
    .option('--dry-run', 'store nothing; show what was recognized and the first rows')
    .addOption(
      new Option(
        '--calendar <name>',
        'when the markets are open, for candles that do not show it: XNYS, CME, or 24/7 (default: found in three weeks of candles or more)',
      ).choices(CALENDAR_NAMES),
    )
    .option('--json', 'print JSON: the result of each file, and the series')
    .action(async (path: string, options: ImportCommandOptions) => {
      if (url()) throw new UsageError('import writes into the local data folder. Leave out --url.');
      if (isTiersFile(path)) {
        const { importTiers } = await import('./import-tiers.ts');
        process.exitCode = await withStorage((platform) => importTiers(platform, path, options));
        return;
      }
      // Loaded only here: it takes the readers of all file formats with it.
      const { importCandles } = await import('./import.ts');
      process.exitCode = await withStorage((platform) => importCandles(platform, path, options));
    });

  const data = program.command('data').description('stored candles: list, show, change, collect');
  addSeriesCommands(data, collecting);
  addStoredDataCommands(data, collecting);
  addCollect(data, ofCollections);
  addCollect(program, ofCollections);

  const collections = program.command('collections').description('list and cancel collections of candles');
  collections
    .command('list')
    .description('list collections, newest first')
    .addOption(
      new Option('--status <status>', 'only collections in this status').choices(COLLECTION_STATUSES),
    )
    .option(...LIMIT)
    .option('--cursor <cursor>', 'cursor that the previous page printed')
    .option('--json', 'print the raw JSON response')
    .action((options: ListOptions) => ofCollections((client) => printCollections(client, options)));
  collections
    .command('cancel')
    .description('cancel a pending or running collection; its candles are kept')
    .argument('<collection-id>', 'co-<id>')
    .option(...JSON_OPTION)
    .action((id: string, { json }: { json?: boolean }) =>
      ofCollections(async (client) => {
        const cancelled = await client.post<CollectionState>(`/api/v1/collections/${id}/cancel`);
        if (json) return console.log(JSON.stringify(cancelled));
        console.log(`${id} was cancelled: ${number(cancelled.candles, 0)} candles stored`);
      }),
    );

  program
    .command('proxy')
    .description('run the data proxy on an event and print its response (docs/calling-the-proxy.md)')
    .argument('<event>', 'JSON such as \'{"operation":"symbols"}\', or - to read stdin')
    .option('--json', 'print the response on one line')
    .action(async (event: string, { json }: { json?: boolean }) => {
      process.exitCode = await callProxy(event, json);
    });
}

type OfCollections = <T>(work: (client: ApiClient) => Promise<T>) => Promise<T>;

function addCollect(parent: Command, ofCollections: OfCollections): void {
  parent
    .command('collect')
    .description('collect candles, funding rates and instruments from an exchange (docs/precision.md)')
    .argument('<symbols...>', 'such as BTC/USDT:USDT; in spot BTC/USDT')
    .addOption(tradingModeOption())
    .requiredOption('--timeframe <timeframe>', TIMEFRAMES.join(', '))
    .option('--exchange <key>', "such as binanceusdm (default: the platform's)")
    .option(
      '--start <time>',
      `ISO 8601, UTC (default: ${BACKTEST_DEFAULTS.date_range_days} days before the end)`,
    )
    .option('--end <time>', 'ISO 8601, UTC, exclusive (default: now)')
    .option('--json', 'print JSON: the collection at its end')
    .action(async (symbols: string[], options: CollectOptions) => {
      process.exitCode = await ofCollections((client) => collect(client, symbols, options));
    });
}

interface CollectOptions {
  readonly tradingMode?: string;
  readonly json?: boolean;
  readonly timeframe: string;
  readonly exchange?: string;
  readonly start?: string;
  readonly end?: string;
}

type CollectionState = z.output<typeof Collection>;

const POLL_MS = 250;

/** Returns the exit code. */
async function collect(
  client: ApiClient,
  symbols: readonly string[],
  { json, tradingMode, ...options }: CollectOptions,
): Promise<number> {
  const mode = given({ trading_mode: tradingMode });
  const started = await client.post<CollectionState>('/api/v1/collections', { symbols, ...mode, ...options });
  const ended = await follow(client, started);
  if (json) {
    console.log(JSON.stringify(ended));
    return ended.status === 'completed' ? 0 : 1;
  }
  console.log(`${number(ended.candles, 0)} candles stored: ${ended.exchange}, ${ended.timeframe}`);
  await printInstruments(client, ended.exchange, ended.symbols);
  if (ended.status === 'completed') {
    if (ended.error) console.log(ended.error);
    return 0;
  }
  console.error(`${ended.collection_id} ${statusWithError(ended)}`);
  return 1;
}

async function follow(client: ApiClient, started: CollectionState): Promise<CollectionState> {
  const bar = progressBar('{status} [{bar}] {percentage} %');
  bar.start(100, 0, { status: started.status });
  try {
    let state = started;
    while (state.status === 'pending' || state.status === 'running') {
      await wait(POLL_MS);
      state = await client.get<CollectionState>(`/api/v1/collections/${started.collection_id}`);
      bar.update(Math.floor(state.progress * 100), { status: state.status });
    }
    return state;
  } finally {
    bar.stop();
  }
}

interface ListOptions {
  readonly status?: string;
  readonly limit: number;
  readonly cursor?: string;
  readonly json?: boolean;
}

async function printCollections(client: ApiClient, { json, ...query }: ListOptions): Promise<void> {
  const page = await client.get<z.output<typeof CollectionList>>(
    `/api/v1/collections?${queryOf({ ...query })}`,
  );
  if (json) return console.log(JSON.stringify(page));
  if (page.items.length === 0) console.log('No collections.');
  else {
    console.log(
      table(
        ['Collection', 'Status', 'Progress', 'Candles', 'Exchange', 'Timeframe', 'Symbols', 'Created (UTC)'],
        page.items.map((each) => [
          each.collection_id,
          each.status,
          `${Math.floor(each.progress * 100)} %`,
          number(each.candles, 0),
          each.exchange,
          each.timeframe,
          wrap(each.symbols.join(', '), 40),
          minute(each.created_at),
        ]),
      ),
    );
  }
  for (const each of page.items) if (each.error) console.log(`${each.collection_id}: ${each.error}`);
  if (page.next_cursor) console.log(`More exist: --cursor ${page.next_cursor}`);
}

async function printInstruments(
  client: ApiClient,
  exchange: string,
  symbols: readonly string[],
): Promise<void> {
  const { instruments } = await client.get<z.output<typeof Instruments>>(
    `/api/v1/instruments?${queryOf({ exchange })}`,
  );
  const wanted = instruments.filter(({ symbol }) => symbols.includes(symbol));
  if (wanted.length > 0) {
    console.log(
      table(
        ['Symbol', 'Amount step', 'Amount', 'Cost', 'Contract size', 'Price tick', 'Collected (UTC)'],
        wanted.map((each) => [
          each.symbol,
          each.amount_step,
          rangeText(each.min_amount, each.max_amount),
          rangeText(each.min_cost, each.max_cost),
          each.contract_size,
          each.price_tick,
          minute(each.collected_at),
        ]),
      ),
    );
  }
  const missing = symbols.filter((symbol) => !wanted.some((each) => each.symbol === symbol));
  if (missing.length > 0) console.log(`No instrument stored for ${missing.join(', ')}`);
}

/** `0.001 to 1000`, `up to 1000` or `from 0.001`; null without bounds. */
function rangeText(min: number | null, max: number | null): string | null {
  if (min === null) return max === null ? null : `up to ${max}`;
  return max === null ? `from ${min}` : `${min} to ${max}`;
}

type ProxyResponse = ProxyEnvelope | ProxyHttpResponse;

const FUNCTION_LIMIT_MS = 60_000;

/**
 * Runs the deployed handler of the data proxy on an event; its logs go to stderr. The handler's own variables address data
 * collection (DATA_COLLECTION_URL before SERVICE_DISCOVERY_NAMESPACE); without both it calls the platform's.
 * Returns the exit code: 0 for status 200 without an error.
 * @param argument the event as JSON, or `-` for stdin
 */
async function callProxy(argument: string, json = false): Promise<number> {
  const event = parseEvent(argument === '-' ? await text(process.stdin) : argument);
  if (process.env.DATA_COLLECTION_URL || process.env.SERVICE_DISCOVERY_NAMESPACE) {
    useUserToken();
    return printResponse(await invoke(event), json);
  }
  return withSession(undefined, async ({ platform }) => {
    process.env.DATA_COLLECTION_URL = platform!.data_collection_url;
    if (platform!.issuer_url) useUserToken();
    return printResponse(await invoke(event), json);
  });
}

/** The deployed function sends the platform's own token in this variable. */
function useUserToken(): void {
  process.env.SERVICE_TOKEN ||= userToken() ?? '';
}

function parseEvent(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch (error) {
    const example = `touchstone proxy '{"operation":"symbols"}'`;
    throw new UsageError(`The event is not JSON: ${(error as Error).message}. For example: ${example}`);
  }
}

async function invoke(event: unknown): Promise<ProxyResponse> {
  // Read when the handler is loaded: requests that succeeded are not logged.
  process.env.LOG_LEVEL ||= 'WARN';
  const write = process.stdout.write;
  process.stdout.write = process.stderr.write.bind(process.stderr);
  try {
    const { handler } = await import('#lambdas/data-proxy.ts');
    return await handler(event, lambdaContext());
  } finally {
    process.stdout.write = write;
  }
}

/** The fields of Lambda's context that the handler and its middleware read. */
function lambdaContext() {
  const ends = Date.now() + FUNCTION_LIMIT_MS;
  return {
    functionName: 'data-proxy',
    functionVersion: 'local',
    memoryLimitInMB: '512',
    invokedFunctionArn: 'local',
    awsRequestId: randomUUID(),
    getRemainingTimeInMillis: () => ends - Date.now(),
  };
}

function printResponse(response: ProxyResponse, json: boolean): number {
  console.log(JSON.stringify(response, null, json ? 0 : 2));
  // API Gateway events get a string body.
  const body: ProxyEnvelope['body'] =
    typeof response.body === 'string' ? JSON.parse(response.body) : response.body;
  return response.statusCode === 200 && !body.error && !body.data.result?.error ? 0 : 1;
}
