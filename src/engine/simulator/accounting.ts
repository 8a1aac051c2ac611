/** Money arithmetic of the simulator (freqtrade rules 1.12 and 1.13), shared by the loop and the segment kernel. */
import type { Direction } from './rules.ts';

/**
 * Rounds to 8 decimals, as profits and profit ratios are booked. Never yields -0. Math.round would branch on the fraction,
 * which no processor can predict: three times as slow per candle.
 */
export function round8(value: number): number {
  return Math.floor(value * 1e8 + 0.5) / 1e8 + 0;
}

/** Amount of base currency that `stake` buys. */
export function amountFor(stake: number, price: number, leverage: number): number {
  return (stake / price) * leverage;
}

/** Value of the entry after its fee: what a long pays, what a short receives. Quote currency. */
export function openValue(amount: number, entryPrice: number, fee: number, direction: Direction): number {
  return amount * entryPrice * (1 + direction * fee);
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

/** Profit ratio on the collateral, at 8 decimals. */
export function profitRatioOf(open: number, close: number, leverage: number, direction: Direction): number {
  return round8(direction * (close / open - 1) * leverage);
}

/** Profit of an open trade valued at `price`: after the entry fee and the funding so far, before an exit fee; not rounded. */
export function unrealisedProfit(
  amount: number,
  price: number,
  openValueOfTrade: number,
  funding: number,
  direction: Direction,
): number {
  return direction * (amount * price - openValueOfTrade) + funding;
}

/**
 * Quote currency available for a new trade: the tradable share of the balance less the collateral in trades, at most what is
 * free. At 8 decimals, or the third stake of 0.33 would find 0.32999999999999996 left of a wallet of 1.
 */
export function availableStake(balance: number, inTrades: number, tradableBalanceRatio: number): number {
  return round8(Math.min(balance * tradableBalanceRatio - inTrades, balance - inTrades));
}

/**
 * Stake of the next trade (1.13); 0 when there is no trade for lack of money.
 * `fixedStake` is the amount, or 0 for a share of the balance: (available + in trades) / maxOpenTrades.
 */
export function proposedStake(
  fixedStake: number,
  available: number,
  inTrades: number,
  maxOpenTrades: number,
  amendLast: boolean,
  lastMinRatio: number,
): number {
  const wanted = fixedStake > 0 ? fixedStake : Math.min((available + inTrades) / maxOpenTrades, available);
  if (amendLast) return available > wanted * lastMinRatio ? Math.max(0, Math.min(wanted, available)) : 0;
  return available < wanted ? 0 : Math.max(0, wanted);
}
