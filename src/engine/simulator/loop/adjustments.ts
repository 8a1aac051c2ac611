import type { TaggedStake } from '../../strategy.ts';
import { roundHalfUp } from '../rules/decimals.ts';
import { Exact, QUOTIENT_DECIMALS } from '../rules/exact.ts';
import { LONG } from '../rules/prices.ts';
import { isNoise, MAX_ORDERS } from '../state/order-history.ts';
import type { Position } from '../state/position.ts';
import type { Run } from '../state/run.ts';
import { callAdjustPosition, callCustomExitPrice } from './callbacks.ts';
import {
  acceptedPart,
  fillAddition,
  fillsAtOnce,
  limitOfEntry,
  orderedAmount,
  orderPrice,
} from './entries.ts';
import { fillExit, fillsExitAtOnce } from './exits.ts';

/**
 * Asks the strategy whether to add to an open position or to take from it, orders that, and fills it if the candle allows
 * (docs/simulation.md#adjustments). Throws for a trade with too many orders.
 */
export function adjust(run: Run, position: Position): void {
  if (position.order.isRest) return;
  const adjustment = askAdjustment(run, position);
  if (adjustment === null) return;
  if (position.history !== null && position.history.orders.length >= MAX_ORDERS - 1)
    rejectOrder(run, position);
  const [stake, tag] =
    typeof adjustment === 'number' ? [adjustment, null] : [adjustment.stake, adjustment.tag];
  if (stake > 0) addTo(run, position, stake, tag);
  else takeFrom(run, position, -stake, tag ?? 'partial_exit');
}

/** The return value of adjustPosition in this candle, which is called once. */
export function askAdjustment(run: Run, position: Position): number | TaggedStake | null {
  const results = position.callbackResults.in(run.candle.time);
  if (results.adjustment === undefined) results.adjustment = callAdjustPosition(run, position);
  return results.adjustment;
}

/** Orders an addition. An equal one that waits is kept; another order that waits is cancelled. */
function addTo(run: Run, position: Position, wanted: number, tag: string | null): void {
  const { candle, settings } = run;
  const { market, direction, leverage, order } = position;
  if (position.view.entries > settings.maxAdjustments) return;
  const limit = limitOfEntry(run, market, direction, position);
  const available = run.available();
  const stake =
    market.orderRules === null
      ? Math.min(wanted, available)
      : market.orderRules.allowedAddition(wanted, available, limit, leverage, position.stake);
  if (!(stake > 0)) return;
  const ordered = orderedAmount(run, market, direction, limit, stake, leverage);
  const amount = acceptedPart(run, market, limit, ordered);
  const atMarket = limit === candle.open;
  const price = market.costs.slips ? orderPrice(run, market, direction, limit, amount) : limit;
  if (order.kind === 'addition' && order.price === price && order.amount === amount) return;
  if (amount < ordered) market.costs.countDropped((ordered - amount) * limit);
  if (!(amount > 0)) return;
  order.kind = 'addition';
  order.price = price;
  order.amount = amount;
  order.tag = tag ?? market.enterTag(candle.row);
  order.time = candle.time;
  if (run.needsFreedLater(stake)) {
    position.usesFreedLater = true;
    run.account?.keep(position);
  }
  if (!atMarket) run.dependsOnFillModel = true;
  if (atMarket) position.slippageCost += amount * Math.abs(price - limit);
  if (atMarket || fillsAtOnce(run, price, direction)) {
    if (run.askedPrice !== candle.open) run.account?.keep(position);
    fillAddition(run, position);
  } else position.placeAddition(candle.time, settings);
}

/** Orders a partial exit, or the exit of the whole position if `taken` is at least its stake. */
function takeFrom(run: Run, position: Position, taken: number, reason: string): void {
  const { candle, settings } = run;
  const { market, direction, order } = position;
  const cut = amountOf(taken, position);
  if (!(cut > 0)) return;
  const rest = position.amount - cut;
  const isWhole = isNoise(rest, position);
  if (!isWhole && market.orderRules !== null && rest * candle.open < market.orderRules.minRest(candle.open))
    return;
  const amount = isWhole ? position.amount : market.fillable(cut, candle.row);
  if (!isWhole && amount < cut) market.costs.cappedExits++;
  if (!(amount > 0)) return;
  let limit = candle.open;
  let asked = limit;
  if (settings.callbacks.customExitPrice) {
    const custom = callCustomExitPrice(run, position);
    asked = custom;
    limit = direction === LONG ? Math.max(custom, candle.low) : Math.min(custom, candle.high);
  }
  const price = roundHalfUp(limit, position.tick);
  order.reason = reason;
  if (order.kind === 'exit' && order.price === price && order.amount === amount) return;
  order.kind = 'exit';
  order.tag = reason;
  order.price = price;
  order.amount = amount;
  order.slips = limit === candle.open;
  order.time = candle.time;
  if (!fillsExitAtOnce(run, position)) return;
  order.isKnownAtOpen = asked === candle.open;
  if (isWhole) position.endRange(candle);
  fillExit(run, position);
}

/** The amount that is worth `taken` of the stake, cut to the step; at most the whole position. */
function amountOf(taken: number, { amount, stake, market: { orderRules } }: Position): number {
  if (orderRules === null) return Math.min((taken * amount) / stake, amount);
  const wanted = Exact.of(taken).times(Exact.of(amount)).over(Exact.of(stake), QUOTIENT_DECIMALS).toNumber();
  return orderRules.cut(Math.min(wanted, amount));
}

function rejectOrder({ candle }: Run, { market }: Position): never {
  throw new RangeError(
    `adjustPosition adjusts the trade of ${market.input.pair} again in the candle of ${new Date(candle.time).toISOString()}, but a ` +
      `trade has at most ${MAX_ORDERS} orders: adjust it less often, or set maxAdjustments.`,
  );
}
