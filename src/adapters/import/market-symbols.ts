import { SPOT_EXCHANGES, type TradingMode } from '#contract/values/trading-modes.ts';
import { isExchangeKey, tradingModeOf } from '#domain/shared/validate.ts';
import { decodeSymbol } from '../parquet/keys.ts';
import { isSymbol } from './file-content.ts';
import type { Market } from './series-table.ts';

/** Symbol of a series, or the reason why it is not imported. */
export type NamedSymbol = { readonly symbol: string } | { readonly reason: string };

/** Exchanges of Tardis with one trading mode each. Key: Tardis's ID. The other IDs are keys of ccxt. */
const TARDIS_MARKETS: Readonly<Record<string, Required<Market>>> = {
  binance: { exchange: 'binance', mode: 'spot' },
  'binance-us': { exchange: 'binanceus', mode: 'spot' },
  'binance-futures': { exchange: 'binanceusdm', mode: 'futures' },
  'binance-delivery': { exchange: 'binancecoinm', mode: 'futures' },
  bitget: { exchange: 'bitget', mode: 'spot' },
  'bitget-futures': { exchange: 'bitget', mode: 'futures' },
  bitmex: { exchange: 'bitmex', mode: 'futures' },
  bybit: { exchange: 'bybit', mode: 'futures' },
  'bybit-spot': { exchange: 'bybit', mode: 'spot' },
  coinbase: { exchange: 'coinbase', mode: 'spot' },
  cryptofacilities: { exchange: 'krakenfutures', mode: 'futures' },
  deribit: { exchange: 'deribit', mode: 'futures' },
  'gate-io': { exchange: 'gate', mode: 'spot' },
  'gate-io-futures': { exchange: 'gate', mode: 'futures' },
  huobi: { exchange: 'htx', mode: 'spot' },
  'huobi-dm-linear-swap': { exchange: 'htx', mode: 'futures' },
  hyperliquid: { exchange: 'hyperliquid', mode: 'futures' },
  kraken: { exchange: 'kraken', mode: 'spot' },
  kucoin: { exchange: 'kucoin', mode: 'spot' },
  'kucoin-futures': { exchange: 'kucoinfutures', mode: 'futures' },
  okex: { exchange: 'okx', mode: 'spot' },
  'okex-swap': { exchange: 'okx', mode: 'futures' },
};

/** Exchanges of TradingView that ccxt names otherwise. Key: its prefix of symbols. */
const TRADING_VIEW_NAMES: Readonly<Record<string, string>> = { GATEIO: 'gate' };

export function tardisMarket(id: string): Market {
  return Object.hasOwn(TARDIS_MARKETS, id) ? TARDIS_MARKETS[id]! : {};
}

/** A symbol of TradingView that ends with `.P` is a perpetual, any other is taken for spot. */
export function tradingViewMarket(prefix: string, symbol: string): Required<Market> | undefined {
  const mode = symbol.endsWith('.P') ? 'futures' : 'spot';
  const name = Object.hasOwn(TRADING_VIEW_NAMES, prefix) ? TRADING_VIEW_NAMES[prefix]! : prefix.toLowerCase();
  const exchange = exchangeFor(name, mode);
  return isExchangeKey(exchange) ? { exchange, mode } : undefined;
}

/** Market of an exchange as ccxt names it. `binance` alone may be either mode: futures are often filed under it. */
export function ccxtMarket(name: string): Market {
  const exchange = name.toLowerCase();
  if (!isExchangeKey(exchange)) return {};
  return SPOT_EXCHANGES.has(exchange) ? { exchange, mode: 'futures' } : { exchange };
}

/** Trading mode that the user states: `--spot`, or an exchange that has one only. */
export function statedMode({
  spot,
  exchange = '',
}: {
  readonly spot?: boolean;
  readonly exchange?: string;
}): TradingMode | undefined {
  if (spot) return 'spot';
  if (SPOT_EXCHANGES.has(exchange)) return 'futures';
  return [...SPOT_EXCHANGES.values()].includes(exchange) ? 'spot' : undefined;
}

/** Key of the exchange's markets of a trading mode: perpetuals of `binance` are `binanceusdm`. */
export function exchangeFor(exchange: string, mode: TradingMode): string {
  if (mode === 'spot') return SPOT_EXCHANGES.get(exchange) ?? exchange;
  return LINEAR_EXCHANGES.get(exchange) ?? exchange;
}

/** COIN-M futures are not imported: `binance` has `binanceusdm`. */
const LINEAR_EXCHANGES: ReadonlyMap<string, string> = new Map(
  [...SPOT_EXCHANGES]
    .filter(([futures]) => futures !== 'binancecoinm')
    .map(([futures, spot]) => [spot, futures]),
);

