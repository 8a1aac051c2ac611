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

  constructor({ start, steps }: Schedule, timeframeMs: number) {
    const timestamp = new Float64Array(steps);
    for (let row = 0; row < steps; row++) timestamp[row] = start + (row + 1) * timeframeMs;
    this.curve = {
      timestamp,
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
    const { equity, balance, openTrades } = this.curve;
    equity.fill(run.balance, from, to);
    balance.fill(run.balance, from, to);
    let open = 0;
    for (const position of run.positions) {
      if (position.order === 'entry') continue;
      addUnrealised(equity, position, from, to);
      open++;
    }
    openTrades.fill(open, from, to);
    this.#rows = to;
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
