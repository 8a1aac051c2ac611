import { unrealisedProfit } from '../rules/money.ts';
import { AccountCurve } from './curve.ts';
import type { Position } from './position.ts';
import type { Run } from './run.ts';
import type { Schedule } from './schedule.ts';

/**
 * Writes the equity after each step of the clock; row `step - 1` is the candle of `step`. It writes whole stretches in
 * which the account did not change but for prices: {@link record} is called before every change.
 */
export class CurveRecorder {
  readonly curve: AccountCurve;
  /** Rows written. */
  #rows = 0;

  /** Of `run`, from its start on. */
  constructor(schedule: Schedule, { terms, balance, book }: Run) {
    const { timeframeMs } = terms;
    this.curve = new AccountCurve(clockTimes(schedule, timeframeMs), balance, timeframeMs, book);
  }

  /** Records the steps before `step` that are not yet, with the account as it is now. */
  record({ positions, balance }: Run, step: number): void {
    const from = this.#rows;
    const to = step - 1;
    if (to <= from) return;
    const { equity } = this.curve;
    const only = positions.length === 1 ? positions[0]! : null;
    if (only !== null && only.order !== 'entry' && to < only.market.offset + only.market.length)
      fillHolding(equity, only, from, to, balance);
    else {
      equity.fill(balance, from, to);
      for (const position of positions)
        if (position.order !== 'entry') addUnrealised(equity, position, from, to);
    }
    this.#rows = to;
  }
}

/** Open times of the steps; those of a pair that spans the whole clock are shared with its candles. */
function clockTimes({ markets, start, steps }: Schedule, timeframeMs: number): Float64Array {
  const whole = markets.find(({ offset, length }) => offset === 0 && length === steps + 1);
  if (whole) return whole.candles.timestamp.subarray(1);
  const times = new Float64Array(steps);
  for (let row = 0; row < steps; row++) times[row] = start + (row + 1) * timeframeMs;
  return times;
}

/** The rows in which `position` alone is open, all of them with candles of its own: in one loop, for most stretches are such. */
function fillHolding(equity: Float64Array, position: Position, from: number, to: number, cash: number): void {
  const { amount, openValue, funding, direction, market } = position;
  const { close } = market.candles;
  // Curve row 0 is step 1.
  const shift = 1 - market.offset;
  for (let row = from; row < to; row++)
    equity[row] = cash + unrealisedProfit(amount, close[row + shift]!, openValue, funding, direction);
}

/** Adds what a position is worth beyond its collateral at each close; after the end of its data, at its last close. */
function addUnrealised(equity: Float64Array, position: Position, from: number, to: number): void {
  const { amount, openValue, funding, direction, market } = position;
  const { close } = market.candles;
  // Curve row 0 is step 1.
  const shift = 1 - market.offset;
  const end = Math.min(to, market.length - shift);
  for (let row = from; row < end; row++)
    equity[row]! += unrealisedProfit(amount, close[row + shift]!, openValue, funding, direction);
  if (end === to) return;
  const last = unrealisedProfit(amount, close[market.length - 1]!, openValue, funding, direction);
  for (let row = Math.max(from, end); row < to; row++) equity[row]! += last;
}
