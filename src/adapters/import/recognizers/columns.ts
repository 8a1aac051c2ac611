import { SIMULATED } from '#contract/values/names.ts';
import { plainName } from '../columns/column-names.ts';
import { vendorOf } from '../columns/vendors.ts';
import { type FileContent, other } from '../file-content.ts';
import { BadFileError } from '../file-rows.ts';
import { type CsvPlan, planCsv } from '../formats/csv-plan.ts';
import { planJson } from '../formats/json-candles.ts';
import { type Format, formatOf } from '../formats.ts';
import { ccxtMarket, pairInName, statedMode } from '../market-symbols.ts';
import type { Candidate, Recognizer } from '../recognizer.ts';
import type { Market, SeriesNames } from '../series-table.ts';

/** Names of the folders `name=value`, as DuckDB's PARTITION_BY writes them. Others, such as `year=2025`, are not needed. */
const FOLDERS: Readonly<Record<keyof SeriesNames, readonly string[]>> = {
  symbol: ['symbol', 'pair', 'ticker', 'instrument'],
  timeframe: ['timeframe', 'interval', 'tf', 'resolution'],
  exchange: ['exchange'],
};
/** Timeframe in `BTCUSDT_1m.parquet`, `BTC-USDT-1h-2025.csv`; the symbol is before it. */
const TIMEFRAME = /[-_](?<timeframe>\d+[mhdw])(?=[-_.])/;
/** What a text file without candles may be called. */
const NO_CANDLES: readonly [RegExp, string][] = [
  [/trade/i, 'trades'],
  [/^(readme|license|requirements)/i, 'not candles'],
];

/**
 * Files of candles with columns by names, which name their series in folders, columns, the name of the file, or not at all: the user
 * names it then.
 */
export const columns: Recognizer = {
  name: 'Candles',
  async recognize(file) {
    const format = formatOf(file.name)?.format;
    if (format === undefined || /leverage_tiers/.test(file.name)) return undefined;
    if (file.name.endsWith('.zip') && (await file.head()) === undefined) {
      return other('a zip that does not hold one CSV; unpack it, and import the folder');
    }
    const plan = await planOf(file, format);
    if (plan instanceof BadFileError) {
      // Any text may end with .txt.
      return /\.txt$/.test(file.name) ? undefined : notCandles(file.name, plan);
    }
    return contentOf(file, format, plan);
  },
};

/** The form of a text file, or why it holds no candles; undefined for other formats, and for a file that cannot be read. */
async function planOf(
  file: Candidate,
  format: Format,
): Promise<Pick<CsvPlan, 'names'> | BadFileError | undefined> {
  if (format !== 'CSV' && format !== 'JSON') return undefined;
  const head = await file.head();
  // An empty file fails when it is read.
  if (head === undefined || head === '') return undefined;
  try {
    return format === 'CSV' ? planCsv(head, file.name, file.hints) : planJson(head, file.hints);
  } catch (error) {
    if (error instanceof BadFileError) return error;
    throw error;
  }
}

function notCandles(name: string, error: BadFileError): FileContent {
  const known = NO_CANDLES.find(([pattern]) => pattern.test(name));
  return other(known ? `${known[1]}: it ${error.message}` : error.message);
}

function contentOf(file: Candidate, format: Format, plan: Pick<CsvPlan, 'names'> | undefined): FileContent {
  const vendor = vendorOf(file.name, plan?.names.map(plainName) ?? []);
  const inName = vendor?.groups.symbol === undefined ? namesIn(file.name) : {};
  const folders = foldersIn(file.path);
  const exchange = folders.exchange ?? vendor?.groups.exchange ?? vendor?.exchange ?? null;
  if (exchange === SIMULATED) return other('candles of sim, the simulated market');
  const market: Market = exchange === null ? {} : { ...ccxtMarket(exchange) };
  const pair = vendor?.groups.symbol === undefined ? pairInName(file.name) : undefined;
  const mode = vendor?.mode ?? market.mode ?? statedMode(file.hints) ?? pair?.mode;
  return {
    kind: 'table',
    table: TABLES[format],
    format,
    names: {
      symbol: folders.symbol ?? vendor?.groups.symbol ?? symbolIn(inName.symbol, pair?.symbol) ?? null,
      timeframe: folders.timeframe ?? inName.timeframe ?? null,
      exchange,
    },
    ...market,
    ...(mode && { mode }),
  };
}

/** Symbol and timeframe in the name of a file. */
function namesIn(fileName: string): Partial<SeriesNames> {
  const found = TIMEFRAME.exec(fileName);
  if (!found || found.index === 0) return {};
  return { symbol: fileName.slice(0, found.index), timeframe: found.groups!.timeframe! };
}

/** What is before the timeframe, unless the pair is elsewhere: `BTC_USDT_USDT_1h` has more than a pair, `data-1h-btc-usd` has it later. */
function symbolIn(before: string | null | undefined, pair: string | undefined): string | null | undefined {
  if (!before || !pair) return before ?? pair;
  return before.toUpperCase().startsWith(pair.split('-')[0]!) ? before : pair;
}

const TABLES = { CSV: 'csv', JSON: 'json', Parquet: 'parquet', Feather: 'feather' } as const;

function foldersIn(path: string): Partial<Record<keyof SeriesNames, string>> {
  const values = new Map<string, string>();
  for (const folder of path.split('/').slice(0, -1)) {
    const [, key, value] = /^([A-Za-z_]+)=(.+)$/.exec(folder) ?? [];
    if (key !== undefined) values.set(key.toLowerCase(), decoded(value!));
  }
  const named = Object.entries(FOLDERS).map(([name, keys]) => {
    const key = keys.find((text) => values.has(text));
    return [name, key && values.get(key)];
  });
  return Object.fromEntries(named.filter(([, value]) => value !== undefined));
}

/** DuckDB escapes `/` and `:` as in an address. */
function decoded(value: string): string {
  try {
    return decodeURIComponent(value);
  } catch {
    return value;
  }
}
