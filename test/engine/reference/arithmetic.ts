import type { Bar, Position, Rules, Side } from './types.ts';

/** +1 for a long, -1 for a short. */
export const sign = (side: Side): number => (side === 'long' ? 1 : -1);

export const round8 = (value: number): number => Number(value.toFixed(8));

/** Amount paid (long) or received (short) for `amount` at `price`, including the fee (docs/simulation.md#fees-and-profit). */
export const paidFor = (side: Side, amount: number, price: number, rules: Rules): number =>
  amount * price * (1 + sign(side) * rules.fee);

/** What was paid for the present amount at the average price of the entries. */
export const openValue = ({ side, amount, entry }: Position, rules: Rules): number =>
  paidFor(side, amount, entry, rules);

/** Amount received (long) or paid (short) for a close at this price, including fee and funding. */
function closeValue(position: Position, price: number, rules: Rules): number {
  const value = position.amount * price * (1 - sign(position.side) * rules.fee);
  return value + sign(position.side) * position.funding;
}

/** Funding that no exit has realised. */
export const openFunding = ({ fundingBefore, fundingSince, realizedFunding }: Position): number =>
  fundingBefore + fundingSince - realizedFunding;

/** Profit in stake currency of an exit of `amount` at this price, with the funding that no exit has realised. */
export function exitProfit(position: Position, amount: number, price: number, rules: Rules): number {
  const { side, entry } = position;
  const received = amount * price * (1 - sign(side) * rules.fee) + sign(side) * openFunding(position);
  return round8(sign(side) * (received - paidFor(side, amount, entry, rules)));
}

/** Leverage and shorts: a long without leverage owns what it bought. */
const hasMargin = ({ side }: Position, { leverage }: Rules) => side === 'short' || leverage > 1;

/** The price at which an exit of `amount` loses its share of the collateral, with fees and funding, if that is better than `price`. */
export function limitedPrice(position: Position, amount: number, price: number, rules: Rules): number {
  if (!hasMargin(position, rules)) return price;
  const { side, entry, stake, prepaidFunding } = position;
  const margin = (stake + openFunding(position) + prepaidFunding) * (amount / position.amount);
  const paid = paidFor(side, amount, entry, rules);
  return side === 'long'
    ? Math.max(price, (paid - margin) / (amount * (1 - rules.fee)))
    : Math.min(price, (paid + margin) / (amount * (1 + rules.fee)));
}

/** True if the collateral of a position from an earlier candle is lost at the open of this one, before fees. */
export function isBankrupt(position: Position, { open, time }: Bar, rules: Rules): boolean {
  if (!hasMargin(position, rules) || position.lastFill >= time) return false;
  const { side, entry, amount, stake } = position;
  const bankruptcy = entry - sign(side) * (stake / amount);
  return side === 'long' ? open <= bankruptcy : open >= bankruptcy;
}

/** Profit on the collateral of a close at this price, as decisions compare it. */
export function ratioAt(position: Position, price: number, rules: Rules): number {
  const change = closeValue(position, price, rules) / openValue(position, rules) - 1;
  return round8(sign(position.side) * change * rules.leverage);
}

/** Profit on the collateral of a trade closed with this profit, not rounded again. */
export const closedRatio = (position: Position, profit: number, rules: Rules): number =>
  (profit / position.entriesValue) * rules.leverage;

/** Unrealised profit at this price, without the fee of a close. */
export function openProfitAt(position: Position, price: number, rules: Rules): number {
  const side = sign(position.side);
  return side * (position.amount * price - openValue(position, rules)) + openFunding(position);
}

/**
 * Liquidation price of an isolated position, moved towards the entry by the buffer (docs/simulation.md#liquidation). Undefined for
 * an unleveraged long.
 */
export function liquidationPrice(position: Position, rules: Rules): number | undefined {
  if (!hasMargin(position, rules)) return undefined;
  const collateral = position.stake / position.amount;
  const rate = rules.maintenanceRate + rules.fee;
  const bare =
    position.side === 'long'
      ? (position.entry - collateral) / (1 - rate)
      : (position.entry + collateral) / (1 + rate);
  const buffer = Math.abs(position.entry - bare) * rules.liquidationBuffer;
  return position.side === 'long' ? Math.max(0, bare + buffer) : bare - buffer;
}
