import { isAtOrBeyond, LONG, slippedExit } from '../rules/prices.ts';
import { requiredRatio } from '../rules/roi.ts';
import { isStopReached } from '../rules/stops.ts';
import type { CandlePath } from '../state/candle-path.ts';
import type { Position } from '../state/position.ts';
import type { Run } from '../state/run.ts';
import { adjust, askAdjustment } from './adjustments.ts';
import { fillsAtOnce, fillWaiting } from './entries.ts';
import {
  compareFillModels,
  customRoi,
  customStoploss,
  fillExit,
  fillRest,
  isConfirmed,
  liquidateAtOpen,
  orderExit,
  signalReason,
  stopReason,
  trySignalExit,
} from './exits.ts';
import { reachesEvent } from './next-event.ts';

// The conservative fill model (docs/decisions/094). Each candle of a trade is walked on two paths of straight lines, open, high,
// low, close and open, low, high, close, and the one that leaves the trade worth less at the close counts.

/** Values that differ by this ratio are equal: the same price comes from different sums. */
const ROUNDING = 1e-12;

/** The present candle of a position, from the fill of its waiting order on. */
export function holdConservatively(run: Run, position: Position): void {
  const { candle, settings } = run;
  const { order, direction } = position;
  const { kind, price } = order;
  if (kind === 'entry' && !isAtOrBeyond(price, direction === LONG ? candle.low : candle.high, direction))
    return;
  const isFilledLater = kind === 'entry' && !fillsAtOnce(run, price, direction);
  if (kind !== 'entry') run.liquidateByAccount(position);
  if (kind === 'entry') keepBeforeFill(run, position, isFilledLater);
  if (kind === 'entry' || (kind === 'addition' && isAddedAtOpen(run, position))) fillWaiting(run, position);
  if (candle.time >= position.nextFundingTime) {
    run.recordEquity();
    position.bookFunding(candle.time, settings);
  }
  if (liquidateAtOpen(run, position)) return;
  if (settings.callbacks.adjustPosition) {
    // A trade that was not open at the candle's open orders nothing there.
    if (isFilledLater) askAdjustment(run, position);
    else adjust(run, position);
    if (!position.isOpen) return;
  }
  if (settings.detailPerCandle > 1) position.seeDetail(candle);
  checkExits(run, position, isFilledLater ? price : Number.NaN);
}

/** Keeps a waiting entry for callbacks. Whether the candle limits the price of a new one is known inside the candle only. */
function keepBeforeFill({ account, candle }: Run, position: Position, isFilledLater: boolean): void {
  const { time, price } = position.order;
  const isNew = time === candle.time && price !== candle.open;
  if (account !== null && (isFilledLater || isNew)) account.keep(position);
}

/** True if the candle opens beyond the price of a waiting addition, which it has passed before any stop or liquidation. */
function isAddedAtOpen(run: Run, { order, direction, stop, liquidation }: Position): boolean {
  const { open } = run.candle;
  if (!fillsAtOnce(run, order.price, direction)) return false;
  const isEnded = (level: number) =>
    isStopReached(level, open, open, direction) && isAtOrBeyond(level, order.price, direction);
  return !isEnded(stop) && !isEnded(liquidation);
}

/** @param fill price of an entry that fills after the candle's open, else NaN */
function checkExits(run: Run, position: Position, fill: number): void {
  const { candle, settings } = run;
  const { direction, stop } = position;
  if (position.order.isRest) {
    fillRest(run, position);
    return;
  }
  if (run.account !== null) run.account.keepStop(position);
  // Called as in the freqtrade model: before the other callbacks, unless the candle reaches the stop.
  const custom = isStopReached(stop, candle.high, candle.low, direction)
    ? null
    : customStoploss(run, position);
  const roi = customRoi(run, position);
  if (settings.useExitSignal && isEndedAtOpen(run, position, fill)) return;
  const isPlain = custom === null && roi === null && position.order.kind === 'none';
  if (isPlain && !reachesEvent(run, position)) return;
  if (!run.dependsOnFillModel) compareFillModels(run, position, roi);
  const walk: Walk = { ratio: requiredRatio(position, roi, candle, settings), custom, fill };
  const worstFirst = worthOf(run, position, walk, false);
  const bestFirst = worthOf(run, position, walk, true);
  const isBestFirst = bestFirst <= worstFirst + Math.abs(worstFirst) * ROUNDING;
  const { stop: moved, stopDistance, isQuiet } = run.path!;
  // The path was walked last, and has moved the stop at most.
  if (isBestFirst && isQuiet) position.moveStop(moved, stopDistance);
  else follow(run, position, walk, isBestFirst);
}

