import { DAY_MS } from '#contract/values/durations.ts';
import type { DailyCosts } from '../../slippage/daily-costs.ts';

/** Largest cost of a fill, as a ratio of the price. A fill against no volume would else cost more than the price. */
const MAX_RATE = 0.5;
/** Share of a candle's limit below which a remainder is an error of the last bits. */
const NOISE = 1e-9;

/** Costs and limits of the fills of one pair, and what the limits have left unfilled. */
export class FillCosts {
  /** True when market fills may be off the price of their order. */
  declare readonly slips: boolean;
  /** True when costs or amounts depend on more than the price. */
  declare readonly isModelled: boolean;
  /** True when a candle may fill less than an order. */
  declare readonly isLimited: boolean;
  /** Entry orders of which a part was dropped, and the value of these parts at their price, quote currency. */
  cappedEntries = 0;
  droppedValue = 0;
  /** Attempts to exit that filled less than their amount, or nothing. */
  cappedExits = 0;
  readonly #constant = Number.NaN;
  readonly #firstDay: number;
  readonly #halfSpread: Float64Array | null;
  readonly #impact: Float64Array | null;
  /** Largest fill as a share of the volume; Infinity for any. */
  readonly #participation: number;
  readonly #volume: Float64Array;
  /** Row of the last fill, and the amount of all fills in it. */
  #filledRow = -1;
  #filled = Number.NaN;

  /** @param constant part of the cost of every market fill, as a ratio of the price */
  constructor(constant: number, daily: DailyCosts | undefined, participation: number, volume: Float64Array) {
    this.#constant = constant;
    this.#firstDay = daily?.firstDay ?? 0;
    // Without an estimate only the constant part counts.
    this.#halfSpread = daily?.spread?.map((spread) => (Number.isNaN(spread) ? 0 : spread / 2)) ?? null;
    this.#impact = daily?.impact?.map((impact) => (Number.isNaN(impact) ? 0 : impact)) ?? null;
    this.#participation = participation;
    this.#volume = volume;
    this.isLimited = participation < Number.POSITIVE_INFINITY;
    this.isModelled = this.#halfSpread !== null || this.#impact !== null || this.isLimited;
    this.slips = constant > 0 || this.#halfSpread !== null || this.#impact !== null;
  }

  /** Adverse change of the price of a market fill of `amount` (base currency) at `time` (ms), as a ratio. */
  rate(time: number, amount: number): number {
    return this.#halfSpread === null && this.#impact === null ? this.#constant : this.#modelled(time, amount);
  }

  #modelled(time: number, amount: number): number {
    const day = Math.floor(time / DAY_MS) - this.#firstDay;
    const spread = valueAt(this.#halfSpread, day);
    const impact = valueAt(this.#impact, day);
    // Without volume the impact of one unit is infinite, and that of nothing not a number.
    const moved = amount > 0 ? impact * Math.sqrt(amount) : 0;
    return Math.min(MAX_RATE, this.#constant + spread + moved);
  }

  /** The part of `amount` that the candle in `row` may still fill, by the volume of the candle before it. */
  fillable(amount: number, row: number): number {
    if (!this.isLimited) return amount;
    const most = this.#participation * this.#volume[row - 1]!;
    const left = row === this.#filledRow ? most - this.#filled : most;
    return left > most * NOISE ? Math.min(amount, left) : 0;
  }

  /** Counts a fill of `amount` in the candle in `row`, where fills are limited: others in it have what is left. */
  countFill(amount: number, row: number): void {
    this.#filled = row === this.#filledRow ? this.#filled + amount : amount;
    this.#filledRow = row;
  }

  /** Counts an entry order of which `value` (quote currency) was not filled. */
  countDropped(value: number): void {
    this.cappedEntries++;
    this.droppedValue += value;
  }
}

/** The value in a row; the last one after the end, 0 before the beginning and without a column. */
function valueAt(column: Float64Array | null, row: number): number {
  if (column === null || row < 0 || column.length === 0) return 0;
  return column[Math.min(row, column.length - 1)]!;
}
