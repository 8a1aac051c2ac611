import { round8 } from '../rules/decimals.ts';
import { Exact } from '../rules/exact.ts';
import type { TradeOrder } from '../trade-table.ts';

/** Orders of a trade, its last exit included: the record of a trade holds them all, and one response must hold the record. */
export const MAX_ORDERS = 1_000;

/** Share of all that was bought below which a remainder is an error of the last bits. */
const NOISE = 1e-13;

/** True if `rest`, base currency, is no amount that a position could still have. */
export function isNoise(
  rest: number,
  { amount, history }: { readonly amount: number; readonly history: OrderHistory | null },
): boolean {
  const bought = history === null ? amount : history.entriesValue / history.averagePrice;
  return rest <= bought * NOISE;
}

/** The first entry of a position: what it has before its first adjustment. */
interface FirstEntry {
  readonly placedAt: number;
  readonly filledAt: number;
  /** Of the order, before rounding to the tick. */
  readonly price: number;
  readonly amount: number;
  /** Value after its fee, quote currency. */
  readonly value: number;
  readonly fee: number;
  readonly tag: string | null;
  /** Decimals of the average price. */
  readonly decimals: number;
}

/**
 * The filled orders of an adjusted position, and the sums that follow from them (docs/simulation.md#average-price). A position
 * without adjustments has none.
 */
export class OrderHistory {
  readonly orders: TradeOrder[] = [];
  /** Filled entries, the first included. */
  entries = 1;
  /** Filled partial exits. */
  exits = 0;
  readonly #decimals: number;
  #held: Exact;
  /** Average price of the entries, not rounded to the tick; an exit leaves it. */
  #average: Exact;
  /** Amount held times that average. */
  #cost: Exact;
  /** Value of all entries after their fees: what the profit ratio refers to. */
  entriesValue: number;
  /** Fees of all filled orders. */
  fees: number;
  /** Sum of the profits of the partial exits, at 8 decimals. */
  realizedProfit = 0;
  /** Funding that the partial exits have realized. */
  realizedFunding = 0;
  /** That of it which belongs to the amount held. */
  heldFunding = 0;

  constructor({ placedAt, filledAt, price, amount, value, fee, tag, decimals }: FirstEntry) {
    this.#decimals = decimals;
    this.orders.push({ side: 'entry', placedAt, filledAt, price, amount, fee, funding: 0, tag });
    this.#held = Exact.of(amount);
    this.#average = Exact.of(price);
    this.#cost = this.#held.times(this.#average);
    this.entriesValue = value;
    this.fees = fee;
  }

  /** Adds a filled entry to the sums; `value` is its own after its fee. */
  add(amount: number, price: number, value: number): void {
    this.entries++;
    this.entriesValue += value;
    const added = Exact.of(amount);
    this.#held = this.#held.plus(added);
    this.#cost = this.#cost.plus(added.times(Exact.of(price)));
    this.#average = this.#cost.over(this.#held, this.#decimals);
  }

  /** Takes a filled partial exit out of the sums, with its profit and the funding that it realizes. */
  take(amount: number, profit: number, funding: number): void {
    this.exits++;
    this.realizedProfit = round8(this.realizedProfit + profit);
    this.realizedFunding += funding;
    this.heldFunding = (this.heldFunding + funding) * (1 - amount / this.held);
    const taken = Exact.of(amount);
    this.#held = this.#held.minus(taken);
    this.#cost = this.#cost.minus(taken.times(this.#average));
  }

  /** Amount held, base currency. */
  get held(): number {
    return this.#held.toNumber();
  }

  /** Amount held times the average price of the entries, quote currency. */
  get cost(): number {
    return this.#cost.toNumber();
  }

  /** Average price of the entries, not rounded to the tick. */
  get averagePrice(): number {
    return this.#average.toNumber();
  }
}
