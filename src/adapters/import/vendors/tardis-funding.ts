import { formatInteger } from '#contract/values/format-count.ts';
import { BadFileError } from '../file-rows.ts';
import { type CsvColumns, type CsvLine, csvColumns, csvLines } from '../formats/csv-table.ts';
import { type FileSeries, type SeriesNames, SeriesTable } from '../series-table.ts';
import { COMMON, MINUTE_US, microseconds, namesIn } from './tardis.ts';

/**
 * Funding events of a `derivative_ticker` file: of each `funding_timestamp` the last rate and mark price that were published up
 * to it.
 * @throws BadFileError
 */
export async function readTardisFunding(path: string): Promise<FileSeries[]> {
  const columns = await csvColumns(path, [...COMMON, 'funding_timestamp', 'funding_rate', 'mark_price']);
  const events = new Map<string, FundingDay>();
  for await (const lines of csvLines(path)) {
    for (const line of lines) {
      const names = namesIn(columns, line);
      const key = `${names.exchange} ${names.symbol}`;
      const day = events.get(key) ?? new FundingDay(names);
      events.set(key, day);
      day.add(columns, line);
    }
  }
  if (events.size === 0) throw new BadFileError('holds no rows');
  return [...events.values()].flatMap((day) => day.finish());
}

interface FundingEvent {
  /** Time of the last row that announced the event, µs. */
  at: number;
  rate: number;
  mark: number;
  line: number;
}

class FundingDay {
  readonly #names: SeriesNames;
  readonly #events = new Map<number, FundingEvent>();
  #mark = Number.NaN;
  #unannounced = 0;

  constructor(names: Omit<SeriesNames, 'timeframe'>) {
    this.#names = { ...names, timeframe: null };
  }

  add(columns: CsvColumns, line: CsvLine): void {
    const at = microseconds(columns, line, 'timestamp');
    const mark = columns.number(line, 'mark_price');
    if (!Number.isNaN(mark)) this.#mark = mark;
    const rate = columns.number(line, 'funding_rate');
    if (Number.isNaN(rate)) return;
    if (columns.text(line, 'funding_timestamp') === '') {
      this.#unannounced++;
      return;
    }
    const due = microseconds(columns, line, 'funding_timestamp');
    // After the event the mark price is no longer that of the event.
    const known = this.#events.get(due);
    if (known && at > due) return;
    this.#events.set(due, { at, rate, mark: this.#mark, line: line.number });
  }

  finish(): FileSeries[] {
    const table = new SeriesTable(3, 'line');
    let [unsettled, unmarked] = [0, 0];
    for (const [due, { at, rate, mark, line }] of this.#events) {
      // The rate changes until the event, so one that was published long before it is an estimate.
      if (at < due - MINUTE_US) unsettled++;
      else if (Number.isNaN(mark)) unmarked++;
      else table.add(this.#names, [due / 1_000, rate, mark], line);
    }
    if (table.rows === 0) {
      throw new BadFileError(
        this.#unannounced > 0
          ? 'has no funding_timestamp: the events cannot be told from estimates'
          : 'holds no funding event whose rate was published within a minute before it',
      );
    }
    table.note(this.#names, 'rates are the last ones published before each event');
    if (unsettled > 0) {
      table.note(
        this.#names,
        `events without a rate in the minute before them: ${formatInteger(unsettled)}, left out`,
      );
    }
    if (unmarked > 0)
      table.note(this.#names, `events without a mark price: ${formatInteger(unmarked)}, left out`);
    if (this.#unannounced > 0) {
      table.note(
        this.#names,
        `rows with a rate and no funding_timestamp: ${formatInteger(this.#unannounced)}, left out`,
      );
    }
    return table.finish('funding');
  }
}
