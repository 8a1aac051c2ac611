import { type Candles, isIntact, lazyCandles } from '../candles.ts';
import { ownColumn } from '../own-columns.ts';
import type { Columns } from '../strategy.ts';
import { type GivenCandles, isEqual } from './candle-checks.ts';

/**
 * Arrays of one series that a strategy with callbacks was given or returned. A module variable may keep them. During a simulation
 * their unknown rows therefore hold NaN, and {@link moveTo} fills them row by row.
 */
export class KeptArrays {
  /** Open times of the rows, ms, without gaps. */
  readonly timestamp: Float64Array;
  readonly stepMs: number;
  /** Arrays of which a row is known when its candle opens. */
  readonly #atOpen = new KnownRows();
  /** Arrays of which a row is known when its candle has closed. */
  readonly #atClose = new KnownRows();
  readonly #start: number;
  readonly #length: number;
  #lent: GivenCandles | undefined;

  constructor(timestamp: Float64Array, stepMs: number) {
    this.timestamp = timestamp;
    this.stepMs = stepMs;
    this.#start = timestamp[0] ?? 0;
    this.#length = timestamp.length;
  }

  /** Copies of the series' candles for the strategy, each made at its first read. The same at every call. */
  lend(candles: Candles): GivenCandles {
    this.#lent ??= this.#copies(candles);
    return this.#lent;
  }

  #copies(candles: Candles): GivenCandles {
    const read = new Map<keyof Candles, Float64Array>();
    const copies = lazyCandles((name) => {
      const array = candles[name].slice();
      read.set(name, array);
      (name === 'timestamp' || name === 'open' ? this.#atOpen : this.#atClose).add(array, candles[name]);
      return array;
    });
    return {
      candles: copies,
      changed: () => !isIntact(copies) || [...read].some(([name, array]) => !isEqual(array, candles[name])),
    };
  }

  /**
   * Adds columns of the strategy, of which a row is known when its candle has closed. Returns their values in arrays that the strategy
   * does not have.
   */
  keep(columns: Columns): Columns {
    return Object.fromEntries(
      Object.entries(columns).map(([name, column]) => [
        name,
        this.#atOpen.valuesOf(column) ??
          this.#atClose.valuesOf(column) ??
          this.#atClose.add(column, ownColumn(column)),
      ]),
    );
  }

  /** Shows the rows that are known at `time`, ms, and hides the others. */
  moveTo(time: number): void {
    const length = this.#length;
    const opened = Math.max(0, Math.floor((time - this.#start) / this.stepMs) + 1);
    this.#atOpen.show(Math.min(opened, length));
    // The last candle has closed at the time of the next one.
    this.#atClose.show(opened > length ? length : Math.max(0, opened - 1));
  }

  /** Shows all rows. */
  reveal(): void {
    this.#atOpen.show(this.#length);
    this.#atClose.show(this.#length);
  }
}

/** Not those of an array: the strategy may have replaced them, and would get the memory of the values. */
const { fill, set } = Float64Array.prototype;

/** More rows are copied by one call, which costs more than a few assignments. */
const MANY_ROWS = 16;

/** Arrays that show their first rows, with their values. */
class KnownRows {
  readonly #arrays: Float64Array[] = [];
  readonly #values: Float64Array[] = [];
  /** Number of rows that are shown; infinite before any was hidden. */
  #shown = Number.POSITIVE_INFINITY;

  add(array: Float64Array, values: Float64Array): Float64Array {
    this.#arrays.push(array);
    this.#values.push(values);
    fill.call(array, Number.NaN, this.#shown);
    return values;
  }

  valuesOf(array: Float64Array): Float64Array | undefined {
    const index = this.#arrays.indexOf(array);
    return index < 0 ? undefined : this.#values[index];
  }

  show(rows: number): void {
    const before = this.#shown;
    if (rows === before) return;
    this.#shown = rows;
    const arrays = this.#arrays;
    const values = this.#values;
    for (let index = 0, { length } = arrays; index < length; index++) {
      const array = arrays[index]!;
      const own = values[index]!;
      if (rows < before) fill.call(array, Number.NaN, rows);
      else if (rows - before > MANY_ROWS) set.call(array, own.subarray(before, rows), before);
      else for (let row = before; row < rows; row++) array[row] = own[row]!;
    }
  }
}
