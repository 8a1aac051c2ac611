import { tradedVolume } from '#engine/metrics/activity-metrics.ts';
import { columnOf, ratio, sum } from '#engine/metrics/moments.ts';
import type { Trade } from '#engine/simulator/types.ts';

/** One kind of cost. */
interface CostRow {
  /** Quote currency; positive was paid, negative was received. */
  readonly amount: number;
  /** Of the profit before costs; null when there was none. */
  readonly pct_of_gross_profit: number | null;
  /** Of the turnover; null without trades. */
  readonly pct_of_turnover: number | null;
}

export interface ReportCosts {
  /** Profit before all costs: total profit + fees + slippage + funding paid. */
  readonly gross_profit: number;
  /** Sum of amount * (entry price + exit price). */
  readonly turnover: number;
  readonly fees: CostRow;
  readonly slippage: CostRow;
  readonly funding: CostRow;
  readonly total: CostRow;
}

export function buildCosts(trades: readonly Trade[]): ReportCosts {
  const fees = sum(columnOf(trades, (trade) => trade.fees));
  const slippage = sum(columnOf(trades, (trade) => trade.slippageCost));
  const funding = sum(columnOf(trades, (trade) => -trade.funding));
  const total = fees + slippage + funding;
  const turnover = sum(columnOf(trades, tradedVolume));
  const gross = sum(columnOf(trades, (trade) => trade.profit)) + total;
  const row = (amount: number): CostRow => ({
    amount,
    pct_of_gross_profit: gross > 0 ? (amount / gross) * 100 : null,
    pct_of_turnover: ratio(amount * 100, turnover),
  });
  return {
    gross_profit: gross,
    turnover,
    fees: row(fees),
    slippage: row(slippage),
    funding: row(funding),
    total: row(total),
  };
}
