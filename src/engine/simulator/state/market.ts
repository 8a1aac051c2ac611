import { type Candles, lazyCandles } from '../../candles.ts';
import { ownColumn } from '../../own-columns.ts';
import { MarginTiers } from '../rules/margin.ts';
import { derivePriceTicks, OrderRules } from '../rules/precision.ts';
import { type Direction, LONG, SHORT } from '../rules/prices.ts';
import type { ResolvedSettings } from '../settings.ts';
import type { FundingEvents, PairInput } from '../types.ts';
import { FillCosts } from './fill-costs.ts';

/**
 * The input of one pair on the clock of the run. Signals are read shifted: the signal of row `i - 1` acts in row `i`.
 */
export class Market {
  declare readonly input: PairInput;
  /** Index among the markets of the run. */
  declare readonly index: number;
  declare readonly candles: Candles;
  /** The candles that callbacks see. */
  declare readonly seen: Candles;
  /** null without a single event. */
  declare readonly funding: FundingEvents | null;
  /** Steps of the clock before the pair's first candle: row = step - offset. */
  declare readonly offset: number;
  declare readonly length: number;
  /** Ratio of the last close by which positions in a delisted pair are closed below it, or above it for shorts; null: no such pair. */
  declare readonly haircut: number | null;
  /** null: prices and amounts are not rounded, and orders have no limits. */
  declare readonly orderRules: OrderRules | null;
  declare readonly margin: MarginTiers;
  declare readonly costs: FillCosts;
  /** Open time of the first candle, ms. */
  declare readonly start: number;
  readonly #timeframeMs = Number.NaN;
  readonly #enterLong: Uint8Array;
  readonly #exitLong: Uint8Array;
  readonly #enterShort: Uint8Array;
  readonly #exitShort: Uint8Array;
  /** Entry signals that hold back exits: those that a universe removed too. */
  readonly #holdLong: Uint8Array;
  readonly #holdShort: Uint8Array;

  /** `silent` is a zeroed column, at least as long as the pair, for signals that the pair does not have. */
  constructor(
    input: PairInput,
    index: number,
    offset: number,
    { timeframeMs, canShort, maintenanceMarginRate, slippage, participation, callbacks }: ResolvedSettings,
    silent: Uint8Array,
  ) {
    this.input = input;
    this.index = index;
    this.candles = input.candles;
    const isSeen = Object.keys(callbacks).length > 0;
    // Never those of the run: a callback can write into them.
    this.seen =
      input.seen ?? (isSeen ? lazyCandles((name) => ownColumn(input.candles[name])) : input.candles);
    this.start = input.candles.timestamp[0]!;
    this.#timeframeMs = timeframeMs;
    const { instrument, ticks } = input;
    this.margin = new MarginTiers(instrument?.leverageTiers ?? [], maintenanceMarginRate);
    this.orderRules = instrument
      ? new OrderRules(
          instrument,
          ticks ?? derivePriceTicks(input.candles, instrument.priceTick),
          this.margin,
        )
      : null;
    this.costs = new FillCosts(slippage, input.costs, participation, input.candles.volume);
    this.funding = input.funding && input.funding.timestamp.length > 0 ? input.funding : null;
    this.offset = offset;
    this.length = input.candles.timestamp.length;
    const delisting = input.universe?.delisting;
    // The candles of a part of the run end earlier than the pair.
    this.haircut = delisting && this.timeOf(this.length + 1) > delisting.at ? delisting.haircut : null;
    const { enterLong, exitLong, enterShort, exitShort } = input.signals;
    this.#enterLong = enterLong ?? silent;
    this.#exitLong = exitLong ?? silent;
    this.#enterShort = (canShort ? enterShort : undefined) ?? silent;
    this.#exitShort = (canShort ? exitShort : undefined) ?? silent;
    const all = input.universe?.signals ?? input.signals;
    this.#holdLong = all.enterLong ?? silent;
    this.#holdShort = (canShort ? all.enterShort : undefined) ?? silent;
  }

  /** Step of the last candle. */
  get lastStep(): number {
    return this.offset + this.length - 1;
  }

  /** Open time of a row's candle, ms. Computed, because reading the column would wait for memory. */
  timeOf(row: number): number {
    return this.start + row * this.#timeframeMs;
  }

