import { adjust, fund, manageAddition, recordFill, reduce, tryAddition, wantsMore } from './adjustments.ts';
import { closedRatio, exitProfit, isBankrupt, limitedPrice, openProfitAt, round8 } from './arithmetic.ts';
import { manageEntry, orderEntry, tryEntry } from './entries.ts';
import { type Exit, findExit, type Moment, manageExit } from './exits.ts';
import type { Bar, Market, Outcome, Position, ReferenceTrade, Rules, Side, Signals } from './types.ts';
import { availableStake, proposeStake } from './wallet.ts';

interface Book {
  rules: Rules;
  markets: readonly Market[];
  /** Row of each candle by its open time, per pair. */
  rows: Map<string, Map<number, number>>;
  open: Position[];
  trades: ReferenceTrade[];
  closedProfit: number;
  rejectedSignals: number;
  /** Pairs whose signal found no slot in the current main candle, and those whose signal took one. */
  turnedAway: Set<string>;
  entered: Set<string>;
  orders: Outcome['orders'];
  smallestRest: number;
  /** Pairs visited with an open trade in the current main candle. */
  seen: Set<string>;
}

const MINUTE = 60_000;

/** Every candle time of the run: from the earliest first candle + 1 to the latest last one (docs/simulation.md#candles-and-clock). */
function clock(markets: readonly Market[], rules: Rules): number[] {
  const filled = markets.filter((market) => market.bars.length > 0);
  if (filled.length === 0) return [];
  const first = Math.min(...filled.map((market) => (market.bars[0] as Bar).time));
  const last = Math.max(...filled.map((market) => (market.bars.at(-1) as Bar).time));
  const times: number[] = [];
  const step = rules.timeframeMinutes * MINUTE;
  for (let time = first + step; time <= last; time += step) times.push(time);
  return times;
}

const rowsByTime = (bars: readonly Bar[]): Map<number, number> =>
  new Map(bars.map((bar, row) => [bar.time, row]));

/** Pairs with open trades in the order of their entries, then the others as listed (docs/simulation.md#order-of-events). */
function turns(book: Book): Market[] {
  const busy = book.open.map(({ pair }) => pair);
  const first = busy.map((pair) => book.markets.find((market) => market.pair === pair) as Market);
  return [...first, ...book.markets.filter((market) => !busy.includes(market.pair))];
}

/** Requested direction. Colliding signals request none (docs/simulation.md#signals). Short signals are ignored without canShort. */
function direction(signals: Signals, rules: Rules): Side | undefined {
  const { enterLong, exitLong, exitShort } = signals;
  const enterShort = signals.enterShort && rules.canShort;
  if (enterLong && !exitLong && !enterShort) return 'long';
  if (enterShort && !exitShort && !enterLong) return 'short';
  return undefined;
}

const openOf = (book: Book, pair: string): Position | undefined =>
  book.open.find((position) => position.pair === pair);

/** Prices of market orders, worse than the quoted price by the slippage. */
const buyPrice = (price: number, rules: Rules): number => price * (1 + rules.slippage);
const sellPrice = (price: number, rules: Rules): number => price * (1 - rules.slippage);

/** Exit price. The profit target and prices of the strategy are limit orders; every other exit is a market order. */
function exitPrice(
  position: Position,
  { price, atLimit }: Pick<Exit, 'price' | 'atLimit'>,
  rules: Rules,
): number {
  if (atLimit) return price;
  return position.side === 'long' ? sellPrice(price, rules) : buyPrice(price, rules);
}

function noteRest(book: Book, rest: number): void {
  book.smallestRest = Math.min(book.smallestRest, Math.abs(rest));
}

function enter(book: Book, market: Market, moment: Moment, side: Side): void {
  const { rules, open } = book;
  const unlimited = rules.maxOpenTrades <= 0 || !Number.isFinite(rules.maxOpenTrades);
  if (!unlimited && open.length >= rules.maxOpenTrades) {
    book.turnedAway.add(market.pair);
    return;
  }
  if (rules.stake === 'unlimited') noteRest(book, availableStake(book.closedProfit, open, rules));
  const stake = proposeStake(book.closedProfit, open, rules);
  if (stake === undefined) return;
  book.entered.add(market.pair);
  open.push(orderEntry(market.pair, side, stake, moment, rules));
}