/** Quote assets of spot markets: those of Binance, and `USD` of others. `AEUR` is in {@link AEUR_PAIRS}: `ADAEUR` is ADA/EUR. */
const SPOT_QUOTES = [
  'USDT',
  'FDUSD',
  'USDC',
  'TUSD',
  'BUSD',
  'USD1',
  'USDP',
  'USDS',
  'USDE',
  'PAX',
  'DAI',
  'UST',
  'VAI',
  'BTC',
  'XBT',
  'ETH',
  'BNB',
  'XRP',
  'TRX',
  'DOGE',
  'DOT',
  'SOL',
  'EURI',
  'XUSD',
  'BFUSD',
  'RLUSD',
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
  'JPY',
  'BIDR',
  'IDRT',
  'BVND',
  'BKRW',
  'GYEN',
  'USD',
];
/** Currencies that states issue. */
const FIAT: ReadonlySet<string> = new Set(
  'USD EUR GBP JPY CHF CAD AUD NZD CNY CNH HKD SGD INR KRW BRL MXN ZAR TRY RUB PLN SEK NOK DKK CZK HUF THB IDR PHP TWD ILS'.split(
    ' ',
  ),
);
const AEUR_PAIRS = /^(BTC|ETH|EUR)AEUR$/;
/** Quotes of linear perpetuals, which are the settlement currency too. */
const LINEAR = ['USDT', 'USDC', 'BUSD', 'USD1', 'BTC'];
/** Codes of ccxt for assets that Kraken and BitMEX name otherwise. */
const COMMON_CODES: Readonly<Record<string, string>> = { XBT: 'BTC', XDG: 'DOGE' };
const commonCode = (code: string) => (Object.hasOwn(COMMON_CODES, code) ? COMMON_CODES[code]! : code);
const PERPETUAL = ['SWAP', 'PERP', 'PERPETUAL'];

/**
 * Symbol of a series by its name in a file: given by the user (`--symbols ESH5=ES/USD:USD`), a symbol (`BTC/USDT:USDT`,
 * `BTC_USDT_USDT`), parts (`BTC-USDT-SWAP`), or letters (`BTCUSDT`). Names that fit spot and futures need the mode of the market.
 */
export function symbolOfName(name: string, { mode }: Market, given: readonly string[]): NamedSymbol {
  const stated = statedSymbol(name, mode, given);
  if (stated !== undefined) return { symbol: stated };
  const upper = name.toUpperCase();
  if (/\d{6}$|\d{1,2}[A-Z]{3}\d{2}$/.test(upper) && /[-_]/.test(upper)) {
    return {
      reason: `${name} is a future with a delivery date; only spot pairs and perpetuals are imported`,
    };
  }
  const written = writtenSymbol(upper);
  if (written?.includes(':')) return { symbol: written };
  const parts = (written ?? upper.replace(/\.P$/, '-PERP')).split(/[-_/]/);
  const isPerpetual = parts.length > 1 && PERPETUAL.includes(parts.at(-1)!);
  const market = isPerpetual ? 'futures' : mode;
  const [base, quote, ...rest] = isPerpetual ? parts.slice(0, -1) : parts;
  if (rest.length > 0 || base === '' || quote === '') return unknownName(name);
  if (quote === undefined) return market ? splitLetters(base!, market, name) : ambiguous(name);
  if (market === undefined) return written ? { symbol: written } : ambiguous(name);
  return ofMode(base!, quote, market, name);
}

/** Letters of a symbol without its settlement currency: `BTC/USDT:USDT` is `BTCUSDT`. */
const lettersOf = (symbol: string) => symbol.split(':')[0]!.replace('/', '');

/** Symbol that the user gave: by its name in the file, or by its letters. */
export function statedSymbol(
  name: string,
  mode: TradingMode | undefined,
  symbols: readonly string[] = [],
): string | undefined {
  const equal = symbols.find((text) => text.slice(0, text.lastIndexOf('=')) === name && text.includes('='));
  if (equal !== undefined) return equal.slice(equal.lastIndexOf('=') + 1);
  const letters = name.toUpperCase().replace(/\.P$/, '').replaceAll(/[-_/]/g, '');
  return symbols.find(
    (symbol) =>
      !symbol.includes('=') &&
      lettersOf(symbol) === letters &&
      (mode === undefined || tradingModeOf(symbol) === mode),
  );
}

/** A name that is a symbol, plain, as a folder of Touchstone, or escaped for an address as by DuckDB. */
function writtenSymbol(name: string): string | undefined {
  if (isSymbol(name)) return name;
  try {
    const decoded = name.includes('%') ? decodeURIComponent(name) : decodeSymbol(name);
    return isSymbol(decoded) && (decoded.includes(':') || name.includes('%')) ? decoded : undefined;
  } catch {
    return undefined;
  }
}

function ofMode(baseCode: string, quoteCode: string, mode: TradingMode, name: string): NamedSymbol {
  const [base, quote] = [commonCode(baseCode), commonCode(quoteCode)];
  if (mode === 'spot') return valid(`${base}/${quote}`, name);
  if (LINEAR.includes(quote)) return valid(`${base}/${quote}:${quote}`, name);
  const pair = `${base}/${quote}`;
  return {
    reason: `${name} does not state the settlement currency. Name the symbol: --symbols ${name}=${pair}:${base} if it is ${base} (inverse), ${name}=${pair}:${quote} if it is ${quote}`,
  };
}

