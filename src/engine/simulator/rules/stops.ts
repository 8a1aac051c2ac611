/** Stop loss and trailing stop as functions of numbers (freqtrade 2026.9, reference sections 1.6, 1.8 and 3.1). */
import { roundDown, roundUp, type Step } from './decimals.ts';
import { type Direction, isAtOrBeyond, LONG } from './prices.ts';

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

/**
 * Distance at which the stop trails a candle whose best price is `best`, as a ratio of the stake; 0 when it does not trail (1.8).
 * `offsetReached` and `offsetExceeded` are {@link priceReaching} and {@link priceExceeding} of the offset;
 * `positive` is 0 when not set.
 */
export function trailingDistance(
  best: number,
  offsetReached: number,
  offsetExceeded: number,
  onlyOffset: boolean,
  positive: number,
  stoploss: number,
  direction: Direction,
): number {
  if (onlyOffset && !isAtOrBeyond(best, offsetReached, direction)) return 0;
  return positive > 0 && isAtOrBeyond(best, offsetExceeded, direction) ? positive : Math.abs(stoploss);
}

/**
 * Order price, before rounding and slippage, of a trailing stop that is hit in the candle of the entry (freqtrade model). It
 * follows from the offset, or from the present distance to the open. It is limited only on the unfavorable side: with leverage
 * it may be beyond the candle's best price, and the order then waits.
 *
 * `byOffset`: the settings trail only from an offset, with a positive distance and without a custom stop. `offset` and
 * `positive` then apply; otherwise `distance`, that of the present stop, does.
 */
export function entryCandleTrailingPrice(
  open: number,
  high: number,
  low: number,
  byOffset: boolean,
  offset: number,
  positive: number,
  distance: number,
  leverage: number,
  direction: Direction,
): number {
  const price = byOffset
    ? open * (1 + direction * Math.abs(offset) - direction * Math.abs(positive / leverage))
    : stopAt(open, distance, leverage, direction, null);
  return direction === LONG ? Math.max(price, low) : Math.min(price, high);
}
