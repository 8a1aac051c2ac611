import type { Command } from 'commander';
import type { Coverage, CoverageMonth } from '#contract/market-data/coverage.ts';
import type { Freshness, Symbols } from '#contract/market-data/market-data.ts';
import { BACKTEST_DEFAULTS } from '#contract/values/backtest-limits.ts';
import { listNames } from '#contract/values/list-names.ts';
import { TOUCHSTONE } from '#contract/values/names.ts';
import { TIMEFRAMES } from '#contract/values/timeframes.ts';
import { SYMBOLS, type TradingMode } from '#contract/values/trading-modes.ts';
import type { ApiClient } from '../client.ts';
import { integer, JSON_OPTION, queryOf } from '../options.ts';
import { minute, number, table, wrap } from '../output.ts';
import { tradingModeOption } from '../run-options.ts';
import { type RunInSession, type Session, sourceText } from '../session.ts';
import { type Missing, missingText } from './missing-text.ts';

const EXCHANGE = ['--exchange <key>', "such as binanceusdm (default: the platform's)"] as const;
const TIMEFRAME = ['--timeframe <timeframe>', TIMEFRAMES.join(', ')] as const;

/** Commands that read what is stored of the candles. */
export function addStoredDataCommands(data: Command, session: RunInSession): void {
  data
    .command('coverage')
    .description('list the stored candles of each symbol: range, gaps, and months that are incomplete')
    .argument('[symbol]', 'such as BTC/USDT:USDT (default: all)')
    .addOption(tradingModeOption())
    .option(...EXCHANGE)
    .option(...TIMEFRAME)
    .option(...JSON_OPTION)
    .action((symbol: string | undefined, options: Options) =>
      session((opened) => printCoverage(opened, symbol, options)),
    );
  data
    .command('freshness')
    .description('list the age of the newest candle of each symbol; exit code 1 if one is stale')
    .argument('[symbols...]', 'such as BTC/USDT:USDT (default: all stored ones of the trading mode)')
    .addOption(tradingModeOption())
    .option(...EXCHANGE)
    .option(...TIMEFRAME)
    .option('--hours <n>', 'age from which a symbol is stale', integer({ min: 1, max: 87_600 }), 24)
    .option(...JSON_OPTION)
    .action(async (symbols: string[], options: FreshnessOptions) => {
      process.exitCode = await session((opened) => printFreshness(opened, symbols, options));
    });
  data
    .command('offline')
    .description('check that a backtest can run with --offline on the stored candles; exit code 1 if not')
    .argument('<symbols...>', 'such as BTC/USDT:USDT')
    .addOption(tradingModeOption())
    .requiredOption(...TIMEFRAME)
    .requiredOption('--start <time>', 'ISO 8601, UTC; before the startup candles of the strategy')
    .option('--end <time>', 'ISO 8601, UTC, exclusive (default: now)')
    .option(...EXCHANGE)
    .option(...JSON_OPTION)
    .action(async (symbols: string[], options: OfflineOptions) => {
      process.exitCode = await session((opened) => checkOffline(opened, symbols, options));
    });
}

interface Options {
  readonly tradingMode?: TradingMode;
  readonly exchange?: string;
  readonly timeframe?: string;
  readonly json?: boolean;
}

async function printCoverage(
  session: Session,
  symbol: string | undefined,
  { tradingMode, exchange, timeframe, json }: Options,
): Promise<void> {
  const items: Coverage['items'] = [];
  let of = exchange;
  for (let cursor: string | null | undefined; cursor !== null; ) {
    const query = queryOf({ exchange, symbol, trading_mode: tradingMode, timeframe, cursor });
    const page: Coverage = await session.client.get<Coverage>(`/api/v1/coverage?${query}`);
    items.push(...page.items);
    ({ exchange: of, next_cursor: cursor } = page);
  }
  if (json) return console.log(JSON.stringify({ exchange: of, items }));
  if (items.length === 0) {
    console.log(`No candles of ${of} are stored. Collect or import some: ${TOUCHSTONE} collect --help`);
    return;
  }
  console.log(
    table(
      [
        'Symbol',
        'Timeframe',
        'First (UTC)',
        'Last (UTC)',
        'Candles',
        'Stored',
        'Gaps',
        'Missing',
        'Incomplete months',
      ],
      items.map(({ months, ...series }) => [
        series.symbol,
        series.timeframe,
        minute(series.first),
        minute(series.last),
        number(series.count, 0),
        storedShare(months),
        number(series.gap_count, 0),
        wrap(missingText(series.missing), 24) || '-',
        incompleteText(months),
      ]),
    ),
  );
  console.log(`Source: candles of ${of}, ${sourceText(session)}`);
}

type Months = readonly CoverageMonth[];

function storedShare(months: Months): string {
  const sum = (name: 'candles' | 'expected') => months.reduce((total, month) => total + month[name], 0);
  const expected = sum('expected');
  return expected === 0 ? '-' : `${number(Math.min(100, (100 * sum('candles')) / expected), 1)} %`;
}

const MONTHS_SHOWN = 6;

function incompleteText(months: Months): string {
  const names = months
    .filter(({ missing, corrupt }) => corrupt || missing.damage > 0)
    .map(({ month, corrupt }) => (corrupt ? `${month} (corrupt)` : month));
  return wrap(listNames(names, { shown: MONTHS_SHOWN }), 32) || '-';
}

interface FreshnessOptions extends Options {
  readonly hours: number;
}

