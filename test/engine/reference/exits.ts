import { openValue, ratioAt, sign } from './arithmetic.ts';
import type { Bar, OrderAnswers, OrderCounters, Position, Rules, Signals } from './types.ts';

export interface Exit {
  reason: string;
  price: number;
  /** True without slippage. */
  atLimit: boolean;
}

/** Candle or detail candle of a trade: its prices and the signals of the candle before. */
export interface Moment {
  bar: Bar;
  signals: Signals;
  customStop: number | undefined;
  answers: OrderAnswers | undefined;
}

const best = (position: Position, bar: Bar): number => (position.side === 'long' ? bar.high : bar.low);

const worst = (position: Position, bar: Bar): number => (position.side === 'long' ? bar.low : bar.high);

/** True when `price` is at `level` or beyond it on the losing side of the trade. */
const reached = (position: Position, price: number, level: number): boolean =>
  position.side === 'long' ? price <= level : price >= level;

const minutesOpen = (position: Position, bar: Bar): number =>
  Math.floor((bar.time - position.openTime) / 60_000);

/** Moves the stop to a distance from the candle's best price, if that tightens it. */
function moveStop(position: Position, bar: Bar, ratio: number, rules: Rules): void {
  const distance = (sign(position.side) * ratio) / rules.leverage;
  const level = best(position, bar) * (1 - distance);
  const better = position.side === 'long' ? level > position.stop : level < position.stop;
  if (!better) return;
  position.stop = level;
  position.stopRatio = ratio;
  position.stopMoved = true;
}

/** Moves the stop once per candle, the callback first, unless the candle's worst price has reached it (docs/simulation.md#trailing-stops). */
function trail(position: Position, { bar, customStop }: Moment, rules: Rules): void {
  if (reached(position, worst(position, bar), position.stop)) return;
  if (customStop !== undefined) moveStop(position, bar, customStop, rules);
  const { trailing } = rules;
  if (trailing === undefined) return;
  const profit = ratioAt(position, best(position, bar), rules);
  if (trailing.onlyOffset && profit < trailing.offset) return;
  const tight = trailing.positive !== undefined && profit > trailing.offset;
  moveStop(position, bar, tight ? (trailing.positive as number) : (customStop ?? rules.stoploss), rules);
}

/** Price of a stop-like level: the open when the whole candle is beyond it, else the level (docs/simulation.md#gaps). */
function levelPrice(position: Position, bar: Bar, level: number): number {
  const whole = position.side === 'long' ? level > bar.high : level < bar.low;
  return whole ? bar.open : level;
}

/** Price of a moved stop that is hit in the entry candle (docs/simulation.md#stops-in-the-entry-candle). */
function entryCandleTrailPrice(position: Position, bar: Bar, rules: Rules): number {
  const trailing = rules.trailing;
  const side = sign(position.side);
  const armed = trailing?.onlyOffset === true && trailing.positive !== undefined && !rules.hasCustomStop;
  // Terms in freqtrade's order: the last bit can decide whether the order fills.
  const factor = armed
    ? 1 + side * trailing.offset - (side * (trailing.positive as number)) / rules.leverage
    : 1 - (side * position.stopRatio) / rules.leverage;
  const price = bar.open * factor;
  // Limited only on the losing side: beyond the best price the order waits.
  return position.side === 'long' ? Math.max(bar.low, price) : Math.min(bar.high, price);
}

function trailingPrice(position: Position, bar: Bar, rules: Rules): number {
  const price = levelPrice(position, bar, position.stop);
  if (price !== position.stop) return price;
  if (minutesOpen(position, bar) === 0) return entryCandleTrailPrice(position, bar, rules);
  return position.stop;
}

/** Current step of the ROI table: the largest key not above the duration (docs/simulation.md#roi). */
function roiStep(position: Position, bar: Bar, rules: Rules): readonly [number, number] | undefined {
  const minutes = minutesOpen(position, bar);
  const steps = rules.roi.filter(([from]) => from <= minutes);
  return steps.sort((a, b) => b[0] - a[0])[0];
}

/** Price at which the profit ratio equals the table's, with both fees and funding. */
function roiTarget(position: Position, ratio: number, rules: Rules): number {
  const { amount, funding } = position;
  const value = openValue(position, rules);
  return position.side === 'long'
    ? (value * (1 + ratio / rules.leverage) - funding) / (amount * (1 - rules.fee))
    : (value * (1 - ratio / rules.leverage) + funding) / (amount * (1 + rules.fee));
}

function roiPrice(
  position: Position,
  bar: Bar,
  [minutes, ratio]: readonly [number, number],
  rules: Rules,
): number | undefined {
  const onCandle = minutes % rules.timeframeMinutes === 0;
  if (ratio === -1 && onCandle) return bar.open;
  const target = roiTarget(position, ratio, rules);
  const openIsBetter = position.side === 'long' ? bar.open > target : bar.open < target;
  const duration = minutesOpen(position, bar);
  if (duration > 0 && duration === minutes && onCandle && openIsBetter) return bar.open;
  if (duration === 0 && boughtTheDip(position, bar, target)) return undefined;
  return Math.min(bar.high, Math.max(bar.low, target));
}

