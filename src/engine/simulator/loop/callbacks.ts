import type { OrderView, TaggedStake } from '../../strategy.ts';
import { netValue, profitRatioOf } from '../rules/money.ts';
import { bestPrice, type Direction, isTighter, LONG } from '../rules/prices.ts';
import { minutesSince } from '../rules/roi.ts';
import { stopAt } from '../rules/stops.ts';
import type { CallbackResult } from '../state/callback-results.ts';
import type { Market } from '../state/market.ts';
import type { Position } from '../state/position.ts';
import type { Run } from '../state/run.ts';
import {
  adjustmentOf,
  checkDone,
  confirmationOf,
  distanceOf,
  leverageOf,
  priceOf,
  ratioOf,
  reasonOf,
  stakeOf,
} from './return-values.ts';

// Calls of the strategy's callbacks in the present candle, with their return values checked. The caller asks first whether the
// strategy has the callback: a call costs a run without it more than that question.

const sideOf = (direction: Direction) => (direction === LONG ? 'long' : 'short');

/** The leverage of an entry, at least 1. */
export function callLeverage(run: Run, market: Market, direction: Direction): number {
  const { leverage: proposed, callbacks } = run.settings;
  const context = run.contextOf(market);
  return leverageOf(callbacks.leverage!(context, sideOf(direction), proposed), proposed, 'leverage', context);
}

/** The stake of an entry, before the limits of wallet and exchange. */
export function callCustomStake(
  run: Run,
  market: Market,
  direction: Direction,
  proposed: number,
  leverage: number,
): number {
  const customStake = run.settings.callbacks.customStake!;
  const context = run.contextOf(market);
  const limits = run.entryLimitsOf(market, leverage);
  return stakeOf(customStake(context, sideOf(direction), proposed, limits), proposed, 'customStake', context);
}

/** The limit price of an entry, or of an addition to `position`, as returned. */
export function callCustomEntryPrice(
  run: Run,
  market: Market,
  direction: Direction,
  position: Position | null,
): number {
  const customEntryPrice = run.settings.callbacks.customEntryPrice!;
  const { open } = run.candle;
  const context = run.contextOf(market, position);
  return priceOf(customEntryPrice(context, sideOf(direction), open), open, 'customEntryPrice', context);
}

/** @param position of an order that is replaced; null for a new entry */
export function callConfirmEntry(
  run: Run,
  market: Market,
  direction: Direction,
  price: number,
  position: Position | null = null,
): boolean {
  const confirmEntry = run.settings.callbacks.confirmEntry!;
  const context = run.contextOf(market, position);
  return confirmationOf(confirmEntry(context, sideOf(direction), price), 'confirmEntry', context);
}

/** The new price of a waiting entry; null to cancel it. */
export function callAdjustEntryPrice(run: Run, position: Position): number | null {
  const { market, view, order } = position;
  const adjustEntryPrice = run.settings.callbacks.adjustEntryPrice!;
  const context = run.contextOf(market, position);
  const price = adjustEntryPrice(context, view, order.price);
  return price === null ? null : priceOf(price, order.price, 'adjustEntryPrice', context);
}

/** The new price of a waiting exit; null to cancel it. */
export function callAdjustExitPrice(run: Run, position: Position): number | null {
  const { market, view, order } = position;
  const adjustExitPrice = run.settings.callbacks.adjustExitPrice!;
  const context = run.contextOf(market, position);
  const price = adjustExitPrice(context, view, order.price);
  return price === null ? null : priceOf(price, order.price, 'adjustExitPrice', context);
}

/** True to cancel the waiting order, as if it had timed out. */
export function callCheckTimeout(run: Run, position: Position): boolean {
  const { market, view, order } = position;
  const name = order.kind === 'exit' ? 'checkExitTimeout' : 'checkEntryTimeout';
  const { callbacks } = run.settings;
  if (!callbacks[name]) return false;
  const context = run.contextOf(market, position);
  return confirmationOf(callbacks[name](context, view, orderView(position, order.price)), name, context);
}

/** Tells the strategy that the position's order was filled at `price`. `tag` and the like are still those of the order. */
export function callOrderFilled(run: Run, position: Position, filled: OrderView): void {
  const orderFilled = run.settings.callbacks.orderFilled!;
  const context = run.contextOf(position.market, position);
  checkDone(orderFilled(context, position.view, filled), 'orderFilled', context);
}

/** The position's order for a callback, as placed or filled at `price`. */
export function orderView({ market, order, amount, entryRow }: Position, price: number): OrderView {
  const { time: placedAt } = order;
  if (order.kind === 'exit') {
    const kind = order.amount < amount ? 'partial_exit' : 'exit';
    return Object.freeze({ side: 'exit', kind, price, amount: order.amount, tag: order.tag, placedAt });
  }
  const isAddition = order.kind === 'addition';
  const kind = isAddition ? 'addition' : 'entry';
  const tag = isAddition ? order.tag : market.enterTag(entryRow);
  return Object.freeze({ side: 'entry', kind, price, amount: order.amount, tag, placedAt });
}

/** Begins the main candle of `step`. */
export function callLoopStart(run: Run, step: number): void {
  const loopStart = run.settings.callbacks.loopStart!;
  const context = run.loopContext(step);
  checkDone(loopStart(context), 'loopStart', { time: context.time });
}

