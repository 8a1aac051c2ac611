import type { SeriesNames } from '../series-table.ts';

const PRICES = ['open', 'high', 'low', 'close'];

/** True for the columns of TradingView's "Export chart data": the time and the prices come first. */
export function isTradingViewChart(header: readonly string[]): boolean {
  return header.slice(0, 5).join().toLowerCase() === ['time', ...PRICES].join();
}

/** True for the columns of "List of trades" of TradingView's strategy tester. */
export function isTradeList(header: readonly string[]): boolean {
  const names = header.map((name) => name.trim());
  return (
    /^trade (#|number)/i.test(names[0] ?? '') &&
    names.some((name) => /^type/i.test(name)) &&
    names.some((name) => /^date/i.test(name))
  );
}

/** `BINANCE_BTCUSDT.P, 60.csv`; a browser or TradingView adds ` (2)` or `_0b96a` to a name that exists. */
const FILE_NAME =
  /^(?<exchange>[A-Za-z0-9]+)_(?<symbol>[^,]+), (?<interval>\d*[SDWMH]?)(?: \(\d+\)|_[0-9a-f]+)?\.csv(?:\.gz)?$/;

/** Minutes of a chart's interval without a letter. */
const MINUTES: Readonly<Record<string, string>> = {
  '1': '1m',
  '3': '3m',
  '5': '5m',
  '15': '15m',
  '30': '30m',
  '60': '1h',
  '120': '2h',
  '240': '4h',
  '360': '6h',
  '480': '8h',
  '720': '12h',
};

/** Names in the name of an exported chart: the exchange and the symbol as TradingView writes them. */
export function tradingViewNames(fileName: string): SeriesNames {
  const { exchange, symbol, interval } = FILE_NAME.exec(fileName)?.groups ?? {};
  return { exchange: exchange ?? null, symbol: symbol ?? null, timeframe: timeframeOf(interval) };
}

function timeframeOf(interval: string | undefined): string | null {
  if (!interval) return null;
  const known =
    MINUTES[interval] ??
    (/^\d*[DW]$/.test(interval)
      ? `${Number.parseInt(interval, 10) || 1}${interval.at(-1)!.toLowerCase()}`
      : undefined);
  // Other intervals keep their name, with which the file is skipped: `1M` is a month.
  return known ?? (/^\d+$/.test(interval) ? `${interval}m` : interval);
}
