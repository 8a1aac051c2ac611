import { CsvColumns, type CsvLine, wrongValue } from '../formats/csv-table.ts';
import type { SeriesNames } from '../series-table.ts';

/** First columns of every Tardis CSV dataset. */
export const COMMON = ['exchange', 'symbol', 'timestamp', 'local_timestamp'];
export const BAR = ['exchange', 'symbol', 'interval', 'timestamp', 'open', 'high', 'low', 'close', 'volume'];

export type TardisKind = 'bars' | 'trades' | 'funding' | 'other';

/** Kind of a Tardis CSV file by its columns; undefined for a file of another source. */
export function tardisKind(header: readonly string[]): TardisKind | undefined {
  const columns = new CsvColumns(header);
  if (columns.has(...BAR) && (columns.has('kind') || columns.has('name'))) return 'bars';
  if (!columns.has(...COMMON)) return undefined;
  if (columns.has('funding_timestamp', 'funding_rate', 'mark_price')) return 'funding';
  // The book and the liquidations have prices and amounts too, but no trade ID or another column.
  if (columns.has('id', 'side', 'price', 'amount') && header.length === 8) return 'trades';
  return 'other';
}

/** Microseconds. */
export const MINUTE_US = 60_000_000;

/** Names of the series of a row. */
export function namesIn(columns: CsvColumns, line: CsvLine): Omit<SeriesNames, 'timeframe'> {
  return { exchange: columns.text(line, 'exchange'), symbol: columns.text(line, 'symbol') };
}

/** A time of a Tardis dataset, from 1973 to 5138. Throws BadFileError for a time in another unit. */
export function microseconds(columns: CsvColumns, line: CsvLine, name: string): number {
  const time = columns.number(line, name);
  if (time >= 1e14 && time < 1e17 && Number.isInteger(time)) return time;
  throw wrongValue(line, name, columns.text(line, name), 'microseconds since 1970');
}
