import type { Direction, OverfittingReport } from '#contract/hyperopt/hyperopt.ts';
import { DAY_MS } from '#contract/values/durations.ts';
import { median, variance } from '../stats/moments.ts';
import {
  deflatedSharpe,
  effectiveTrials,
  expectedMaximumSharpe,
  MIN_PROBABILITY_DAYS,
  meanCorrelation,
  minimumTrackRecord,
  probabilisticSharpe,
  selectionVariance,
  sharpeSample,
} from '../stats/sharpe-ratio.ts';
import { type Axis, axisOf, coordinate, type Point, type SearchSpace } from './space.ts';
import { bestTrial, type DailyReturns, groupEqualRuns, type PastTrial } from './trials.ts';

/**
 * Overfitting diagnostics of the best trial of a finished study. Sharpe ratios are per day, not annualized. A trial that
 * repeats the parameters or the run of an earlier one counts as a trial, but its series is left out. Equal ratios would
 * understate the variance. A day without a return of a trial counts as 0.
 *
 * @param trials all trials of the study
 * @param returns daily returns of the complete trials, by trial number
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
  // The best trial is the first with its value, so it is also the first of its group.
  const known = distinctTrials(space, trials)
    .filter(({ number }) => returns.has(number))
    .sort((a, b) => a.number - b.number);
  const distinct = groupEqualRuns(known, returns).map(([first]) => first!);
  const seriesOf = (each: readonly PastTrial[]) => aligned(each.map(({ number }) => returns.get(number)!));
  const series = seriesOf(distinct);
  const chosen = series[distinct.indexOf(best)]!;
  const sample = sharpeSample(chosen);
  const selection = selectionOf(series, trials.length);
  const isLongEnough = chosen.length >= MIN_PROBABILITY_DAYS;
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
    probabilistic_sharpe_ratio: sample && isLongEnough ? orNull(probabilisticSharpe(sample)) : null,
    deflated_sharpe_ratio:
      sample && selection && isLongEnough ? orNull(deflatedSharpe(sample, selection)) : null,
    min_track_record_days: sample ? orNull(minimumTrackRecord(sample)) : null,
    pbo: pbo && { ...pbo, degradation_slope: orNull(pbo.degradation_slope) },
    walk_forward_efficiency: orNull(efficiency),
    plateau: plateauWidth(space, trials, direction),
  };
}

const MAX_MEANINGFUL = 1e12;

/** Null for a value of 1e12 or more: it has no meaning, and DynamoDB may be unable to store it. */
function orNull(value: number | null | undefined): number | null {
  return typeof value === 'number' && Math.abs(value) < MAX_MEANINGFUL ? value : null;
}

/** Complete trials without repetitions of an earlier trial's parameters. */
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

/** Number of trials and variance of their Sharpe ratios. Undefined when only one of several trials is complete. */
function selectionOf(series: readonly ArrayLike<number>[], trials: number) {
  if (trials === 1) return { trials, variance: 0 };
  if (series.length < 2) return undefined;
  // A trial whose returns do not vary, such as one without trades, has a Sharpe ratio of 0.
  const ratios = series.map((values) => sharpeSample(values)?.sharpe ?? 0);
  return { trials, variance: selectionVariance(variance(ratios, 'sample'), series[0]!.length) };
}

/** Extends all series to the same days, from the earliest to the latest day of all; 0 on days without a return. */
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

const MAX_BLOCKS = 16;
const MIN_DAYS = 5;

type ProbabilityOfOverfitting = NonNullable<OverfittingReport['pbo']>;

/**
 * Probability of backtest overfitting by combinatorially symmetric cross-validation (Bailey, Borwein, Lopez de Prado, Zhu,
 * J. of Computational Finance 20(4), 2017). The days are cut into S blocks. For each choice of S/2 blocks, the trial with
 * the best Sharpe ratio on them is selected. Its rank among the N trials on the other days is r, and w = r / (N + 1). The
 * probability is the share of choices with ln(w / (1 - w)) of at most 0. Ties share their mean rank. A trial that does not vary has a
 * Sharpe ratio of 0.
 *
 * S is the largest even number up to 16 with at least 5 days in a block. Sums and sums of squares are kept per block, so a
 * choice costs a few additions per trial.
 *
 * @param returns daily returns of each trial, all over the same days
 * @returns null with fewer than 2 trials or 10 days
 */
