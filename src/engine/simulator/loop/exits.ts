import { roundHalfUp } from '../rules/decimals.ts';
import { bestPrice, isAtOrBeyond, isTighter, LONG } from '../rules/prices.ts';
import {
  isRoiDueAtOpen,
  mayReachRoi,
  requiredRatio,
  roiPrice,
  targetLevel,
  targetPrice,
} from '../rules/roi.ts';
import { isStopReached, stopAt, stopFill } from '../rules/stops.ts';
import { entryCandleTrailingPrice, trailingDistance } from '../rules/trailing.ts';
import { isNoise, MAX_ORDERS } from '../state/order-history.ts';
import type { Position } from '../state/position.ts';
import type { Run } from '../state/run.ts';
import {
  callAfterFill,
  callConfirmExit,
  callCustomExit,
  callCustomExitPrice,
  callCustomRoi,
  callCustomStoploss,
  callOrderFilled,
  orderView,
} from './callbacks.ts';

/**
 * Orders the exit of an open position in the present candle for the first reason that applies (docs/simulation.md#exits). Fills
 * the waiting order if the candle touches its price.
 */
export function checkExits(run: Run, position: Position): void {
  const { candle, settings } = run;
  const { order, stop } = position;
  if (order.isRest) {
    fillRest(run, position);
    return;
  }
  if (run.account !== null) run.account.keepStop(position);
  if (settings.movesStop) raiseStop(run, position);
  if (order.kind === 'exit') {
    order.atOpen = isAtOrBeyond(candle.open, order.price, position.direction);
    order.isKnownAtOpen = order.price === candle.open;
  }
  tryExits(run, position, position.stop === stop);
  if (order.kind === 'exit' && candle.contains(order.price)) fillExit(run, position);
}

/**
 * True if a partial exit fills at once: when the candle touches its price, in the conservative model when its open is there. The tick may
 * move the price of an order at the open away from it.
 */
export function fillsExitAtOnce(run: Run, { order, direction }: Position): boolean {
  const { candle, settings } = run;
  order.atOpen = order.slips || isAtOrBeyond(candle.open, order.price, direction);
  if (order.price !== candle.open) run.dependsOnFillModel = true;
  return settings.conservative ? order.atOpen : candle.contains(order.price);
}

/** Fills what the candle's volume allows of a waiting exit at the open of each main candle; a liquidation ends it. */
export function fillRest(run: Run, position: Position): void {
  const { candle } = run;
  const { order, market } = position;
  if (market.rowAt(order.time) === candle.row) {
    liquidateRest(run, position);
    return;
  }
  order.price = roundHalfUp(candle.open, position.tick);
  order.time = candle.time;
  order.atOpen = true;
  order.isKnownAtOpen = true;
  fillExit(run, position);
}

/** Liquidates the rest of an exit if the candle reaches that price. */
function liquidateRest(run: Run, position: Position): void {
  const { high, low } = run.candle;
  if (!isStopReached(position.liquidation, high, low, position.direction)) return;
  tryLiquidation(run, position);
  fillExit(run, position);
}

/** Fills the exit order, as far as the candle's volume allows. */
export function fillExit(run: Run, position: Position): void {
  if (position.market.costs.isLimited) fillWithinLimit(run, position);
  else fillOrder(run, position, position.order.amount === position.amount);
}

/** Fills the whole exit order. After a partial exit the strategy may set the stop. */
function fillOrder(run: Run, position: Position, isWhole: boolean): void {
  if (run.settings.callbacks.orderFilled)
    callOrderFilled(run, position, orderView(position, run.exitPriceOf(position)));
  const { amount } = position;
  run.bookExit(position);
  if (isWhole) return;
  if (run.settings.callbacks.afterFill)
    adjustStopAfterFill(run, position, position.order.price, position.amount / amount);
  position.proposeStop();
}

/** Fills what the candle's volume allows. An exit of the whole position waits with the rest. */
function fillWithinLimit(run: Run, position: Position): void {
  const { order, market } = position;
  const { amount } = order;
  const isWhole = amount === position.amount;
  const part = fillablePart(run, position);
  order.isRest = false;
  if (part > 0) {
    order.amount = part;
    fillOrder(run, position, isWhole);
  }
  if (part < amount) {
    run.dependsOnFillModel = true;
    market.costs.cappedExits++;
    if (isWhole) waitWithRest(run, position);
  }
  if (order.isRest) liquidateRest(run, position);
}

