import { tradingModeOf } from '#domain/shared/validate.ts';
import { candles, type FileContent, isSymbol, notASymbol, other } from '../file-content.ts';
import { formatOf } from '../formats.ts';
import type { Recognizer } from '../recognizer.ts';

/** `BTC_USDT-5m` (spot), `BTC_USDT_USDT-5m`, `BTC_USDT_USDT-5m-futures`, `BTC_USDT_USDT-8h-funding_rate`, `...-mark`. */
const STEM = /^(?<pair>.+)-(?<timeframe>\d+[A-Za-z]{1,2})(?:-(?<type>[A-Za-z_]+))?$/;
/** `BTCUSDT-5m.csv` */
const MISNAMED = /^[^_]+-\d+[A-Za-z]{1,2}\.[^-]+$/;
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
  'htx',
  'hyperliquid',
  'kraken',
  'kucoin',
  'mexc',
  'okx',
]);

/** Data folders of freqtrade, and files with its names in any folder and format. */
export const freqtrade: Recognizer = {
  name: 'freqtrade',
  // A pair in a name of freqtrade has an underscore.
  recognize: ({ path, name }) => (MISNAMED.test(name) ? undefined : contentOf(path, name)),
};

function contentOf(path: string, fileName: string): FileContent | undefined {
  if (/\.(h5|hdf5)$/.test(fileName)) {
    return other(
      'HDF5; convert it to Feather: freqtrade convert-data --format-from hdf5 --format-to feather',
    );
  }
  const named = formatOf(fileName);
  if (!named) return undefined;
  if (named.stem.endsWith('-trades')) return other('trades; only candles and funding rates are imported');
  const { pair, timeframe, type } = STEM.exec(named.stem)?.groups ?? {};
  if (pair === undefined || timeframe === undefined) return undefined;
  const symbol = symbolOf(pair, type);
  // Names of another form; the file may be one of candles that the user names.
  if (typeof symbol !== 'string') return type === undefined && !/-\d{6}$/.test(pair) ? undefined : symbol;
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
