import { wakePrice } from '../loop/next-event.ts';
import {
  bestPrice,
  entryCandleTrailingPrice,
  isAtOrBeyond,
  isStopReached,
  isTighter,
  LONG,
  roiFill,
  roiTarget,
  stopAt,
  stopFill,
  trailingDistance,
} from '../rules/exit-prices.ts';
import { MINUTE_MS } from '../terms.ts';
import type { Corridor } from './corridor.ts';
import type { KernelTrade } from './trade.ts';

/**
 * Tries the exits of `trade` in `row`, in the order of the loop: whether the trade was closed. `signal`: whether the row has an
 * exit signal of the trade's side.
 */
export function tryExits(trade: KernelTrade, row: number, signal: boolean): boolean {
  const { conservative, trailing } = trade.terms;
  if (trailing && !conservative) raiseStop(trade, row);
  orderExit(trade, row, signal);
  if (trade.waits && isTouched(trade, row)) {
    trade.exit();
    return true;
  }
  if (trailing && conservative) raiseStop(trade, row);
  return false;
}

function isTouched({ market, orderPrice }: KernelTrade, row: number): boolean {
  return orderPrice >= market.candles.low[row]! && orderPrice <= market.candles.high[row]!;
}

/** Orders an exit for the first reason that holds and whose order does not wait already. */
function orderExit(trade: KernelTrade, row: number, signal: boolean): void {
  const { direction, terms, stop, liquidation } = trade;
  const { candles } = trade.market;
  if (signal && trySignalExit(trade, row)) return;
  const high = candles.high[row]!;
  const low = candles.low[row]!;
  const stopReached = isStopReached(stop, high, low, direction);
  const stopFirst = terms.conservative || !trade.stopMoved;
  if (stopReached && stopFirst && tryStopExit(trade, row, stop)) return;
  if (!stopReached && isStopReached(liquidation, high, low, direction)) {
    const price = stopFill(liquidation, candles.open[row]!, high, low, direction, terms.conservative);
    if (trade.orderExit(row, price, true, 'liquidation')) return;
  }
  if (trade.roiStep >= 0 && isAtOrBeyond(bestPrice(high, low, direction), trade.roiTrigger, direction))
    if (tryRoiExit(trade, row)) return;
  if (stopReached && !stopFirst) tryStopExit(trade, row, stop);
}

function trySignalExit(trade: KernelTrade, row: number): boolean {
  const { market, direction, terms } = trade;
  if (market.hasEntrySignal(row, direction)) return false;
  const price = market.candles.open[row]!;
  if (terms.exitProfitOnly && !(trade.profitRatioAt(price) > terms.exitProfitOffset)) return false;
  return trade.orderExit(row, price, true, market.exitTag(row) ?? 'exit_signal');
}

function tryStopExit(trade: KernelTrade, row: number, stop: number): boolean {
  const { direction, terms, stopMoved } = trade;
  const { candles } = trade.market;
  const open = candles.open[row]!;
  const high = candles.high[row]!;
  const low = candles.low[row]!;
  let price = stopFill(stop, open, high, low, direction, terms.conservative);
  if (stopMoved && !terms.conservative && row === trade.entryRow && price === stop)
    price = entryCandleTrailingPrice(
      open,
      high,
      low,
      terms.entryCandleByOffset,
      terms.trailingOffset,
      terms.trailingPositive,
      trade.stopDistance,
      trade.leverage,
      direction,
    );
  return trade.orderExit(row, price, true, stopMoved ? 'trailing_stop_loss' : 'stop_loss');
}

function tryRoiExit(trade: KernelTrade, row: number): boolean {
  const { direction, terms, entryPrice, roiStep, market } = trade;
  if (terms.ignoreRoiIfEntrySignal && market.hasEntrySignal(row, direction)) return false;
  const { open, high, low, close } = market.candles;
  const roi = terms.roiRatios[roiStep]!;
  const price = roiFill(
    roi,
    roiTarget(roi, trade.openValue, trade.amount, terms.fee, trade.funding, trade.leverage, direction),
    terms.roiKeys[roiStep]!,
    Math.floor(((row - trade.entryRow) * terms.timeframeMs) / MINUTE_MS),
    terms.timeframeMinutes,
    entryPrice,
    open[row]!,
    high[row]!,
    low[row]!,
    // The close matters only to an entry that the ticks moved below the open.
    entryPrice === open[row]! ? open[row]! : close[row]!,
    direction,
  );
  return !Number.isNaN(price) && trade.orderExit(row, price, false, 'roi');
}

/** Moves the stop by the candle's best price, unless its worst price has reached the present stop (1.8). */
function raiseStop(trade: KernelTrade, row: number): void {
  const { direction, terms, market, leverage } = trade;
  const high = market.candles.high[row]!;
  const low = market.candles.low[row]!;
  if (isStopReached(trade.stop, high, low, direction)) return;
  const best = bestPrice(high, low, direction);
  const distance = trailingDistance(
    best,
    trade.offsetReached,
    trade.offsetExceeded,
    terms.trailingOnlyOffset,
    terms.trailingPositive,
    terms.stoploss,
    direction,
  );
  const stop = stopAt(best, distance, leverage, direction, trade.tick);
  if (distance === 0 || !isTighter(stop, trade.stop, direction)) return;
  trade.stop = stop;
  trade.stopDistance = distance;
  trade.stopMoved = true;
}

/** Sets the prices between which nothing happens to `trade` until something comes due. */
export function setCorridor(corridor: Corridor, trade: KernelTrade): void {
  const { stop, liquidation } = trade;
  const wake = wakePrice(trade, trade.terms);
  if (trade.direction === LONG) {
    corridor.bottom = Math.max(stop, liquidation);
    corridor.top = wake;
  } else {
    corridor.bottom = wake;
    corridor.top = Math.min(stop, liquidation);
  }
}