/** The part of the exit order that may fill. The exchange closes all of a liquidation; the last order that a trade can record too. */
function fillablePart({ candle }: Run, position: Position): number {
  const { order, market, history } = position;
  const isLast = history !== null && history.orders.length >= MAX_ORDERS - 1;
  if (isLast || order.reason === 'liquidation') return order.amount;
  const part = market.fillable(order.amount, candle.row);
  return isNoise(order.amount - part, position) ? order.amount : part;
}

/** Keeps the exit order with what is left of the position: at the market for the next open, or at its limit price. */
function waitWithRest({ candle, settings }: Run, position: Position): void {
  const { order } = position;
  order.kind = 'exit';
  order.amount = position.amount;
  order.isRest = order.slips;
  if (order.isRest) order.time = candle.time;
  // An exit at the open ends the range of prices; this one has not ended.
  if (settings.detailPerCandle === 1) position.lowest = position.highest = Number.NaN;
}

/**
 * Calls `afterFill`, which the strategy has, for an order filled at `price`, which may widen the stop, then trails at that price
 * (docs/simulation.md#fills). The profit includes the funding at the time of the fill; after a partial exit it is that of the amount
 * before.
 *
 * @param left ratio of the present amount to the one before a partial exit
 */
export function adjustStopAfterFill(run: Run, position: Position, price: number, left = 1): void {
  if (!isTighter(price, position.stop, position.direction)) return;
  const { counted, total } = position.fundingSum;
  const isLeftOut = total * left !== counted;
  if (isLeftOut) position.countFunding(total * left, run.settings);
  setStopAfterFill(run, position, price);
  if (isLeftOut) position.countFunding(counted, run.settings);
}

function setStopAfterFill(run: Run, position: Position, price: number): void {
  const distance = callAfterFill(run, position, price);
  if (distance !== null) {
    position.stop = stopAt(price, distance, position.leverage, position.direction, position.tick);
    position.stopDistance = distance;
  }
  trailStop(run, position, price, distance);
}

/** `isOldStop`: the stop was there when the candle opened. */
function tryExits(run: Run, position: Position, isOldStop: boolean): void {
  const { candle, settings } = run;
  const { direction } = position;
  // Strategies see customRoi called before customExit.
  const custom = customRoi(run, position);
  if (settings.useExitSignal && trySignalExit(run, position)) return;
  const stopReached = isStopReached(position.stop, candle.high, candle.low, direction);
  const liquidated = isStopReached(position.liquidation, candle.high, candle.low, direction);
  const mayReachTarget = mayReachRoi(position, custom, candle, settings);
  if (!run.dependsOnFillModel && (stopReached || liquidated || mayReachTarget))
    compareFillModels(run, position, custom);
  if (liquidated && isLiquidatedFirst(run, position) && tryLiquidation(run, position)) return;
  const stopFirst = !position.stopMoved;
  if (stopReached && stopFirst && tryStopExit(run, position, isOldStop)) return;
  if (liquidated && !stopReached && tryLiquidation(run, position)) return;
  if (mayReachTarget && tryRoiExit(run, position, custom)) return;
  if (stopReached && !stopFirst) tryStopExit(run, position, isOldStop);
}

/**
 * Notes if the other fill model would exit in another way: it fills a gap at another price, prefers another one of two exits that the
 * candle reaches, reaches only one of them, or lets an order wait whose price the tick moves out of the candle. `custom` is the ratio of
 * customRoi, null without one.
 */
export function compareFillModels(run: Run, position: Position, custom: number | null): void {
  const { candle, settings } = run;
  const { direction, stop, liquidation, tick } = position;
  const { open, high, low } = candle;
  const fills: { readonly own: number; readonly freqtrades: number }[] = [];
  for (const level of [stop, liquidation])
    if (isStopReached(level, high, low, direction))
      fills.push({
        own: stopFill(level, open, high, low, direction, true),
        freqtrades: stopFill(level, open, high, low, direction, false),
      });
  const ratio = requiredRatio(position, custom, candle, settings);
  const isReached = isAtOrBeyond(
    bestPrice(high, low, direction),
    targetLevel(ratio, position, settings.fee),
    direction,
  );
  const own = isReached ? targetPrice(ratio, position, settings.fee) : Number.NaN;
  const freqtrades = roiPrice(position, custom, candle, settings);
  if (!Number.isNaN(own) || !Number.isNaN(freqtrades)) fills.push({ own, freqtrades });
  if (fills.length === 0) return;
  const [fill] = fills;
  const price = roundHalfUp(fill!.freqtrades, tick);
  if (
    fills.length > 1 ||
    position.stopMoved ||
    roundHalfUp(fill!.own, tick) !== price ||
    !candle.contains(price)
  )
    run.dependsOnFillModel = true;
}