function splitLetters(letters: string, mode: TradingMode, name: string): NamedSymbol {
  const quote = quoteOf(letters, mode);
  if (quote === undefined) {
    return {
      reason: `${name} ends with no known quote asset. Name the symbol: --symbols ${name}=BASE/QUOTE`,
    };
  }
  return ofMode(letters.slice(0, -quote.length), quote, mode, name);
}

/** The longest quote asset at the end of the letters, after at least one character. */
function quoteOf(letters: string, mode: TradingMode): string | undefined {
  if (mode === 'spot' && AEUR_PAIRS.test(letters)) return 'AEUR';
  return (
    (mode === 'spot' ? SPOT_QUOTES : [...LINEAR, 'USD'])
      .filter((quote) => letters.endsWith(quote) && letters.length > quote.length)
      // Kraken's XBTUSD is XBT/USD.
      .filter((quote) => letters !== `XB${quote}` || !quote.startsWith('T'))
      .sort((a, b) => b.length - a.length)[0]
  );
}

function valid(symbol: string, name: string): NamedSymbol {
  if (isSymbol(symbol)) return { symbol };
  return {
    reason: `${symbol} is not a valid symbol. Name the symbol in capital letters and digits: --symbols ${name}=BASE/QUOTE`,
  };
}

function unknownName(name: string): NamedSymbol {
  return { reason: `${name} is not a pair. Name the symbol: --symbols ${name}=BASE/QUOTE` };
}

function ambiguous(name: string): NamedSymbol {
  const pair = pairInName(name)?.symbol.replace('-', '/');
  if (pair !== undefined) {
    return {
      reason: `the file does not say whether ${name} is spot or futures. Name the symbol: --symbols ${pair} if it is spot, --symbols ${pair}:${pair.split('/')[1]} if it is a perpetual`,
    };
  }
  return {
    reason: `the file does not say whether ${name} is spot or futures. Name the symbol: --symbols ${name}=BASE/QUOTE or ${name}=BASE/QUOTE:SETTLE`,
  };
}

/** Quotes in names of files, beside fiat currencies: words end with the others too. */
const NAMED_QUOTES: ReadonlySet<string> = new Set(['USDT', 'USDC', 'BUSD', 'FDUSD', 'TUSD', 'BTC', 'ETH']);
/** Fiat currencies with which words do not end. */
const LETTER_QUOTES = [...NAMED_QUOTES, 'USD', 'EUR', 'GBP', 'JPY', 'CHF'].sort(
  (a, b) => b.length - a.length,
);

/**
 * Pair in the name of a file: `BTC-USD.csv`, `EURUSD_2024.csv`, `coinbase-1h-btc-usd.csv`. Pairs in fiat currencies are spot; others may
 * be perpetuals.
 */
export function pairInName(
  fileName: string,
): { readonly symbol: string; readonly mode?: TradingMode } | undefined {
  const parts = fileName.split('.')[0]!.split(/[-_ ,()]+/);
  for (const [index, part] of parts.entries()) {
    const found = pairOfParts(part, parts[index + 1]) ?? pairOfLetters(part);
    if (found) return found;
  }
  return undefined;
}

/** `BTC` and `USD`; small letters only with a dollar, because words are others. */
function pairOfParts(base: string, quote = '') {
  const upper = quote.toUpperCase();
  const isQuote = FIAT.has(upper) || NAMED_QUOTES.has(upper);
  const isWritten = quote === upper || (upper.includes('USD') && base.length >= 3);
  if (!isQuote || !isWritten || !/^[A-Za-z0-9]{2,10}$/.test(base)) return undefined;
  return namedPair(base.toUpperCase(), upper);
}

/** `BTCUSDT`, `eurusd`. */
function pairOfLetters(letters: string) {
  if (!/^[A-Za-z0-9]{5,14}$/.test(letters)) return undefined;
  const upper = letters.toUpperCase();
  const [first, last] = [upper.slice(0, 3), upper.slice(3)];
  if (upper.length === 6 && FIAT.has(first) && FIAT.has(last)) return namedPair(first, last);
  const found = LETTER_QUOTES.find((each) => upper.endsWith(each) && upper.length >= each.length + 2);
  // Words in small letters end with some of them.
  if (!found || (letters !== upper && !found.includes('USD'))) return undefined;
  return namedPair(upper.slice(0, -found.length), found);
}

function namedPair(base: string, quote: string) {
  if (base === quote) return undefined;
  return { symbol: `${commonCode(base)}-${quote}`, ...(FIAT.has(quote) && { mode: 'spot' as const }) };
}

/** True for a pair that Binance cannot have: in dollars, or of two fiat currencies. */
export function isNotOfBinance(symbol: string): boolean {
  const [base = '', quote = ''] = symbol.split('/');
  return quote === 'USD' || !SPOT_QUOTES.includes(quote) || (FIAT.has(base) && FIAT.has(quote));
}
