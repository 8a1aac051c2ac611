import type { Direction, Sampler } from '#contract/hyperopt/hyperopt.ts';
import { createRandom, mix32, type Random } from '../random.ts';
import { Mixture } from './parzen.ts';
import { type Axis, axisOf, indexOrValue, type Point, type SearchSpace, uniform } from './space.ts';
import type { PastTrial } from './trials.ts';

/** Number of finished trials before the model is used. Until then draws are independent. */
const STARTUP_TRIALS = 10;
/** Number of draws from the good mixture; the best draw is used. */
const CANDIDATES = 24;
/** Maximum size of the good set, which is the best tenth of the finished trials, rounded up. */
const MAX_GOOD = 25;

export interface SuggestOptions {
  /** Seed of the study. Seed and `number` determine the generator, regardless of earlier draws. */
  readonly seed: number;
  /** Number of the trial to suggest. */
  readonly number: number;
  readonly direction: Direction;
  readonly sampler: Sampler;
}

/**
 * Parameters for the next trial: a pure function of its arguments, independent of the order of `past`.
 *
 * `tpe` is the tree-structured Parzen estimator with a joint model (Bergstra et al., NeurIPS 2011; Falkner et al., ICML
 * 2018; Watanabe, arXiv:2304.11127), with mixtures l of the best trials and g of the others. The draw with the largest
 * l / g of 24 draws from l is used. Running trials are in g (constant liar), so that workers do not try the same point.
 * Failed trials are in neither. `random` draws every dimension uniformly.
 *
 * @param past the visible history (see `visibleHistory`)
 * @throws RangeError when a trial has parameters outside the space
 */
export function suggest(space: SearchSpace, past: readonly PastTrial[], options: SuggestOptions): Point {
  const axes = space.map(axisOf);
  const random = createRandom(mix32(options.seed ^ mix32(options.number)));
  const finished = past.filter(isFinished);
  const isModeled = options.sampler === 'tpe' && finished.length >= STARTUP_TRIALS;
  const row = isModeled
    ? drawByModel(axes, past, finished, options.direction, random)
    : axes.map((axis) => uniform(axis, random));
  return Object.fromEntries(
    axes.map((axis, d) => [axis.name, axis.kind === 'choice' ? axis.choices[row[d]!]! : row[d]!]),
  );
}

function isFinished({ state }: PastTrial): boolean {
  return state === 'complete' || state === 'pruned';
}

function drawByModel(
  axes: readonly Axis[],
  past: readonly PastTrial[],
  finished: readonly PastTrial[],
  direction: Direction,
  random: Random,
): number[] {
  const goodSize = Math.min(Math.ceil(0.1 * finished.length), MAX_GOOD);
  const good = new Set(bestOf(finished, goodSize, byRank(direction)));
  const modeled = past.filter(({ state }) => state !== 'failed').sort((a, b) => a.number - b.number);
  const better = mixtureOf(
    axes,
    modeled.filter((trial) => good.has(trial)),
  );
  const worse = mixtureOf(
    axes,
    modeled.filter((trial) => !good.has(trial)),
  );
  const candidates = Array.from({ length: CANDIDATES }, () => better.sample(random));
  const gains = candidates.map((point) => better.logDensity(point) - worse.logDensity(point));
  return candidates[gains.indexOf(Math.max(...gains))]!;
}

function mixtureOf(axes: readonly Axis[], trials: readonly PastTrial[]): Mixture {
  const columns = axes.map((axis) => {
    const column = new Float64Array(trials.length);
    for (let k = 0; k < trials.length; k++) column[k] = indexOrValue(axis, trials[k]!.params[axis.name]);
    return column;
  });
  return new Mixture(axes, columns);
}

/** The first `count` trials of an order, without sorting the others. */
function bestOf(
  trials: readonly PastTrial[],
  count: number,
  order: (a: PastTrial, b: PastTrial) => number,
): PastTrial[] {
  const best: PastTrial[] = [];
  for (const trial of trials) {
    if (best.length === count && order(trial, best[count - 1]!) >= 0) continue;
    if (best.length === count) best.pop();
    let at = best.length;
    while (at > 0 && order(trial, best[at - 1]!) < 0) at--;
    best.splice(at, 0, trial);
  }
  return best;
}

/**
 * Order: complete trials, feasible ones first and the others by violation, by value; then pruned trials by number of windows, then by
 * their last window. Ties by number.
 */
function byRank(direction: Direction): (a: PastTrial, b: PastTrial) => number {
  const sign = direction === 'maximize' ? -1 : 1;
  const reached = ({ state, windows }: PastTrial) =>
    state === 'complete' ? Number.MAX_VALUE : (windows?.length ?? 0);
  const cost = ({ state, value, windows }: PastTrial) => {
    const result = state === 'complete' ? value : (windows?.at(-1) ?? null);
    return result === null ? Number.MAX_VALUE : sign * result;
  };
  const missed = ({ violation = 0 }: PastTrial) => violation;
  return (a, b) =>
    reached(b) - reached(a) || missed(a) - missed(b) || cost(a) - cost(b) || a.number - b.number;
}
