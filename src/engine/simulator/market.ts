import { type Candles, indexAtOrAfter } from '../candles.ts';
import type { Position } from './position.ts';
import { type Direction, LONG, SHORT } from './rules.ts';
import type { Terms } from './terms.ts';
import type { FundingEvents, PairInput } from './types.ts';

/**
 * One pair in a run: its input, and its place on the clock. Signals are read shifted: what row `i - 1` decided acts in row `i`.
 */
export class Market {
  readonly input: PairInput;
  readonly candles: Candles;
  readonly funding: FundingEvents | null;
  /** Steps of the clock before the pair's first candle: row = step - offset. */
  readonly offset: number;
  readonly length: number;
  position: Position | null = null;
  /** Step at which a position of the pair last ended; it stays out for the rest of that candle. */
  endedAt = -1;
  /** Whether the present candle's entry signal found no free slot. */
  rejected = false;
  /** First row of `input.detail` of the present candle; -1 when the candle itself is used. */
  detailIndex = -1;
  readonly #enterLong: Uint8Array;
  readonly #exitLong: Uint8Array;
  readonly #enterShort: Uint8Array;
  readonly #exitShort: Uint8Array;

  /** `silent` is a zeroed column, at least as long as the pair, for signals that the pair does not have. */
  constructor(input: PairInput, offset: number, canShort: boolean, silent: Uint8Array) {
    this.input = input;
    this.candles = input.candles;
    this.funding = input.funding ?? null;
    this.offset = offset;
    this.length = input.candles.timestamp.length;
    const { enterLong, exitLong, enterShort, exitShort } = input.signals;
    this.#enterLong = enterLong ?? silent;
    this.#exitLong = exitLong ?? silent;
    this.#enterShort = (canShort ? enterShort : undefined) ?? silent;
    this.#exitShort = (canShort ? exitShort : undefined) ?? silent;
  }

  /** Direction of the entry that may happen in `row`, 0 for none: colliding signals cancel each other (1.3). */
  entryDirection(row: number): Direction | 0 {
    const signal = row - 1;
    const long = this.#enterLong[signal] === 1;
    const short = this.#enterShort[signal] === 1;
    if (long === short) return 0;
    if (long) return this.#exitLong[signal] === 1 ? 0 : LONG;
    return this.#exitShort[signal] === 1 ? 0 : SHORT;
  }

  /** Whether `row` carries an entry signal of `direction`, collisions aside. */
  hasEntrySignal(row: number, direction: Direction): boolean {
    return (direction === LONG ? this.#enterLong : this.#enterShort)[row - 1] === 1;
  }

  hasExitSignal(row: number, direction: Direction): boolean {
    return (direction === LONG ? this.#exitLong : this.#exitShort)[row - 1] === 1;
  }

  enterTag(row: number): string | null {
    return this.#tag(this.input.signals.enterTag, row);
  }

  exitTag(row: number): string | null {
    return this.#tag(this.input.signals.exitTag, row);
  }

  #tag(column: Uint8Array | undefined, row: number): string | null {
    const index = column?.[row - 1] ?? 0;
    return index > 0 ? (this.input.signals.tags?.[index] ?? null) : null;
  }

  /** Close of the candle at `step`, or the last one when the data has ended. */
  closeAt(step: number): number {
    return this.candles.close[Math.min(step - this.offset, this.length - 1)]!;
  }

  /** Points `detailIndex` at the detail candles of `row`, or at none unless all of them exist (1.22). */
  findDetail(row: number, terms: Terms): void {
    this.detailIndex = -1;
    const times = this.input.detail?.timestamp;
    if (times === undefined || terms.detailPerCandle === 1) return;
    const start = this.candles.timestamp[row]!;
    const index = indexAtOrAfter(times, start);
    const last = start + (terms.detailPerCandle - 1) * terms.detailTimeframeMs;
    if (times[index] === start && times[index + terms.detailPerCandle - 1] === last) this.detailIndex = index;
  }
}