/** Orders an exit; false if that order is already waiting: the next reason is then tried. It keeps the reason of the last attempt. */
export function orderExit(
  run: Run,
  position: Position,
  price: number,
  slips: boolean,
  reason: string,
): boolean {
  const { order } = position;
  const rounded = roundHalfUp(price, position.tick);
  order.reason = reason;
  if (order.kind === 'exit' && order.price === rounded && order.amount === position.amount) return false;
  order.kind = 'exit';
  order.tag = reason;
  order.price = rounded;
  order.amount = position.amount;
  order.slips = slips;
  order.isKnownAtOpen = false;
  order.isRest = false;
  order.gapTime = Number.NaN;
  order.atOpen = slips ? price === run.candle.open : isAtOrBeyond(run.candle.open, price, position.direction);
  order.time = run.candle.time;
  return true;
}

/** Moves the stop by the candle's best price, unless its worst price has reached the present stop (docs/simulation.md#trailing-stops). */
function raiseStop(run: Run, position: Position): void {
  const { candle } = run;
  const { direction, leverage } = position;
  if (isStopReached(position.stop, candle.high, candle.low, direction)) return;
  const best = bestPrice(candle.high, candle.low, direction);
  const custom = customStoploss(run, position);
  if (custom !== null) position.moveStop(stopAt(best, custom, leverage, direction, position.tick), custom);
  trailStop(run, position, best, custom);
}

/** Moves the trailing stop by the price `best`; `custom` is the distance that the strategy has set now, null for none. */
function trailStop({ settings }: Run, position: Position, best: number, custom: number | null): void {
  const { direction, leverage, tick } = position;
  const trailed = trailingDistance(position, best, custom, settings);
  if (trailed > 0) position.moveStop(stopAt(best, trailed, leverage, direction, tick), trailed);
}

function tryRoiExit(run: Run, position: Position, custom: number | null): boolean {
  const { candle, settings } = run;
  const price = roiPrice(position, custom, candle, settings);
  if (Number.isNaN(price) || !isConfirmed(run, position, price, 'roi')) return false;
  if (!orderExit(run, position, price, false, 'roi')) return false;
  if (price === candle.open)
    position.order.isKnownAtOpen = isRoiDueAtOpen(position, custom, candle, settings);
  return true;
}

/** Reason of an exit by the stop. */
export function stopReason({ stopMoved }: Position): string {
  return stopMoved ? 'trailing_stop_loss' : 'stop_loss';
}

function tryStopExit(run: Run, position: Position, isOldStop: boolean): boolean {
  const reason = stopReason(position);
  const price = stopExitPrice(run, position);
  if (!isConfirmed(run, position, price, reason)) return false;
  if (!orderExit(run, position, price, true, reason)) return false;
  if (isOldStop && isPassedAtOpen(run, position, position.stop)) {
    position.order.atOpen = true;
    position.order.gapTime = run.candle.time;
  }
  return true;
}

function stopExitPrice(run: Run, position: Position): number {
  const { candle, settings } = run;
  const { stop, direction } = position;
  const price = levelFill(run, position, stop);
  if (!position.stopMoved || candle.time !== position.openedAt || price !== stop) return price;
  return entryCandleTrailingPrice(
    candle.open,
    candle.high,
    candle.low,
    settings.entryCandleByOffset,
    settings.trailingOffset,
    settings.trailingPositive,
    position.stopDistance,
    position.leverage,
    direction,
  );
}

/** Liquidation needs no confirmation. */
function tryLiquidation(run: Run, position: Position): boolean {
  const { liquidation } = position;
  const price = levelFill(run, position, liquidation);
  if (!orderExit(run, position, price, true, 'liquidation')) return false;
  position.order.atOpen = isPassedAtOpen(run, position, liquidation);
  if (position.order.atOpen && position.lastFilledAt < run.candle.time)
    position.order.gapTime = run.candle.time;
  return true;
}

