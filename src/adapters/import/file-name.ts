import { checkSymbol, isExchangeKey, tradingModeOf } from '#domain/validate.ts';
import { ALL_TIMEFRAMES, isTimeframe, type Timeframe } from '#engine/timeframe.ts';
import { decodeSymbol } from '../parquet/keys.ts';
import { type Format, formatOf } from './formats.ts';

interface Source {
  readonly symbol: string;
  readonly format: Format;
  /** Exchange from the names of the file's folders; undefined when they have none. */
  readonly exchange?: string;
}

/** Content of a file according to its path, or the reason why it is not imported. */
export type FileContent =
  | (Source & { readonly kind: 'candles'; readonly timeframe: Timeframe })
  /** Funding rates only; a file in the same folder has the mark prices. */
  | (Source & { readonly kind: 'rates' })
  | (Source & { readonly kind: 'marks' })
  /** Funding events as Touchstone stores them: rates with mark prices. */
  | (Source & { readonly kind: 'events' })
  | { readonly kind: 'other'; readonly reason: string };

/** `BTC_USDT-5m` (spot), `BTC_USDT_USDT-5m`, `BTC_USDT_USDT-5m-futures`, `BTC_USDT_USDT-8h-funding_rate`, `...-mark`. */
const STEM = /^(?<pair>.+)-(?<timeframe>\d+[A-Za-z]{1,2})(?:-(?<type>[A-Za-z_]+))?$/;
/** Touchstone's folders: `exchange=binanceusdm/symbol=BTC_USDT_USDT/timeframe=5m/2025-03.parquet`; funding has no timeframe. */
const HIVE =
  /\/exchange=(?<exchange>[^/]+)\/symbol=(?<pair>[^/]+)(?:\/timeframe=(?<timeframe>[^/]+))?\/[^/]+\.parquet$/;
/** freqtrade's folder of perpetuals. */
const FREQTRADE = /\/(?<exchange>[^/]+)\/futures\/[^/]+$/;
/** ccxt keys of the exchanges whose perpetuals freqtrade trades, by the name of freqtrade's folder. */
const FREQTRADE_EXCHANGES: ReadonlyMap<string, string> = new Map([
  ['binance', 'binanceusdm'],
  ['bitget', 'bitget'],
  ['bybit', 'bybit'],
  ['gate', 'gate'],
  ['hyperliquid', 'hyperliquid'],
  ['krakenfutures', 'krakenfutures'],
  ['okx', 'okx'],
]);

/** freqtrade's folder of spot pairs; its name is the exchange's key in ccxt. */
const FREQTRADE_SPOT = /\/(?<exchange>[^/]+)\/[^/]+$/;
const FREQTRADE_SPOT_EXCHANGES: ReadonlySet<string> = new Set([
  ...[
    'binance',
    'binanceus',
    'bingx',
    'bitget',
    'bitmart',
    'bitvavo',
    'bybit',
    'coinbase',
    'cryptocom',
    'gate',
  ],
  ...['htx', 'hyperliquid', 'kraken', 'kucoin', 'mexc', 'okx'],
]);

/** @param path absolute, with `/` between its parts */
export function contentOf(path: string): FileContent {
  const fileName = path.slice(path.lastIndexOf('/') + 1);
  if (/\.(h5|hdf5)$/.test(fileName)) {
    return other(
      'HDF5; convert it to Feather: freqtrade convert-data --format-from hdf5 --format-to feather',
    );
  }
  const named = formatOf(fileName);
  if (!named) return other('not a CSV, Feather, JSON or Parquet file');
  const hive = HIVE.exec(path)?.groups;
  if (hive) return hiveContent(hive, named.format);
  if (named.stem.endsWith('-trades')) return other('trades; only candles and funding rates are imported');
  const { pair, timeframe, type } = STEM.exec(named.stem)?.groups ?? {};
  if (pair === undefined || timeframe === undefined) {
    return other(
      'the file name has no pair and timeframe: expected PAIR-TIMEFRAME, such as BTC_USDT_USDT-5m.csv.gz',
    );
  }
  const symbol = symbolOf(pair, type);
  if (typeof symbol !== 'string') return symbol;
  const exchange = exchangeOf(path, symbol, type);
  const source = { symbol, format: named.format, ...(exchange && { exchange }) };
  if (type === 'funding_rate') return { kind: 'rates', ...source };
  if (type === 'mark') return { kind: 'marks', ...source };
  return candles(source, timeframe);
}

function exchangeOf(path: string, symbol: string, type: string | undefined): string | undefined {
  if (tradingModeOf(symbol) === 'spot') {
    const folder = FREQTRADE_SPOT.exec(path)?.groups?.exchange;
    return folder !== undefined && FREQTRADE_SPOT_EXCHANGES.has(folder) ? folder : undefined;
  }
  const folder = type === undefined ? undefined : FREQTRADE.exec(path)?.groups?.exchange;
  return folder && FREQTRADE_EXCHANGES.get(folder);
}

function hiveContent(groups: Readonly<Record<string, string | undefined>>, format: Format): FileContent {
  const { exchange = '', pair = '', timeframe } = groups;
  if (exchange === 'sim') return other('candles of sim, the simulated market');
  if (!isExchangeKey(exchange)) return other(`${exchange} is not an exchange key such as binanceusdm`);
  const symbol = decoded(pair);
  if (symbol === undefined || !isSymbol(symbol)) return notASymbol(symbol ?? pair);
  const source = { symbol, format, exchange };
  if (timeframe !== undefined) return candles(source, timeframe);
  return tradingModeOf(symbol) === 'spot'
    ? other('funding rates of a spot pair, which has none')
    : { kind: 'events', ...source };
}

function candles(source: Source, timeframe: string): FileContent {
  if (!isTimeframe(timeframe))
    return other(`timeframe ${timeframe} is not one of ${ALL_TIMEFRAMES.join(', ')}`);
  return { kind: 'candles', timeframe, ...source };
}

/** Splits from the right: only the base may contain an underscore. */
function symbolOf(pair: string, type: string | undefined): string | FileContent {
  if (type !== undefined && !['futures', 'mark', 'funding_rate'].includes(type)) {
    return other(
      `candles of type ${type}; only candles of spot pairs and of perpetuals, and their mark prices and funding rates are imported`,
    );
  }
  const parts = pair.split('_');
  // Before 2023 freqtrade wrote Binance's perpetuals without the settlement currency, which is the quote currency.
  if (type !== undefined && parts.length === 2) parts.push(parts[1]!);
  if (parts.length < 3) {
    const symbol = parts.join('/');
    return isSymbol(symbol) ? symbol : notASymbol(symbol);
  }
  const [quote, settle] = parts.slice(-2);
  const symbol = `${parts.slice(0, -2).join('_')}/${quote}:${settle}`;
  if (/-\d{6}$/.test(symbol))
    return other('a future with a delivery date; only spot pairs and perpetuals are imported');
  return isSymbol(symbol) ? symbol : notASymbol(symbol);
}

function isSymbol(text: string): boolean {
  try {
    checkSymbol(text, 'symbol', tradingModeOf(text));
    return true;
  } catch {
    return false;
  }
}

function decoded(pair: string): string | undefined {
  try {
    return decodeSymbol(pair);
  } catch {
    return undefined;
  }
}

function notASymbol(text: string): FileContent {
  return other(
    `${text} is not a valid symbol: expected BASE/QUOTE or BASE/QUOTE:SETTLE in capital letters and digits`,
  );
}

function other(reason: string): FileContent {
  return { kind: 'other', reason };
}
