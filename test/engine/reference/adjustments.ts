import { exitProfit, liquidationPrice, openFunding, paidFor, round8, sign } from './arithmetic.ts';
import { entryLimit, slipped } from './entries.ts';
import { type Moment, signalPrice, TIMEOUT } from './exits.ts';
import type { Market, OrderCounters, Position, Rules } from './types.ts';

const HOUR = 3_600_000;

/**
 * Funding from the last fill up to and including now (docs/simulation.md#funding). Longs pay a positive rate. After an
 * adjustment at an event it is summed again in the next full hour; an event off the hours comes before that.
 */
export function fund(position: Position, market: Market, now: number): void {
  const isLater = market.funding.some(({ time }) => time > position.lastFill && time <= now);
  if (now < position.fundedFrom && !isLater) return;
  position.fundedFrom = 0;
  position.fundingSince = fundingOf(position, market, now, position.amount);
  position.funding = position.fundingBefore + position.fundingSince;
}

function fundingOf({ side, lastFill }: Position, market: Market, now: number, amount: number): number {
  const due = market.funding.filter(({ time }) => time >= lastFill && time <= now);
  return -sign(side) * due.reduce((sum, { rate, mark }) => sum + rate * mark * amount, 0);
}

/** Cancels, keeps or replaces the addition that waits since an earlier candle (docs/simulation.md#waiting-orders). */
export function manageAddition(
  position: Position,
  { bar, answers, signals }: Moment,
  rules: Rules,
  counters: OrderCounters,
): void {
  const { order } = position;
  if (order?.kind !== 'addition') return;
  const isOld = bar.time - order.placed >= (rules.entryTimeout ?? TIMEOUT) * 60_000;
  if (isOld || answers?.cancelEntry) {
    counters.timedOutEntries += 1;
    position.order = undefined;
    return;
  }
  if (answers?.adjustEntry === null) {
    position.order = undefined;
    return;
  }
  const price = order.price * (answers?.adjustEntry ?? 1);
  if (price === order.price) return;
  counters.replacedEntries += 1;
  const amount = (order.price * order.amount) / price;
  position.order = { ...order, price, amount, placed: bar.time, tag: signals.enterTag };
  proposeStop(position, rules);
}

/** Fills the waiting addition if the candle touches its price. The funding of this candle is summed after it. */
export function tryAddition(position: Position, market: Market, { bar }: Moment, rules: Rules): void {
  const { order } = position;
  if (order?.kind !== 'addition' || order.price < bar.low || order.price > bar.high) return;
  if (position.lastFill < bar.time) fund(position, market, bar.time - 1);
  fillAddition(position, market, bar.time, rules);
  position.fundedFrom = 0;
}

function fillAddition(position: Position, market: Market, now: number, rules: Rules): void {
  const { price, amount, placed, tag } = position.order!;
  const total = position.amount + amount;
  recordFill(position, { side: 'entry', placed, filled: now, price, amount, tag });
  position.entriesValue += paidFor(position.side, amount, price, rules);
  const { entry } = position;
  position.entry = price === entry ? entry : (position.amount * entry + amount * price) / total;
  recalculate(position, total, rules);
  beginFunding(position, market, now, total);
}

type Fill = Omit<Position['orders'][number], 'funding'>;

export function recordFill(position: Position, fill: Fill): void {
  position.orders.push({ ...fill, funding: position.fundingSince });
}

/** Follows a fill: stop and liquidation price (docs/simulation.md#fills). */
function recalculate(position: Position, amount: number, rules: Rules): void {
  position.order = undefined;
  position.amount = amount;
  position.stake = (amount * position.entry) / rules.leverage;
  proposeStop(position, rules);
  position.liquidation = liquidationPrice(position, rules);
}

