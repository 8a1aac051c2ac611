import type { OverfittingReport } from '../../contract/hyperopt.ts';
import { variance } from '../metrics/moments.ts';
import { meanCorrelation } from '../stats/correlation.ts';
import { probabilityOfOverfitting } from '../stats/overfitting.ts';
import {
  deflatedSharpe,
  effectiveTrials,
  expectedMaximumSharpe,
  minimumTrackRecord,
  probabilisticSharpe,
  sharpeSample,
} from '../stats/sharpe-ratio.ts';
import { DAY_MS } from '../timeframe.ts';
import { type DailyReturns, groupEqualRuns } from './equal-runs.ts';
import { plateauWidth } from './plateau.ts';
import type { SearchSpace } from './space.ts';
import { bestTrial, type Direction, type PastTrial } from './trials.ts';

/**
 * Overfitting diagnostics of the best trial of a finished study. Sharpe ratios are per day, not annualized. Trials that repeat
 * the parameters or the run of an earlier one count as trials but are one series to choose from: their ratios would have no
 * spread. Days on which a trial has no return count as 0.
 *
 * @param trials all trials of the study
 * @param returns of the complete trials, by number
 * @param efficiency walk-forward efficiency of the best trial
 * @returns undefined without a complete trial that has returns
 */
export function overfittingReport(
  space: SearchSpace,
  trials: readonly PastTrial[],
  returns: ReadonlyMap<number, DailyReturns>,
  direction: Direction,
  efficiency: number | null,
): OverfittingReport | undefined {
  const best = bestTrial(trials, direction);
  if (!best || !returns.has(best.number)) return undefined;
  // The best is the first of its run, as it is the first with its value.
  const known = distinctTrials(space, trials)
    .filter(({ number }) => returns.has(number))
    .sort((a, b) => a.number - b.number);
  const distinct = groupEqualRuns(known, returns).map(([first]) => first!);
  const seriesOf = (each: readonly PastTrial[]) => aligned(each.map(({ number }) => returns.get(number)!));
  const series = seriesOf(distinct);
  const chosen = series[distinct.indexOf(best)]!;
  const sample = sharpeSample(chosen);
  const selection = selectionOf(series, trials.length);
  const correlation = meanCorrelation(seriesOf(known));
  const pbo = probabilityOfOverfitting(series);
  return {
    trials: trials.length,
    effective_trials: correlation === null ? null : orNull(effectiveTrials(trials.length, correlation)),
    days: chosen.length,
    sharpe_ratio_daily: orNull(sample?.sharpe),
    expected_max_sharpe_daily: selection
      ? orNull(expectedMaximumSharpe(selection.variance, selection.trials))
      : null,
    probabilistic_sharpe_ratio: sample ? orNull(probabilisticSharpe(sample)) : null,
    deflated_sharpe_ratio: sample && selection ? orNull(deflatedSharpe(sample, selection)) : null,
    min_track_record_days: sample ? orNull(minimumTrackRecord(sample)) : null,
    pbo: pbo && { ...pbo, degradation_slope: orNull(pbo.degradation_slope) },
    walk_forward_efficiency: orNull(efficiency),
    plateau: plateauWidth(space, trials, direction),
  };
}

const MAX_MEANINGFUL = 1e12;

/** Null for a value beyond any meaning, which DynamoDB may also not hold. */
function orNull(value: number | null | undefined): number | null {
  return typeof value === 'number' && Math.abs(value) < MAX_MEANINGFUL ? value : null;
}

/** The complete trials without those that repeat an earlier one's parameters. */
function distinctTrials(space: SearchSpace, trials: readonly PastTrial[]): PastTrial[] {
  const first = new Map<string, PastTrial>();
  for (const trial of trials) {
    if (trial.state !== 'complete') continue;
    const key = JSON.stringify(space.map(({ name }) => trial.params[name]));
    const known = first.get(key);
    if (!known || trial.number < known.number) first.set(key, trial);
  }
  return [...first.values()];
}

/** What was selected from: undefined when one of several trials alone is complete, whose spread nobody knows. */
function selectionOf(series: readonly ArrayLike<number>[], trials: number) {
  if (trials === 1) return { trials, variance: 0 };
  if (series.length < 2) return undefined;
  // A trial that never varied, such as one without trades, has earned nothing for its risk.
  const ratios = series.map((values) => sharpeSample(values)?.sharpe ?? 0);
  return { trials, variance: variance(ratios, 'sample') };
}

/** All series over the same days: from the first of any to the last of any, 0 where one has no return. */
function aligned(series: readonly DailyReturns[]): Float64Array[] {
  const starts = series.map(({ firstDay }) => Date.parse(firstDay) / DAY_MS);
  const first = Math.min(...starts);
  const days = Math.max(...series.map(({ returns }, i) => starts[i]! - first + returns.length));
  return series.map(({ returns }, i) => {
    const values = new Float64Array(days);
    values.set(returns, starts[i]! - first);
    return values;
  });
}
