/**
 * The ROI rule (docs/simulation.md#roi): the profit that closes a trade, from which candle on, and at which
 * price. A table of ratios by minutes since the entry's order, of which the callback `customRoi` may lower one for a candle.
 */
import { MINUTE_MS } from '#contract/values/durations.ts';
import { roundHalfUp, type Step } from './decimals.ts';
import { type ProfitInputs, priceExceeding } from './money.ts';
import { bestPrice, type Direction, isAtOrBeyond, isTighter, LONG, touching } from './prices.ts';

/** Steps by ascending minutes. */
export interface RoiSteps {
  readonly minutes: Float64Array;
  /** Profit ratio of each step. */
  readonly ratios: Float64Array;
}

/** What the rule reads of the settings of a run. */
interface RoiSettings {
  readonly roi: RoiSteps;
  readonly fee: number;
  readonly timeframeMinutes: number;
  readonly ignoreRoiIfEntrySignal: boolean;
}

/** Values of a trade on which the price of a target depends. */
interface TargetInputs extends ProfitInputs {
  readonly openValue: number;
  readonly tick: Step | null;
}

/** What it reads of a trade. */
interface RoiTrade extends TargetInputs {
  /** Time of the first entry order, ms. */
  readonly openedAt: number;
  readonly roi: RoiStep;
  readonly market: { hasEntrySignal(row: number, direction: Direction): boolean };
}

interface Candle {
  /** Row of the main candle. */
  readonly row: number;
  readonly time: number;
  readonly open: number;
  readonly high: number;
  readonly low: number;
  readonly close: number;
}

export function roiSteps(table: Readonly<Record<string, number>> = {}): RoiSteps {
  const steps = Object.entries(table)
    .map(([minutes, ratio]) => [Number(minutes), ratio] as const)
    .sort(([a], [b]) => a - b);
  return {
    minutes: Float64Array.from(steps, ([minutes]) => minutes),
    ratios: Float64Array.from(steps, ([, ratio]) => ratio),
  };
}

/** Full minutes since the entry's order. */
export function minutesSince(openedAt: number, time: number): number {
  return Math.floor((time - openedAt) / MINUTE_MS);
}

/**
 * The step of the table that applies to a trade. Candles before `nextTime` whose prices do not reach `trigger` have no ROI exit in
 * either fill model.
 */
export class RoiStep {
  /** -1 without one. */
  index = -1;
  /** The price at or beyond which the profit exceeds the step: without one a price that is never reached. */
  exceeding = Number.NaN;
  /** A price before that one and before the target itself. */
  trigger = Number.NaN;
  /** Time from which the next step applies, ms. */
  nextTime = Number.NaN;

  /** Begins a trade whose entry is not filled. */
  reset(direction: Direction): void {
    this.index = -1;
    this.exceeding = direction === LONG ? Number.POSITIVE_INFINITY : 0;
    this.trigger = this.exceeding;
  }

  /** Begins the table at the fill of the entry. */
  begin(openedAt: number, { minutes }: RoiSteps): void {
    this.nextTime = minutes.length > 0 ? openedAt + minutes[0]! * MINUTE_MS : Number.POSITIVE_INFINITY;
  }

  /** Applies the steps that have come due at `time`. */
  advance(time: number, trade: RoiTrade, settings: RoiSettings): void {
    const { minutes } = settings.roi;
    while (time >= this.nextTime) {
      this.index++;
      const next = this.index + 1;
      // Reading beyond the end of a column is slow.
      this.nextTime =
        next < minutes.length ? trade.openedAt + minutes[next]! * MINUTE_MS : Number.POSITIVE_INFINITY;
    }
    this.findTrigger(trade, settings);
  }

  /** Must follow each change of what the trade's profit depends on. */
  findTrigger(trade: ProfitInputs, { roi: { ratios }, fee }: RoiSettings): void {
    if (this.index < 0) return;
    this.exceeding = priceExceeding(ratios[this.index]!, trade, fee);
    this.trigger = this.exceeding * (1 - trade.direction * MARGIN);
  }
}

/** More than the distance, as a ratio of the price, between a target and the price at which the profit exceeds its ratio. */
const MARGIN = 1e-7;

/** False when the candle's prices reach no target, in either fill model. `custom` is the callback's ratio, null without one. */
export function mayReachRoi(
  trade: RoiTrade,
  custom: number | null,
  { time, high, low }: Candle,
  settings: RoiSettings,
): boolean {
  const { roi, direction } = trade;
  if (time >= roi.nextTime) roi.advance(time, trade, settings);
  return custom !== null || isAtOrBeyond(bestPrice(high, low, direction), roi.trigger, direction);
}

/**
 * The ratio that closes the trade in the present candle; NaN without one. `custom` is the callback's ratio, null without one: the
 * lower of it and the table's counts.
 */
export function requiredRatio(
  trade: RoiTrade,
  custom: number | null,
  candle: Candle,
  settings: RoiSettings,
): number {
  const { roi, direction, market } = trade;
  if (candle.time >= roi.nextTime) roi.advance(candle.time, trade, settings);
  if (settings.ignoreRoiIfEntrySignal && market.hasEntrySignal(candle.row, direction)) return Number.NaN;
  if (isCustom(trade, custom, settings)) return custom!;
  return roi.index < 0 ? Number.NaN : settings.roi.ratios[roi.index]!;
}

