/**
 * The conservative fill model as its definition reads (docs/decisions/094), for one trade: written for the tests, without code of the
 * simulator. Each path is walked from level to level in the order in which the price meets them.
 */

export type Prices = readonly [open: number, high: number, low: number, close: number];

export interface Rules {
  readonly side: 'long' | 'short';
  readonly leverage: number;
  readonly fee: number;
  readonly slippage: number;
  /** Positive shares of the stake. */
  readonly stoploss: number;
  readonly trailing:
    | { readonly positive: number; readonly offset: number; readonly only: boolean }
    | undefined;
  readonly target: number | undefined;
  readonly maintenance: number;
  readonly buffer: number;
}

/** What the strategy does in one candle; prices are multiples of its open. */
export interface Action {
  /** Stop distance at the candle's best price. */
  readonly stop?: number | undefined;
  /** Exit of everything. */
  readonly exit?: number | undefined;
  /** Share of the present stake to add, or to take out. */
  readonly add?: { readonly share: number; readonly at: number } | undefined;
  readonly take?: { readonly share: number; readonly at: number } | undefined;
}

type Kind = 'entry' | 'addition' | 'partial' | 'exit';

interface Waiting {
  readonly kind: Kind;
  readonly price: number;
  readonly amount: number;
  /** An order at the market: it slips. */
  readonly slips: boolean;
  readonly reason: string;
}

interface Trade {
  amount: number;
  /** Amount times average price. */
  cost: number;
  entry: number;
  stake: number;
  stop: number;
  distance: number;
  moved: boolean;
  waiting: Waiting | undefined;
  isOpen: boolean;
  /** Money received less money paid, after fees. */
  cash: number;
  exit: { readonly price: number; readonly reason: string } | undefined;
}

export interface Outcome {
  /** Account at the close of each candle, open positions valued at the close less the exit fee. */
  readonly values: number[];
  readonly exit: { readonly price: number; readonly reason: string; readonly candle: number } | undefined;
  /** Closed by that exit. */
  readonly amount: number;
}

/** Values of paths that differ by less are equal. */
const TIE = 1e-10;

/**
 * Plays a trade whose entry is ordered in candle 1 at `entry` (a multiple of its open, 1 for the market). It is closed at the open of the last candle
 * if it is open then.
 */
export function play(
  candles: readonly Prices[],
  actions: readonly Action[],
  entry: number,
  stake: number,
  rules: Rules,
): Outcome {
  const up = rules.side === 'long' ? 1 : -1;
  const first = candles[1]!;
  const limit = up === 1 ? Math.min(first[0] * entry, first[1]) : Math.max(first[0] * entry, first[2]);
  const market = limit === first[0];
  const price = market ? first[0] * (1 + up * rules.slippage) : limit;
  const trade: Trade = {
    amount: (stake / price) * rules.leverage,
    cost: 0,
    entry: Number.NaN,
    stake,
    stop: Number.NaN,
    distance: rules.stoploss,
    moved: false,
    waiting: { kind: 'entry', price, amount: (stake / price) * rules.leverage, slips: false, reason: '' },
    isOpen: false,
    cash: 0,
    exit: undefined,
  };
  const values: number[] = [];
  let ended = -1;
  for (let candle = 1; candle < candles.length; candle++) {
    const prices = candles[candle]!;
    if (ended < 0) {
      const chosen = playCandle(trade, prices, actions[candle] ?? {}, rules, market && candle === 1);
      Object.assign(trade, chosen);
      if (candle === candles.length - 1 && trade.isOpen) {
        // In retrospect, at the open of the last candle.
        close(trade, prices[0], true, 'force_exit', rules);
      }
      if (trade.exit) ended = candle;
    }
    values.push(trade.cash + (trade.isOpen ? worthAt(trade, prices[3], rules) : 0));
  }
  return { values, exit: trade.exit && { ...trade.exit, candle: ended }, amount: trade.amount };
}

const sign = ({ side }: Rules) => (side === 'long' ? 1 : -1);

function worthAt({ amount }: Trade, price: number, rules: Rules): number {
  return sign(rules) * amount * price * (1 - sign(rules) * rules.fee);
}

