import { type Candles, indexAtOrAfter } from '../../candles.ts';
import type { Instrument } from '../../instrument.ts';
import { decimalProduct, roundDown, type Step, stepOf, stepOfDecimals } from './decimals.ts';
import { Exact, QUOTIENT_DECIMALS } from './exact.ts';
import type { MarginTiers } from './margin.ts';

/** Significant digits of a price. */
const DIGITS = 14;
/** Smallest number with {@link DIGITS} digits before the decimal point. */
const MIN_WITHOUT_DECIMALS = 10 ** (DIGITS - 1);
/** Relative error up to which a price times a power of ten counts as an integer. */
const NOISE = 4e-15;

interface Month {
  /** Start of the month, ms. */
  readonly from: number;
  readonly tick: Step | null;
}

/** The price tick of each calendar month (UTC), as the candles show it. */
export class PriceTicks {
  readonly #months: readonly Month[];
  #last = 0;

  constructor(months: readonly Month[]) {
    this.#months = months;
  }

  /** The tick at `time` (ms); null when it is unknown. */
  at(time: number): Step | null {
    const months = this.#months;
    if (months.length === 0) return null;
    // Calls come in the order of time.
    let index = this.#last;
    while (index > 0 && months[index]!.from > time) index--;
    while (index + 1 < months.length && months[index + 1]!.from <= time) index++;
    this.#last = index;
    return months[index]!.tick;
  }
}

/**
 * Derives the tick of each month from prices: 10^-d, with d the maximum number of decimals of the month's prices
 * (docs/simulation.md#price-ticks). A month of integer prices has the tick of the month before; the first such months have the
 * market's `priceTick`. A month's tick is known only at its end, so the search for look-ahead bias keeps the ticks of all candles
 * when it cuts them.
 */
export function derivePriceTicks(candles: Candles, priceTick: number | null): PriceTicks {
  const { timestamp } = candles;
  const { length } = timestamp;
  const months: Month[] = [];
  let tick = stepOf(priceTick);
  for (let row = 0; row < length; ) {
    const date = new Date(timestamp[row]!);
    const next = Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1);
    const to = indexAtOrAfter(timestamp, next);
    const decimals = maxDecimals(candles, row, to);
    if (decimals > 0) tick = stepOfDecimals(decimals);
    months.push({ from: Date.UTC(date.getUTCFullYear(), date.getUTCMonth()), tick });
    row = to;
  }
  return new PriceTicks(months);
}

function maxDecimals({ open, high, low, close }: Candles, from: number, to: number): number {
  let max = 0;
  for (const column of [open, high, low, close]) max = maxDecimalsIn(column, from, to, max);
  return max;
}

function maxDecimalsIn(prices: Float64Array, from: number, to: number, known: number): number {
  let max = known;
  let scale = 10 ** max;
  for (let row = from; row < to; row++) {
    const scaled = prices[row]! * scale;
    // All significant digits are before the point, so the price has no further decimals.
    if (scaled >= MIN_WITHOUT_DECIMALS) continue;
    if (Math.abs(scaled - Math.floor(scaled + 0.5)) <= scaled * NOISE) continue;
    max = Math.max(max, decimalsAmongDigits(prices[row]!));
    scale = 10 ** max;
  }
  return max;
}

/** Decimals of a price written with {@link DIGITS} digits, without trailing zeros. */
function decimalsAmongDigits(price: number): number {
  const [digits, exponent] = price.toExponential(DIGITS - 1).split('e') as [string, string];
  const behindPoint = digits.replace(/0+$/, '').length - 2;
  return Math.max(0, behindPoint - Number(exponent));
}

/** Factor on the minimum of an order, so that it can be sold after fees (docs/simulation.md#order-limits). */
const RESERVE = 1.05;
/** Factor for a first entry, which also allows for a loss of 5 %. */
const ENTRY_RESERVE = RESERVE / (1 - 0.05);
/** Factor for what a partial exit leaves, which allows for a loss of 10 %. */
const REST_RESERVE = RESERVE / (1 - 0.1);
/** A stake below the minimum is raised to it by up to this factor. */
const MAX_RAISE = 1.3;

