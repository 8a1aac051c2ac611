import type { AccountMetrics } from '#contract/report-metrics.ts';
import { DAY_MS } from '#engine/timeframe.ts';
import { finite } from '../stats/moments.ts';

/**
 * @param profit sum of the trades' profits, quote currency
 * @param days whole days of the run, at least 1
 * @param marketChangePct mean change of the pairs' prices, percent
 */
export function accountMetrics(
  wallet: number,
  finalBalance: number,
  profit: number,
  days: number,
  marketChangePct: number | null,
): AccountMetrics {
  return {
    starting_balance: wallet,
    final_balance: finalBalance,
    total_profit: profit,
    total_profit_pct: (profit / wallet) * 100,
    cagr_pct: cagrPct(wallet, finalBalance, days),
    avg_daily_profit_pct: ((profit / wallet) * 100) / days,
    market_change_pct: marketChangePct,
    backtest_days: days,
  };
}

/** Whole days between the open times of the first and the last candle of a run, at least 1. */
export function wholeDays(first: number, last: number): number {
  return Math.max(1, Math.floor((last - first) / DAY_MS));
}

/** Compound growth a year in percent: (final / start)^(365 / days) - 1. Null when less than nothing is left, or beyond any number. */
export function cagrPct(start: number, final: number, days: number): number | null {
  if (final < 0) return null;
  return finite(((final / start) ** (365 / days) - 1) * 100);
}
