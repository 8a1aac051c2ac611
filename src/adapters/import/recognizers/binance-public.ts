import type { TradingMode } from '#contract/values/trading-modes.ts';
import { tradingModeOf } from '#domain/shared/validate.ts';
import { candles, type FileContent, other, type Source } from '../file-content.ts';
import type { Layout } from '../file-rows.ts';
import { statedMode, statedSymbol, symbolOfName } from '../market-symbols.ts';
import type { Candidate, Recognizer } from '../recognizer.ts';

/**
 * Downloads of data.binance.vision, in its folders: zips with one CSV, with a `.CHECKSUM` file next to it. Futures have a header
 * since May 2022, spot has none (github.com/binance/binance-public-data, issues 246 and 283). Times of spot are in microseconds
 * since 2025-01-01, all others in milliseconds (README there, and issue 386).
 */
export const binancePublic: Recognizer = {
  name: 'Binance public data',
  recognize: contentOf,
};

/** `BTCUSDT-1m-2025-03.zip` of a month, `BTCUSDT-1m-2025-03-09.csv` of a day; `BTCUSDT-fundingRate-2025-03.zip`. */
const NAME =
  /^(?<letters>[^/-]+)-(?<what>[A-Za-z0-9]+)-(?<month>\d{4}-\d\d)(?:-(?<day>\d\d))?\.(?:zip|csv(?:\.gz|\.zst)?)(?<checksum>\.CHECKSUM)?$/;
/** `BTCUSDT-1m.csv`: files of several months that a user joined. */
const JOINED_NAME = /^(?<letters>[A-Z0-9]+)-(?<what>\d+[a-z]+)\.csv(?:\.gz|\.zst)?$/;
/** `data/spot/monthly/klines/BTCUSDT/1m/`, `data/futures/um/daily/fundingRate/BTCUSDT/`. */
const FOLDERS =
  /^(?<root>.*\/)(?<market>spot|futures\/um|futures\/cm|option)\/(?:daily|monthly)\/(?<type>[A-Za-z]+)\//;

const KLINES: Layout = [
  'open_time',
  'open',
  'high',
  'low',
  'close',
  'volume',
  'close_time',
  'quote_volume',
  'count',
  'taker_buy_volume',
  'taker_buy_quote_volume',
  'ignore',
];
const FUNDING: Layout = ['calc_time', 'funding_interval_hours', 'last_funding_rate'];
const CANDLES = { layouts: [KLINES], keep: KLINES.slice(0, 6) };
const RATES = { layouts: [FUNDING], keep: ['calc_time', 'last_funding_rate'] };
const EXCHANGES: Readonly<Record<TradingMode, string>> = { spot: 'binance', futures: 'binanceusdm' };

type Names = Readonly<Record<string, string>>;

async function contentOf(file: Candidate): Promise<FileContent | undefined> {
  const joined = JOINED_NAME.exec(file.name)?.groups as Names | undefined;
  if (joined) return (await hasKlines(file)) ? withoutFolders(file, joined) : undefined;
  const names = NAME.exec(file.name)?.groups as Names | undefined;
  const folders = FOLDERS.exec(file.path)?.groups as Names | undefined;
  if (!names) return folders && otherName(file.name);
  if (names.checksum) return { kind: 'companion' };
  return folders ? inFolders(file, names, folders) : withoutFolders(file, names);
}

/** True if the first line has as many columns as klines: names of freqtrade have the same form. */
async function hasKlines(file: Candidate): Promise<boolean> {
  const [line = ''] = (await file.head())?.split('\n', 1) ?? [];
  return line.split(',').length === KLINES.length;
}

/** Names that are not of candles or rates, such as `BTCUSDT_240628-metrics.txt` or a listing of the download. */
function otherName(name: string): FileContent | undefined {
  return /\.(zip|csv)$/.test(name) ? other('not candles or funding rates of Binance public data') : undefined;
}

