import { LONG, nearer, touching } from '../rules/prices.ts';
import { trailingTrigger } from '../rules/trailing.ts';
import type { ResolvedSettings } from '../settings.ts';
import type { Position } from '../state/position.ts';
import type { Run } from '../state/run.ts';
import { runCallbacks } from './callbacks.ts';

/** Rows that are searched for a price before their callbacks are called: a callback that acts leaves the rest of them unused. */
const AHEAD = 64;

/**
 * First row in [from, to) with a possible event of an open position; `to` without one. Events: the stop or liquidation is
 * reached, the stop moves, a ROI step triggers, funding is booked, an exit signal acts. Applies the ROI steps that come due
 * before it.
 *
 * The rows before it need no simulation. Per-candle callbacks are called in them, in the order and with the arguments of a
 * simulated candle.
 */
export function nextEventRow(run: Run, position: Position, from: number, to: number): number {
  const { settings } = run;
  const { market, direction, stop, liquidation, roi } = position;
  const exit = run.slots[market.index]!.nextExitRow(from, direction);
  const end = Math.min(market.rowFrom(position.nextFundingTime), exit, to) | 0;
  const guard = direction === LONG ? Math.max(stop, liquidation) : Math.min(stop, liquidation);
  let row = from;
  while (row < end) {
    const time = market.timeOf(row);
    if (time >= roi.nextTime) roi.advance(time, position, settings);
    const due = Math.min(market.rowFrom(roi.nextTime), end) | 0;
    const trigger = triggerPrice(position, settings);
    const bottom = direction === LONG ? guard : trigger;
    const top = direction === LONG ? trigger : guard;
    const ahead = settings.everyCandle ? Math.min(due, row + AHEAD) | 0 : due;
    const outside = firstOutside(market.candles, row, ahead, bottom, top);
    row = settings.everyCandle ? runCallbacks(run, position, row, outside) : outside;
    if (row < ahead) break;
  }
  return row;
}

/**
 * First row in [from, end) with a price outside of the band, `end` without one. The open of every eighth row, which is in the
 * same cache line as those around it, is read for the processor only: the exit needs the open of the next row, and would wait for
 * memory as long as a search of fifty rows takes.
 */
function firstOutside(
  { open, high, low }: Position['market']['candles'],
  from: number,
  end: number,
  bottom: number,
  top: number,
): number {
  let row = from;
  while (row < end && low[row]! > bottom && high[row]! < top && ((row & 7) !== 0 || open[row]! < top)) row++;
  return row;
}

/** True if the present candle reaches a price at which something happens to an open position. Applies the ROI steps that come due. */
export function reachesEvent({ candle, settings }: Run, position: Position): boolean {
  const { direction, stop, liquidation, roi } = position;
  const { time, high, low } = candle;
  if (time >= roi.nextTime) roi.advance(time, position, settings);
  const trigger = triggerPrice(position, settings);
  return direction === LONG
    ? low <= Math.max(stop, liquidation) || high >= trigger
    : high >= Math.min(stop, liquidation) || low <= trigger;
}

/** The least favorable best price at which a ROI step triggers or the trailing stop moves. */
function triggerPrice(position: Position, settings: ResolvedSettings): number {
  const { direction, roi } = position;
  const trigger = settings.trailing
    ? nearer(roi.trigger, trailingTrigger(position, settings), direction)
    : roi.trigger;
  return touching(trigger, direction);
}