/** True when the candle opens at a stop or liquidation price or beyond it. */
function isPassedAtOpen({ candle: { open } }: Run, { direction }: Position, level: number): boolean {
  return isStopReached(level, open, open, direction);
}

/** True when the price comes by the liquidation before the stop. In cross margin freqtrade's order stays. */
function isLiquidatedFirst({ settings }: Run, { stop, liquidation, direction }: Position): boolean {
  return !settings.cross && isTighter(liquidation, stop, direction);
}

/** True if the candle opens beyond the price at which the collateral of a position, held since an earlier candle, is lost. */
export function isBankruptAtOpen(run: Run, position: Position): boolean {
  return isPassedAtOpen(run, position, position.bankruptcy) && position.lastFilledAt < run.candle.time;
}

/** Liquidates a position that {@link isBankruptAtOpen}, also if the price returns (docs/simulation.md#liquidation). */
export function liquidateAtOpen(run: Run, position: Position): boolean {
  const { candle, settings } = run;
  if (!isBankruptAtOpen(run, position)) return false;
  if (settings.detailPerCandle > 1) position.seeDetail(candle);
  orderExit(run, position, candle.open, true, 'liquidation');
  position.order.isKnownAtOpen = true;
  fillExit(run, position);
  return true;
}

/** Fill price of a stop or liquidation at `level`, which the candle has reached. */
function levelFill({ candle, settings }: Run, { direction }: Position, level: number): number {
  const { open, high, low } = candle;
  return stopFill(level, open, high, low, direction, settings.conservative);
}

/** Exit signal or custom exit (docs/simulation.md#exit-signals). */
export function trySignalExit(run: Run, position: Position): boolean {
  const reason = signalReason(run, position);
  return reason !== null && orderSignalExit(run, position, reason);
}

/** Orders an exit at the open, or a limit order when the strategy names another price. */
function orderSignalExit(run: Run, position: Position, reason: string): boolean {
  const { candle, settings } = run;
  let price = candle.open;
  let asked = price;
  if (settings.callbacks.customExitPrice) {
    const custom = callCustomExitPrice(run, position);
    asked = custom;
    // Limited to the candle: an order of a long below the low would have filled immediately, at a better price.
    price = position.direction === LONG ? Math.max(custom, candle.low) : Math.min(custom, candle.high);
  }
  if (roundHalfUp(price, position.tick) !== candle.open) run.dependsOnFillModel = true;
  if (!isConfirmed(run, position, price, reason)) return false;
  const isOrdered = orderExit(run, position, price, price === candle.open, reason);
  // Whether the candle limits another price is known inside it only.
  if (isOrdered) position.order.isKnownAtOpen = asked === candle.open;
  return isOrdered;
}

export function signalReason(run: Run, position: Position): string | null {
  const { candle, settings } = run;
  const { market, direction } = position;
  if (!market.hasExitSignal(candle.row, direction) || market.hasEntrySignal(candle.row, direction))
    return settings.callbacks.customExit ? customExit(run, position) : null;
  const blocked =
    settings.exitProfitOnly &&
    !(position.profitRatioAt(candle.open, settings.fee) > settings.exitProfitOffset);
  return blocked ? null : (market.exitTag(candle.row) ?? 'exit_signal');
}

/** True unless the strategy holds back the exit. */
export function isConfirmed(run: Run, position: Position, price: number, reason: string): boolean {
  if (!run.settings.callbacks.confirmExit || callConfirmExit(run, position, price, reason)) return true;
  run.dependsOnFillModel = true;
  return false;
}

/** The return value of customStoploss in this candle, which is called once; null without it. */
export function customStoploss(run: Run, position: Position): number | null {
  if (!run.settings.callbacks.customStoploss) return null;
  const results = position.callbackResults.in(run.candle.time);
  if (results.stoploss === undefined) results.stoploss = callCustomStoploss(run, position);
  return results.stoploss;
}

/** The return value of customRoi in this candle, which is called once; null without it. */
export function customRoi(run: Run, position: Position): number | null {
  if (!run.settings.callbacks.customRoi) return null;
  const results = position.callbackResults.in(run.candle.time);
  if (results.roi === undefined) results.roi = callCustomRoi(run, position);
  return results.roi;
}

/** The return value of customExit in this candle, which is called once. */
function customExit(run: Run, position: Position): string | null {
  const results = position.callbackResults.in(run.candle.time);
  if (results.exit === undefined) results.exit = callCustomExit(run, position);
  return results.exit;
}
