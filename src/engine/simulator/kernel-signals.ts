import type { Market } from './market.ts';
import { type Direction, LONG } from './rules.ts';
import type { Terms } from './terms.ts';

/**
 * Finds the next row in which an entry or an exit signal acts. Rows only go up, so that each column is read once in a run,
 * and only where somebody waits for it.
 */
export class SignalFinder {
  readonly #market: Market;
  readonly #enterLong: SetRows;
  readonly #enterShort: SetRows;
  readonly #exitLong: SetRows;
  readonly #exitShort: SetRows;

  constructor(market: Market, { canShort, useExitSignal }: Terms) {
    const { enterLong, exitLong, enterShort, exitShort } = market.input.signals;
    this.#market = market;
    this.#enterLong = new SetRows(enterLong, market.length);
    this.#enterShort = new SetRows(canShort ? enterShort : undefined, market.length);
    this.#exitLong = new SetRows(useExitSignal ? exitLong : undefined, market.length);
    this.#exitShort = new SetRows(useExitSignal ? exitShort : undefined, market.length);
  }

  /** First row from `row` on that has an entry which no other signal cancels; behind the last row when there is none. */
  nextEntry(row: number): number {
    let next = row;
    for (;;) {
      const long = this.#enterLong.from(next - 1) + 1;
      const short = this.#enterShort.from(next - 1) + 1;
      next = Math.min(long, short);
      if (next >= this.#market.length || this.#market.entryDirection(next) !== 0) return next;
      next++;
    }
  }

  /** First row from `row` on with an exit signal of `direction`; behind the last row when there is none. */
  nextExit(row: number, direction: Direction): number {
    return (direction === LONG ? this.#exitLong : this.#exitShort).from(row - 1) + 1;
  }
}

/** The set rows of one signal column. Unset rows are skipped four at a time. */
class SetRows {
  readonly #bytes: Uint8Array;
  /** The column as numbers of four bytes, from its first aligned row on. */
  readonly #words: Int32Array;
  readonly #firstWord: number;
  readonly #length: number;
  /** The set row last found; it stands until it is passed. */
  #found = -1;

  /** A column of `length` rows, none of them set without `column`. */
  constructor(column: Uint8Array | undefined, length: number) {
    const bytes = column ?? new Uint8Array(0);
    const firstWord = -bytes.byteOffset & 3;
    const words = Math.max(0, bytes.length - firstWord) >>> 2;
    this.#bytes = bytes;
    this.#words = new Int32Array(bytes.buffer, words > 0 ? bytes.byteOffset + firstWord : 0, words);
    this.#firstWord = firstWord;
    this.#length = length;
  }

  /** First set row from `row` on; the number of rows when there is none. */
  from(row: number): number {
    if (this.#found < row) this.#found = this.#find(row);
    return this.#found;
  }

  #find(from: number): number {
    const bytes = this.#bytes;
    const words = this.#words;
    let row = from;
    while (row < bytes.length) {
      if (bytes[row] === 1) return row;
      row++;
      let word = (row - this.#firstWord) >> 2;
      if (row !== this.#firstWord + (word << 2)) continue;
      while (word < words.length && words[word] === 0) word++;
      row = this.#firstWord + (word << 2);
    }
    return this.#length;
  }
}
