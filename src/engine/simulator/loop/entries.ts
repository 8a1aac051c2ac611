import { decimalProduct, roundHalfUp } from '../rules/decimals.ts';
import { allowedStake, entryAmount, entryStake, proposedStake } from '../rules/money.ts';
import { type Direction, isAtOrBeyond, LONG, slippedEntry } from '../rules/prices.ts';
import { FreedLater } from '../state/freed-later.ts';
import type { Market } from '../state/market.ts';
import type { Position } from '../state/position.ts';
import type { Run } from '../state/run.ts';
import {
  callAdjustEntryPrice,
  callAdjustExitPrice,
  callCheckTimeout,
  callConfirmEntry,
  callCustomEntryPrice,
  callCustomStake,
  callLeverage,
  callOrderFilled,
  orderView,
} from './callbacks.ts';
import { adjustStopAfterFill } from './exits.ts';

/** Enters `market` in the present candle if a slot, the wallet and the strategy allow it, in the order of docs/simulation.md#entries. */
export function enter(run: Run, market: Market, direction: Direction): void {
  const { settings, candle, wallet } = run;
  const { callbacks } = settings;
  if (run.protections?.isLocked(market, direction, candle.time)) return;
  const seesFreedLater = run.seesFreedLater();
  // In the conservative model a trade that ended inside the candle still has its slot and money.
  const locked = seesFreedLater && settings.conservative ? wallet.freedLater : NOTHING;
  if (wallet.positions.length + locked.slots >= settings.maxOpenTrades) {
    run.rejectSignal(market);
    return;
  }
  const limit = limitOfEntry(run, market, direction);
  const collateral = wallet.collateral() + locked.collateral;
  const available = wallet.available(collateral, locked.profit);
  const proposed = proposedStake(
    settings.fixedStake,
    available,
    collateral,
    settings.maxOpenTrades,
    settings.amendLastStake,
    settings.lastStakeMinRatio,
  );
  if (proposed === null) return;
  const wantedLeverage = callbacks.leverage ? callLeverage(run, market, direction) : settings.leverage;
  const { margin, costs } = market;
  const leverage = margin.hasTiers ? Math.min(wantedLeverage, margin.maxLeverage(proposed)) : wantedLeverage;
  const wanted = callbacks.customStake
    ? callCustomStake(run, market, direction, proposed, leverage)
    : proposed;
  const stake = allowedStake(wanted, Math.max(available, proposed), market.orderRules, limit, leverage);
  if (!(stake > 0)) return;
  const ordered = orderedAmount(run, market, direction, limit, stake, leverage);
  const amount = costs.isLimited ? acceptedPart(run, market, limit, ordered) : ordered;
  if (amount > 0 && callbacks.confirmEntry && !callConfirmEntry(run, market, direction, limit)) return;
  if (amount < ordered) costs.countDropped((ordered - amount) * limit);
  if (!(amount > 0)) return;
  const price = costs.slips ? orderPrice(run, market, direction, limit, amount) : limit;

  const usesFreedLater = seesFreedLater && needsFreedLater(run, stake);
  const position = run.open(market, direction, leverage);
  position.usesFreedLater = usesFreedLater;
  position.order.price = price;
  position.order.amount = amount;
  position.stake = costs.isModelled
    ? decimalProduct(amount, price, 1) / leverage
    : entryStake(stake, amount, price, leverage, market.orderRules);
  position.placeEntry(candle, settings);
  const asked = run.askedPrice;
  if (limit === candle.open) fillAtMarket(run, position);
  if (run.account !== null) run.account.noteEntry(position, limit, asked, proposed, wanted);
}

/** Shared, so that the entry reads one shape. */
const NOTHING = new FreedLater();

/** True if an entry of `stake` has a slot or money only because trades ended inside the present candle (freqtrade model). */
function needsFreedLater(run: Run, stake: number): boolean {
  const { wallet, settings } = run;
  const isLast = wallet.positions.length + wallet.freedLater.slots >= settings.maxOpenTrades;
  return run.needsFreedLater(stake) || (isLast && !settings.conservative);
}

