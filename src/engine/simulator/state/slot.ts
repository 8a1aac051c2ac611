import { indexAtOrAfter } from '../../candles.ts';
import { type Direction, LONG } from '../rules/prices.ts';
import type { ResolvedSettings } from '../settings.ts';
import type { Market } from './market.ts';
import { Position } from './position.ts';

/** A step that no clock reaches. It fits V8's small integers: doubles as rows and steps would index columns slowly. */
export const NEVER = 2 ** 30 - 1;

/** State of one pair in a run: its position, its next signals and its detail candles. */
export class Slot {
  declare readonly market: Market;
  /** Position object reused for all trades of the pair, to avoid allocation. */
  declare readonly pooledPosition: Position;
  /** The open position or waiting entry, if any: one trade per pair. */
  position: Position | null = null;
  /** Step of the next entry signal, as last searched; {@link NEVER} after the last one. */
  nextEntryStep = 0;
  /** Last step in which the pair was visited with a position: it cannot enter again in the rest of that main candle. */
  heldStep = -1;
  /** Last steps in which an entry signal took a slot, and in which it found none. */
  enteredStep = -1;
  rejectedStep = -1;
  /** First row of `input.detail` of the present candle, and the number of its rows; -1 when the candle itself is used. */
  detailIndex = -1;
  detailCount = 0;
  readonly #enterLong: SignalCursor;
  readonly #enterShort: SignalCursor;
  readonly #exitLong: SignalCursor;
  readonly #exitShort: SignalCursor;

  constructor(market: Market) {
    this.market = market;
    this.pooledPosition = new Position(market);
    this.#enterLong = new SignalCursor(market.entrySignals(LONG), market.length);
    this.#enterShort = new SignalCursor(market.entrySignals(-1), market.length);
    this.#exitLong = new SignalCursor(market.exitSignals(LONG), market.length);
    this.#exitShort = new SignalCursor(market.exitSignals(-1), market.length);
  }

  /** Sets `nextEntryStep` to the first step from `step` on with an entry signal that may act. */
  findNextEntry(step: number): void {
    const { market } = this;
    const { length, offset } = market;
    let row = Math.max(1, step - offset);
    for (;;) {
      row = Math.min(this.#enterLong.next(row - 1), this.#enterShort.next(row - 1)) + 1;
      if (row >= length || market.entryDirection(row) !== 0) break;
      row++;
    }
    this.nextEntryStep = row < length ? row + offset : NEVER;
  }

  /** First row from `row` on with an exit signal of `direction`; at least the number of rows without one. */
  nextExitRow(row: number, direction: Direction): number {
    return (direction === LONG ? this.#exitLong : this.#exitShort).next(row - 1) + 1;
  }

  /**
   * Sets `detailIndex` to the detail candles of `row` if all of them exist, else to -1. Detail candles of the pair's last candle
   * may end early, for example when detail is read up to its open. The candle is then simulated as far as they reach.
   */
  findDetail(row: number, { detailPerCandle, detailTimeframeMs }: ResolvedSettings): void {
    this.detailIndex = -1;
    const times = this.market.input.detail?.timestamp;
    if (times === undefined || detailPerCandle === 1) return;
    const start = this.market.candles.timestamp[row]!;
    const index = indexAtOrAfter(times, start);
    const count = indexAtOrAfter(times, start + detailPerCandle * detailTimeframeMs) - index;
    const isWhole = count === detailPerCandle || (row === this.market.length - 1 && count > 0);
    if (!isWhole || times[index + count - 1] !== start + (count - 1) * detailTimeframeMs) return;
    this.detailIndex = index;
    this.detailCount = count;
  }
}

/**
 * Finds the next set row of a signal column, read four rows at a time. Rows of one cursor must not decrease from call to call:
 * each column is then read once in a run.
 */
class SignalCursor {
  readonly #bytes: Uint8Array;
  /** The column as integers of four bytes, from the last aligned byte before it. */
  readonly #words: Int32Array;
  /** Bytes from that one to the column. */
  readonly #lead: number = 0;
  readonly #length: number = 0;
  /** The set row last found; valid until a call passes it. */
  #found = -1;

  constructor(bytes: Uint8Array, length: number) {
    const lead = bytes.byteOffset & 3;
    this.#bytes = bytes;
    this.#words = new Int32Array(bytes.buffer, bytes.byteOffset - lead, (lead + length) >>> 2);
    this.#lead = lead;
    this.#length = length;
  }

  /** First set row from `row` on; the number of rows without one. */
  next(row: number): number {
    if (this.#found < row) this.#found = this.#find(row);
    return this.#found;
  }

  #find(from: number): number {
    const bytes = this.#bytes;
    const length = this.#length;
    let row = this.#nonZero(from);
    while (row < length && bytes[row] !== 1) row = this.#nonZero(row + 1);
    return Math.min(row, length);
  }

  /** First row from `from` on whose byte may not be zero. */
  #nonZero(from: number): number {
    const words = this.#words;
    const lead = this.#lead;
    const start = from + lead;
    let index = start >> 2;
    if (index >= words.length) return from;
    // The rows before `from` are the lower bytes of its word.
    let word = words[index]! & (-1 << ((start & 3) << 3));
    while (word === 0 && ++index < words.length) word = words[index]!;
    const lowestBit = 31 - Math.clz32(word & -word);
    return (index << 2) - lead + (word === 0 ? 0 : lowestBit >> 3);
  }
}