  /** Row of the candle that contains `time`, ms. */
  rowAt(time: number): number {
    return Math.floor((time - this.start) / this.#timeframeMs);
  }

  /** First row whose candle opens at `time`, ms, or later; Infinity for Infinity. */
  rowFrom(time: number): number {
    return Math.ceil((time - this.start) / this.#timeframeMs);
  }

  /** Direction of the entry that may happen in `row`, 0 for none: colliding signals cancel each other (docs/simulation.md#signals). */
  entryDirection(row: number): Direction | 0 {
    const signal = row - 1;
    const long = this.#enterLong[signal] === 1;
    const short = this.#enterShort[signal] === 1;
    if (long === short) return 0;
    if (long) return this.#exitLong[signal] === 1 ? 0 : LONG;
    return this.#exitShort[signal] === 1 ? 0 : SHORT;
  }

  /** True when the strategy signals an entry of `direction` in `row`, collisions and universe aside. */
  hasEntrySignal(row: number, direction: Direction): boolean {
    return (direction === LONG ? this.#holdLong : this.#holdShort)[row - 1] === 1;
  }

  hasExitSignal(row: number, direction: Direction): boolean {
    return this.exitSignals(direction)[row - 1] === 1;
  }

  /** The entry signals of one side, unshifted. */
  entrySignals(direction: Direction): Uint8Array {
    return direction === LONG ? this.#enterLong : this.#enterShort;
  }

  /** The exit signals of one side, unshifted. */
  exitSignals(direction: Direction): Uint8Array {
    return direction === LONG ? this.#exitLong : this.#exitShort;
  }

  /** The part of `amount` that the candle in `row` may fill, by its volume. */
  fillable(amount: number, row: number): number {
    const part = this.costs.fillable(amount, row);
    return part === amount || this.orderRules === null ? part : this.orderRules.cut(part);
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
}

/**
 * The one clock of a run. Step `s` is the candle that opens at `start + s * timeframe`; steps run from 1, because a signal of
 * the first candle acts in the next one.
 */
export interface Clock {
  /** Pairs with candles, in whitelist order. */
  readonly markets: readonly Market[];
  /** Open time of the earliest first candle, ms. */
  readonly start: number;
  /** The last step. */
  readonly steps: number;
}

/** Puts all pairs on one clock. Throws RangeError on candles with gaps, off the clock's grid or of unequal length. */
export function createClock(pairs: readonly PairInput[], settings: ResolvedSettings): Clock {
  if (new Set(pairs.map(({ pair }) => pair)).size < pairs.length)
    throw new RangeError('A pair is given twice');
  const filled = pairs.filter(({ candles }) => candles.timestamp.length > 0);
  if (filled.length === 0) return { markets: [], start: 0, steps: 0 };
  const start = Math.min(...filled.map(({ candles }) => candles.timestamp[0]!));
  const silent = new Uint8Array(Math.max(...filled.map((input) => silentRows(input, settings))));
  const markets = filled.map((input, index) => {
    checkGrid(input, start, settings.timeframeMs);
    // To V8 a quotient is a double even when it is an integer; see NEVER in slot.ts.
    const offset = ((input.candles.timestamp[0]! - start) / settings.timeframeMs) | 0;
    return new Market(input, index, offset, settings, silent);
  });
  return { markets, start, steps: Math.max(...markets.map(({ lastStep }) => lastStep)) };
}

/** Rows of the zeroed column for the signals that a pair does not have; 0 when it has them all. */
function silentRows({ candles, signals }: PairInput, { canShort }: ResolvedSettings): number {
  const { enterLong, exitLong, enterShort, exitShort } = signals;
  return enterLong && exitLong && enterShort && exitShort && canShort ? 0 : candles.timestamp.length;
}

/** Throws RangeError unless the candles are on the grid of `start`, without gaps, and the signals as long as they are. */
function checkGrid({ pair, candles, signals }: PairInput, start: number, timeframeMs: number): void {
  const { timestamp } = candles;
  const { length } = timestamp;
  if ((timestamp[0]! - start) % timeframeMs !== 0)
    throw new RangeError(`Candles of ${pair} are off the grid`);
  if (timestamp[length - 1]! - timestamp[0]! !== (length - 1) * timeframeMs)
    throw new RangeError(`Candles of ${pair} have gaps`);
  for (const column of Object.values(signals))
    if (column instanceof Uint8Array && column.length !== length)
      throw new RangeError(`Signals of ${pair} are not as long as its candles`);
}