/** What both paths of a candle have in common. */
interface Walk {
  /** Of the ROI exit, NaN without one. */
  readonly ratio: number;
  /** Distance that customStoploss has set, null for none. */
  readonly custom: number | null;
  /** Price of an entry that fills after the candle's open, else NaN. */
  readonly fill: number;
}

/** Closes the position for an exit signal, or a custom exit, at the open. An order at another price waits for the path. */
function isEndedAtOpen(run: Run, position: Position, fill: number): boolean {
  // A trade that was not open then is asked all the same: each callback is called once a candle.
  if (!Number.isNaN(fill)) {
    signalReason(run, position);
    return false;
  }
  if (!trySignalExit(run, position) || !position.order.atOpen) return false;
  fillExit(run, position);
  return true;
}

function begin(
  run: Run,
  position: Position,
  { ratio, custom, fill }: Walk,
  isBestFirst: boolean,
): CandlePath {
  const path = run.path!;
  path.load(position, ratio, custom, run.marginOf(position));
  path.begin(run.candle, isBestFirst, fill);
  return path;
}

/** What the trade is worth at the close if the price takes a path: money booked, and what is left at the close, after fees. */
function worthOf(run: Run, position: Position, walk: Walk, isBestFirst: boolean): number {
  const { candle, settings } = run;
  const { direction, market, order } = position;
  const path = begin(run, position, walk, isBestFirst);
  const kept = direction * (1 - direction * settings.fee);
  let worth = 0;
  for (;;) {
    const event = path.next();
    if (event === null) return worth + kept * path.amount * candle.close;
    if (event === 'order' && path.isAddition) {
      worth -= direction * path.orderAmount * path.price * (1 + direction * settings.fee);
      path.add();
      continue;
    }
    const ordered = event === 'order' ? path.orderAmount : path.amount;
    const amount = event === 'liquidation' ? ordered : market.fillable(ordered, candle.row);
    const slips = event === 'order' ? order.slips : event !== 'target';
    const rate = slips ? market.costs.rate(candle.time, amount) : 0;
    const price = slippedExit(path.price, rate, direction);
    worth += kept * amount * path.exitPrice(price, amount, run.wallet.balance);
    if (amount < ordered || ordered === path.amount)
      return worth + kept * (path.amount - amount) * candle.close;
    path.take();
  }
}

/** Takes the position along the path: fills orders, exits, and moves the stop. */
function follow(run: Run, position: Position, walk: Walk, isBestFirst: boolean): void {
  const path = begin(run, position, walk, isBestFirst);
  for (;;) {
    const event = path.next();
    position.moveStop(path.stop, path.stopDistance);
    if (event === null) return;
    if (event === 'order') {
      position.order.atOpen = path.isAtOpen;
      const isOld = position.order.time < run.candle.time;
      position.order.isKnownAtOpen = path.isAtOpen && (isOld || position.order.isKnownAtOpen);
      if (path.isAddition) {
        if (!position.order.isKnownAtOpen) run.account?.keep(position);
        fillWaiting(run, position);
      } else fillExit(run, position);
      if (!position.isOpen || position.order.kind !== 'none') return;
      path.load(position, walk.ratio, walk.custom, run.marginOf(position));
    } else if (exit(run, position, path, event)) return;
    else path.hold();
  }
}

/** Closes the position at the price that the path has reached; false if the strategy rejects it. Liquidation needs no confirmation. */
function exit(
  run: Run,
  position: Position,
  { price, isAtOpen }: CandlePath,
  event: 'stop' | 'liquidation' | 'target',
): boolean {
  const reason = event === 'stop' ? stopReason(position) : event === 'target' ? 'roi' : event;
  if (event !== 'liquidation' && !isConfirmed(run, position, price, reason)) return false;
  orderExit(run, position, price, event !== 'target', reason);
  position.order.atOpen = isAtOpen;
  position.order.isKnownAtOpen = isAtOpen;
  fillExit(run, position);
  return true;
}
