import { mean, median } from '../metrics/moments.ts';
import { wilcoxonGreaterP } from '../stats/wilcoxon.ts';
import { bestTrial, type Direction, isBetter, type PastTrial } from './trials.ts';

export type Pruner = 'wilcoxon' | 'median' | 'none';

/** Windows that both trials must have before one can be stopped. */
const WILCOXON_STARTUP_WINDOWS = 2;
const WILCOXON_P = 0.1;
/** Complete trials before any is stopped. */
const MEDIAN_STARTUP_TRIALS = 5;

/**
 * Whether a running trial shall be stopped after the walk-forward windows that it has finished.
 *
 * `wilcoxon`: its windows are significantly worse (one-sided signed-rank test, p < 0.1) than the same windows of the best
 * complete trial, from two common windows on; never while its mean over them is at least as good.
 * `median`: its best window is worse than the median of what complete trials had at this window, from five complete trials
 * on. Both with the defaults of Optuna.
 *
 * A window without a value (null) is left out of the comparison.
 *
 * @param windows the objective of each finished window of the running trial, in order
 * @param past the visible history (see `visibleHistory`), the same at every window of the trial
 */
export function shouldPrune(
  kind: Pruner,
  windows: readonly (number | null)[],
  past: readonly PastTrial[],
  direction: Direction,
): boolean {
  if (kind === 'wilcoxon') return isWorseThanBest(windows, past, direction);
  if (kind === 'median') return isWorseThanMedian(windows, past, direction);
  return false;
}

function isWorseThanBest(
  windows: readonly (number | null)[],
  past: readonly PastTrial[],
  direction: Direction,
): boolean {
  const best = bestTrial(past, direction)?.windows;
  if (!best) return false;
  const pairs = windows.flatMap((own, i) => {
    const other = best[i];
    return isNumber(own) && isNumber(other) ? [{ own, other }] : [];
  });
  if (pairs.length < WILCOXON_STARTUP_WINDOWS) return false;
  const meanOwn = mean(pairs.map(({ own }) => own));
  const meanBest = mean(pairs.map(({ other }) => other));
  if (!isBetter(meanBest, meanOwn, direction)) return false;
  const losses = pairs.map(({ own, other }) => (direction === 'maximize' ? other - own : own - other));
  return wilcoxonGreaterP(losses) < WILCOXON_P;
}

function isWorseThanMedian(
  windows: readonly (number | null)[],
  past: readonly PastTrial[],
  direction: Direction,
): boolean {
  const complete = past.filter(({ state }) => state === 'complete');
  if (complete.length < MEDIAN_STARTUP_TRIALS) return false;
  const others = complete.map((trial) => trial.windows?.[windows.length - 1]).filter(isNumber);
  const own = windows.filter(isNumber);
  if (own.length === 0 || others.length === 0) return false;
  const best = own.reduce((a, b) => (isBetter(b, a, direction) ? b : a));
  return isBetter(median(others), best, direction);
}

function isNumber(value: number | null | undefined): value is number {
  return typeof value === 'number' && Number.isFinite(value);
}
