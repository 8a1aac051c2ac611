import { unrealisedProfit } from './accounting.ts';
import type { KernelTrade } from './kernel-trade.ts';
import type { EquityCurve } from './types.ts';

/** Writes the account of one pair stretch by stretch: curve row `i` is the candle of row `i + 1`. */
export class KernelCurve {
  readonly curve: EquityCurve;
  /** First candle row not yet written. */
  #next = 1;

  constructor(timestamp: Float64Array) {
    const rows = Math.max(0, timestamp.length - 1);
    this.curve = {
      timestamp: timestamp.slice(1),
      equity: new Float64Array(rows),
      balance: new Float64Array(rows),
      openTrades: new Uint16Array(rows),
    };
  }

  /** The rows up to `to`, excluded, in which nothing is open. */
  idle(to: number, balance: number): void {
    if (to <= this.#next) return;
    this.curve.equity.fill(balance, this.#next - 1, to - 1);
    this.curve.balance.fill(balance, this.#next - 1, to - 1);
    this.#next = to;
  }

  /** The rows up to `to`, excluded, in which `trade` is open and its funding as it is now. */
  holding(to: number, balance: number, trade: KernelTrade): void {
    if (to <= this.#next) return;
    const { equity, openTrades } = this.curve;
    const { amount, openValue, funding, direction, market } = trade;
    const { close } = market.candles;
    for (let row = this.#next; row < to; row++)
      equity[row - 1] = balance + unrealisedProfit(amount, close[row]!, openValue, funding, direction);
    this.curve.balance.fill(balance, this.#next - 1, to - 1);
    openTrades.fill(1, this.#next - 1, to - 1);
    this.#next = to;
  }
}