/** The stop distance at the candle's best price, null for no change. */
export function callCustomStoploss(run: Run, position: Position): number | null {
  const { candle, settings } = run;
  const customStoploss = settings.callbacks.customStoploss!;
  const best = bestPrice(candle.high, candle.low, position.direction);
  const profit = position.profitRatioAt(best, settings.fee);
  const context = run.contextOf(position.market, position);
  return distanceOf(customStoploss(context, position.view, best, profit), 'customStoploss', context);
}

/** The stop distance from `price`, at which an order was just filled; null for no change. */
export function callAfterFill(run: Run, position: Position, price: number): number | null {
  const afterFill = run.settings.callbacks.afterFill!;
  const profit = position.profitRatioAt(price, run.settings.fee);
  const context = run.contextOf(position.market, position);
  return distanceOf(afterFill(context, position.view, price, profit), 'afterFill', context);
}

/** The stake to add, negative to take out, with its tag; null for no change. */
export function callAdjustPosition(run: Run, position: Position): number | TaggedStake | null {
  const { candle, settings } = run;
  const adjustPosition = settings.callbacks.adjustPosition!;
  const profit = position.profitRatioAt(candle.open, settings.fee);
  const context = run.contextOf(position.market, position);
  const limits = run.limitsOf(position);
  return adjustmentOf(
    adjustPosition(context, position.view, candle.open, profit, limits),
    'adjustPosition',
    context,
  );
}

/** The required profit ratio, which counts where it is below the ROI table's; null for the table's. */
export function callCustomRoi(run: Run, position: Position): number | null {
  const customRoi = run.settings.callbacks.customRoi!;
  const minutes = minutesSince(position.openedAt, run.candle.time);
  const context = run.contextOf(position.market, position);
  return ratioOf(customRoi(context, position.view, minutes), 'customRoi', context);
}

/** Reason to close the position at the open; null to keep it. */
export function callCustomExit(run: Run, position: Position): string | null {
  const { candle, settings } = run;
  const customExit = settings.callbacks.customExit!;
  const profit = position.profitRatioAt(candle.open, settings.fee);
  const context = run.contextOf(position.market, position);
  return reasonOf(customExit(context, position.view, candle.open, profit), 'customExit', context);
}

/** The limit price of an exit by signal, as returned. */
export function callCustomExitPrice(run: Run, position: Position): number {
  const { candle, settings } = run;
  const customExitPrice = settings.callbacks.customExitPrice!;
  const { open } = candle;
  const profit = position.profitRatioAt(open, settings.fee);
  const context = run.contextOf(position.market, position);
  return priceOf(customExitPrice(context, position.view, open, profit), open, 'customExitPrice', context);
}

export function callConfirmExit(run: Run, position: Position, price: number, reason: string): boolean {
  const confirmExit = run.settings.callbacks.confirmExit!;
  const context = run.contextOf(position.market, position);
  return confirmationOf(confirmExit(context, position.view, price, reason), 'confirmExit', context);
}

/**
 * Calls the per-candle callbacks in the rows [from, end), whose prices trigger nothing, until a return value has an effect.
 * Returns that row, for which the values are kept; else `end`. Values that do not change between the rows are read once, before
 * them: this loop is most of the time of such a strategy. The profit is written out twice: measured, a closure that computes it
 * makes the loop slower.
 */
export function runCallbacks(run: Run, position: Position, from: number, end: number): number {
  const { candle, settings } = run;
  const { callbacks } = settings;
  const { adjustPosition, customStoploss, customRoi } = callbacks;
  const customExit = settings.useExitSignal ? callbacks.customExit : undefined;
  const { market, view, direction, leverage, amount, openValue, funding, openedAt, stop, tick } = position;
  const { timestamp, open, high, low } = market.candles;
  const best = direction === LONG ? high : low;
  const context = run.contextOf(market, position);
  const kept = 1 - direction * settings.fee;
  const received = direction * funding;
  candle.load(market, from);
  let row = from;
  for (; row < end; row++) {
    candle.moveTo(market, row);
    let adjustment: CallbackResult<number | TaggedStake>;
    let stoploss: CallbackResult<number>;
    let roi: CallbackResult<number>;
    let exit: CallbackResult<string>;
    let acts = false;
    if (adjustPosition !== undefined) {
      adjustment = callAdjustPosition(run, position);
      acts = adjustment !== null;
    }
    if (customStoploss !== undefined && !acts) {
      const price = best[row]!;
      const value = netValue(amount, price, kept, received);
      const profit = profitRatioOf(openValue, value, leverage, direction);
      stoploss = distanceOf(customStoploss(context, view, price, profit), 'customStoploss', context);
      acts =
        stoploss !== null && isTighter(stopAt(price, stoploss, leverage, direction, tick), stop, direction);
    }
    if (customRoi !== undefined && !acts) {
      const minutes = minutesSince(openedAt, timestamp[row]!);
      roi = ratioOf(customRoi(context, view, minutes), 'customRoi', context);
      acts = roi !== null;
    }
    if (customExit !== undefined && !acts) {
      const price = open[row]!;
      const value = netValue(amount, price, kept, received);
      const profit = profitRatioOf(openValue, value, leverage, direction);
      exit = reasonOf(customExit(context, view, price, profit), 'customExit', context);
      acts = exit !== null;
    }
    if (!acts) continue;
    position.callbackResults.keep(candle.time, adjustment, stoploss, roi, exit);
    break;
  }
  return row;
}
