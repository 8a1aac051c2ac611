/**
 * Comparison of prices by side.
 *
 * `direction` is 1 for a long and -1 for a short, so that one formula serves both sides. The best price of a candle is its most
 * favorable one: the high for a long, the low for a short. The worst price is its least favorable one.
 */
export type Direction = 1 | -1;

export const LONG = 1;
export const SHORT = -1;

/** The candle's most favorable price. */
export function bestPrice(high: number, low: number, direction: Direction): number {
  return direction === LONG ? high : low;
}

/** True when `price` is at `level` or on its favorable side. */
export function isAtOrBeyond(price: number, level: number, direction: Direction): boolean {
  return direction === LONG ? price >= level : price <= level;
}

/** A level is moved by this ratio towards the market, so that rounding can only reach it too early. */
const ROUNDING = 1e-12;

/** The price from which on a computed level counts as reached. */
export function touching(level: number, direction: Direction): number {
  return level * (1 - direction * ROUNDING);
}

/** True when `stop` is better for the trade than `present`: stops only move in that direction. */
export function isTighter(stop: number, present: number, direction: Direction): boolean {
  return direction === LONG ? stop > present : stop < present;
}

/** The less favorable price. */
export function nearer(a: number, b: number, direction: Direction): number {
  return isTighter(a, b, direction) ? b : a;
}

/** Price of an entry that takes the market at `price`; `slippage` is a ratio of the price and always adverse. */
export function slippedEntry(price: number, slippage: number, direction: Direction): number {
  return price * (1 + direction * slippage);
}

/** Price of an exit that takes the market at `price`. */
export function slippedExit(price: number, slippage: number, direction: Direction): number {
  return price * (1 - direction * slippage);
}
