import { type Candles, indexAtOrAfter } from '../../candles.ts';
import { type Direction, LONG, SHORT } from '../rules/exit-prices.ts';
import { Grid } from '../rules/grid.ts';
import { derivePriceTicks } from '../rules/ticks.ts';
import type { Terms } from '../terms.ts';
import type { FundingEvents, PairInput } from '../types.ts';
import { Position } from './position.ts';

/** A step that no clock reaches. It fits V8's small integers: rows and steps that were doubles would index every column slowly. */
export const NEVER = 2 ** 30 - 1;

/**
 * One pair in a run: its input, and its place on the clock. Signals are read shifted: what row `i - 1` decided acts in row `i`.
 */
export class Market {
  readonly input: PairInput;
  /** Place among the markets of the run. */
  readonly index: number;
  readonly candles: Candles;
  /** null without a single event. */
  readonly funding: FundingEvents | null;
  /** Steps of the clock before the pair's first candle: row = step - offset. */
  readonly offset: number;
  readonly length: number;
  /** null: nothing is rounded, and no order is too small. */
  readonly grid: Grid | null;
  /** The object that holds the pair's position while it has one. */
  readonly seat: Position;
  /** The open position, if any: one trade per pair. */
  position: Position | null = null;
  /** Step of the next entry signal, as last sought; {@link NEVER} after the last one. */
  signalStep = 0;
  /** Step in which the pair was last come to with a position; once that is gone it stays out of the rest of that candle. */
  seenAt = -1;
  /** First row of `input.detail` of the present candle, and how many rows it has; -1 when the candle itself is used. */
  detailIndex = -1;
  detailCount = 0;
  readonly #enterLong: Uint8Array;
  readonly #exitLong: Uint8Array;
  readonly #enterShort: Uint8Array;
  readonly #exitShort: Uint8Array;

  /** `silent` is a zeroed column, at least as long as the pair, for signals that the pair does not have. */
  constructor(input: PairInput, index: number, offset: number, canShort: boolean, silent: Uint8Array) {
    this.input = input;
    this.index = index;
    this.candles = input.candles;
    const { instrument, ticks } = input;
    this.grid = instrument
      ? new Grid(instrument, ticks ?? derivePriceTicks(input.candles, instrument.priceTick))
      : null;
    this.seat = new Position(this);
    this.funding = input.funding && input.funding.timestamp.length > 0 ? input.funding : null;
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

  /** Sets `signalStep` to the first step from `step` on with an entry signal that may act. */
  seekSignal(step: number): void {
    const enterLong = this.#enterLong;
    const enterShort = this.#enterShort;
    const { length } = this;
    let row = Math.max(1, step - this.offset);
    while (row < length) {
      if ((enterLong[row - 1] === 1 || enterShort[row - 1] === 1) && this.entryDirection(row) !== 0) break;
      row++;
    }
    this.signalStep = row < length ? row + this.offset : NEVER;
  }

  /** Whether `row` carries an entry signal of `direction`, collisions aside. */
  hasEntrySignal(row: number, direction: Direction): boolean {
    return (direction === LONG ? this.#enterLong : this.#enterShort)[row - 1] === 1;
  }

  hasExitSignal(row: number, direction: Direction): boolean {
    return this.exitSignals(direction)[row - 1] === 1;
  }

  /** The exit signals of one side, unshifted. */
  exitSignals(direction: Direction): Uint8Array {
    return direction === LONG ? this.#exitLong : this.#exitShort;
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

  /**
   * Points `detailIndex` at the detail candles of `row`, or at none unless all of them exist. Those of the pair's last candle may
   * end early, as they do where detail is read up to the open of the last candle: it is simulated as far as they go.
   */
  findDetail(row: number, terms: Terms): void {
    this.detailIndex = -1;
    const times = this.input.detail?.timestamp;
    const { detailPerCandle, detailTimeframeMs } = terms;
    if (times === undefined || detailPerCandle === 1) return;
    const start = this.candles.timestamp[row]!;
    const index = indexAtOrAfter(times, start);
    const count = indexAtOrAfter(times, start + detailPerCandle * detailTimeframeMs) - index;
    const isWhole = count === detailPerCandle || (row === this.length - 1 && count > 0);
    if (!isWhole || times[index + count - 1] !== start + (count - 1) * detailTimeframeMs) return;
    this.detailIndex = index;
    this.detailCount = count;
  }
}
