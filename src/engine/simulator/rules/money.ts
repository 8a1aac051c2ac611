/** Money arithmetic of the simulator (docs/simulation.md#fees-and-profit, docs/simulation.md#slots-and-stakes). */
import { decimalProduct, round8, roundRatio } from './decimals.ts';
import type { OrderRules } from './precision.ts';
import type { Direction } from './prices.ts';

/** Amount of base currency that `stake` buys at `price`, rounded down to the amount step. */
export function entryAmount(
  stake: number,
  price: number,
  leverage: number,
  orderRules: OrderRules | null,
): number {
  const amount = (stake / price) * leverage;
  return orderRules === null ? amount : orderRules.cut(amount);
}

/** Collateral of an entry of `amount`, which was sized by `stake`. */
export function entryStake(
  stake: number,
  amount: number,
  price: number,
  leverage: number,
  orderRules: OrderRules | null,
): number {
  return orderRules === null ? stake : decimalProduct(amount, price, 1) / leverage;
}

/** The stake to order in place of `stake`: at most the available one, within the limits of the exchange; 0 for no order. */
export function allowedStake(
  stake: number,
  available: number,
  orderRules: OrderRules | null,
  price: number,
  leverage: number,
): number {
  return orderRules === null
    ? Math.min(stake, available)
    : orderRules.allowedEntry(stake, available, price, leverage);
}

/** Value of the entry after its fee: what a long pays, what a short receives. Quote currency. */
export function openValue(amount: number, entryPrice: number, fee: number, direction: Direction): number {
  return amount * entryPrice * (1 + direction * fee);
}

/** {@link openValue} of an amount and a price with few decimals, to the last bit. */
export function exactOpenValue(
  amount: number,
  entryPrice: number,
  fee: number,
  direction: Direction,
): number {
  return decimalProduct(amount, entryPrice, 1 + direction * fee);
}

/** {@link closeValue} of an amount and a price with few decimals, to the last bit. */
export function exactCloseValue(
  amount: number,
  exitPrice: number,
  fee: number,
  funding: number,
  direction: Direction,
): number {
  return decimalProduct(amount, exitPrice, 1 - direction * fee) + direction * funding;
}

/** Value of the exit after its fee and the funding so far (positive = received). Quote currency. */
export function closeValue(
  amount: number,
  exitPrice: number,
  fee: number,
  funding: number,
  direction: Direction,
): number {
  return netValue(amount, exitPrice, 1 - direction * fee, direction * funding);
}

/** {@link closeValue} for many prices of one trade: `kept` is 1 - direction * fee, `received` is direction * funding. */
export function netValue(amount: number, exitPrice: number, kept: number, received: number): number {
  return amount * exitPrice * kept + received;
}

/** Profit in quote currency of a trade worth `open` at entry and `close` at exit, at 8 decimals. */
export function profitOf(open: number, close: number, direction: Direction): number {
  return round8(direction * (close - open));
}

/** Profit ratio on the collateral if the trade were closed so, at 8 decimals: what decisions compare. */
export function profitRatioOf(open: number, close: number, leverage: number, direction: Direction): number {
  return roundRatio(direction * (close / open - 1) * leverage);
}

/** Profit ratio on the collateral of a closed trade, not rounded; `profit` is rounded. */
export function bookedRatio(profit: number, open: number, leverage: number): number {
  return (profit / open) * leverage;
}

/** Profit of an open trade valued at `price`: after the entry fee and the funding so far, before an exit fee; not rounded. */
export function unrealizedProfit(
  amount: number,
  price: number,
  openValueOfTrade: number,
  funding: number,
  direction: Direction,
): number {
  return direction * (amount * price - openValueOfTrade) + funding;
}

/** Quote currency available for a new trade: the tradable balance less the collateral in trades, at most what is free. */
export function availableStake(balance: number, inTrades: number, tradable: number): number {
  return Math.min(tradable - inTrades, balance - inTrades);
}

/**
 * Stake of the next trade; null when the money is not enough for it. Of an amended stake of 0 the strategy may make another.
 * `fixedStake` is the amount, or 0 for a share of the balance: (available + in trades) / maxOpenTrades.
 */
export function proposedStake(
  fixedStake: number,
  available: number,
  inTrades: number,
  maxOpenTrades: number,
  amendLast: boolean,
  lastMinRatio: number,
): number | null {
  const wanted = fixedStake > 0 ? fixedStake : Math.min((available + inTrades) / maxOpenTrades, available);
  if (amendLast) return available > wanted * lastMinRatio ? Math.max(0, Math.min(wanted, available)) : 0;
  // At 8 decimals, or the third stake of 0.33 would find 0.32999999999999996 left of a wallet of 1.
  const enough = available >= wanted || round8(available) >= wanted;
  return enough ? Math.max(0, wanted) : null;
}

/**
 * Profit ratios are compared as they are recorded, at 8 decimals: half a unit of the last decimal separates "equal" from
 * "greater".
 */
const HALF_UNIT = 5e-9;

/** Values of a trade on which its profit ratio depends. */
export interface ProfitInputs {
  readonly entryPrice: number;
  /** Base currency. */
  readonly amount: number;
  readonly leverage: number;
  readonly direction: Direction;
  /** Received so far, quote currency; negative when paid. */
  readonly funding: number;
}

/** Price at which a trade's profit ratio, after both fees and funding, times leverage, is `ratio`. */
function priceAtProfit(
  ratio: number,
  { entryPrice, amount, leverage, direction, funding }: ProfitInputs,
  fee: number,
): number {
  const openValue = entryPrice * (1 + direction * fee);
  const closeValue = openValue * (1 + (direction * ratio) / leverage) - direction * (funding / amount);
  return closeValue / (1 - direction * fee);
}

/** Price at or beyond which the profit ratio, at 8 decimals, is `ratio` or more. */
export function priceReaching(ratio: number, trade: ProfitInputs, fee: number): number {
  return priceAtProfit(ratio - HALF_UNIT, trade, fee);
}

/** Price at or beyond which the profit ratio, at 8 decimals, is greater than `ratio`. */
export function priceExceeding(ratio: number, trade: ProfitInputs, fee: number): number {
  return priceAtProfit(ratio + HALF_UNIT, trade, fee);
}
