import type { TradingMode } from '#contract/trading-modes.ts';
import { tradingModeOf } from '#domain/validate.ts';
import { candles, type FileContent, isSymbol, notASymbol, other, type Source } from '../content.ts';
import type { Candidate, Recognizer } from '../recognizer.ts';
import type { Layout } from '../rows.ts';

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
  /^(?<letters>[^/-]+)-(?<what>[A-Za-z0-9]+)-(?<month>\d{4}-\d\d)(?:-(?<day>\d\d))?\.(?<ending>zip|csv)(?<checksum>\.CHECKSUM)?$/;
/** `data/spot/monthly/klines/BTCUSDT/1m/`, `data/futures/um/daily/fundingRate/BTCUSDT/`. */
const FOLDERS =
  /^(?<root>.*\/)(?<market>spot|futures\/um|futures\/cm|option)\/(?:daily|monthly)\/(?<type>[A-Za-z]+)\//;

const KLINES: Layout = [
  ...['open_time', 'open', 'high', 'low', 'close', 'volume', 'close_time', 'quote_volume', 'count'],
  ...['taker_buy_volume', 'taker_buy_quote_volume', 'ignore'],
];
const FUNDING: Layout = ['calc_time', 'funding_interval_hours', 'last_funding_rate'];
const CANDLES = { layouts: [KLINES], keep: KLINES.slice(0, 6) };
const RATES = { layouts: [FUNDING], keep: ['calc_time', 'last_funding_rate'] };
/**
 * Quote assets of the spot market. `AEUR` is in {@link AEUR_PAIRS}: `ADAEUR` is ADA/EUR. `USD` is a quote of Binance.US only.
 */
const SPOT_QUOTES = [
  ...['USDT', 'FDUSD', 'USDC', 'TUSD', 'BUSD', 'USD1', 'USDP', 'USDS', 'USDE', 'PAX', 'DAI', 'UST', 'VAI'],
  ...['BTC', 'ETH', 'BNB', 'XRP', 'TRX', 'DOGE', 'DOT', 'SOL', 'EURI', 'XUSD', 'BFUSD', 'RLUSD'],
  ...[
    'EUR',
    'GBP',
    'AUD',
    'BRL',
    'TRY',
    'RUB',
    'UAH',
    'ZAR',
    'NGN',
    'PLN',
    'RON',
    'ARS',
    'MXN',
    'COP',
    'CZK',
  ],
  ...['JPY', 'BIDR', 'IDRT', 'BVND', 'BKRW', 'GYEN'],
];
const AEUR_PAIRS = /^(BTC|ETH|EUR)AEUR$/;
/** Quote assets of USD-M futures; each is the settlement asset, too. */
const FUTURES_QUOTES = ['USDT', 'USDC', 'BUSD', 'USD1', 'BTC'];

const EXCHANGES: Readonly<Record<TradingMode, string>> = { spot: 'binance', futures: 'binanceusdm' };
const SYMBOL_OF = { spot: spotSymbol, futures: futuresSymbol } as const;

type Names = Readonly<Record<string, string>>;

function contentOf(file: Candidate): FileContent | undefined {
  const names = NAME.exec(file.name)?.groups as Names | undefined;
  const folders = FOLDERS.exec(file.path)?.groups as Names | undefined;
  if (!names) return folders && otherName(file.name);
  if (names.checksum) return { kind: 'companion' };
  return folders ? inFolders(file, names, folders) : withoutFolders(file, names);
}

/** Names that are not of candles or rates, such as `BTCUSDT_240628-metrics.txt` or a listing of the download. */
function otherName(name: string): FileContent | undefined {
  return /\.(zip|csv)$/.test(name) ? other('not candles or funding rates of Binance public data') : undefined;
}

