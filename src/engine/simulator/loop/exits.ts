import { roundHalfUp } from '../rules/decimals.ts';
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
import type { Position } from '../state/position.ts';
import type { Run } from '../state/run.ts';
import { MINUTE_MS, type Terms } from '../terms.ts';
import { consentOf, priceOf } from './answer-checks.ts';
import { askExit, askRoi, askStoploss } from './answers.ts';

/**
 * Orders the exit of an open position in the present candle for the first reason that holds (reference 1.6), and fills the order
 * that waits if the candle touches it. The conservative model tries a trailing stop before the ROI, and moves stops only after
 * the candle.
 */
export function checkExits(run: Run, position: Position): void {
  const { bar, terms } = run;
  if (!terms.conservative) raiseStop(run, position);
  // Asked before the other callbacks in either model.
  else if (!isStopReached(position.stop, bar.high, bar.low, position.direction)) askStoploss(run, position);
  tryExits(run, position);
  const { order, orderPrice } = position;
  if (order === 'exit' && bar.contains(orderPrice))
    run.close(position, orderPrice, position.orderSlips, position.orderReason);
  else if (terms.conservative) raiseStop(run, position);
}

function tryExits(run: Run, position: Position): void {
  const { bar, terms } = run;
  const { direction } = position;
  const stopReached = isStopReached(position.stop, bar.high, bar.low, direction);
  const liquidated = !stopReached && isStopReached(position.liquidation, bar.high, bar.low, direction);
  const stopFirst = terms.conservative || !position.stopMoved;
  const roi = isRoiReached(run, position);

  if (terms.useExitSignal && trySignalExit(run, position)) return;
  if (stopReached && stopFirst && tryStopExit(run, position)) return;
  if (liquidated && tryLiquidation(run, position)) return;
  if (roi && tryRoiExit(run, position)) return;
  if (stopReached && !stopFirst) tryStopExit(run, position);
}

/** Orders an exit; false when that order waits already, so that the next reason is tried. Its reason is that of the last attempt. */
function orderExit(run: Run, position: Position, price: number, slips: boolean, reason: string): boolean {
  const rounded = roundHalfUp(price, position.tick);
  position.orderReason = reason;
  if (position.order === 'exit' && position.orderPrice === rounded) return false;
  position.order = 'exit';
  position.orderPrice = rounded;
  position.orderSlips = slips;
  position.orderTime = run.bar.time;
  return true;
}

/** Moves the stop by the candle's best price, unless its worst price has reached the present stop (1.8). */
function raiseStop(run: Run, position: Position): void {
  const { bar, terms } = run;
  if (!terms.trailing && !terms.callbacks.customStoploss) return;
  const { direction, leverage } = position;
  if (isStopReached(position.stop, bar.high, bar.low, direction)) return;
  const best = bestPrice(bar.high, bar.low, direction);
  const asked = askStoploss(run, position);
  if (asked !== null) moveStop(position, stopAt(best, asked, leverage, direction, position.tick), asked);
  if (!terms.trailing) return;
  const trailed = trailingDistance(
    best,
    position.offsetReached,
    position.offsetExceeded,
    terms.trailingOnlyOffset,
    terms.trailingPositive,
    asked ?? terms.stoploss,
    direction,
  );
  if (trailed > 0) moveStop(position, stopAt(best, trailed, leverage, direction, position.tick), trailed);
}

function moveStop(position: Position, stop: number, distance: number): void {
  if (!isTighter(stop, position.stop, position.direction)) return;
  position.stop = stop;
  position.stopDistance = distance;
  position.stopMoved = true;
}

/** Whether the candle's best price yields more than the required profit. Sets the position's ROI step. */
function isRoiReached(run: Run, position: Position): boolean {
  const { bar, terms } = run;
  const { direction } = position;
  if (bar.time >= position.nextRoiTime) position.advanceRoi(bar.time, terms);
  const asked = askRoi(run, position);
  if (asked === null && position.roiStep < 0) return false;
  const trigger = ownRoi(position, asked, terms)
    ? position.priceExceeding(asked!, terms)
    : position.roiTrigger;
  if (!isAtOrBeyond(bestPrice(bar.high, bar.low, direction), trigger, direction)) return false;
  return !(terms.ignoreRoiIfEntrySignal && position.market.hasEntrySignal(bar.row, direction));
}

