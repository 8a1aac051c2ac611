import type { Instrument } from '../../instrument.ts';
import { decimalProduct, roundDown, type Step, stepOf } from './decimals.ts';
import type { PriceTicks } from './ticks.ts';

/** Share by which the least amount of an order is exceeded, to be able to sell it again after fees. */
const RESERVE = 1.05;
/** The reserve of a first entry, which also allows for a loss of 5 %. */
const ENTRY_RESERVE = RESERVE / (1 - 0.05);
/** A stake that is too small is raised by so much at most. */
const MOST_RAISE = 1.3;

/** What may be ordered of one pair: its ticks, its step of amounts, its smallest and largest orders (reference 2026.9, section 3). */
export class Grid {
  readonly #instrument: Instrument;
  readonly #ticks: PriceTicks;
  readonly #amountStep: Step | null;

  constructor(instrument: Instrument, ticks: PriceTicks) {
    this.#instrument = instrument;
    this.#ticks = ticks;
    this.#amountStep = stepOf(instrument.amountStep);
  }

  /** The price tick at `time`, ms. */
  tickAt(time: number): Step | null {
    return this.#ticks.at(time);
  }

  /** The amount of base currency, cut down to the step. */
  cut(amount: number): number {
    const { contractSize } = this.#instrument;
    if (contractSize === 1) return roundDown(amount, this.#amountStep);
    return decimalProduct(roundDown(amount / contractSize, this.#amountStep), contractSize, 1);
  }

  /** The smallest stake, 0 for none. `isReplaced`: of an order in the place of another one. */
  leastStake(price: number, leverage: number, isReplaced = false): number {
    const { minAmount, minCost, contractSize } = this.#instrument;
    const cost = (minCost ?? 0) * contractSize * (isReplaced ? RESERVE : ENTRY_RESERVE);
    const amount = (minAmount ?? 0) * contractSize * price * RESERVE;
    return Math.max(cost, amount) / leverage;
  }

  /** The stake that is ordered instead of `stake`: raised to the least, lowered to the most, or 0 for no order. */
  allowedStake(stake: number, available: number, price: number, leverage: number): number {
    const { maxAmount, maxCost, contractSize } = this.#instrument;
    const cost = maxCost === null ? Number.POSITIVE_INFINITY : maxCost * contractSize;
    const amount = maxAmount === null ? Number.POSITIVE_INFINITY : maxAmount * contractSize * price;
    const most = Math.min(cost / leverage, amount / leverage, available);
    const least = this.leastStake(price, leverage);
    if (least > most || stake * MOST_RAISE < least) return 0;
    return Math.min(Math.max(stake, least), most);
  }
}