/** Price of an entry or addition of `amount` where market fills slip: at the open it takes the market. */
export function orderPrice(
  { candle }: Run,
  { costs }: Market,
  direction: Direction,
  limit: number,
  amount: number,
): number {
  return limit === candle.open ? slippedEntry(limit, costs.rate(candle.time, amount), direction) : limit;
}

/**
 * The amount that `stake` pays for at the price of the order; its impact is that of the amount before slippage. More than five
 * arguments because each entry calls it: an object would be made for each.
 */
export function orderedAmount(
  run: Run,
  market: Market,
  direction: Direction,
  limit: number,
  stake: number,
  leverage: number,
): number {
  const price = market.costs.slips
    ? orderPrice(run, market, direction, limit, (stake / limit) * leverage)
    : limit;
  return entryAmount(stake, price, leverage, market.orderRules);
}

/** The part of an entry or addition that the volume allows; 0 where the exchange would reject an order that small. */
export function acceptedPart({ candle }: Run, market: Market, limit: number, ordered: number): number {
  const part = market.fillable(ordered, candle.row);
  if (part === ordered || market.orderRules === null) return part;
  return part * limit < market.orderRules.minOrder(limit, 1) ? 0 : part;
}

/** Fills the entry at the open. */
function fillAtMarket(run: Run, position: Position): void {
  const price = roundHalfUp(run.candle.open, position.tick);
  if (position.market.costs.slips) fillSlipped(run, position, price);
  else fillEntryAt(run, position, price);
}

/** Fills the entry off the open. Slippage moves the price off the ticks: it models fills at several of them. */
function fillSlipped(run: Run, position: Position, unslipped: number): void {
  const { candle } = run;
  const { market, amount, direction } = position;
  const price = slippedEntry(unslipped, market.costs.rate(candle.time, amount), direction);
  position.slippageCost = amount * Math.abs(price - unslipped);
  fillEntryAt(run, position, price);
}

/** Fills the ordered entry or addition in the present candle, and calls `orderFilled` and `afterFill` (docs/simulation.md#fills). */
function fillEntryAt(run: Run, position: Position, price: number): void {
  const { candle, settings } = run;
  const { order, market } = position;
  if (market.costs.isLimited) market.costs.countFill(order.amount, candle.row);
  const filled = settings.callbacks.orderFilled ? orderView(position, price) : null;
  if (order.kind === 'addition') position.add(price, candle, settings);
  else {
    position.fill(price, candle, settings);
    if (!run.dependsOnFillModel && position.isPaidAtFill) run.dependsOnFillModel = true;
    // Its callbacks see the funding at the time of the fill.
    if (candle.time >= position.nextFundingTime) position.bookFunding(candle.time, settings);
  }
  if (filled !== null) callOrderFilled(run, position, filled);
  if (settings.cross) run.renewLiquidations(position);
  if (!settings.callbacks.afterFill) return;
  adjustStopAfterFill(run, position, order.price);
  // A new order is followed by a recalculation, filled or not.
  if (order.time === candle.time) position.proposeStop();
}

/** The limit price of an entry: the open, or what the strategy names. */
export function limitOfEntry(
  run: Run,
  market: Market,
  direction: Direction,
  position: Position | null = null,
): number {
  if (run.settings.callbacks.customEntryPrice) return customEntryPrice(run, market, direction, position);
  run.askedPrice = run.candle.open;
  return run.askedPrice;
}

/** The limit price that the callback returns, rounded to its tick, then limited to the candle's prices (docs/simulation.md#rounding). */
function customEntryPrice(run: Run, market: Market, direction: Direction, position: Position | null): number {
  const { candle } = run;
  const custom = callCustomEntryPrice(run, market, direction, position);
  run.askedPrice = custom;
  if (custom === candle.open) return custom;
  const price =
    market.orderRules === null ? custom : roundHalfUp(custom, market.orderRules.tickAt(candle.time));
  run.askedPrice = price;
  return direction === LONG ? Math.min(price, candle.high) : Math.max(price, candle.low);
}