function inFolders(file: Candidate, names: Names, { root, market, type }: Names): FileContent {
  const { letters, what } = names as { letters: string; what: string };
  if (root!.endsWith('/public_data/'))
    return other('Binance.US; downloads of data.binance.vision are imported');
  if (market === 'futures/cm')
    return other(
      'COIN-M futures, whose volumes are numbers of contracts; spot and USD-M futures are imported',
    );
  if (market === 'option') return other('options; spot and USD-M futures are imported');
  const isRates = type === 'fundingRate' && what === 'fundingRate';
  if (!isRates && !['klines', 'markPriceKlines'].includes(type!))
    return other(`${type}; only klines, fundingRate and markPriceKlines are imported`);
  const mode = market === 'spot' ? 'spot' : 'futures';
  const symbol = symbolOf(file, letters, mode);
  if (typeof symbol !== 'string') return symbol;
  const source = sourceOf(file, names, symbol, isRates ? RATES : CANDLES);
  const series = { ...source, exchange: EXCHANGES[mode], group: root! };
  if (isRates) return { kind: 'rates', ...series };
  return type === 'klines' ? candles(series, what) : { kind: 'marks', ...series };
}

/** Klines of spot, of futures and of mark prices have the same name: without folders only the user knows. */
function withoutFolders(file: Candidate, names: Names): FileContent | undefined {
  const { letters, what } = names as { letters: string; what: string };
  if (/^(trades|aggTrades|bookDepth|bookTicker|metrics|liquidationSnapshot)$/.test(what))
    return other(`${what}; only klines, fundingRate and markPriceKlines are imported`);
  if (what === 'fundingRate') {
    const symbol = symbolOf(file, letters, 'futures');
    if (typeof symbol !== 'string') return symbol;
    return { kind: 'rates', ...sourceOf(file, names, symbol, RATES), exchange: 'binanceusdm' };
  }
  if (!/^\d+[a-z]+$/.test(what)) return undefined;
  const { symbols = [] } = file.hints;
  const mode = statedMode(file.hints);
  const stated = statedSymbol(letters, mode, symbols);
  // The only series of a file has the symbol that the user gives, whatever its name is.
  if (stated === undefined && symbols.length === 1) return undefined;
  const symbol = stated ?? (mode === undefined ? undefined : symbolOf(file, letters, mode));
  if (symbol !== undefined && typeof symbol !== 'string') return symbol;
  if (symbol === undefined)
    return other(
      `the folder does not say whether ${letters} is spot or futures. Keep the folders of data.binance.vision, such as data/spot/monthly/klines/ETHBTC/1m, or name the symbol: --symbols ETH/BTC, or pass --spot or --exchange binanceusdm`,
    );
  const exchange = EXCHANGES[tradingModeOf(symbol)];
  return candles({ ...sourceOf(file, names, symbol, CANDLES), exchange }, what);
}

function sourceOf(file: Candidate, names: Names, symbol: string, { layouts, keep }: typeof CANDLES): Source {
  const checksum = file.siblings.has(`${file.name}.CHECKSUM`) && `${file.path}.CHECKSUM`;
  return {
    symbol,
    format: 'CSV',
    layouts,
    options: { keep, ...(checksum && { checksum }) },
    ...(names.month && { period: periodOf(names.month, names.day) }),
  };
}

function periodOf(month: string, day: string | undefined): NonNullable<Source['period']> {
  const [year, number] = month.split('-').map(Number) as [number, number];
  return day === undefined
    ? { from: Date.UTC(year, number - 1), to: Date.UTC(year, number) }
    : { from: Date.UTC(year, number - 1, Number(day)), to: Date.UTC(year, number - 1, Number(day) + 1) };
}

/** Symbol of the letters of a name, or the reason why the file is not imported. */
function symbolOf(file: Candidate, letters: string, mode: TradingMode): string | FileContent {
  const stated = statedSymbol(letters, mode, file.hints.symbols);
  if (stated !== undefined) return stated;
  const found = symbolOfName(letters, { mode }, []);
  if ('reason' in found) return other(found.reason);
  if (!found.symbol.endsWith('/USD')) return found.symbol;
  // The letters end with a stablecoin that the list of quote assets lacks: Binance has no quote USD.
  return other(
    `${letters} ends with no quote asset of Binance that is known. Name the symbol: --symbols ${letters}=BASE/QUOTE`,
  );
}