/** Price of the limit order that takes `ratio`, on the tick (conservative model). */
export function targetPrice(ratio: number, trade: TargetInputs, fee: number): number {
  return roundHalfUp(exactTarget(ratio, trade, fee), trade.tick);
}

/** The price at which that order fills: the ratio must be reached, and its own price, which the tick may have moved beyond. */
export function targetLevel(ratio: number, trade: TargetInputs, fee: number): number {
  const exact = exactTarget(ratio, trade, fee);
  const price = roundHalfUp(exact, trade.tick);
  return touching(isTighter(price, exact, trade.direction) ? price : exact, trade.direction);
}

function exactTarget(
  ratio: number,
  { openValue, amount, funding, leverage, direction }: TargetInputs,
  fee: number,
): number {
  return roiTarget(ratio, openValue, amount, fee, funding, leverage, direction);
}

/** Fill price of a ROI exit, inside the candle; NaN without one, and when the entry candle rules it out (freqtrade model). */
export function roiPrice(
  trade: RoiTrade,
  custom: number | null,
  candle: Candle,
  settings: RoiSettings,
): number {
  const required = requiredRatio(trade, custom, candle, settings);
  if (Number.isNaN(required)) return Number.NaN;
  const exceeding = required === custom ? priceExceeding(required, trade, settings.fee) : trade.roi.exceeding;
  const best = bestPrice(candle.high, candle.low, trade.direction);
  return isAtOrBeyond(best, exceeding, trade.direction)
    ? triggeredPrice(trade, custom, candle, settings)
    : Number.NaN;
}

/** Fill price of a ROI exit that the candle's best price has triggered; NaN when the entry candle rules it out. */
function triggeredPrice(
  trade: RoiTrade,
  custom: number | null,
  candle: Candle,
  settings: RoiSettings,
): number {
  const { minutes: keys, ratios } = settings.roi;
  const minutes = minutesSince(trade.openedAt, candle.time);
  const byCallback = isCustom(trade, custom, settings);
  const roi = byCallback ? custom! : ratios[trade.roi.index]!;
  // A custom ratio applies from the start of its candle, like a table step that begins there.
  const key = byCallback ? minutes : keys[trade.roi.index]!;
  const { openValue, amount, funding, leverage, direction, entryPrice } = trade;
  const target = roiTarget(roi, openValue, amount, settings.fee, funding, leverage, direction);
  const { open, high, low, close } = candle;
  const { timeframeMinutes } = settings;
  return roiFill(roi, target, key, minutes, timeframeMinutes, entryPrice, open, high, low, close, direction);
}

/** True if a ROI exit at the open is certain when the candle opens: its ratio is -1, or applies from this candle on. */
export function isRoiDueAtOpen(
  trade: RoiTrade,
  custom: number | null,
  candle: Candle,
  settings: RoiSettings,
): boolean {
  if (isCustom(trade, custom, settings)) return true;
  const { index } = trade.roi;
  const { minutes, ratios } = settings.roi;
  return ratios[index] === -1 || minutes[index] === minutesSince(trade.openedAt, candle.time);
}

/** True when the callback's ratio counts: the lower of it and the table's does. */
function isCustom({ roi }: RoiTrade, custom: number | null, settings: RoiSettings): boolean {
  return custom !== null && (roi.index < 0 || custom < settings.roi.ratios[roi.index]!);
}

/**
 * Price at which the profit ratio, after both fees, the funding so far and times leverage, is exactly `roi`. `openValue` is the
 * entry's after its fee, `amount` in base currency, `funding` what the trade received so far.
 */
export function roiTarget(
  roi: number,
  openValue: number,
  amount: number,
  fee: number,
  funding: number,
  leverage: number,
  direction: Direction,
): number {
  const received = direction * funding;
  const perPrice = amount * (1 - direction * fee);
  return ((1 + (direction * roi) / leverage) * openValue - received) / perPrice;
}

/**
 * Fill price of a triggered ROI exit, inside the candle; NaN when the entry candle rules it out.
 * `target` is {@link roiTarget} of the applying step, `key` that step's minutes, `minutes` the full minutes since the entry's order.
 */
export function roiFill(
  roi: number,
  target: number,
  key: number,
  minutes: number,
  timeframeMinutes: number,
  entryPrice: number,
  open: number,
  high: number,
  low: number,
  close: number,
  direction: Direction,
): number {
  const onGrid = key % timeframeMinutes === 0;
  if (roi === -1 && onGrid) return open;
  if (minutes > 0 && minutes === key && onGrid && isTighter(open, target, direction)) return open;
  // A limit entry below the open of a candle that closed red: a target above the close would need the price to recover first.
  const boughtTheDip =
    isTighter(open, close, direction) &&
    isTighter(open, entryPrice, direction) &&
    isTighter(target, close, direction);
  if (minutes === 0 && boughtTheDip) return Number.NaN;
  return Math.min(Math.max(target, low), high);
}
