import type { Position, Rules, Side } from './types.ts';

/** +1 for a long, -1 for a short. */
export const sign = (side: Side): number => (side === 'long' ? 1 : -1);

export const round8 = (value: number): number => Number(value.toFixed(8));

/** Amount paid (long) or received (short) at the entry, including the fee (1.12). */
export function openValue(position: Position, rules: Rules): number {
  return position.amount * position.entry * (1 + sign(position.side) * rules.fee);
}

/** Amount received (long) or paid (short) for a close at this price, including fee and funding (1.12). */
function closeValue(position: Position, price: number, rules: Rules): number {
  const value = position.amount * price * (1 - sign(position.side) * rules.fee);
  return value + sign(position.side) * position.funding;
}

/** Profit in stake currency of a close at this price (1.12). */
export function profitAt(position: Position, price: number, rules: Rules): number {
  const gain = closeValue(position, price, rules) - openValue(position, rules);
  return round8(sign(position.side) * gain);
}

/** Profit on the collateral of a close at this price, as decisions compare it (freqtrade-2026.md 1.6.7). */
export function ratioAt(position: Position, price: number, rules: Rules): number {
  const change = closeValue(position, price, rules) / openValue(position, rules) - 1;
  return round8(sign(position.side) * change * rules.leverage);
}

/** Profit on the collateral of a trade closed with this profit, not rounded again (1.12 of 2026.9). */
export const closedRatio = (position: Position, profit: number, rules: Rules): number =>
  (profit / openValue(position, rules)) * rules.leverage;

/** Unrealised profit at this price, without the fee of a close. */
export function openProfitAt(position: Position, price: number, rules: Rules): number {
  const side = sign(position.side);
  return side * (position.amount * price - openValue(position, rules)) + position.funding;
}

/** Liquidation price of an isolated position, moved towards the entry by the buffer (1.11). Undefined for an unleveraged long. */
export function liquidationPrice(position: Position, rules: Rules): number | undefined {
  if (position.side === 'long' && rules.leverage === 1) return undefined;
  const collateral = position.stake / position.amount;
  const rate = rules.maintenanceRate + rules.fee;
  const bare =
    position.side === 'long'
      ? (position.entry - collateral) / (1 - rate)
      : (position.entry + collateral) / (1 + rate);
  const buffer = Math.abs(position.entry - bare) * rules.liquidationBuffer;
  return position.side === 'long' ? Math.max(0, bare + buffer) : bare - buffer;
}
