import type { Position } from './position.ts';
import { isTighter, LONG } from './rules.ts';
import type { Terms } from './terms.ts';

/** A wake-up price is moved this much towards the market, so that rounding can only wake a position too early. */
const MARGIN = 1e-12;

/**
 * First row from `row` on in which anything can happen to an open position: a stop or liquidation is reached, the stop moves,
 * a ROI step triggers or comes due, funding is booked, an exit signal acts. The rows before it need no simulation.
 */
export function nextEventRow(position: Position, row: number, terms: Terms): number {
  const { market, direction } = position;
  const { high, low, timestamp } = market.candles;
  const nextTime = Math.min(position.nextRoiTime, position.nextFundingTime);
  const due = Math.ceil((nextTime - timestamp[0]!) / terms.timeframeMs);
  const end = Math.min(due, market.length);
  const exits = market.exitSignals(direction);
  const wake = wakePrice(position, terms);
  if (direction === LONG)
    return quietLong(high, low, exits, row, end, Math.max(position.stop, position.liquidation), wake);
  return quietShort(high, low, exits, row, end, Math.min(position.stop, position.liquidation), wake);
}

function quietLong(
  high: Float64Array,
  low: Float64Array,
  exits: Uint8Array,
  from: number,
  end: number,
  stop: number,
  wake: number,
): number {
  let row = from;
  while (row < end && low[row]! > stop && high[row]! < wake && exits[row - 1] !== 1) row++;
  return row;
}

function quietShort(
  high: Float64Array,
  low: Float64Array,
  exits: Uint8Array,
  from: number,
  end: number,
  stop: number,
  wake: number,
): number {
  let row = from;
  while (row < end && high[row]! < stop && low[row]! > wake && exits[row - 1] !== 1) row++;
  return row;
}

/** The least favourable best price at which a ROI step triggers or the trailing stop moves. */
function wakePrice(position: Position, terms: Terms): number {
  const { direction } = position;
  let wake = direction === LONG ? Number.POSITIVE_INFINITY : 0;
  if (position.roiStep >= 0) wake = nearer(wake, position.roiTrigger, position);
  if (terms.trailing) {
    const plain = liftingPrice(position, terms.stoploss);
    const reached = terms.trailingOnlyOffset ? further(plain, position.offsetReached, position) : plain;
    wake = nearer(wake, reached, position);
    if (terms.trailingPositive > 0) {
      const lifting = liftingPrice(position, terms.trailingPositive);
      wake = nearer(wake, further(lifting, position.offsetExceeded, position), position);
    }
  }
  return wake * (1 - direction * MARGIN);
}

/** Best price from which a stop that trails at `distance` is tighter than the present one. */
function liftingPrice({ stop, leverage, direction }: Position, distance: number): number {
  return stop / (1 - direction * Math.abs(distance / leverage));
}

function nearer(a: number, b: number, { direction }: Position): number {
  return isTighter(a, b, direction) ? b : a;
}

function further(a: number, b: number, { direction }: Position): number {
  return isTighter(a, b, direction) ? a : b;
}
