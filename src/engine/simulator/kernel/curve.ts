import { unrealisedProfit } from '../rules/money.ts';
import type { KernelTrade } from './trade.ts';

/** Writes the equity of one pair stretch by stretch: curve row `i` is the candle of row `i + 1`. */
export class KernelCurve {
  readonly #equity: Float64Array;
  /** First candle row not yet written. */
  #next = 1;

  constructor(equity: Float64Array) {
    this.#equity = equity;
  }

  /** The rows up to `to`, excluded, in which nothing is open. */
  idle(to: number, cash: number): void {
    if (to <= this.#next) return;
    this.#equity.fill(cash, this.#next - 1, to - 1);
    this.#next = to;
  }

  /** The rows up to `to`, excluded, in which `trade` is open and its funding as it is now. */
  holding(to: number, cash: number, trade: KernelTrade): void {
    const equity = this.#equity;
    const { amount, openValue, funding, direction, market } = trade;
    const { close } = market.candles;
    for (let row = this.#next; row < to; row++)
      equity[row - 1] = cash + unrealisedProfit(amount, close[row]!, openValue, funding, direction);
    this.#next = to;
  }
}
