import { type Direction, LONG } from '../rules/exit-prices.ts';
import type { Market } from '../state/market.ts';
import type { Terms } from '../terms.ts';

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
    // A column that stands for an exit and the reversed entry is searched once.
    const known = new Map<Uint8Array | undefined, SetRows>();
    const finder = (column: Uint8Array | undefined) => {
      const rows = known.get(column) ?? new SetRows(column, market.length);
      known.set(column, rows);
      return rows;
    };
    this.#enterLong = finder(enterLong);
    this.#enterShort = finder(canShort ? enterShort : undefined);
    this.#exitLong = finder(useExitSignal ? exitLong : undefined);
    this.#exitShort = finder(useExitSignal ? exitShort : undefined);
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

/** The set rows of one signal column, read four rows at a time. */
class SetRows {
  readonly #bytes: Uint8Array;
  /** Numbers of four bytes over the column, from the last place before it where they may lie. */
  readonly #words: Int32Array;
  /** Bytes between that place and the column. */
  readonly #lead: number;
  readonly #length: number;
  /** The set row last found; it stands until it is passed. */
  #found = -1;

  /** A column of `length` rows, none of them set without `column`. */
  constructor(column: Uint8Array | undefined, length: number) {
    const bytes = column ?? new Uint8Array(0);
    const lead = bytes.byteOffset & 3;
    this.#bytes = bytes;
    this.#words = new Int32Array(bytes.buffer, bytes.byteOffset - lead, (lead + bytes.length) >>> 2);
    this.#lead = lead;
    this.#length = length;
  }

  /** First set row from `row` on; the number of rows when there is none. */
  from(row: number): number {
    if (this.#found < row) this.#found = this.#find(row);
    return this.#found;
  }

  #find(from: number): number {
    const bytes = this.#bytes;
    let row = this.#nonZero(from);
    while (row < bytes.length && bytes[row] !== 1) row = this.#nonZero(row + 1);
    return row < bytes.length ? row : this.#length;
  }

  /** First row from `from` on whose byte may not be zero. */
  #nonZero(from: number): number {
    const words = this.#words;
    const lead = this.#lead;
    const start = from + lead;
    let index = start >> 2;
    if (index >= words.length) return from;
    // What lies before `from` are the lower bytes of its word.
    let word = words[index]! & (-1 << ((start & 3) << 3));
    while (word === 0 && ++index < words.length) word = words[index]!;
    const lowestBit = 31 - Math.clz32(word & -word);
    return (index << 2) - lead + (word === 0 ? 0 : lowestBit >> 3);
  }
}