function inFolders(file: Candidate, names: Names, { root, market, type }: Names): FileContent {
  const { letters, what } = names as { letters: string; what: string };
  if (market === 'futures/cm')
    return other(
      'COIN-M futures, whose volumes are numbers of contracts; spot and USD-M futures are imported',
    );
  if (market === 'option') return other('options; spot and USD-M futures are imported');
  const isRates = type === 'fundingRate' && what === 'fundingRate';
  if (!isRates && !['klines', 'markPriceKlines'].includes(type!))
    return other(`${type}; only klines, fundingRate and markPriceKlines are imported`);
  const mode = market === 'spot' ? 'spot' : 'futures';
  const symbol = hinted(file, letters, mode) ?? SYMBOL_OF[mode](letters);
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
    const symbol = hinted(file, letters, 'futures') ?? futuresSymbol(letters);
    if (typeof symbol !== 'string') return symbol;
    return { kind: 'rates', ...sourceOf(file, names, symbol, RATES), exchange: 'binanceusdm' };
  }
  if (!/^\d+[a-z]+$/.test(what)) return undefined;
  const symbol = hinted(file, letters);
  if (symbol === undefined)
    return other(
      `the folder does not say whether ${letters} is spot or futures. Keep the folders of data.binance.vision, such as data/spot/monthly/klines/ETHBTC/1m, or name the symbol: --symbols ETH/BTC`,
    );
  const exchange = EXCHANGES[tradingModeOf(symbol)];
  return candles({ ...sourceOf(file, names, symbol, CANDLES), exchange }, what);
}

/** Symbol that the user gave for the letters of a file. @param mode market of the file; undefined: any */
function hinted({ hints }: Candidate, letters: string, mode?: TradingMode): string | undefined {
  return hints.symbols?.find(
    (symbol) =>
      symbol.split(':')[0]!.replace('/', '') === letters &&
      (mode === undefined || tradingModeOf(symbol) === mode),
  );
}

function sourceOf(file: Candidate, names: Names, symbol: string, { layouts, keep }: typeof CANDLES): Source {
  const checksum = file.siblings.has(`${file.name}.CHECKSUM`) && `${file.path}.CHECKSUM`;
  return {
    symbol,
    format: 'CSV',
    layouts,
    options: { keep, ...(checksum && { checksum }) },
    period: periodOf(names),
  };
}

function periodOf({ month, day }: Names): NonNullable<Source['period']> {
  const [year, number] = month!.split('-').map(Number) as [number, number];
  return day === undefined
    ? { from: Date.UTC(year, number - 1), to: Date.UTC(year, number) }
    : { from: Date.UTC(year, number - 1, Number(day)), to: Date.UTC(year, number - 1, Number(day) + 1) };
}

function spotSymbol(letters: string): string | FileContent {
  if (AEUR_PAIRS.test(letters)) return letters.replace(/AEUR$/, '/AEUR');
  const quote = quoteOf(letters, SPOT_QUOTES);
  if (quote === undefined) return unknownQuote(letters);
  const symbol = `${letters.slice(0, -quote.length)}/${quote}`;
  return isSymbol(symbol) ? symbol : notASymbol(symbol);
}

function futuresSymbol(letters: string): string | FileContent {
  if (/_\d{6}$/.test(letters))
    return other('a future with a delivery date; only spot pairs and perpetuals are imported');
  const quote = quoteOf(letters, FUTURES_QUOTES);
  if (quote === undefined) return unknownQuote(letters);
  const symbol = `${letters.slice(0, -quote.length)}/${quote}:${quote}`;
  return isSymbol(symbol) ? symbol : notASymbol(symbol);
}

/** The longest quote asset at the end of the letters, after at least one character. */
function quoteOf(letters: string, quotes: readonly string[]): string | undefined {
  return quotes
    .filter((quote) => letters.endsWith(quote) && letters.length > quote.length)
    .sort((a, b) => b.length - a.length)[0];
}

const unknownQuote = (letters: string) =>
  other(`${letters} ends with no known quote asset. Name the symbol, such as --symbols ETH/BTC`);