function close(trade: Trade, price: number, slips: boolean, reason: string, rules: Rules): void {
  const wanted = slips ? price * (1 - sign(rules) * rules.slippage) : price;
  const got = limitLoss(trade, trade.amount, wanted, rules);
  trade.cash += worthAt(trade, got, rules);
  trade.isOpen = false;
  trade.waiting = undefined;
  trade.exit = { price: got, reason };
}

/** `price`, or the price at which an exit of `amount` loses its share of the stake after all fees. */
function limitLoss(
  { entry, stake, amount: held }: Trade,
  amount: number,
  price: number,
  rules: Rules,
): number {
  const up = sign(rules);
  if (up === 1 && rules.leverage <= 1) return price;
  const paid = amount * entry * (1 + up * rules.fee);
  // up * (amount * price * (1 - up * fee) - paid) = -stake * amount / held
  const worst = (paid - (up * stake * amount) / held) / (amount * (1 - up * rules.fee));
  return up === 1 ? Math.max(price, worst) : Math.min(price, worst);
}

/** True if `price` is at `level` or on the losing side of it. */
const isBelow = (price: number, level: number, rules: Rules) =>
  rules.side === 'long' ? price <= level : price >= level;
const isAbove = (price: number, level: number, rules: Rules) =>
  rules.side === 'long' ? price >= level : price <= level;

function liquidationOf({ entry, stake, amount }: Trade, rules: Rules): number | undefined {
  const up = sign(rules);
  if (up === 1 && rules.leverage <= 1) return undefined;
  // Equity equals the maintenance margin and the fee of the exit.
  const price = (entry * amount - up * stake) / (amount * (1 - up * (rules.maintenance + rules.fee)));
  if (price <= 0) return undefined;
  return price + up * Math.abs(entry - price) * rules.buffer;
}

/** True if the stake is lost at `price`, before fees. */
function isBankrupt({ entry, stake, amount }: Trade, price: number, rules: Rules): boolean {
  if (rules.side === 'long' && rules.leverage <= 1) return false;
  return stake + sign(rules) * amount * (price - entry) <= 0;
}

/** Price at which the profit after fees is `ratio` of the stake, or of what the entry cost times the leverage. */
function priceOf(ratio: number, { entry }: Trade, { leverage, fee, side }: Rules): number {
  const up = side === 'long' ? 1 : -1;
  return (entry * (1 + up * fee) * (1 + (up * ratio) / leverage)) / (1 - up * fee);
}

function openTrade(trade: Trade, rules: Rules): void {
  const { price, amount } = trade.waiting!;
  trade.isOpen = true;
  trade.waiting = undefined;
  trade.amount = amount;
  trade.entry = price;
  trade.cost = amount * price;
  trade.cash -= sign(rules) * amount * price * (1 + sign(rules) * rules.fee);
  trade.stop = price * (1 - (sign(rules) * rules.stoploss) / rules.leverage);
}

function fillWaiting(trade: Trade, rules: Rules): void {
  const { kind, price, amount, slips, reason } = trade.waiting!;
  const up = sign(rules);
  trade.waiting = undefined;
  if (kind === 'entry') {
    trade.waiting = { kind, price, amount, slips, reason };
    openTrade(trade, rules);
  } else if (kind === 'exit') close(trade, price, slips, reason, rules);
  else {
    const wanted = slips ? price * (1 - up * rules.slippage) : price;
    const got = limitLoss(trade, amount, wanted, rules);
    if (kind === 'addition') {
      trade.cash -= up * amount * price * (1 + up * rules.fee);
      trade.cost += amount * price;
      trade.amount += amount;
      trade.entry = trade.cost / trade.amount;
    } else {
      trade.cash += up * amount * got * (1 - up * rules.fee);
      trade.cost -= amount * trade.entry;
      trade.amount -= amount;
    }
    trade.stake = trade.cost / rules.leverage;
    // Each recalculation proposes the stop at its distance from the average.
    propose(trade, trade.entry, trade.distance, rules);
  }
}

