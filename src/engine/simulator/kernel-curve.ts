import { unrealisedProfit } from './accounting.ts';
import type { KernelTrade } from './kernel-trade.ts';
import type { EquityCurve } from './types.ts';

/** Writes the account of one pair stretch by stretch: curve row `i` is the candle of row `i + 1`. */
export class KernelCurve {
  readonly curve: EquityCurve;
  /** First candle row not yet written. */
  #next = 1;

  /** `timestamp`: the candles' own, shared with the curve. */
  constructor(timestamp: Float64Array) {
    const rows = timestamp.length - 1;
    this.curve = {
      timestamp: timestamp.subarray(1),
      equity: new Float64Array(rows),
      balance: new Float64Array(rows),
      // Filled at once: most stretches of one open trade are too short for a fill of their own.
      openTrades: new Uint16Array(rows).fill(1),
    };
  }

  /** The rows up to `to`, excluded, in which nothing is open. */
  idle(to: number, cash: number): void {
    if (to <= this.#next) return;
    this.curve.equity.fill(cash, this.#next - 1, to - 1);
    this.curve.balance.fill(cash, this.#next - 1, to - 1);
    this.curve.openTrades.fill(0, this.#next - 1, to - 1);
    this.#next = to;
  }

  /** The rows up to `to`, excluded, in which `trade` is open and its funding as it is now. */
  holding(to: number, cash: number, trade: KernelTrade): void {
    const { equity, balance } = this.curve;
    const { amount, openValue, funding, direction, market } = trade;
    const { close } = market.candles;
    for (let row = this.#next; row < to; row++) {
      equity[row - 1] = cash + unrealisedProfit(amount, close[row]!, openValue, funding, direction);
      balance[row - 1] = cash;
    }
    this.#next = to;
  }
}
