import { createRandom, mix32, type Random } from '../random.ts';
import { type Axis, axisOf, indexOrValue, uniform } from './axis.ts';
import { Mixture } from './mixture.ts';
import type { Point, SearchSpace } from './space.ts';
import type { Direction, PastTrial } from './trials.ts';

/** Trials that end before the model is used: independent draws until then. */
const STARTUP_TRIALS = 10;
/** Draws from the good mixture of which the best is taken. */
const CANDIDATES = 24;
/** The good set is the best tenth of the finished trials, rounded up, and no more than this. */
const MAX_GOOD = 25;

export interface SuggestOptions {
  /** The study's: with `number` it gives the generator, whatever was drawn before. */
  readonly seed: number;
  /** The trial to suggest. */
  readonly number: number;
  readonly direction: Direction;
  readonly sampler: 'tpe' | 'random';
}

/**
 * Parameters for the next trial: a pure function of its arguments, independent of the order of `past`.
 *
 * `tpe` is the tree-structured Parzen estimator with a joint model (Bergstra et al., NeurIPS 2011; Falkner et al., ICML
 * 2018; Watanabe, arXiv:2304.11127): mixtures l of the best trials and g of the others, 24 draws from l, of which the one
 * with the largest l / g is taken. Running trials are in g (constant liar), so that workers do not try the same; failed
 * ones are in neither. `random` draws every dimension uniformly.
 *
 * @param past the visible history (see `visibleHistory`)
 * @throws RangeError when a trial's parameters are not of the space
 */
export function suggest(space: SearchSpace, past: readonly PastTrial[], options: SuggestOptions): Point {
  const axes = space.map(axisOf);
  const random = createRandom(mix32(options.seed ^ mix32(options.number)));
  const finished = past.filter(isFinished);
  const isModelled = options.sampler === 'tpe' && finished.length >= STARTUP_TRIALS;
  const row = isModelled
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
  const good = new Set([...finished].sort(byRank(direction)).slice(0, goodSize));
  const modelled = past.filter(({ state }) => state !== 'failed').sort((a, b) => a.number - b.number);
  const rowOf = ({ params }: PastTrial) => axes.map((axis) => indexOrValue(axis, params[axis.name]));
  const better = new Mixture(axes, modelled.filter((trial) => good.has(trial)).map(rowOf));
  const worse = new Mixture(axes, modelled.filter((trial) => !good.has(trial)).map(rowOf));
  const candidates = Array.from({ length: CANDIDATES }, () => better.sample(random));
  const gains = candidates.map((point) => better.logDensity(point) - worse.logDensity(point));
  return candidates[gains.indexOf(Math.max(...gains))]!;
}

/** Complete trials by value; then pruned ones by how many windows they reached, then by the last of them; equals by number. */
function byRank(direction: Direction): (a: PastTrial, b: PastTrial) => number {
  const sign = direction === 'maximize' ? -1 : 1;
  const reached = ({ state, windows }: PastTrial) =>
    state === 'complete' ? Number.MAX_VALUE : (windows?.length ?? 0);
  const cost = ({ state, value, windows }: PastTrial) => {
    const judged = state === 'complete' ? value : (windows?.at(-1) ?? null);
    return judged === null ? Number.MAX_VALUE : sign * judged;
  };
  return (a, b) => reached(b) - reached(a) || cost(a) - cost(b) || a.number - b.number;
}