function propose(trade: Trade, price: number, distance: number, rules: Rules): void {
  const stop = price * (1 - (sign(rules) * Math.abs(distance)) / rules.leverage);
  // An average of equal prices is one of them, but for its last bits.
  if (isBelow(stop, trade.stop, rules) || Math.abs(stop - trade.stop) < 1e-13 * stop) return;
  trade.stop = stop;
  trade.distance = distance;
  trade.moved = true;
}

/** True if the order fills at the open: there, or where the open has passed it. */
function fillsAtOpen({ kind, price }: Waiting, open: number, rules: Rules): boolean {
  return kind === 'entry' || kind === 'addition' ? isBelow(open, price, rules) : isAbove(open, price, rules);
}

function playCandle(
  before: Trade,
  prices: Prices,
  action: Action,
  rules: Rules,
  isMarketEntry: boolean,
): Trade {
  const trade = { ...before };
  const [open, high, low, last] = prices;
  const [best, worst] = rules.side === 'long' ? [high, low] : [low, high];
  let start = open;
  let isLate = false;
  let isAdded = false;
  if (isMarketEntry) openTrade(trade, rules);
  else if (!trade.isOpen) {
    const { price } = trade.waiting!;
    if (!isBelow(worst, price, rules)) return trade;
    isLate = !isBelow(open, price, rules);
    if (isLate) start = price;
    fillWaiting(trade, rules);
  } else if (trade.waiting?.kind === 'addition' && fillsAtOpen(trade.waiting, open, rules)) {
    const { price } = trade.waiting;
    const ends = [trade.stop, liquidationOf(trade, rules)].filter(
      (level) => level !== undefined && isBelow(open, level, rules) && !isBelow(level, price, rules),
    );
    const same = [trade.stop, liquidationOf(trade, rules)].includes(price);
    isAdded = ends.length === 0 && !same;
    if (isAdded) fillWaiting(trade, rules);
  }
  if (before.isOpen && !isAdded && isBankrupt(trade, open, rules)) {
    close(trade, open, true, 'liquidation', rules);
    return trade;
  }
  if (!isLate) {
    orderAdjustment(trade, prices, action, rules);
    if (!trade.isOpen) return trade;
  }
  const custom = action.stop !== undefined && !isBelow(worst, trade.stop, rules) ? action.stop : undefined;
  if (!isLate && action.exit !== undefined) {
    const { exit } = action;
    const wanted = open * exit;
    const price = rules.side === 'long' ? Math.max(wanted, low) : Math.min(wanted, high);
    const isSame = trade.waiting?.price === price && trade.waiting.amount === trade.amount;
    if (!isSame || trade.waiting?.kind !== 'exit')
      trade.waiting = {
        kind: 'exit',
        price,
        amount: trade.amount,
        slips: price === open,
        reason: 'exit_signal',
      };
    if (fillsAtOpen(trade.waiting!, open, rules)) {
      fillWaiting(trade, rules);
      return trade;
    }
  }
  const paths = [
    [open, best, worst, last],
    [open, worst, best, last],
  ].map((points, index) => {
    const own = { ...trade };
    // On the way from the best price to the worst one, or from the open to it.
    const leg = isLate && index === 0 ? 1 : 0;
    walk(own, points, leg, start, best, custom, rules);
    return { own, worth: own.cash + (own.isOpen ? worthAt(own, last, rules) : 0) };
  });
  const [bestFirst, worstFirst] = paths as [(typeof paths)[0], (typeof paths)[0]];
  const isTie = Math.abs(bestFirst.worth - worstFirst.worth) <= TIE * Math.abs(trade.cost);
  return isTie || bestFirst.worth < worstFirst.worth ? bestFirst.own : worstFirst.own;
}

function orderAdjustment(trade: Trade, [open, high, low]: Prices, { add, take }: Action, rules: Rules): void {
  if (add) {
    const wanted = open * add.at;
    const limit = rules.side === 'long' ? Math.min(wanted, high) : Math.max(wanted, low);
    const isMarket = limit === open;
    const price = isMarket ? open * (1 + sign(rules) * rules.slippage) : limit;
    const amount = ((trade.stake * add.share) / price) * rules.leverage;
    trade.waiting = { kind: 'addition', price, amount, slips: false, reason: '' };
    if (isMarket || fillsAtOpen(trade.waiting, open, rules)) fillWaiting(trade, rules);
    // Also an addition that waits is a recalculation.
    else propose(trade, trade.entry, trade.distance, rules);
  } else if (take) {
    const wanted = open * take.at;
    const price = rules.side === 'long' ? Math.max(wanted, low) : Math.min(wanted, high);
    const amount = trade.amount * take.share;
    trade.waiting = { kind: 'partial', price, amount, slips: price === open, reason: '' };
    if (fillsAtOpen(trade.waiting, open, rules)) fillWaiting(trade, rules);
  }
}

