import { decimalProduct } from '../rules/decimals.ts';
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
  const bought = history === null ? amount : history.entriesValue / history.average;
  return rest <= bought * NOISE;
}

/** The first entry of a position: what it has before its first adjustment. */
interface FirstEntry {
  readonly placedAt: number;
  readonly filledAt: number;
  readonly price: number;
  /** Order price before rounding to the tick. */
  readonly ordered: number;
  readonly amount: number;
  /** Value after its fee, quote currency. */
  readonly value: number;
  readonly fee: number;
  readonly tag: string | null;
}

/**
 * The filled orders of an adjusted position, and the sums that follow from them (reference 2026.9, 4.4). A position without
 * adjustments has none.
 */
export class OrderHistory {
  readonly orders: TradeOrder[] = [];
  /** Filled entries, the first included. */
  entries = 1;
  /** Filled partial exits. */
  exits = 0;
  /** Average price of the entries, not rounded to the tick; an exit leaves it. */
  average: number;
  /** Amount held times that average. */
  cost: number;
  /** Value of all entries after their fees: what the profit ratio refers to. */
  entriesValue: number;
  /** Fees of all filled orders. */
  fees: number;
  /** Sum of the profits of the partial exits, at 8 decimals. */
  realizedProfit = 0;
  /** Funding that the partial exits have realized. */
  realizedFunding = 0;

  constructor({ placedAt, filledAt, price, amount, ordered, value, fee, tag }: FirstEntry) {
    this.orders.push({ side: 'entry', placedAt, filledAt, price, amount, fee, funding: 0, tag });
    this.average = ordered;
    this.cost = decimalProduct(amount, ordered, 1);
    this.entriesValue = value;
    this.fees = fee;
  }
}
