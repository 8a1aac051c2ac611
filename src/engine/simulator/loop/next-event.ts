import { isTighter, LONG } from '../rules/exit-prices.ts';
import type { Position } from '../state/position.ts';
import type { Run } from '../state/run.ts';
import type { Terms } from '../terms.ts';
import { askThrough } from './answers.ts';

/** A wake-up price is moved this much towards the market, so that rounding can only wake a position too early. */
const MARGIN = 1e-12;

/**
 * First row in [from, to) in which anything can happen to an open position: a stop or liquidation is reached, the stop moves,
 * a ROI step triggers or comes due, funding is booked, an exit signal acts; `to` when nothing can. The rows before it need no
 * simulation. Per-candle callbacks are asked in them, in the order and with the arguments of a simulated candle.
 */
export function quietUntil(run: Run, position: Position, from: number, to: number): number {
  const { terms } = run;
  const { market, direction, stop, liquidation } = position;
  const nextTime = Math.min(position.nextRoiTime, position.nextFundingTime);
  const due = Math.ceil((nextTime - market.candles.timestamp[0]!) / terms.timeframeMs);
  const end = Math.min(due, to) | 0;
  const wake = wakePrice(position, terms);
  const bottom = direction === LONG ? Math.max(stop, liquidation) : wake;
  const top = direction === LONG ? wake : Math.min(stop, liquidation);
  return terms.everyCandle
    ? askThrough(run, position, from, end, bottom, top)
    : pass(position, from, end, bottom, top);
}

function pass(
  { market, direction }: Position,
  from: number,
  end: number,
  bottom: number,
  top: number,
): number {
  const { high, low } = market.candles;
  const exits = market.exitSignals(direction);
  let row = from;
  while (row < end && low[row]! > bottom && high[row]! < top && exits[row - 1] !== 1) row++;
  return row;
}

/** What decides the prices at which something happens to an open position. */
type Waiting = Pick<
  Position,
  'direction' | 'leverage' | 'stop' | 'roiStep' | 'roiTrigger' | 'offsetReached' | 'offsetExceeded'
>;

/** The least favourable best price at which a ROI step triggers or the trailing stop moves. */
export function wakePrice(position: Waiting, terms: Terms): number {
  const { direction, roiStep, roiTrigger } = position;
  const never = direction === LONG ? Number.POSITIVE_INFINITY : 0;
  const roi = roiStep >= 0 ? roiTrigger : never;
  const wake = terms.trailing ? nearer(roi, trailingWakePrice(position, terms), position) : roi;
  return wake * (1 - direction * MARGIN);
}

/** The least favourable best price at which the trailing stop moves. */
function trailingWakePrice(position: Waiting, terms: Terms): number {
  const plain = liftingPrice(position, terms.stoploss);
  const wake = terms.trailingOnlyOffset ? further(plain, position.offsetReached, position) : plain;
  if (terms.trailingPositive <= 0) return wake;
  const lifting = liftingPrice(position, terms.trailingPositive);
  return nearer(wake, further(lifting, position.offsetExceeded, position), position);
}

/** Best price from which a stop that trails at `distance` is tighter than the present one. */
function liftingPrice({ stop, leverage, direction }: Waiting, distance: number): number {
  return stop / (1 - direction * Math.abs(distance / leverage));
}

function nearer(a: number, b: number, { direction }: Waiting): number {
  return isTighter(a, b, direction) ? b : a;
}

function further(a: number, b: number, { direction }: Waiting): number {
  return isTighter(a, b, direction) ? a : b;
}