export function probabilityOfOverfitting(
  returns: readonly ArrayLike<number>[],
): ProbabilityOfOverfitting | null {
  const trials = returns.length;
  const days = returns[0]?.length ?? 0;
  const blocks = Math.min(MAX_BLOCKS, 2 * Math.floor(days / MIN_DAYS / 2));
  if (trials < 2 || blocks < 2) return null;
  const summary = new SelectionSummary();
  const table = blockTable(returns, blocks);
  forEachHalf(table, (inSample, outOfSample) => {
    const chosen = indexOfLargest(inSample);
    summary.add(inSample[chosen]!, outOfSample[chosen]!, relativeRank(outOfSample, chosen));
  });
  return summary.result(blocks);
}

/** Sums by block, then by trial. */
interface BlockTable {
  readonly trials: number;
  readonly days: readonly number[];
  readonly sums: readonly Float64Array[];
  readonly squares: readonly Float64Array[];
}

function blockTable(returns: readonly ArrayLike<number>[], blocks: number): BlockTable {
  const total = returns[0]!.length;
  const start = (block: number) => Math.floor((block * total) / blocks);
  const each = Array.from({ length: blocks }, (_, block) => block);
  const sumOver = (block: number, of: (value: number) => number) =>
    Float64Array.from(returns, (values) => {
      let sum = 0;
      for (let day = start(block); day < start(block + 1); day++) sum += of(values[day]!);
      return sum;
    });
  return {
    trials: returns.length,
    days: each.map((block) => start(block + 1) - start(block)),
    sums: each.map((block) => sumOver(block, (value) => value)),
    squares: each.map((block) => sumOver(block, (value) => value * value)),
  };
}

/**
 * Calls `visit` with the Sharpe ratios of all trials on each half of the blocks and on the other half. It enumerates the
 * halves that contain the first block and visits each in both directions. The next call reuses the arrays.
 */
function forEachHalf(
  { trials, days, sums, squares }: BlockTable,
  visit: (inSample: Float64Array, outOfSample: Float64Array) => void,
): void {
  const blocks = days.length;
  const half = blocks / 2;
  const level = () => Array.from({ length: half + 1 }, () => new Float64Array(trials));
  const sumTo = level();
  const squareTo = level();
  const total = addAll(sums, trials);
  const totalSquares = addAll(squares, trials);
  const totalDays = days.reduce((a, b) => a + b, 0);
  const one = new Float64Array(trials);
  const other = new Float64Array(trials);

  /** Adds block `block` as the `depth`-th of a half with `count` days so far, then continues with later blocks. */
  const take = (block: number, depth: number, count: number): void => {
    const taken = count + days[block]!;
    add(sumTo[depth]!, sums[block]!, sumTo[depth + 1]!);
    add(squareTo[depth]!, squares[block]!, squareTo[depth + 1]!);
    if (depth + 1 < half) {
      for (let next = block + 1; next <= blocks - (half - depth - 1); next++) take(next, depth + 1, taken);
      return;
    }
    const sum = sumTo[half]!;
    const square = squareTo[half]!;
    for (let i = 0; i < trials; i++) {
      one[i] = sharpe(sum[i]!, square[i]!, taken);
      other[i] = sharpe(total[i]! - sum[i]!, totalSquares[i]! - square[i]!, totalDays - taken);
    }
    visit(one, other);
    visit(other, one);
  };
  take(0, 0, 0);
}

function addAll(parts: readonly Float64Array[], length: number): Float64Array {
  const total = new Float64Array(length);
  for (const part of parts) add(total, part, total);
  return total;
}

function add(a: Float64Array, b: Float64Array, into: Float64Array): void {
  for (let i = 0; i < into.length; i++) into[i] = a[i]! + b[i]!;
}

/** Mean divided by standard deviation, from sums over `n` days; 0 when values differ only by rounding. */
function sharpe(sum: number, squares: number, n: number): number {
  const mean = sum / n;
  const variance = squares / n - mean * mean;
  return variance > 1e-12 * (squares / n) ? mean / Math.sqrt(variance) : 0;
}