/** Whether the strategy's own ratio counts: the lower of it and the table's does. */
function ownRoi({ roiStep }: Position, asked: number | null, { roiRatios }: Terms): boolean {
  return asked !== null && (roiStep < 0 || asked < roiRatios[roiStep]!);
}

function tryRoiExit(run: Run, position: Position): boolean {
  const { bar, terms } = run;
  const { direction, entryPrice, leverage, roiStep } = position;
  const minutes = Math.floor((bar.time - position.openedAt) / MINUTE_MS);
  const asked = askRoi(run, position);
  const own = ownRoi(position, asked, terms);
  // A ratio asked for in this candle applies from its start, like a table step whose minutes are just over.
  const key = own ? minutes : terms.roiKeys[roiStep]!;
  const roi = own ? asked! : terms.roiRatios[roiStep]!;
  const price = roiFill(
    roi,
    roiTarget(roi, position.openValue, position.amount, terms.fee, position.funding, leverage, direction),
    key,
    minutes,
    terms.timeframeMinutes,
    entryPrice,
    bar.open,
    bar.high,
    bar.low,
    bar.close,
    direction,
  );
  if (Number.isNaN(price) || !isConfirmed(run, position, price, 'roi')) return false;
  return orderExit(run, position, price, false, 'roi');
}

function tryStopExit(run: Run, position: Position): boolean {
  const reason = position.stopMoved ? 'trailing_stop_loss' : 'stop_loss';
  const price = stopExitPrice(run, position);
  if (!isConfirmed(run, position, price, reason)) return false;
  return orderExit(run, position, price, true, reason);
}

function stopExitPrice(run: Run, position: Position): number {
  const { bar, terms } = run;
  const { stop, direction } = position;
  const price = stopFill(stop, bar.open, bar.high, bar.low, direction, terms.conservative);
  if (terms.conservative || !position.stopMoved || bar.time !== position.openedAt || price !== stop)
    return price;
  return entryCandleTrailingPrice(
    bar.open,
    bar.high,
    bar.low,
    terms.entryCandleByOffset,
    terms.trailingOffset,
    terms.trailingPositive,
    position.stopDistance,
    position.leverage,
    direction,
  );
}

/** Liquidation asks nobody. */
function tryLiquidation(run: Run, position: Position): boolean {
  const { bar, terms } = run;
  const { liquidation, direction } = position;
  const price = stopFill(liquidation, bar.open, bar.high, bar.low, direction, terms.conservative);
  return orderExit(run, position, price, true, 'liquidation');
}

/** Exit signal or custom exit (1.10): at the open, or a limit order when the strategy names another price. */
function trySignalExit(run: Run, position: Position): boolean {
  const { bar, terms } = run;
  const reason = signalReason(run, position);
  if (reason === null) return false;
  const { callbacks } = terms;
  let price = bar.open;
  if (callbacks.customExitPrice) {
    const profit = position.profitRatioAt(price, terms.fee);
    const context = run.contextOf(position.market);
    const answer = callbacks.customExitPrice(context, position.view, price, profit);
    const asked = priceOf(answer, price, 'customExitPrice', context);
    // No better than possible: an order below the low of a long would have filled at once, at a better price.
    price = position.direction === LONG ? Math.max(asked, bar.low) : Math.min(asked, bar.high);
  }
  if (!isConfirmed(run, position, price, reason)) return false;
  return orderExit(run, position, price, price === bar.open, reason);
}

function signalReason(run: Run, position: Position): string | null {
  const { bar, terms } = run;
  const { market, direction } = position;
  if (market.hasExitSignal(bar.row, direction) && !market.hasEntrySignal(bar.row, direction)) {
    const blocked =
      terms.exitProfitOnly && !(position.profitRatioAt(bar.open, terms.fee) > terms.exitProfitOffset);
    return blocked ? null : (market.exitTag(bar.row) ?? 'exit_signal');
  }
  return askExit(run, position);
}

function isConfirmed(run: Run, position: Position, price: number, reason: string): boolean {
  const { callbacks } = run.terms;
  if (!callbacks.confirmExit) return true;
  const context = run.contextOf(position.market);
  return consentOf(callbacks.confirmExit(context, position.view, price, reason), 'confirmExit', context);
}
