import { roundDown, roundHalfUp, roundUp, type Step } from './decimals.ts';

/**
 * Exit pricing: stop, trailing stop, liquidation, ROI and slippage as functions of plain numbers, by the rules of freqtrade
 * 2026.9 (reference sections 1.3, 1.6 and 3.1).
 * The loop and the segment kernel call the same functions, so that both book the same bits. Money is in accounting.ts.
 *
 * `direction` is 1 for a long and -1 for a short; a formula holds for both sides. "Best" is the candle's most
 * favourable price (high of a long, low of a short), "worst" its least favourable one.
 */
export type Direction = 1 | -1;

export const LONG = 1;
export const SHORT = -1;

/** Profit ratios are compared as they are booked, at 8 decimals: half a unit of the last one separates "equal" from "greater". */
const HALF_UNIT = 5e-9;

/** The candle's most favourable price. */
export function bestPrice(high: number, low: number, direction: Direction): number {
  return direction === LONG ? high : low;
}

/** The candle's least favourable price. */
function worstPrice(high: number, low: number, direction: Direction): number {
  return direction === LONG ? low : high;
}

/** Whether `price` is at `level` or on its favourable side. */
export function isAtOrBeyond(price: number, level: number, direction: Direction): boolean {
  return direction === LONG ? price >= level : price <= level;
}

/** Price of an entry that takes the market at `price`; `slippage` is a ratio of the price and always adverse. */
export function slippedEntry(price: number, slippage: number, direction: Direction): number {
  return price * (1 + direction * slippage);
}

/** Price of an exit that takes the market at `price`. */
export function slippedExit(price: number, slippage: number, direction: Direction): number {
  return price * (1 - direction * slippage);
}

/**
 * Stop at `distance` (a ratio of the stake, any sign) on the unfavourable side of `price`, initial and moved stops alike: on the
 * next tick towards the price.
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

/** Whether the candle's worst price has reached a stop or liquidation price; equality counts. A level of 0 is never reached. */
export function isStopReached(level: number, high: number, low: number, direction: Direction): boolean {
  return direction === LONG ? level >= low : level <= high;
}

/** Whether `stop` is better for the trade than `present`: a stop may only move so. */
export function isTighter(stop: number, present: number, direction: Direction): boolean {
  return direction === LONG ? stop > present : stop < present;
}

/**
 * Fill price of a stop or liquidation at `level` that the candle has reached, before slippage.
 * freqtrade: the open when the whole candle is beyond the level, else the level. Conservative: the open when it is at or beyond the level.
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
 * Price at which a trade's profit ratio (after both fees and funding so far, times leverage) is `ratio`.
 * `fundingPerUnit` is the funding received so far per unit of base currency, negative when paid.
 */
function priceAtProfit(
  ratio: number,
  entryPrice: number,
  fee: number,
  leverage: number,
  direction: Direction,
  fundingPerUnit: number,
): number {
  const openValue = entryPrice * (1 + direction * fee);
  const closeValue = openValue * (1 + (direction * ratio) / leverage) - direction * fundingPerUnit;
  return closeValue / (1 - direction * fee);
}

/** Price at or beyond which the profit ratio, at 8 decimals, is `ratio` or more. Arguments as {@link priceAtProfit}. */
export function priceReaching(
  ratio: number,
  entryPrice: number,
  fee: number,
  leverage: number,
  direction: Direction,
  fundingPerUnit: number,
): number {
  return priceAtProfit(ratio - HALF_UNIT, entryPrice, fee, leverage, direction, fundingPerUnit);
}

/** Price at or beyond which the profit ratio, at 8 decimals, is greater than `ratio`: trigger of a ROI step (1.9). */
export function priceExceeding(
  ratio: number,
  entryPrice: number,
  fee: number,
  leverage: number,
  direction: Direction,
  fundingPerUnit: number,
): number {
  return priceAtProfit(ratio + HALF_UNIT, entryPrice, fee, leverage, direction, fundingPerUnit);
}

/**
 * Distance at which the stop trails a candle whose best price is `best`, as a ratio of the stake; 0 when it does not trail (1.8).
 * `offsetReached` and `offsetExceeded` are {@link priceReaching} and {@link priceExceeding} of the offset;
 * `positive` is 0 when the settings have none.
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
 * Price of the order, before rounding and slippage, of a trailing stop that is hit in the candle of the entry (freqtrade model):
 * the offset's, or the present distance from the open. It is limited on the unfavourable side alone: with leverage it may lie
 * beyond the candle's best price, and the order then waits. `offset` and `positive` apply when `byOffset`: the settings trail
 * only from an offset, with a positive distance and without a custom stop. Otherwise `distance`, the present stop's, does.
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

/**
 * Price at which the profit ratio, after both fees, the funding so far and times leverage, is exactly `roi`. `openValue` is the
 * entry's after its fee, `amount` in base currency, `funding` what the trade received so far.
 */
export function roiTarget(
  roi: number,
  openValue: number,
  amount: number,
  fee: number,
  funding: number,
  leverage: number,
  direction: Direction,
): number {
  const received = direction * funding;
  const perPrice = amount * (1 - direction * fee);
  return ((1 + (direction * roi) / leverage) * openValue - received) / perPrice;
}

/**
 * Fill price of a triggered ROI exit (1.9), inside the candle; NaN when the entry candle refuses it.
 * `target` is {@link roiTarget} of the applying step, `key` that step's minutes, `minutes` the whole minutes since the entry's order.
 */
export function roiFill(
  roi: number,
  target: number,
  key: number,
  minutes: number,
  timeframeMinutes: number,
  entryPrice: number,
  open: number,
  high: number,
  low: number,
  close: number,
  direction: Direction,
): number {
  const onGrid = key % timeframeMinutes === 0;
  if (roi === -1) return onGrid ? open : worstPrice(high, low, direction);
  if (minutes > 0 && minutes === key && onGrid && isTighter(open, target, direction)) return open;
  // A limit entry below the open of a candle that closed red: a target above the close would need the price to recover first.
  const boughtTheDip =
    isTighter(open, close, direction) &&
    isTighter(open, entryPrice, direction) &&
    isTighter(target, close, direction);
  if (minutes === 0 && boughtTheDip) return Number.NaN;
  return Math.min(Math.max(target, low), high);
}

/**
 * Liquidation price of an isolated position (reference 9.2), moved towards the entry by `buffer`. `closingFee` is what the exchange
 * sets aside for the closing order: the fee in the general formula, 0 in that of Binance.
 * 0 when there is none: a long without leverage cannot be liquidated.
 */
export function liquidationPrice(
  entryPrice: number,
  stake: number,
  amount: number,
  leverage: number,
  maintenanceMarginRate: number,
  buffer: number,
  closingFee: number,
  direction: Direction,
  tick: Step | null,
): number {
  if (direction === LONG && leverage <= 1) return 0;
  const bankruptcy = entryPrice - (direction * stake) / amount;
  const price = bankruptcy / (1 - direction * (maintenanceMarginRate + closingFee));
  return roundHalfUp(Math.max(0, price + direction * Math.abs(entryPrice - price) * buffer), tick);
}