/** Walks the legs from `leg` on, from `start`. */
function walk(
  trade: Trade,
  points: readonly number[],
  leg: number,
  start: number,
  best: number,
  custom: number | undefined,
  rules: Rules,
): void {
  let price = start;
  const visit = () => {
    while (trade.isOpen && act(trade, price, rules));
    if (trade.isOpen) trail(trade, price, custom, price === best, rules);
  };
  visit();
  for (let at = leg; at < 3 && trade.isOpen; at++) {
    const to = points[at + 1]!;
    while (price !== to && trade.isOpen) {
      const ahead = levels(trade, rules).filter((level) => (level - price) * (to - level) > 0);
      const [nearest = to] = ahead.sort((a, b) => Math.abs(a - price) - Math.abs(b - price));
      price = nearest;
      visit();
    }
  }
}

/** Prices at which something happens. */
function levels(trade: Trade, rules: Rules): number[] {
  const { target, trailing } = rules;
  return [
    trade.stop,
    liquidationOf(trade, rules),
    trade.waiting?.price,
    target === undefined ? undefined : priceOf(target, trade, rules),
    // The distance changes there; with `only` there is none before.
    trailing && !trailing.only ? priceOf(trailing.offset, trade, rules) : undefined,
  ].filter((level) => level !== undefined);
}

/** Lets the level act that the price has reached, or passed; of several the one that it passed first. False without one. */
function act(trade: Trade, price: number, rules: Rules): boolean {
  const { waiting } = trade;
  const liquidation = liquidationOf(trade, rules);
  const losing: (readonly [number, () => void])[] = [];
  if (isBelow(price, trade.stop, rules))
    losing.push([
      trade.stop,
      () => close(trade, price, true, trade.moved ? 'trailing_stop_loss' : 'stop_loss', rules),
    ]);
  if (liquidation !== undefined && isBelow(price, liquidation, rules))
    losing.push([liquidation, () => close(trade, price, true, 'liquidation', rules)]);
  if (waiting?.kind === 'addition' && isBelow(price, waiting.price, rules))
    losing.push([waiting.price, () => fillWaiting(trade, rules)]);
  if (losing.length > 0) {
    const [first] = losing.sort(([a], [b]) => sign(rules) * (b - a));
    first![1]();
    return true;
  }
  const gaining: (readonly [number, () => void])[] = [];
  const target = rules.target === undefined ? undefined : priceOf(rules.target, trade, rules);
  if (target !== undefined && isAbove(price, target, rules))
    gaining.push([target, () => close(trade, target, false, 'roi', rules)]);
  if ((waiting?.kind === 'exit' || waiting?.kind === 'partial') && isAbove(price, waiting.price, rules))
    gaining.push([waiting.price, () => fillWaiting(trade, rules)]);
  if (gaining.length === 0) return false;
  const [first] = gaining.sort(([a], [b]) => sign(rules) * (a - b));
  first![1]();
  return true;
}

function trail(trade: Trade, price: number, custom: number | undefined, isBest: boolean, rules: Rules): void {
  if (custom !== undefined && isBest) propose(trade, price, custom, rules);
  const { trailing } = rules;
  if (!trailing) return;
  const offset = priceOf(trailing.offset, trade, rules);
  // An average of equal prices is one of them, but for its last bits.
  const isAt = Math.abs(price - offset) < 1e-12 * price;
  if (trailing.only && !isAt && !isAbove(price, offset, rules)) return;
  const isBeyond = isAbove(price, offset, rules) && !isAt;
  const plain = custom ?? rules.stoploss;
  propose(trade, price, trailing.positive > 0 && isBeyond ? trailing.positive : plain, rules);
}
