import { SPARKLINE_LENGTH } from '#contract/values/job-limits.ts';
import { sparklineOf } from '#engine/report/sparkline.ts';

/** Sparkline of a backtest: from its wallet over the equity at the end of each day, quote currency. */
export function equitySparkline(wallet: number, equity: readonly number[]): number[] {
  return sparklineOf([wallet, ...equity], SPARKLINE_LENGTH);
}
