import { liquidationPrice, paidFor, sign } from './arithmetic.ts';
import { type Moment, TIMEOUT } from './exits.ts';
import type { Bar, OrderCounters, Position, Rules, Side } from './types.ts';

/** The limit price of an entry: the open, or the strategy's price, limited to the candle. */
export function entryLimit(side: Side, { bar, answers }: Moment): number {
  const custom = bar.open * (answers?.entry ?? 1);
  return side === 'long' ? Math.min(custom, bar.high) : Math.max(custom, bar.low);
}

/** The price of an entry, worse than the quoted one by the slippage. */
export function slipped(price: number, side: Side, rules: Rules): number {
  return price * (1 + sign(side) * rules.slippage);
}

/** An entry order in this candle. */
export function orderEntry(pair: string, side: Side, stake: number, moment: Moment, rules: Rules): Position {
  const { bar, signals } = moment;
  const limit = entryLimit(side, moment);
  const atLimit = limit !== bar.open;
  const entry = atLimit ? limit : slipped(limit, side, rules);
  const position: Position = {
    pair,
    side,
    openTime: bar.time,
    filledTime: undefined,
    entryPlaced: bar.time,
    atLimit,
    entry,
    amount: (stake / entry) * rules.leverage,
    stake,
    stop: 0,
    stopRatio: rules.stoploss,
    stopMoved: false,
    initialStop: 0,
    liquidation: undefined,
    funding: 0,
    lowest: Number.POSITIVE_INFINITY,
    highest: Number.NEGATIVE_INFINITY,
    enterTag: signals.enterTag,
    entryTag: signals.enterTag,
    order: undefined,
    lastFill: bar.time,
    fundingBefore: 0,
    fundingSince: 0,
    fundedFrom: 0,
    slippageCost: 0,
    entriesValue: 0,
    realized: 0,
    realizedFunding: 0,
    prepaidFunding: 0,
    orders: [],
  };
  if (!atLimit) fillEntry(position, bar, rules);
  return position;
}

function fillEntry(position: Position, bar: Bar, rules: Rules): void {
  position.filledTime = bar.time;
  position.stop = position.entry * (1 - (sign(position.side) * rules.stoploss) / rules.leverage);
  position.initialStop = position.stop;
  position.liquidation = liquidationPrice(position, rules);
  const { side, entry: price, amount, entryPlaced: placed, entryTag: tag } = position;
  position.lastFill = bar.time;
  position.entriesValue = paidFor(side, amount, price, rules);
  const quoted = price / (1 + sign(side) * rules.slippage);
  position.slippageCost = position.atLimit ? 0 : amount * Math.abs(price - quoted);
  position.orders.push({ side: 'entry', placed, filled: bar.time, price, amount, funding: 0, tag });
}

/** Fills the waiting entry if the candle touches its price. */
export function tryEntry(position: Position, { bar }: Moment, rules: Rules): void {
  if (position.filledTime !== undefined) return;
  if (position.entry >= bar.low && position.entry <= bar.high) fillEntry(position, bar, rules);
}

/** Cancels, keeps or replaces the entry that waits since an earlier candle (docs/simulation.md#waiting-orders); false if it is gone. */
export function manageEntry(
  position: Position,
  { bar, answers, signals }: Moment,
  rules: Rules,
  counters: OrderCounters,
): boolean {
  if (position.filledTime !== undefined) return true;
  const isOld = bar.time - position.entryPlaced >= (rules.entryTimeout ?? TIMEOUT) * 60_000;
  if (isOld || answers?.cancelEntry) {
    counters.timedOutEntries += 1;
    return false;
  }
  if (answers?.adjustEntry === null) {
    counters.cancelledEntries += 1;
    return false;
  }
  const price = position.entry * (answers?.adjustEntry ?? 1);
  if (price === position.entry) return true;
  counters.replacedEntries += 1;
  position.stake = (position.amount * position.entry) / rules.leverage;
  position.amount = (position.stake / price) * rules.leverage;
  position.entry = price;
  position.entryPlaced = bar.time;
  position.entryTag = signals.enterTag;
  return true;
}
