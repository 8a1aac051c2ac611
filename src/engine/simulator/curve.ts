import { unrealisedProfit } from './accounting.ts';
import type { Run } from './run.ts';
import type { Schedule } from './schedule.ts';
import type { EquityCurve } from './types.ts';

/** Writes the account after each step of the clock; row `step - 1` is the candle of `step`. */
export class CurveRecorder {
  readonly curve: EquityCurve;

  constructor(schedule: Schedule, timeframeMs: number) {
    const { start, steps } = schedule;
    const timestamp = new Float64Array(steps);
    for (let row = 0; row < steps; row++) timestamp[row] = start + (row + 1) * timeframeMs;
    this.curve = {
      timestamp,
      equity: new Float64Array(steps),
      balance: new Float64Array(steps),
      openTrades: new Uint16Array(steps),
    };
  }

  /** Steps `from` to `to`, `to` excluded, in which nothing was open. */
  idle(from: number, to: number, balance: number): void {
    this.curve.equity.fill(balance, from - 1, to - 1);
    this.curve.balance.fill(balance, from - 1, to - 1);
  }

  /** The present step: positions valued at their candle's close. */
  record(run: Run): void {
    const row = run.step - 1;
    let equity = run.balance;
    let open = 0;
    for (const position of run.positions) {
      if (position.order === 'entry') continue;
      const { amount, openValue, funding, direction, market } = position;
      equity += unrealisedProfit(amount, market.closeAt(run.step), openValue, funding, direction);
      open++;
    }
    this.curve.equity[row] = equity;
    this.curve.balance[row] = run.balance;
    this.curve.openTrades[row] = open;
  }
}