/** Moves the stop to its distance from the average price if that is tighter; placing an addition does that too. */
function proposeStop(position: Position, rules: Rules): void {
  const { side, entry, stop } = position;
  const proposed = entry * (1 - (sign(side) * position.stopRatio) / rules.leverage);
  if (side === 'long' ? proposed > stop : proposed < stop) {
    position.stop = proposed;
    position.stopMoved = true;
  }
}

/**
 * Begins a new sum of funding. freqtrade counts an event now for `amount`, and profit ratios leave it out until it sums
 * again in a full hour.
 */
function beginFunding(position: Position, market: Market, now: number, amount: number): void {
  position.lastFill = now;
  position.fundingBefore += position.fundingSince;
  position.fundingSince = fundingOf(position, market, now, amount);
  position.funding = position.fundingBefore;
  if (market.funding.some(({ time }) => time === now))
    position.fundedFrom = (Math.floor(now / HOUR) + 1) * HOUR;
}

/** Takes a part out at the price of its fill, and returns the profit. */
export function reduce(position: Position, market: Market, now: number, price: number, rules: Rules): number {
  const { amount, placed, tag } = position.order!;
  const profit = exitProfit(position, amount, price, rules);
  const left = 1 - amount / position.amount;
  position.prepaidFunding = (position.prepaidFunding + openFunding(position)) * left;
  recordFill(position, { side: 'exit', placed, filled: now, price, amount, tag });
  position.realized = round8(position.realized + profit);
  position.realizedFunding = position.fundingBefore + position.fundingSince;
  const before = position.amount;
  recalculate(position, before - amount, rules);
  beginFunding(position, market, now, before);
  return profit;
}

/**
 * Orders what the strategy wants to add or to take out (docs/simulation.md#adjustments). An addition is filled if the candle allows it;
 * returns true if an exit is.
 */
export function adjust(
  position: Position,
  market: Market,
  moment: Moment,
  available: number,
  rules: Rules,
): boolean {
  const factor = moment.answers?.addStake;
  if (factor === undefined) return false;
  if (factor < 0) return take(position, moment, -factor);
  if (wantsMore(position, moment, rules))
    add(position, market, moment, Math.min(factor * position.stake, available), rules);
  return false;
}

/** True if the strategy adds to the position and may. */
export function wantsMore({ orders }: Position, { answers }: Moment, rules: Rules): boolean {
  const entries = orders.filter(({ side }) => side === 'entry').length;
  return (answers?.addStake ?? 0) > 0 && entries <= (rules.maxAdjustments ?? Number.POSITIVE_INFINITY);
}

function add(position: Position, market: Market, moment: Moment, stake: number, rules: Rules): void {
  const { bar, signals } = moment;
  const { side, order } = position;
  if (stake <= 0) return;
  const limit = entryLimit(side, moment);
  const atLimit = limit !== bar.open;
  const price = atLimit ? limit : slipped(limit, side, rules);
  const amount = (stake / price) * rules.leverage;
  if (order?.kind === 'addition' && order.price === price && order.amount === amount) return;
  position.order = { kind: 'addition', price, amount, placed: bar.time, tag: signals.enterTag, atLimit };
  if (!atLimit) position.slippageCost += amount * Math.abs(price - limit);
  if (!atLimit || (price >= bar.low && price <= bar.high)) fillAddition(position, market, bar.time, rules);
  else proposeStop(position, rules);
}

/** Share of an amount that is an error of its last digits. */
const NOISE = 1e-13;

function take(position: Position, { bar, answers }: Moment, share: number): boolean {
  const { order } = position;
  const part = Math.min(share * position.amount, position.amount);
  const amount = position.amount - part <= position.amount * NOISE ? position.amount : part;
  const { price, atLimit } = signalPrice(position, bar, answers);
  const reason = 'partial_exit';
  if (order?.kind === 'exit' && order.price === price && order.amount === amount) {
    order.reason = reason;
    return false;
  }
  position.order = { kind: 'exit', price, amount, placed: bar.time, reason, tag: reason, atLimit };
  return price >= bar.low && price <= bar.high;
}
