import { formatInteger } from '#contract/values/format-count.ts';
import { BadFileError } from '../file-rows.ts';
import {
  type CsvColumns,
  type CsvLine,
  csvColumns,
  csvHeader,
  csvLines,
  wrongValue,
} from '../formats/csv-table.ts';
import { type FileSeries, type SeriesNames, SeriesTable } from '../series-table.ts';
import { COMMON, MINUTE_US, microseconds, namesIn } from './tardis.ts';

const TRADE = [...COMMON, 'id', 'price', 'amount'];
const DAY_US = 86_400_000_000;

interface Minute {
  firstAt: number;
  lastAt: number;
  readonly values: [time: number, open: number, high: number, low: number, close: number, volume: number];
}

/**
 * Candles of 1m from a day of trades. The exchange's time of a trade counts; of equal times the order in the file. A file holds
 * the trades that arrived on its day: the last trades of a day may be in the next file, so they are read there.
 * @param next file of the next day
 * @throws BadFileError
 */
export async function readTardisTrades(
  path: string,
  names: SeriesNames,
  next?: string,
): Promise<FileSeries[]> {
  const day = new TradeDay();
  await day.read(path);
  const late = next === undefined ? 0 : await readNext(day, next);
  return day.finish(names, { late, hasNext: next !== undefined });
}

async function readNext(day: TradeDay, next: string): Promise<number> {
  try {
    return await day.readLate(next);
  } catch (error) {
    if (!(error instanceof BadFileError)) throw error;
    throw new BadFileError(`the file of the next day, which may have the last trades: ${error.message}`);
  }
}

class TradeDay {
  readonly #minutes = new Map<number, Minute>();
  #names: Omit<SeriesNames, 'timeframe'> | undefined;
  /** Start of the day, µs. */
  #start = Number.NaN;
  /** Trades of the day before that arrived within a minute of midnight, and those that arrived later. */
  #early = 0;
  #tooLate = 0;
  /** Trades whose time is after the day: the exchange's clock was ahead. */
  #ahead = 0;
  #repeated = 0;
  #lastRow = '';

  async read(path: string): Promise<void> {
    const columns = await csvColumns(path, TRADE);
    for await (const lines of csvLines(path)) for (const line of lines) this.#add(columns, line);
  }

  /** Adds the trades of this day at the beginning of the next file, which is in the order of arrival. Returns their number. */
  async readLate(path: string): Promise<number> {
    // Tardis answers a day without data with an empty file.
    if ((await csvHeader(path)).length === 0) return 0;
    const columns = await csvColumns(path, TRADE);
    const end = this.#start + DAY_US;
    let added = 0;
    for await (const lines of csvLines(path)) {
      for (const line of lines) {
        if (columns.number(line, 'local_timestamp') >= end + MINUTE_US) return added;
        if (!(columns.number(line, 'timestamp') < end)) continue;
        this.#add(columns, line);
        added++;
      }
    }
    return added;
  }

  #add(columns: CsvColumns, line: CsvLine): void {
    const names = namesIn(columns, line);
    this.#names ??= names;
    if (names.symbol !== this.#names.symbol || names.exchange !== this.#names.exchange) {
      throw new BadFileError(
        `line ${line.number} is of ${names.exchange} ${names.symbol}, not of ${this.#names.exchange} ${this.#names.symbol}: split the file by symbol`,
      );
    }
    const time = microseconds(columns, line, 'timestamp');
    if (Number.isNaN(this.#start)) {
      this.#start = Math.floor(microseconds(columns, line, 'local_timestamp') / DAY_US) * DAY_US;
    }
    const price = columns.number(line, 'price');
    const amount = columns.number(line, 'amount');
    if (!(price > 0)) throw wrongValue(line, 'price', columns.text(line, 'price'), 'a number above 0');
    if (!(amount >= 0))
      throw wrongValue(line, 'amount', columns.text(line, 'amount'), 'a number of at least 0');
    if (time < this.#start) {
      if (columns.number(line, 'local_timestamp') < this.#start + MINUTE_US) this.#early++;
      else this.#tooLate++;
      return;
    }
    if (time >= this.#start + DAY_US) {
      this.#ahead++;
      return;
    }
    const row = columns.text(line, 'id') === '' ? '' : line.cells.join();
    if (row !== '' && row === this.#lastRow) {
      this.#repeated++;
      return;
    }
    this.#lastRow = row;
    this.#merge(time, price, amount);
  }

  #merge(time: number, price: number, amount: number): void {
    const open = Math.floor(time / MINUTE_US) * MINUTE_US;
    const minute = this.#minutes.get(open);
    if (!minute) {
      const values: Minute['values'] = [open / 1_000, price, price, price, price, amount];
      this.#minutes.set(open, { firstAt: time, lastAt: time, values });
      return;
    }
    const { values } = minute;
    if (time < minute.firstAt) {
      minute.firstAt = time;
      values[1] = price;
    }
    if (time >= minute.lastAt) {
      minute.lastAt = time;
      values[4] = price;
    }
    values[2] = Math.max(values[2], price);
    values[3] = Math.min(values[3], price);
    values[5] += amount;
  }

  finish(named: SeriesNames, { late, hasNext }: { late: number; hasNext: boolean }): FileSeries[] {
    const table = new SeriesTable(6, 'row');
    const names = { ...(this.#names ?? named), timeframe: '1m' };
    const minutes = [...this.#minutes.values()].sort((a, b) => a.values[0] - b.values[0]);
    for (const [row, { values }] of minutes.entries()) table.add(names, values, row + 1);
    if (minutes.length === 0) throw new BadFileError('holds no trades of its day');
    const counted = (count: number) => formatInteger(count);
    table.note(names, 'candles of 1m from trades; minutes without trades are gaps');
    if (this.#early > 0) {
      table.note(
        names,
        `trades of the day before: ${counted(this.#early)}, left out; the file of that day takes them from here`,
      );
    }
    if (this.#tooLate > 0) {
      table.note(
        names,
        `trades more than a minute late, of the day before: ${counted(this.#tooLate)}, left out`,
      );
    }
    if (this.#ahead > 0)
      table.note(names, `trades with times after the day: ${counted(this.#ahead)}, left out`);
    if (late > 0)
      table.note(names, `trades that arrived after midnight: ${counted(late)}, from the next file`);
    if (!hasNext) {
      table.note(
        names,
        'the last minute may lack trades that arrived after midnight: put the file of the next day into the same folder',
      );
    }
    if (this.#repeated > 0) table.note(names, `repeated rows: ${counted(this.#repeated)}, left out`);
    return table.finish('candles');
  }
}
