import { ratio, sum } from '#engine/metrics/moments.ts';
import type { TradeColumns } from '#engine/metrics/trade-columns.ts';

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