function indexOfLargest(values: Float64Array): number {
  let index = 0;
  for (let i = 1; i < values.length; i++) if (values[i]! > values[index]!) index = i;
  return index;
}

/** r / (N + 1) of a value among all, r from 1 for the smallest. */
function relativeRank(values: Float64Array, index: number): number {
  const value = values[index]!;
  let below = 0;
  let equal = 0;
  for (let i = 0; i < values.length; i++) {
    if (values[i]! < value) below++;
    else if (values[i] === value) equal++;
  }
  return (below + (equal + 1) / 2) / (values.length + 1);
}

/** Running totals of the chosen trials over all choices of blocks. */
class SelectionSummary {
  #splits = 0;
  #overfitted = 0;
  #losses = 0;
  #x = 0;
  #y = 0;
  #xx = 0;
  #xy = 0;

  add(inSample: number, outOfSample: number, rank: number): void {
    this.#splits++;
    // ln(w / (1 - w)) is at most 0 exactly when w is at most 1/2.
    if (rank <= 0.5) this.#overfitted++;
    if (outOfSample < 0) this.#losses++;
    this.#x += inSample;
    this.#y += outOfSample;
    this.#xx += inSample * inSample;
    this.#xy += inSample * outOfSample;
  }

  result(blocks: number): ProbabilityOfOverfitting {
    const n = this.#splits;
    const variance = this.#xx - (this.#x * this.#x) / n;
    const covariance = this.#xy - (this.#x * this.#y) / n;
    return {
      probability: this.#overfitted / n,
      loss_probability: this.#losses / n,
      degradation_slope: variance > 1e-12 * this.#xx ? covariance / variance : null,
      blocks,
      splits: n,
    };
  }
}

const MIN_TRIALS = 10;
/** Share of the best trial's lead over the median trial that a trial on the plateau keeps at least. */
const KEPT_LEAD = 0.8;
/** Minimum share of the trials within the width that is on the plateau. */
const SHARE_ON_PLATEAU = 0.8;

/**
 * `width`, 0 to 1: largest distance from the best trial within which at least 80 % of the complete trials are on the
 * plateau. The unit is the range of a parameter, on a logarithmic scale for a logarithmic parameter.
 */
type Plateau = NonNullable<OverfittingReport['plateau']>;

/**
 * Width of the plateau around the best trial: a robust optimum has good neighbors (Pardo 2008). A trial is on the plateau
 * if it keeps 80 % of the best trial's lead over the median of the complete trials. The distance of two points is that of
 * their most different parameter; different choices have the distance 1.
 *
 * @returns null with fewer than ten complete trials
 */
export function plateauWidth(
  space: SearchSpace,
  past: readonly PastTrial[],
  direction: Direction,
): Plateau | null {
  const complete = past.filter(({ state, value }) => state === 'complete' && value !== null);
  const best = bestTrial(complete, direction);
  if (!best || complete.length < MIN_TRIALS) return null;
  const axes = space.map(axisOf);
  const score = ({ value }: PastTrial) => (direction === 'maximize' ? value! : -value!);
  const medianScore = median(complete.map(score));
  const minScore = medianScore + KEPT_LEAD * (score(best) - medianScore);
  const neighbors = complete
    .map((trial) => ({
      distance: distance(axes, best.params, trial.params),
      isGood: score(trial) >= minScore,
    }))
    .sort((a, b) => a.distance - b.distance);
  let plateau: Plateau = { width: 0, trials: 1 };
  let good = 0;
  neighbors.forEach(({ distance, isGood }, i) => {
    if (isGood) good++;
    const isLastAtThisDistance = neighbors[i + 1]?.distance !== distance;
    if (isLastAtThisDistance && good >= SHARE_ON_PLATEAU * (i + 1))
      plateau = { width: distance, trials: i + 1 };
  });
  return plateau;
}

function distance(axes: readonly Axis[], a: Point, b: Point): number {
  const along = axes.map((axis) => {
    const from = a[axis.name];
    const to = b[axis.name];
    if (axis.kind === 'choice') return from === to ? 0 : 1;
    const ends = coordinate(axis, axis.max) - coordinate(axis, axis.min);
    return Math.abs(coordinate(axis, from as number) - coordinate(axis, to as number)) / ends;
  });
  return Math.max(0, ...along);
}
