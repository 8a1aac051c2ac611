import type { CostRow, ReportCosts } from '#contract/report.ts';
import type { TradeColumns } from '#engine/metrics/trade-columns.ts';
import { ratio, sum } from '#engine/stats/moments.ts';

export function buildCosts(trades: TradeColumns): ReportCosts {
  const fees = sum(trades.fees);
  const slippage = sum(trades.slippageCost);
  const funding = 0 - sum(trades.funding);
  const total = fees + slippage + funding;
  const turnover = sum(trades.volume);
  const gross = sum(trades.profit) + total;
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
