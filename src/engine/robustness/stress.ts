import type { StressResult } from '#contract/backtests/report-robustness.ts';
import { DAY_MS } from '#contract/values/durations.ts';
import { drawdownOf } from '../stats/drawdown.ts';
import { compounded, type RunDays } from './regimes.ts';
import { STRESS_WINDOWS, type StressWindow } from './stress-windows.ts';

/**
 * Results of the run in each window that it overlaps.
 *
 * @param day start of each day, ms, consecutive
 * @param market return of the benchmark on each day, as a ratio
 */
export function stressResults(
  day: Float64Array,
  run: RunDays,
  market: Float64Array,
  windows: readonly StressWindow[] = STRESS_WINDOWS,
): StressResult[] {
  return windows.flatMap(({ name, start, end, text }) => {
    const from = Math.max(0, (Date.parse(start) - day[0]!) / DAY_MS);
    const to = Math.min(day.length, (Date.parse(end) - day[0]!) / DAY_MS + 1);
    if (from >= to) return [];
    const growth = compounded(run.returns.slice(from, to));
    return [
      {
        name,
        start,
        end,
        text,
        days: to - from,
        trades: run.trades.subarray(from, to).reduce((sum, each) => sum + each, 0),
        return_pct: (growth.at(-1)! - 1) * 100,
        market_return_pct: (compounded(market.slice(from, to)).at(-1)! - 1) * 100,
        max_drawdown_pct: drawdownOf(1, growth).ratio * 100,
      },
    ];
  });
}