/** Returns the exit code. */
async function printFreshness(
  session: Session,
  symbols: readonly string[],
  { tradingMode, exchange, timeframe, hours, json }: FreshnessOptions,
): Promise<number> {
  const { client } = session;
  const named = symbols.length > 0 ? symbols : await storedSymbols(client, exchange, tradingMode);
  if (named.length === 0) {
    if (json) console.log(JSON.stringify({ all_fresh: false, stale_symbols: [], symbols: [] }));
    else console.log(`No candles are stored. Collect or import some: ${TOUCHSTONE} collect --help`);
    return 1;
  }
  const found = await freshness(client, {
    symbols: named,
    trading_mode: tradingMode,
    exchange,
    timeframe,
    stale_threshold_hours: hours,
  });
  if (json) console.log(JSON.stringify(found));
  else {
    console.log(freshnessTable(found, 'Fresh'));
    const [stale] = found.stale_symbols;
    const of = found.symbols.find(({ symbol }) => symbol === stale)?.timeframe ?? timeframe ?? '1h';
    console.log(
      found.all_fresh
        ? `All symbols have a candle of the last ${hours} hours.`
        : `Stale: ${found.stale_symbols.join(', ')}. To collect: ${TOUCHSTONE} collect ${stale}${marketText({ exchange, tradingMode })} --timeframe ${of}`,
    );
    console.log(`Source: candles of ${found.exchange}, ${sourceText(session)}`);
  }
  return found.all_fresh ? 0 : 1;
}

async function storedSymbols(
  client: ApiClient,
  exchange: string | undefined,
  mode: TradingMode = BACKTEST_DEFAULTS.trading_mode,
): Promise<readonly string[]> {
  const { symbols } = await client.get<Symbols>(`/api/v1/symbols?${queryOf({ exchange })}`);
  return symbols.filter((symbol) => SYMBOLS[mode].pattern.test(symbol));
}

/** Symbols of a request: with their escapes they fit in an address. */
const SYMBOLS_PER_REQUEST = 200;

async function freshness(
  client: ApiClient,
  { symbols, ...query }: Readonly<Record<string, unknown>> & { readonly symbols: readonly string[] },
): Promise<Freshness> {
  let all: Freshness | undefined;
  for (let at = 0; at < symbols.length; at += SYMBOLS_PER_REQUEST) {
    const part = symbols.slice(at, at + SYMBOLS_PER_REQUEST).join(',');
    const found = await client.get<Freshness>(`/api/v1/freshness?${queryOf({ ...query, symbols: part })}`);
    all = all
      ? {
          ...found,
          all_fresh: all.all_fresh && found.all_fresh,
          stale_symbols: [...all.stale_symbols, ...found.stale_symbols],
          symbols: [...all.symbols, ...found.symbols],
          ...(found.missing_candles !== undefined && {
            missing_candles: (all.missing_candles ?? 0) + found.missing_candles,
          }),
          ...(found.missing && { missing: sumOf(all.missing ?? NONE, found.missing) }),
        }
      : found;
  }
  return all!;
}

const NONE: Missing = { closed: 0, no_trades: 0, damage: 0 };

function sumOf(a: Missing, b: Missing): Missing {
  return {
    closed: a.closed + b.closed,
    no_trades: a.no_trades + b.no_trades,
    damage: a.damage + b.damage,
  };
}

/** The options of a command for the same market. */
function marketText({ exchange, tradingMode }: Pick<Options, 'exchange' | 'tradingMode'>): string {
  return `${exchange ? ` --exchange ${exchange}` : ''}${tradingMode === 'spot' ? ' --trading-mode spot' : ''}`;
}

function freshnessTable({ symbols }: Freshness, label: string): string {
  return table(
    ['Symbol', 'Timeframe', 'First (UTC)', 'Last (UTC)', 'Age, hours', label],
    symbols.map((each) => [
      each.symbol,
      each.timeframe,
      minute(each.first),
      minute(each.last),
      number(each.age_hours, 1),
      each.fresh ? 'yes' : 'no',
    ]),
  );
}

interface OfflineOptions extends Options {
  readonly start: string;
  readonly end?: string;
}

/** Returns the exit code. */
async function checkOffline(
  session: Session,
  symbols: readonly string[],
  { json, tradingMode, ...range }: OfflineOptions,
): Promise<number> {
  const found = await freshness(session.client, { symbols, trading_mode: tradingMode, ...range });
  if (json) {
    console.log(JSON.stringify(found));
    return found.all_fresh ? 0 : 1;
  }
  console.log(freshnessTable(found, 'Covers the range'));
  const market = { exchange: range.exchange, tradingMode };
  if (found.all_fresh) {
    console.log(
      `The stored candles cover the range. Run: ${TOUCHSTONE} backtest <strategy> --offline${marketText(market)} --pairs ${symbols.join(',')} --timeframe ${range.timeframe}`,
    );
  } else {
    const { start, end, timeframe } = range;
    const dates = `--start ${start}${end ? ` --end ${end}` : ''}`;
    const missing = found.missing ? `Not stored: ${missingText(found.missing)}. ` : '';
    console.log(
      `Not covered: ${found.stale_symbols.join(', ')}. ${missing}Collect them: ${TOUCHSTONE} collect ${found.stale_symbols.join(' ')}${marketText(market)} --timeframe ${timeframe} ${dates}`,
    );
  }
  console.log(`Source: candles of ${found.exchange}, ${sourceText(session)}`);
  return found.all_fresh ? 0 : 1;
}
