import { unrealisedProfit } from './accounting.ts';
import type { Position } from './position.ts';
import type { Run } from './run.ts';
import type { Schedule } from './schedule.ts';
import type { EquityCurve } from './types.ts';

/**
 * Writes the account after each step of the clock; row `step - 1` is the candle of `step`. It writes whole stretches in
 * which the account did not change but for prices: {@link record} is called before every change.
 */
export class CurveRecorder {
  readonly curve: EquityCurve;
  /** Rows written. */
  #rows = 0;

  constructor(schedule: Schedule, timeframeMs: number) {
    const { steps } = schedule;
    this.curve = {
      timestamp: clockTimes(schedule, timeframeMs),
      equity: new Float64Array(steps),
      balance: new Float64Array(steps),
      openTrades: new Uint16Array(steps),
    };
  }

  /** Records the steps before `step` that are not yet, with the account as it is now. */
  record(run: Run, step: number): void {
    const from = this.#rows;
    const to = step - 1;
    if (to <= from) return;
    const only = run.positions.length === 1 ? run.positions[0]! : null;
    if (only !== null && only.order !== 'entry' && to < only.market.offset + only.market.length)
      fillHolding(this.curve, only, from, to, run.balance);
    else this.#fill(run, from, to);
    this.#rows = to;
  }

  #fill({ positions, balance: cash }: Run, from: number, to: number): void {
    const { equity, balance, openTrades } = this.curve;
    let open = 0;
    for (const position of positions) if (position.order !== 'entry') open++;
    fillRows(equity, balance, openTrades, from, to, cash, open);
    for (const position of positions)
      if (position.order !== 'entry') addUnrealised(equity, position, from, to);
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

/** One loop instead of three calls of `fill`: most stretches are short. */
function fillRows(
  equity: Float64Array,
  balance: Float64Array,
  openTrades: Uint16Array,
  from: number,
  to: number,
  cash: number,
  open: number,
): void {
  for (let row = from; row < to; row++) {
    equity[row] = cash;
    balance[row] = cash;
    openTrades[row] = open;
  }
}

/** The rows in which `position` alone is open, all of them with candles of its own: in one loop, for most stretches are such. */
function fillHolding(
  { equity, balance, openTrades }: EquityCurve,
  { amount, openValue, funding, direction, market }: Position,
  from: number,
  to: number,
  cash: number,
): void {
  const { close } = market.candles;
  // Curve row 0 is step 1.
  const shift = 1 - market.offset;
  for (let row = from; row < to; row++) {
    equity[row] = cash + unrealisedProfit(amount, close[row + shift]!, openValue, funding, direction);
    balance[row] = cash;
    openTrades[row] = 1;
  }
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