/** Closes the position, or takes a part out, at the price of its exit order, with slippage. */
function fillExit(book: Book, position: Position, market: Market, time: number): void {
  const { rules } = book;
  const { price: ordered, amount, placed, reason, tag, atLimit } = position.order!;
  const price = limitedPrice(
    position,
    amount,
    exitPrice(position, { price: ordered, atLimit }, rules),
    rules,
  );
  position.slippageCost += amount * Math.max(0, (position.side === 'long' ? 1 : -1) * (ordered - price));
  if (amount < position.amount) {
    book.closedProfit = round8(book.closedProfit + reduce(position, market, time, price, rules));
    return;
  }
  const lastProfit = exitProfit(position, amount, price, rules);
  const profit = round8(position.realized + lastProfit);
  recordFill(position, { side: 'exit', placed, filled: time, price, amount, tag });
  const { orders } = position;
  book.trades.push({
    orders,
    pair: position.pair,
    side: position.side,
    reason: reason!,
    enterTag: position.enterTag,
    openTime: position.openTime,
    closeTime: time,
    entry: position.entry,
    exit: price,
    amount,
    stake: position.stake,
    funding: position.fundingBefore + position.fundingSince,
    profit,
    ratio: closedRatio(position, profit, rules),
    fees: orders.reduce((sum, each) => sum + each.amount * each.price * rules.fee, 0),
    slippageCost: position.slippageCost,
    initialStop: position.initialStop,
    stop: position.stop,
    liquidation: position.liquidation,
    lowest: position.lowest,
    highest: position.highest,
  });
  book.closedProfit = round8(book.closedProfit + lastProfit);
  remove(book, position);
}

/** Waiting orders, new entry, adjustment, then exit, of one pair in one candle (docs/simulation.md#one-pair-in-one-candle). */
function step(book: Book, market: Market, moment: Moment, mayEnter: boolean): void {
  const { rules, orders } = book;
  const { bar } = moment;
  const before = openOf(book, market.pair);
  if (before !== undefined) {
    manageExit(before, moment, rules, orders);
    manageAddition(before, moment, rules, orders);
    if (!manageEntry(before, moment, rules, orders)) remove(book, before);
  }
  const side = direction(moment.signals, rules);
  if (mayEnter && side !== undefined && openOf(book, market.pair) === undefined) {
    enter(book, market, moment, side);
  }
  const position = openOf(book, market.pair);
  if (position === undefined) return;
  tryEntry(position, moment, rules);
  if (position.filledTime === undefined) return;
  const bankrupt = isBankrupt(position, bar, rules);
  if (!bankrupt) tryAddition(position, market, moment, rules);
  fund(position, market, bar.time);
  if (bankrupt) {
    seeRange(position, bar);
    position.order = marketExit(position, bar, 'liquidation');
    fillExit(book, position, market, bar.time);
    return;
  }
  const available = availableStake(book.closedProfit, book.open, rules);
  if (wantsMore(position, moment, rules)) noteRest(book, available);
  if (adjust(position, market, moment, available, rules)) {
    if (position.order!.amount === position.amount) endRange(position, rules);
    fillExit(book, position, market, bar.time);
    if (!book.open.includes(position)) return;
  }
  seeRange(position, bar);
  if (findExit(position, moment, rules)) fillExit(book, position, market, bar.time);
}

function seeRange(position: Position, { low, high }: Bar): void {
  position.lowest = Math.min(position.lowest, low);
  position.highest = Math.max(position.highest, high);
}

/** Exit of everything at the open. */
const marketExit = ({ amount }: Position, { open, time }: Bar, reason: string) =>
  ({ kind: 'exit', reason, tag: reason, atLimit: false, price: open, amount, placed: time }) as const;

/** The range of a trade that the strategy takes out as a whole ends before the candle; its entry belongs to it. */
function endRange(position: Position, { detailMinutes }: Rules): void {
  if (detailMinutes !== undefined && Number.isFinite(position.lowest)) return;
  position.lowest = Math.min(position.lowest, position.entry);
  position.highest = Math.max(position.highest, position.entry);
}

const remove = (book: Book, position: Position): void => {
  book.open.splice(book.open.indexOf(position), 1);
};

/**
 * One pair in one candle. A close against an opposite entry signal gives it a second turn. A pair that was visited with
 * a trade in this main candle and has none now stays out of the rest of it (docs/simulation.md#detail-candles).
 */
function visit(book: Book, market: Market, moment: Moment, last: boolean): void {
  const held = openOf(book, market.pair)?.side;
  if (held !== undefined) book.seen.add(market.pair);
  else if (book.seen.has(market.pair)) return;
  step(book, market, moment, !last);
  const side = direction(moment.signals, book.rules);
  const flips = held !== undefined && side !== undefined && side !== held;
  if (flips && openOf(book, market.pair) === undefined) step(book, market, moment, !last);
}

/** Candles of a pair within one main candle: the candle itself or its detail candles. */
function inside(market: Market, bar: Bar, rules: Rules): Bar[] {
  const end = bar.time + rules.timeframeMinutes * MINUTE;
  const detail = market.detail.filter(({ time }) => time >= bar.time && time < end);
  const fine = rules.detailMinutes ?? 0;
  const complete = detail.length * fine === rules.timeframeMinutes;
  // Detail candles of the last candle may end early.
  const begun = detail.every(({ time }, i) => time === bar.time + i * fine * MINUTE);
  const cutOff = bar === market.bars.at(-1) && detail.length > 0 && begun;
  return complete || cutOff ? detail : [bar];
}

