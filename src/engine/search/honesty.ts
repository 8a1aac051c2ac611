import { variance } from '../metrics/moments.ts';
import { meanCorrelation } from '../stats/correlation.ts';
import { type Overfitting, overfitting } from '../stats/overfitting.ts';
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
import { type Plateau, plateauWidth } from './plateau.ts';
import type { SearchSpace } from './space.ts';
import { bestTrial, type Direction, type PastTrial } from './trials.ts';

/** How far the best trial of a study can be believed. Sharpe ratios are per day, not annualised. */
export interface StudyHonesty {
  /** Days of the daily returns. */
  readonly days: number;
  /** Trials behind the selection: all of the study, also pruned, failed and repeated ones. */
  readonly trials: number;
  /** As how many independent trials they count, by the mean correlation of their returns. */
  readonly effectiveTrials: number | null;
  /** Of the best trial. Null when its returns do not vary. */
  readonly sharpe: number | null;
  /** How sure it is that the true Sharpe ratio is above 0, had it been the only trial. */
  readonly probabilisticSharpe: number | null;
  /** The largest Sharpe ratio that as many trials without skill would show; null when too few are complete to tell. */
  readonly expectedMaximumSharpe: number | null;
  /** How sure it is that the true Sharpe ratio is above that. */
  readonly deflatedSharpe: number | null;
  /** Days needed to be 95 % sure of a Sharpe ratio above 0; null when it is not above 0. */
  readonly minimumTrackRecordDays: number | null;
  readonly overfitting: Overfitting | null;
  readonly plateau: Plateau | null;
}

/**
 * The honesty statistics of an ended study. Trials that repeat the parameters or the run of an earlier one count as trials, but
 * are one series to choose from: their ratios would have no spread. Days on which a trial has no return count as 0: it traded nothing.
 *
 * @param trials all trials of the study
 * @param returns of the complete trials, by number
 * @returns undefined without a complete trial that has returns
 */
export function studyHonesty(
  space: SearchSpace,
  trials: readonly PastTrial[],
  returns: ReadonlyMap<number, DailyReturns>,
  direction: Direction,
): StudyHonesty | undefined {
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
  return {
    days: chosen.length,
    trials: trials.length,
    effectiveTrials: correlation === null ? null : effectiveTrials(trials.length, correlation),
    sharpe: sample?.sharpe ?? null,
    probabilisticSharpe: sample ? probabilisticSharpe(sample) : null,
    expectedMaximumSharpe: selection ? expectedMaximumSharpe(selection.variance, selection.trials) : null,
    deflatedSharpe: sample && selection ? deflatedSharpe(sample, selection) : null,
    minimumTrackRecordDays: sample ? minimumTrackRecord(sample) : null,
    overfitting: overfitting(series),
    plateau: plateauWidth(space, trials, direction),
  };
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
