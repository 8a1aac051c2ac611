import type { SeriesKey } from '#domain/ports.ts';

/**
 * Hive-style paths, so that any reader finds exchange, symbol and timeframe as columns:
 * `candles/exchange=binanceusdm/symbol=BTC_USDT_USDT/timeframe=5m/2025-03.parquet`.
 */
export function candlesPrefix({ exchange, symbol, timeframe }: SeriesKey): string {
  return `candles/exchange=${encodeName(exchange)}/symbol=${encodeSymbol(symbol)}/timeframe=${timeframe}`;
}

export function fundingPrefix(exchange: string, symbol: string): string {
  return `funding/exchange=${encodeName(exchange)}/symbol=${encodeSymbol(symbol)}`;
}

/** Prefix of the folders of imports with the candles that they replaced. Outside of `candles`, where readers look for all candles. */
export function replacedPrefix(series: SeriesKey): string {
  return `replaced/${candlesPrefix(series).slice('candles/'.length)}`;
}

/** Exchange of a folder of candles, such as `exchange=binanceusdm`. */
export function exchangeOfFolder(name: string): string | undefined {
  return name.startsWith('exchange=') ? decodeName(name.slice('exchange='.length)) : undefined;
}

/** Key of a month's file; the months of a series sort by time. */
export function monthKey(prefix: string, month: string): string {
  return `${prefix}/${month}.parquet`;
}

/** Month of a key made by {@link monthKey}; undefined for any other key. */
export function monthOfKey(key: string): string | undefined {
  return /\/(\d{4}-\d{2})\.parquet$/.exec(key)?.[1];
}

/** `BTC/USDT:USDT` as `BTC_USDT_USDT`: parts joined by `_`, any other character as `.` and two hex digits per byte. */
export function encodeSymbol(symbol: string): string {
  return symbol.split(/[/:]/).map(encodeName).join('_');
}

/** Reverses {@link encodeSymbol}. */
export function decodeSymbol(text: string): string {
  const [base, quote, ...settle] = text.split('_').map(decodeName);
  return [[base, quote].filter((part) => part !== undefined).join('/'), ...settle].join(':');
}

function encodeName(name: string): string {
  return name.replace(/[^A-Za-z0-9-]/gu, (character) =>
    [...Buffer.from(character)].map((byte) => `.${byte.toString(16).padStart(2, '0')}`).join(''),
  );
}

function decodeName(text: string): string {
  return decodeURIComponent(text.replaceAll('.', '%'));
}

/** `YYYY-MM` of a time in ms, UTC. */
export function monthOf(time: number): string {
  return new Date(time).toISOString().slice(0, 7);
}
