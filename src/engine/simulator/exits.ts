import { consentOf, priceOf } from './answer-checks.ts';
import { askExit, askRoi, askStoploss } from './answers.ts';
import type { Position } from './position.ts';
import {
  bestPrice,
  entryCandleTrailingFill,
  isAtOrBeyond,
  isStopReached,
  isTighter,
  LONG,
  roiFill,
  roiTarget,
  stopAt,
  stopFill,
  trailingDistance,
} from './rules.ts';
import type { Run } from './run.ts';
import { MINUTE_MS } from './terms.ts';

/**
 * Tries the exits of an open position in the present candle, in the order of rule 1.6: exit signal, stop or liquidation,
 * ROI, trailing stop. The conservative model tries a trailing stop before the ROI, and moves stops only after the candle.
 */
export function checkExits(run: Run, position: Position): void {
  const { bar, terms } = run;
  if (!terms.conservative) raiseStop(run, position);
  // Asked before the other callbacks in either model.
  else if (!isStopReached(position.stop, bar.high, bar.low, position.direction)) askStoploss(run, position);
  tryExits(run, position);
  if (terms.conservative && position.market.position === position) raiseStop(run, position);
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
  if (liquidated) exitAtLiquidation(run, position);
  else if (roi && tryRoiExit(run, position)) return;
  else if (stopReached && !stopFirst) tryStopExit(run, position);
}

/** Moves the stop by the candle's best price, unless its worst price has reached the present stop (1.8). */
function raiseStop(run: Run, position: Position): void {
  const { bar, terms } = run;
  if (!terms.trailing && !terms.callbacks.customStoploss) return;
  const { direction, leverage } = position;
  if (isStopReached(position.stop, bar.high, bar.low, direction)) return;
  const best = bestPrice(bar.high, bar.low, direction);
  const asked = askStoploss(run, position);
  if (asked !== null) moveStop(position, stopAt(best, asked, leverage, direction), asked);
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
  if (trailed > 0) moveStop(position, stopAt(best, trailed, leverage, direction), trailed);
}

function moveStop(position: Position, stop: number, distance: number): void {
  if (!isTighter(stop, position.stop, position.direction)) return;
  position.stop = stop;
  position.stopDistance = distance;
  position.stopMoved = true;
}

/** Whether the candle's best price yields more than the required profit (1.9). Sets the position's ROI step. */
function isRoiReached(run: Run, position: Position): boolean {
  const { bar, terms } = run;
  const { direction } = position;
  if (bar.time >= position.nextRoiTime) position.advanceRoi(bar.time, terms);
  const asked = askRoi(run, position);
  if (asked === null && position.roiStep < 0) return false;
  const trigger = asked === null ? position.roiTrigger : position.priceExceeding(asked, terms);
  if (!isAtOrBeyond(bestPrice(bar.high, bar.low, direction), trigger, direction)) return false;
  return !(terms.ignoreRoiIfEntrySignal && position.market.hasEntrySignal(bar.row, direction));
}

function tryRoiExit(run: Run, position: Position): boolean {
  const { bar, terms } = run;
  const { direction, entryPrice, leverage } = position;
  const minutes = Math.floor((bar.time - position.openedAt) / MINUTE_MS);
  const asked = askRoi(run, position);
  // A ratio asked for in this candle applies from its start, like a table step whose minutes are just over.
  const key = asked === null ? terms.roiKeys[position.roiStep]! : minutes;
  const roi = asked ?? terms.roiRatios[position.roiStep]!;
  const price = roiFill(
    roi,
    roiTarget(roi, entryPrice, terms.fee, leverage, direction),
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
  run.close(position, price, 'roi');
  return true;
}

function tryStopExit(run: Run, position: Position): boolean {
  const reason = position.stopMoved ? 'trailing_stop_loss' : 'stop_loss';
  const price = stopExitPrice(run, position);
  if (!isConfirmed(run, position, price, reason)) return false;
  run.closeAtMarket(position, price, reason);
  return true;
}

function stopExitPrice(run: Run, position: Position): number {
  const { bar, terms } = run;
  const { stop, direction } = position;
  const price = stopFill(stop, bar.open, bar.high, bar.low, direction, terms.conservative);
  if (terms.conservative || !position.stopMoved || bar.time !== position.openedAt || price !== stop)
    return price;
  return entryCandleTrailingFill(
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
function exitAtLiquidation(run: Run, position: Position): void {
  const { bar, terms } = run;
  const { liquidation, direction } = position;
  const price = stopFill(liquidation, bar.open, bar.high, bar.low, direction, terms.conservative);
  run.closeAtMarket(position, price, 'liquidation');
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
  if (position.order === 'exit' && position.orderPrice === price) return false;
  if (!isConfirmed(run, position, price, reason)) return false;
  if (price === bar.open) run.closeAtMarket(position, price, reason);
  else {
    position.order = 'exit';
    position.orderPrice = price;
    position.orderTime = bar.time;
    position.orderReason = reason;
  }
  return true;
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

/** Fills the waiting exit if the candle touches its price. */
export function tryFillExit(run: Run, position: Position): void {
  if (run.bar.contains(position.orderPrice)) run.close(position, position.orderPrice, position.orderReason);
}
