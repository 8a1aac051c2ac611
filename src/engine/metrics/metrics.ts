import type { Metrics } from '#contract/report-metrics.ts';
import type { TradeTable } from '#engine/simulator/trade-table.ts';
import type { EquityCurve } from '#engine/simulator/types.ts';
import { accountMetrics, wholeDays } from './account-metrics.ts';
import { activityMetrics } from './activity-metrics.ts';
import { type DailyEquity, dailyEquity } from './daily.ts';
import { type Drawdown, drawdownOf } from './drawdown.ts';
import { equityMetrics } from './equity-metrics.ts';
import { type TradeColumns, tradeColumns } from './trade-columns.ts';
import { closedDayMetrics, type TradeMetrics, tradeMetrics } from './trade-metrics.ts';

/** What the metrics are computed from. */
export interface MetricsInput {
  readonly trades: TradeTable;
  readonly curve: EquityCurve;
  readonly finalBalance: number;
  /** Starting balance, quote currency. */
  readonly wallet: number;
  /** Open times of the run's first and last candle, ms. */
  readonly firstCandle: number;
  readonly lastCandle: number;
  readonly marketChangePct: number | null;
}

/** The metrics, with what the report needs again. */
export interface ComputedMetrics {
  readonly metrics: Metrics;
  readonly daily: DailyEquity;
  /** Whole days of the run, at least 1. */
  readonly days: number;
  /** The worst falls of the equity at the close of every candle. */
  readonly candleDrawdown: Drawdown;
  /** The trades as columns. */
  readonly trades: TradeColumns;
  /** All trades as one table row. */
  readonly total: TradeMetrics;
}

/** Computes every metric of a run that had at least one candle. */
export function computeMetrics(input: MetricsInput): ComputedMetrics {
  const { curve, wallet } = input;
  const trades = tradeColumns(input.trades);
  const days = wholeDays(input.firstCandle, input.lastCandle);
  const daily = dailyEquity(curve, wallet, input.firstCandle);
  const candleDrawdown = drawdownOf(wallet, curve.equity);
  const total = tradeMetrics(trades, wallet, days);
  const account = accountMetrics(wallet, input.finalBalance, total.total_profit, days, input.marketChangePct);
  const { total_profit: _profit, total_profit_pct: _percent, cagr_pct: _cagr, ...closedTrades } = total;
  const metrics = {
    account,
    equity: equityMetrics(curve, daily, {
      wallet,
      candleDrawdown,
      days,
      totalProfitPct: account.total_profit_pct,
      cagrPct: account.cagr_pct,
    }),
    closed_trades: { ...closedTrades, ...closedDayMetrics(trades, wallet) },
    activity: activityMetrics(trades, curve, days),
  };
  return { metrics, daily, candleDrawdown, days, trades, total };
}
