import type { ResolvedBacktestConfig } from '#contract/backtest.ts';
import type { ReportPairData } from '#contract/report.ts';
import { type ComputedMetrics, computeMetrics } from '#engine/metrics/metrics.ts';
import type { Simulation } from '#engine/simulator/types.ts';

/** What the metrics need to know of a pair's candles. */
export type TradedCandles = Pick<ReportPairData, 'first' | 'last' | 'market_change_pct'>;

/**
 * All metrics of a run.
 *
 * @param pairs those that were simulated, at least one
 * @param run with its equity curve
 */
export function measureRun(
  { dry_run_wallet }: Pick<ResolvedBacktestConfig, 'dry_run_wallet'>,
  pairs: readonly TradedCandles[],
  run: Simulation,
): ComputedMetrics {
  return computeMetrics({
    trades: run.table,
    curve: run.curve!,
    finalBalance: run.finalBalance,
    wallet: dry_run_wallet,
    firstCandle: Math.min(...pairs.map(({ first }) => Date.parse(first))),
    lastCandle: Math.max(...pairs.map(({ last }) => Date.parse(last))),
    marketChangePct: pairs.reduce((total, pair) => total + pair.market_change_pct, 0) / pairs.length,
  });
}