/** An entry below the open of a candle that fell does not reach a target above its close. */
function boughtTheDip({ side, entry }: Position, { open, close }: Bar, target: number): boolean {
  return side === 'long'
    ? close < open && entry < open && target > close
    : close > open && entry > open && target < close;
}

function entersAgain(position: Position, signals: Signals): boolean {
  return position.side === 'long' ? signals.enterLong : signals.enterShort;
}

function signalExit(position: Position, { bar, signals, answers }: Moment, rules: Rules): Exit | undefined {
  const leaves = position.side === 'long' ? signals.exitLong : signals.exitShort;
  if (!rules.useExitSignal || !leaves || entersAgain(position, signals)) return undefined;
  if (rules.exitProfitOnly && !(ratioAt(position, bar.open, rules) > rules.exitProfitOffset)) {
    return undefined;
  }
  return { reason: signals.exitTag ?? 'exit_signal', ...signalPrice(position, bar, answers) };
}

/** A price of the strategy is limited to the candle on the side that would fill at once. */
export function signalPrice(position: Position, bar: Bar, answers: OrderAnswers | undefined) {
  const custom = bar.open * (answers?.exit ?? 1);
  const price = position.side === 'long' ? Math.max(custom, bar.low) : Math.min(custom, bar.high);
  return { price, atLimit: price !== bar.open };
}

function stopExit(position: Position, { bar }: Moment): Exit | undefined {
  const low = worst(position, bar);
  const { stop, liquidation } = position;
  const isStopped = reached(position, low, stop);
  if (liquidation !== undefined && reached(position, low, liquidation)) {
    // The nearer one counts.
    if (!isStopped || (liquidation !== stop && reached(position, stop, liquidation)))
      return { reason: 'liquidation', price: levelPrice(position, bar, liquidation), atLimit: false };
  }
  if (!isStopped || position.stopMoved) return undefined;
  return { reason: 'stop_loss', price: levelPrice(position, bar, stop), atLimit: false };
}

function roiExit(position: Position, { bar, signals }: Moment, rules: Rules): Exit | undefined {
  if (rules.ignoreRoiIfEntrySignal && entersAgain(position, signals)) return undefined;
  const step = roiStep(position, bar, rules);
  if (step === undefined) return undefined;
  if (!(ratioAt(position, best(position, bar), rules) > step[1])) return undefined;
  const price = roiPrice(position, bar, step, rules);
  return price === undefined ? undefined : { reason: 'roi', price, atLimit: true };
}

function trailingExit(position: Position, { bar }: Moment, rules: Rules): Exit | undefined {
  if (!position.stopMoved || !reached(position, worst(position, bar), position.stop)) {
    return undefined;
  }
  return { reason: 'trailing_stop_loss', price: trailingPrice(position, bar, rules), atLimit: false };
}

/** Exits that this candle triggers, in the order in which they are tried (docs/simulation.md#exits). */
function reasons(position: Position, moment: Moment, rules: Rules): Exit[] {
  const signal = signalExit(position, moment, rules);
  const stop = stopExit(position, moment);
  const roi = roiExit(position, moment, rules);
  const trailing = trailingExit(position, moment, rules);
  return [signal, stop, roi, trailing].filter((exit) => exit !== undefined);
}

/** Minutes after which a waiting order is cancelled, unless the rules say otherwise. */
export const TIMEOUT = 10;

/** Cancels, keeps or replaces the exit that waits since an earlier candle (docs/simulation.md#waiting-orders). */
export function manageExit(
  position: Position,
  { bar, answers }: Moment,
  rules: Rules,
  counters: OrderCounters,
): void {
  const { order } = position;
  if (order?.kind !== 'exit') return;
  const isOld = bar.time - order.placed >= (rules.exitTimeout ?? TIMEOUT) * 60_000;
  if (isOld || answers?.cancelExit) {
    counters.timedOutExits += 1;
    position.order = undefined;
    return;
  }
  if (answers?.adjustExit === null) {
    counters.cancelledExits += 1;
    position.order = undefined;
    return;
  }
  const price = order.price * (answers?.adjustExit ?? 1);
  if (price === order.price) return;
  counters.replacedExits += 1;
  position.order = { ...order, price, placed: bar.time, atLimit: price !== bar.open };
}

/** Orders the first exit other than the waiting one and replaces that (docs/simulation.md#exits). */
function placeOrder(position: Position, moment: Moment, rules: Rules): void {
  const { amount } = position;
  for (const { reason, price, atLimit } of reasons(position, moment, rules)) {
    const { order } = position;
    if (order?.kind !== 'exit' || order.price !== price || order.amount !== amount) {
      position.order = { kind: 'exit', amount, reason, tag: reason, price, placed: moment.bar.time, atLimit };
      return;
    }
    // The waiting order is kept, with its tag.
    order.reason = reason;
  }
}

/** Orders exits, and moves stops; true if the exit order is filled in this candle. */
export function findExit(position: Position, moment: Moment, rules: Rules): boolean {
  const { bar } = moment;
  trail(position, moment, rules);
  placeOrder(position, moment, rules);
  const placed = position.order;
  return placed?.kind === 'exit' && placed.price >= bar.low && placed.price <= bar.high;
}
