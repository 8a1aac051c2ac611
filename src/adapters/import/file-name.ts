import { isTimeframe, TIMEFRAMES, type Timeframe } from '#engine/timeframe.ts';

/** What a file holds, by its name, or why it cannot be imported. */
export type FileContent =
  | { readonly kind: 'candles'; readonly symbol: string; readonly timeframe: Timeframe }
  | { readonly kind: 'funding' | 'mark'; readonly symbol: string }
  | { readonly kind: 'other'; readonly reason: string };

/** `BTC_USDT_USDT-5m.csv`, `BTC_USDT_USDT-5m-futures.csv`, `BTC_USDT_USDT-8h-funding_rate.csv`, `...-mark.csv`; each also `.gz`. */
const NAME = /^(?<pair>.+)-(?<timeframe>\d+[a-zA-Z])(?:-(?<type>futures|funding_rate|mark))?\.csv(?:\.gz)?$/;

export function contentOf(fileName: string): FileContent {
  if (!/\.csv(\.gz)?$/.test(fileName)) return other('not a CSV file (.csv or .csv.gz)');
  const { pair, timeframe, type } = NAME.exec(fileName)?.groups ?? {};
  if (pair === undefined || timeframe === undefined) {
    return other(
      'the name does not say what it holds: expected PAIR-TIMEFRAME.csv, as in BTC_USDT_USDT-5m.csv.gz',
    );
  }
  // From the right: a base may hold an underscore itself.
  const parts = pair.split('_');
  const [quote, settle] = parts.slice(-2);
  const base = parts.slice(0, -2).join('_');
  if (!base || !quote || !settle) {
    return other(
      `${pair} names a spot pair; Touchstone trades perpetuals: symbol BASE/QUOTE:SETTLE, file name BASE_QUOTE_SETTLE-${timeframe}.csv, as in BTC_USDT_USDT-5m.csv for BTC/USDT:USDT`,
    );
  }
  const symbol = `${base}/${quote}:${settle}`;
  if (type === 'funding_rate') return { kind: 'funding', symbol };
  if (type === 'mark') return { kind: 'mark', symbol };
  if (!isTimeframe(timeframe)) return other(`timeframe ${timeframe} is not one of ${TIMEFRAMES.join(', ')}`);
  return { kind: 'candles', symbol, timeframe };
}

function other(reason: string): FileContent {
  return { kind: 'other', reason };
}