/** Rounding and limits of the orders of one pair: price ticks, amount step, minimum and maximum (docs/simulation.md#precision). */
export class OrderRules {
  readonly #ticks: PriceTicks;
  /** Of a contract, base currency. */
  readonly #contractSize: Exact | null;
  readonly #contractStep: Step | null;
  // Amounts in base currency, costs in quote currency.
  readonly #minAmount: number;
  readonly #maxAmount: number;
  readonly #minCost: number;
  readonly #maxCost: number;
  readonly #margin: MarginTiers;

  constructor(instrument: Instrument, ticks: PriceTicks, margin: MarginTiers) {
    this.#margin = margin;
    this.#ticks = ticks;
    const { amountStep, minAmount, maxAmount, minCost, maxCost, contractSize } = instrument;
    const ofContracts = (contracts: number) => decimalProduct(contracts, contractSize, 1);
    this.#contractSize = contractSize === 1 ? null : Exact.of(contractSize);
    this.#contractStep = stepOf(amountStep);
    this.#minAmount = ofContracts(minAmount ?? 0);
    this.#minCost = ofContracts(minCost ?? 0);
    this.#maxAmount = maxAmount === null ? Number.POSITIVE_INFINITY : ofContracts(maxAmount);
    this.#maxCost = maxCost === null ? Number.POSITIVE_INFINITY : ofContracts(maxCost);
  }

  /** The price tick at `time`, ms. */
  tickAt(time: number): Step | null {
    return this.#ticks.at(time);
  }

  /** The amount of base currency, cut down to the step: contracts are divided in decimals first (docs/simulation.md#amount-steps). */
  cut(amount: number): number {
    const size = this.#contractSize;
    if (size === null || this.#contractStep === null) return roundDown(amount, this.#contractStep);
    const contracts = Exact.of(amount).over(size, QUOTIENT_DECIMALS).toNumber();
    return Exact.of(roundDown(contracts, this.#contractStep)).times(size).toNumber();
  }

  /** The minimum stake of a first entry; 0 without one. */
  minEntry(price: number, leverage: number): number {
    return this.#minValue(price, ENTRY_RESERVE) / leverage;
  }

  /** The minimum stake of an order that replaces another one or adds to a position; 0 without one. */
  minOrder(price: number, leverage: number): number {
    return this.#minValue(price, RESERVE) / leverage;
  }

  /** The least value that a partial exit may leave; 0 without one. */
  minRest(price: number): number {
    return this.#minValue(price, REST_RESERVE);
  }

  #minValue(price: number, reserve: number): number {
    return Math.max(this.#minCost * reserve, this.#minAmount * price * RESERVE);
  }

  /** The maximum stake of a position; Infinity without one. */
  maxStake(price: number, leverage: number): number {
    return Math.min(this.#maxCost, this.#maxAmount * price, this.#margin.maxNotional(leverage)) / leverage;
  }

  /** The stake of a first entry in place of `stake`: raised to the minimum, lowered to the maximum, or 0 for no order. */
  allowedEntry(stake: number, available: number, price: number, leverage: number): number {
    const max = Math.min(this.maxStake(price, leverage), available);
    return withinLimits(stake, this.minEntry(price, leverage), max);
  }

  /** {@link allowedEntry} for an addition to a position with the stake `held`. */
  allowedAddition(stake: number, available: number, price: number, leverage: number, held: number): number {
    const max = this.maxStake(price, leverage);
    return withinLimits(stake, this.minOrder(price, leverage), Math.min(max, available, max - held));
  }
}

function withinLimits(stake: number, min: number, max: number): number {
  if (min > max || stake * MAX_RAISE < min) return 0;
  return Math.min(Math.max(stake, min), max);
}