/** Cancels, replaces or keeps an order that has waited since an earlier candle (docs/simulation.md#waiting-orders). */
export function manageOrder(run: Run, position: Position): void {
  const { candle, settings, counters } = run;
  const { callbacks } = settings;
  if (position.order.isRest) return;
  const isExit = position.order.kind === 'exit';
  const timeoutMs = isExit ? settings.exitTimeoutMs : settings.entryTimeoutMs;
  if (candle.time - position.order.time >= timeoutMs || callCheckTimeout(run, position)) {
    if (isExit) counters.timedOutExits++;
    else counters.timedOutEntries++;
    cancelOrder(run, position);
    return;
  }
  if (isExit && callbacks.adjustExitPrice) adjustExit(run, position);
  else if (!isExit && callbacks.adjustEntryPrice) adjustEntry(run, position);
}

/** Replaces or cancels a waiting exit as the strategy wants; it keeps amount and reason. */
function adjustExit(run: Run, position: Position): void {
  const { order, tick } = position;
  const price = callAdjustExitPrice(run, position);
  if (price === order.price) return;
  if (price === null) {
    run.counters.cancelledExits++;
    order.kind = 'none';
    return;
  }
  run.counters.replacedExits++;
  order.price = roundHalfUp(price, tick);
  order.slips = price === run.candle.open;
  order.time = run.candle.time;
}

/** Cancels the waiting order. Without its first entry the position is gone. */
function cancelOrder(run: Run, position: Position): void {
  if (position.order.kind === 'entry') run.remove(position);
  else position.order.kind = 'none';
}

function adjustEntry(run: Run, position: Position): void {
  const price = callAdjustEntryPrice(run, position);
  if (price === position.order.price) return;
  if (price !== null && replaceEntry(run, position, price)) {
    run.counters.replacedEntries++;
    return;
  }
  if (position.order.kind === 'entry') run.counters.cancelledEntries++;
  cancelOrder(run, position);
}

/**
 * Replaces a waiting entry by an order of equal value at `price`, not rounded; returns false if that cannot be ordered. Price and
 * confirmation callbacks are called as for any order; only the minimum stake depends on the price that they return.
 */
function replaceEntry(run: Run, position: Position, price: number): boolean {
  const { candle, settings } = run;
  const { market, direction, leverage, order } = position;
  const { orderRules } = market;
  const limit = limitOfEntry(run, market, direction, position);
  const stake = (order.amount * order.price) / leverage;
  if (orderRules !== null && stake < orderRules.minOrder(limit, leverage)) return false;
  const ordered = entryAmount(stake, price, leverage, orderRules);
  const amount = market.costs.isLimited ? acceptedPart(run, market, price, ordered) : ordered;
  if (!(amount > 0)) return false;
  if (settings.callbacks.confirmEntry && !callConfirmEntry(run, market, direction, price, position))
    return false;
  if (amount < ordered) market.costs.countDropped((ordered - amount) * price);
  order.price = price;
  order.amount = amount;
  if (order.kind === 'addition') {
    order.time = candle.time;
    order.tag = market.enterTag(candle.row);
    // One that is filled in this candle has no recalculation before that.
    if (!fillsAtOnce(run, price, direction)) position.placeAddition(candle.time, settings);
    return true;
  }
  position.stake = entryStake(stake, amount, price, leverage, orderRules);
  position.placeEntry(candle, settings);
  return true;
}

/** True if an entry or addition fills at once: when the candle touches its price, in the conservative model when its open is there. */
export function fillsAtOnce({ candle, settings }: Run, price: number, direction: Direction): boolean {
  return settings.conservative ? isAtOrBeyond(price, candle.open, direction) : candle.contains(price);
}

/** Fills the waiting entry or addition if the candle touches its price. */
export function tryFillEntry(run: Run, position: Position): void {
  const { price } = position.order;
  if (!run.candle.contains(price)) return;
  if (price !== run.candle.open) run.account?.keep(position);
  fillWaiting(run, position);
}

/** Fills the waiting entry or addition. */
export function fillWaiting(run: Run, position: Position): void {
  const { order, tick } = position;
  if (order.kind === 'addition') {
    fillAddition(run, position);
    position.bookFunding(run.candle.time, run.settings);
    return;
  }
  run.recordEquity();
  fillEntryAt(run, position, roundHalfUp(order.price, tick));
}

/** Fills the ordered addition in the present candle. */
export function fillAddition(run: Run, position: Position): void {
  run.recordEquity();
  fillEntryAt(run, position, position.order.price);
}
