import { ratioAt, sign } from './arithmetic.ts';
import type { Bar, Position, Rules, Signals } from './types.ts';

export interface Exit {
  reason: string;
  price: number;
}

/** One candle (or detail candle) as a trade sees it: its prices and the signals of the candle before. */
export interface Moment {
  bar: Bar;
  signals: Signals;
  customStop: number | undefined;
}

const best = (position: Position, bar: Bar): number => (position.side === 'long' ? bar.high : bar.low);

const worst = (position: Position, bar: Bar): number => (position.side === 'long' ? bar.low : bar.high);

/** True when `price` is at `level` or beyond it on the losing side of the trade. */
const reached = (position: Position, price: number, level: number): boolean =>
  position.side === 'long' ? price <= level : price >= level;

const minutesOpen = (position: Position, bar: Bar): number =>
  Math.floor((bar.time - position.openTime) / 60_000);

/** Moves the stop to a distance from the candle's best price, if that is in the trade's favour. */
function moveStop(position: Position, bar: Bar, ratio: number, rules: Rules): void {
  const distance = (sign(position.side) * ratio) / rules.leverage;
  const level = best(position, bar) * (1 - distance);
  const better = position.side === 'long' ? level > position.stop : level < position.stop;
  if (!better) return;
  position.stop = level;
  position.stopRatio = ratio;
  position.stopMoved = true;
}

/** Moves the stop once a candle, unless the candle's worst price has reached it: the callback first (1.8). */
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

/**
 * Price of a stop-like level: the open when the whole candle is beyond it, else the level (1.7). The conservative model
 * looks at the open alone.
 */
function levelPrice(position: Position, bar: Bar, level: number, rules: Rules): number {
  if (rules.conservative) return reached(position, bar.open, level) ? bar.open : level;
  const whole = position.side === 'long' ? level > bar.high : level < bar.low;
  return whole ? bar.open : level;
}

/** A moved stop hit in the entry candle: the worst plausible order of ticks (1.8). */
function entryCandleTrailPrice(position: Position, bar: Bar, rules: Rules): number {
  const trailing = rules.trailing;
  const side = sign(position.side);
  const armed = trailing?.onlyOffset === true && trailing.positive !== undefined && !rules.hasCustomStop;
  const distance = armed
    ? trailing.offset - (trailing.positive as number) / rules.leverage
    : -position.stopRatio / rules.leverage;
  const price = bar.open * (1 + side * distance);
  return Math.min(bar.high, Math.max(bar.low, price));
}

function trailingPrice(position: Position, bar: Bar, rules: Rules): number {
  const price = levelPrice(position, bar, position.stop, rules);
  if (rules.conservative || price !== position.stop) return price;
  if (minutesOpen(position, bar) === 0) return entryCandleTrailPrice(position, bar, rules);
  return position.stop;
}

/** The step of the ROI table that applies now: the largest key not above the duration (1.9). */
function roiStep(position: Position, bar: Bar, rules: Rules): readonly [number, number] | undefined {
  const minutes = minutesOpen(position, bar);
  const steps = rules.roi.filter(([from]) => from <= minutes);
  return steps.sort((a, b) => b[0] - a[0])[0];
}

/** The price at which the table's ratio is reached after the closing fee (1.9). */
function roiTarget(position: Position, ratio: number, rules: Rules): number {
  const side = sign(position.side);
  const gross = position.entry * (1 + side * rules.fee);
  const wanted = (ratio / rules.leverage) * position.entry;
  return (gross + side * wanted) / (1 - side * rules.fee);
}

function roiPrice(
  position: Position,
  bar: Bar,
  [minutes, ratio]: readonly [number, number],
  rules: Rules,
): number {
  const onCandle = minutes % rules.timeframeMinutes === 0;
  if (ratio === -1) return onCandle ? bar.open : worst(position, bar);
  const target = roiTarget(position, ratio, rules);
  const openIsBetter = position.side === 'long' ? bar.open > target : bar.open < target;
  const duration = minutesOpen(position, bar);
  if (duration > 0 && duration === minutes && onCandle && openIsBetter) return bar.open;
  return Math.min(bar.high, Math.max(bar.low, target));
}

function entersAgain(position: Position, signals: Signals): boolean {
  return position.side === 'long' ? signals.enterLong : signals.enterShort;
}

function signalExit(position: Position, { bar, signals }: Moment, rules: Rules): Exit | undefined {
  const leaves = position.side === 'long' ? signals.exitLong : signals.exitShort;
  if (!rules.useExitSignal || !leaves || entersAgain(position, signals)) return undefined;
  if (rules.exitProfitOnly && !(ratioAt(position, bar.open, rules) > rules.exitProfitOffset)) {
    return undefined;
  }
  return { reason: signals.exitTag ?? 'exit_signal', price: bar.open };
}

function stopExit(position: Position, { bar }: Moment, rules: Rules): Exit | undefined {
  const low = worst(position, bar);
  if (reached(position, low, position.stop)) {
    if (position.stopMoved) return undefined;
    return { reason: 'stop_loss', price: levelPrice(position, bar, position.stop, rules) };
  }
  if (position.liquidation !== undefined && reached(position, low, position.liquidation)) {
    return { reason: 'liquidation', price: levelPrice(position, bar, position.liquidation, rules) };
  }
  return undefined;
}

function roiExit(position: Position, { bar, signals }: Moment, rules: Rules): Exit | undefined {
  if (rules.ignoreRoiIfEntrySignal && entersAgain(position, signals)) return undefined;
  const step = roiStep(position, bar, rules);
  if (step === undefined) return undefined;
  if (!(ratioAt(position, best(position, bar), rules) > step[1])) return undefined;
  return { reason: 'roi', price: roiPrice(position, bar, step, rules) };
}

function trailingExit(position: Position, { bar }: Moment, rules: Rules): Exit | undefined {
  if (!position.stopMoved || !reached(position, worst(position, bar), position.stop)) {
    return undefined;
  }
  return { reason: 'trailing_stop_loss', price: trailingPrice(position, bar, rules) };
}

/** Any stop before the target, and a stop that moves only once the candle is over. */
function conservativeExit(position: Position, moment: Moment, rules: Rules): Exit | undefined {
  const exit =
    signalExit(position, moment, rules) ??
    trailingExit(position, moment, rules) ??
    stopExit(position, moment, rules) ??
    roiExit(position, moment, rules);
  if (exit === undefined) trail(position, moment, rules);
  return exit;
}

/** The exit of this candle, if any: signal, stop or liquidation, ROI, trailing stop, in this order (1.6). */
export function findExit(position: Position, moment: Moment, rules: Rules): Exit | undefined {
  if (rules.conservative) return conservativeExit(position, moment, rules);
  trail(position, moment, rules);
  return (
    signalExit(position, moment, rules) ??
    stopExit(position, moment, rules) ??
    roiExit(position, moment, rules) ??
    trailingExit(position, moment, rules)
  );
}