/** One main candle of all pairs; with detail candles all pairs advance together on them (docs/simulation.md#detail-candles). */
function walkCandle(book: Book, time: number, last: boolean): void {
  const { rules } = book;
  book.seen.clear();
  book.turnedAway.clear();
  book.entered.clear();
  const main = rules.timeframeMinutes;
  const fine = rules.detailMinutes ?? main;
  for (let minute = 0; minute < main; minute += fine) {
    for (const market of turns(book)) {
      const index = book.rows.get(market.pair)?.get(time) ?? 0;
      if (index === 0) continue;
      const bars = inside(market, market.bars[index] as Bar, rules);
      const bar = bars.find((candidate) => candidate.time === time + minute * MINUTE);
      const signals = market.signals[index - 1] as Signals;
      const customStop = market.customStop?.[index];
      const answers = market.orders?.[index];
      if (bar !== undefined) visit(book, market, { bar, signals, customStop, answers }, last);
    }
  }
  for (const pair of book.turnedAway) if (!book.entered.has(pair)) book.rejectedSignals += 1;
}

/**
 * Candle at whose open a position is closed by force: its pair's last one (docs/simulation.md#end-of-the-data). A detail candle of it
 * may have opened the position later. The position cannot close before it opened.
 */
function lastBar(market: Market, position: Position): Bar {
  const last = market.bars.at(-1) as Bar;
  const filled = position.lastFill;
  const entered = market.detail.find(({ time }) => time === filled);
  return filled > last.time && entered !== undefined ? entered : last;
}

const marketOf = (book: Book, { pair }: Position): Market =>
  book.markets.find((market) => market.pair === pair) as Market;

/** Pairs in the order of their first candle, then as listed. */
function closeTheRest(book: Book): void {
  const start = (market: Market): number => (market.bars[0] as Bar).time;
  const ranked = book.markets.filter(({ bars }) => bars.length > 0).sort((a, b) => start(a) - start(b));
  for (const market of ranked) {
    const position = openOf(book, market.pair);
    if (position === undefined) continue;
    if (position.filledTime === undefined) {
      remove(book, position);
      continue;
    }
    const bar = lastBar(market, position);
    fund(position, market, bar.time);
    position.order = marketExit(position, bar, 'force_exit');
    fillExit(book, position, market, bar.time);
  }
  book.trades.sort((a, b) => a.closeTime - b.closeTime);
}

/** Balance with open positions valued at their pair's newest close. */
function equityAt(book: Book, time: number): Outcome['equity'][number] {
  const balance = book.rules.wallet + book.closedProfit;
  let value = balance;
  const filled = book.open.filter(({ filledTime }) => filledTime !== undefined);
  for (const position of filled) {
    const market = marketOf(book, position);
    const row = book.rows.get(position.pair)?.get(time);
    const bar = (row === undefined ? market.bars.at(-1) : market.bars[row]) as Bar;
    // A position that outlasts its pair's last candle is closed at that candle's open, without later funding.
    if (bar === market.bars.at(-1)) fund(position, market, lastBar(market, position).time);
    value += openProfitAt(position, bar.close, book.rules);
  }
  return { time, value, balance, openTrades: filled.length };
}

/** Runs the rules of docs/simulation.md one candle at a time. */
export function runReference(markets: readonly Market[], rules: Rules): Outcome {
  const book: Book = {
    rules,
    markets,
    rows: new Map(markets.map(({ pair, bars }) => [pair, rowsByTime(bars)])),
    open: [],
    trades: [],
    closedProfit: 0,
    rejectedSignals: 0,
    turnedAway: new Set(),
    entered: new Set(),
    orders: {
      timedOutEntries: 0,
      timedOutExits: 0,
      cancelledEntries: 0,
      cancelledExits: 0,
      replacedEntries: 0,
      replacedExits: 0,
    },
    smallestRest: Number.POSITIVE_INFINITY,
    seen: new Set(),
  };
  const times = clock(markets, rules);
  const end = times.at(-1);
  const equity: Outcome['equity'] = [];
  for (const time of times) {
    walkCandle(book, time, time === end);
    if (time === end) closeTheRest(book);
    equity.push(equityAt(book, time));
  }
  return {
    trades: book.trades,
    finalBalance: rules.wallet + book.closedProfit,
    rejectedSignals: book.rejectedSignals,
    orders: book.orders,
    smallestRest: book.smallestRest,
    equity,
  };
}
