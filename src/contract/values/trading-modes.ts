/** Trading modes and the symbols of each. */

/** Perpetual futures, or spot: no shorts, no leverage, no funding. */
export const TRADING_MODES = ['futures', 'spot'] as const;
export type TradingMode = (typeof TRADING_MODES)[number];

/** Exchanges of ccxt that have perpetuals only, with the exchange of their spot markets. */
export const SPOT_EXCHANGES: ReadonlyMap<string, string> = new Map([
  ['binanceusdm', 'binance'],
  ['binancecoinm', 'binance'],
  ['krakenfutures', 'kraken'],
  ['kucoinfutures', 'kucoin'],
]);

/** Symbols of each trading mode, upper case. */
export const SYMBOLS = {
  futures: {
    format: 'BASE/QUOTE:SETTLE',
    example: 'BTC/USDT:USDT',
    pattern: /^[A-Z0-9]{1,20}\/[A-Z0-9]{1,20}:[A-Z0-9]{1,20}$/,
  },
  spot: { format: 'BASE/QUOTE', example: 'BTC/USDT', pattern: /^[A-Z0-9]{1,20}\/[A-Z0-9]{1,20}$/ },
} as const satisfies Readonly<Record<TradingMode, object>>;
/** Symbol of any trading mode. */
export const SYMBOL = /^[A-Z0-9]{1,20}\/[A-Z0-9]{1,20}(:[A-Z0-9]{1,20})?$/;

/** True for a perpetual that is settled in its base currency, such as `BTC/USD:BTC`: an inverse contract. */
export function isInverse(symbol: string): boolean {
  const [base, quote, settle] = symbol.split(/[/:]/);
  return settle === base && settle !== quote;
}
