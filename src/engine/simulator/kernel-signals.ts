import type { Market } from './market.ts';
import { type Direction, LONG } from './rules.ts';

/** Rows looked at in one step where nothing is set. */
const STRIDE = 8;

/**
 * Finds the next row in which an entry or an exit signal acts, skipping eight unset rows at a time. Rows only go up, so
 * that each column is read once in a run.
 */
export class SignalFinder {
  readonly #market: Market;
  readonly #length: number;
  readonly #entries: readonly [DataView, DataView];
  readonly #exitLong: DataView;
  readonly #exitShort: DataView;
  /** The row last found for each side; it stands until it is passed. */
  #nextExitLong = 0;
  #nextExitShort = 0;

  constructor(market: Market, canShort: boolean) {
    const { enterLong, enterShort, exitLong, exitShort } = market.input.signals;
    const none = new Uint8Array(market.length);
    this.#market = market;
    this.#length = market.length;
    this.#entries = [viewOf(enterLong ?? none), viewOf((canShort ? enterShort : undefined) ?? none)];
    this.#exitLong = viewOf(exitLong ?? none);
    this.#exitShort = viewOf(exitShort ?? none);
  }

  /** First row from `row` on with an entry that no other signal cancels; the number of candles when there is none. */
  nextEntry(row: number): number {
    const [long, short] = this.#entries;
    const last = this.#length - 1;
    let next = firstSet(long, short, row - 1, last) + 1;
    while (next <= last && this.#market.entryDirection(next) === 0)
      next = firstSet(long, short, next, last) + 1;
    return next;
  }

  /** First row from `row` on with an exit signal of `direction`; the number of candles when there is none. */
  nextExit(row: number, direction: Direction): number {
    const last = this.#length - 1;
    if (direction === LONG) {
      if (this.#nextExitLong < row)
        this.#nextExitLong = firstSet(this.#exitLong, this.#exitLong, row - 1, last) + 1;
      return this.#nextExitLong;
    }
    if (this.#nextExitShort < row)
      this.#nextExitShort = firstSet(this.#exitShort, this.#exitShort, row - 1, last) + 1;
    return this.#nextExitShort;
  }
}

function viewOf(column: Uint8Array): DataView {
  return new DataView(column.buffer, column.byteOffset, column.byteLength);
}

/** First index in [from, to) at which one of two columns is 1; `to` when there is none. */
function firstSet(a: DataView, b: DataView, from: number, to: number): number {
  let index = from;
  while (index < to) {
    // Eight bytes that read as the number 0 hold no 1.
    while (index + STRIDE <= to && a.getFloat64(index) === 0 && b.getFloat64(index) === 0) index += STRIDE;
    const end = Math.min(index + STRIDE, to);
    for (; index < end; index++) if (a.getUint8(index) === 1 || b.getUint8(index) === 1) return index;
  }
  return to;
}
