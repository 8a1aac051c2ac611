import type { TradingMode } from '#contract/values/trading-modes.ts';

/** What is known of the files of a vendor beyond the names of their columns. */
export interface Vendor {
  readonly name: string;
  /** Names of its files; groups: `symbol`, `exchange`. */
  readonly file?: RegExp;
  /** Columns of its files, in plain names; all of them. */
  readonly columns?: readonly string[];
  /** Exchange of its files, unless a group of the name has it. */
  readonly exchange?: string;
  readonly mode?: TradingMode;
  /** Zone of times that state none. */
  readonly zone?: string;
  /** Said where the zone is used. */
  readonly zoneNote?: string;
}

/** In the order in which they are asked: the first that fits. */
const VENDORS: readonly Vendor[] = [
  {
    name: "Bybit's archive",
    file: /^(?<symbol>[A-Z0-9]+)_\d+_\d{4}-\d\d-\d\d_\d{4}-\d\d-\d\d\.csv/,
    exchange: 'bybit',
    mode: 'futures',
    zone: 'UTC+3',
    zoneNote: "times of Bybit's archive are UTC+3",
  },
  {
    name: 'histdata',
    file: /^(?:DAT|HISTDATA_COM)_(?:ASCII|MT|NT|XLSX|MS)_(?<symbol>[A-Z]+)_/,
    exchange: 'histdata',
    mode: 'spot',
    zone: 'UTC-5',
    zoneNote: 'times of histdata are UTC-5 without summer time',
  },
  {
    name: 'CryptoDataDownload',
    file: /^(?<exchange>[A-Z][A-Za-z]+)_(?<symbol>[A-Z0-9]+)_(?:d|1h|minute|1min|daily|hourly|\d{4}_minute)\.csv/,
    mode: 'spot',
  },
  { name: 'Bitstamp', file: /^bitstamp(?<symbol>USD)_1-min_data/, exchange: 'bitstamp', mode: 'spot' },
  {
    name: 'Kraken',
    file: /^(?<symbol>[A-Z0-9]{5,})_(?:1|5|15|30|60|240|720|1440)\.csv/,
    exchange: 'kraken',
    mode: 'spot',
  },
  {
    name: 'OKX',
    columns: ['instrumentname', 'opentime', 'vol', 'volccy'],
    exchange: 'okx',
  },
  { name: 'Polygon', columns: ['ticker', 'windowstart', 'transactions'], exchange: 'polygon' },
  { name: 'Alpaca', columns: ['symbol', 'timestamp', 'tradecount', 'vwap'], exchange: 'alpaca' },
  { name: 'Stooq', columns: ['ticker', 'per', 'date', 'time', 'openint'], exchange: 'stooq' },
  {
    name: 'MetaTrader',
    columns: ['tickvol', 'vol', 'spread'],
    file: /^(?<symbol>[A-Za-z0-9.#]+)_(?:M|H|D|W)\d*_\d{12}_\d{12}\.csv/,
    exchange: 'metatrader',
    zone: 'UTC',
    zoneNote:
      "times of MetaTrader are those of the broker's server, taken as UTC: pass its zone, such as --time-zone Europe/Athens",
  },
  {
    name: 'Dukascopy',
    file: /^(?<symbol>[A-Z]+)_Candlestick_/,
    exchange: 'dukascopy',
    mode: 'spot',
  },
  { name: 'Dukascopy', columns: ['gmttime', 'open'], exchange: 'dukascopy', mode: 'spot' },
  { name: 'yfinance', columns: ['open', 'adjclose'], exchange: 'yahoo' },
];

/** A vendor of a file by its name or its columns. */
export function vendorOf(
  fileName: string,
  columns: readonly string[],
): (Vendor & { readonly groups: Readonly<Record<string, string>> }) | undefined {
  for (const vendor of VENDORS) {
    const groups = vendor.file?.exec(fileName)?.groups as Readonly<Record<string, string>> | undefined;
    if (groups) return { ...vendor, groups };
    if (vendor.columns?.every((name) => columns.includes(name))) return { ...vendor, groups: {} };
  }
  return undefined;
}

/** Columns of a file without a header, in their order. */
export interface Shape {
  readonly name: string;
  readonly columns: readonly string[];
}

const shape = (name: string, columns: string): Shape => ({ name, columns: columns.split(' ') });

/** Files without a header, by the number of their columns. Prices that contradict an order (a high below the low) select the next. */
export const SHAPES: readonly Shape[] = [
  shape('', 'time open high low close'),
  shape('', 'time open high low close volume'),
  shape('Coinbase', 'time low high open close volume'),
  shape('Bitfinex', 'time open close high low volume'),
  shape('Gate', 'time volume close high low open'),
  shape('MetaTrader', 'date time open high low close volume'),
  shape('Kraken', 'time open high low close volume trades'),
  shape('', 'symbol time open high low close volume'),
  shape('Gate', 'time quote_volume close high low open volume'),
  shape('Kraken', 'time open high low close vwap volume trades'),
  shape('Gate', 'time quote_volume close high low open volume closed'),
  shape('', 'symbol date time open high low close volume'),
  shape('MetaTrader', 'date time open high low close tickvol vol spread'),
  shape('OKX', 'time open high low close vol vol_ccy vol_quote confirm'),
  shape('Stooq', 'ticker per date time open high low close vol openint'),
  shape(
    'Binance',
    'open_time open high low close volume close_time quote_volume count taker_buy_volume taker_buy_quote_volume',
  ),
  shape(
    'Binance',
    'open_time open high low close volume close_time quote_volume count taker_buy_volume taker_buy_quote_volume ignore',
  ),
];
