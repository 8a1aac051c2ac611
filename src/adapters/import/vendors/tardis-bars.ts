import { type CsvColumns, type CsvLine, csvColumns, csvLines, wrongValue } from '../formats/csv-table.ts';
import { type FileSeries, SeriesTable } from '../series-table.ts';
import { BAR, namesIn } from './tardis.ts';

/** Names of the lengths of candles by milliseconds; other lengths are named in milliseconds. */
const INTERVALS: ReadonlyMap<number, string> = new Map([
  [60_000, '1m'],
  [180_000, '3m'],
  [300_000, '5m'],
  [900_000, '15m'],
  [1_800_000, '30m'],
  [3_600_000, '1h'],
  [7_200_000, '2h'],
  [14_400_000, '4h'],
  [21_600_000, '6h'],
  [28_800_000, '8h'],
  [43_200_000, '12h'],
  [86_400_000, '1d'],
]);

/**
 * Trade bars of `computeTradeBars` or of tardis-machine (`trade_bar_1m`), saved as CSV. `timestamp` is the end of a bar;
 * `openTimestamp` is its first trade, which is not on the grid.
 * @throws BadFileError
 */
export async function readTardisBars(path: string): Promise<FileSeries[]> {
  const columns = await csvColumns(path, BAR);
  const table = new SeriesTable(6, 'line');
  for await (const lines of csvLines(path)) {
    for (const line of lines) {
      const interval = columns.number(line, 'interval');
      const kind = columns.has('kind') ? columns.text(line, 'kind') : 'time';
      const length = kind === 'time' ? INTERVALS.get(interval) : undefined;
      const unit = kind === 'time' ? 'ms' : ` ${kind}`;
      const series = { ...namesIn(columns, line), timeframe: length ?? `${interval}${unit}` };
      const end = milliseconds(columns, line);
      table.add(series, [end - (length ? interval : 0), ...prices(columns, line)], line.number);
    }
  }
  return table.finish('candles');
}

function prices(columns: CsvColumns, line: CsvLine): number[] {
  return ['open', 'high', 'low', 'close', 'volume'].map((name) => columns.number(line, name));
}

/** The end of a bar: ISO 8601, as tardis-machine writes it, milliseconds, or microseconds as in the datasets. */
function milliseconds(columns: CsvColumns, line: CsvLine): number {
  const time = columns.time(line, 'timestamp');
  if (time >= 1e11 && time < 1e14) return time;
  if (time >= 1e14 && time < 1e17) return time / 1_000;
  throw wrongValue(
    line,
    'timestamp',
    columns.text(line, 'timestamp'),
    'ISO 8601, milliseconds or microseconds',
  );
}
