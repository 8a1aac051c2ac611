/** Prices of stops as functions of numbers (docs/simulation.md#stops, docs/simulation.md#rounding). */
import { roundDown, roundUp, type Step } from './decimals.ts';
import { type Direction, LONG } from './prices.ts';

/**
 * Initial or moved stop at `distance` on the unfavorable side of `price`, rounded to the next tick towards the price.
 * `distance` is a ratio of the stake with any sign.
 */
export function stopAt(
  price: number,
  distance: number,
  leverage: number,
  direction: Direction,
  tick: Step | null,
): number {
  const stop = price * (1 - direction * Math.abs(distance / leverage));
  return tick === null ? stop : onTick(stop, direction, tick);
}

function onTick(stop: number, direction: Direction, tick: Step): number {
  return direction === LONG ? roundUp(stop, tick) : roundDown(stop, tick);
}

/** True when the candle's worst price has reached a stop or liquidation price; equality counts. A level of 0 is never reached. */
export function isStopReached(level: number, high: number, low: number, direction: Direction): boolean {
  return direction === LONG ? level >= low : level <= high;
}

/**
 * Fill price of a stop or liquidation at `level` that the candle has reached, before slippage:
 * - freqtrade: the open when the whole candle is beyond the level, else the level;
 * - conservative: the open when it is at or beyond the level, else the level.
 */
export function stopFill(
  level: number,
  open: number,
  high: number,
  low: number,
  direction: Direction,
  conservative: boolean,
): number {
  if (conservative) return isStopReached(level, open, open, direction) ? open : level;
  const wholeCandleBeyond = direction === LONG ? level > high : level < low;
  return wholeCandleBeyond ? open : level;
}
