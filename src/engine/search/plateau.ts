import type { OverfittingReport } from '../../contract/hyperopt.ts';
import { median } from '../metrics/moments.ts';
import { type Axis, axisOf, coordinate } from './axis.ts';
import type { Point, SearchSpace } from './space.ts';
import { bestTrial, type Direction, type PastTrial } from './trials.ts';

const MIN_TRIALS = 10;
/** A trial is on the plateau while it keeps this share of the best trial's lead over the median trial. */
const KEPT_LEAD = 0.8;
/** Of the trials within the width, at least this share is on the plateau. */
const SHARE_ON_PLATEAU = 0.8;

/**
 * `width`, 0 to 1: the largest difference of any parameter from the best trial's, as a share of its range (of the logarithm's
 * for a logarithmic parameter), within which at least four of five complete trials are on the plateau.
 */
type Plateau = NonNullable<OverfittingReport['plateau']>;

/**
 * Width of the plateau around the best trial: a good optimum has good neighbours (Pardo 2008; robustness of parameters). On
 * the plateau is what keeps 80 % of the lead that the best trial has over the median of the complete trials. The distance of
 * two points is that of their most different parameter; another choice is a whole range away.
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
  const worth = ({ value }: PastTrial) => (direction === 'maximize' ? value! : -value!);
  const middle = median(complete.map(worth));
  const least = middle + KEPT_LEAD * (worth(best) - middle);
  const neighbours = complete
    .map((trial) => ({ far: distance(axes, best.params, trial.params), isGood: worth(trial) >= least }))
    .sort((a, b) => a.far - b.far);
  let plateau: Plateau = { width: 0, trials: 1 };
  let good = 0;
  neighbours.forEach(({ far, isGood }, i) => {
    if (isGood) good++;
    const isLastAtThisDistance = neighbours[i + 1]?.far !== far;
    if (isLastAtThisDistance && good >= SHARE_ON_PLATEAU * (i + 1)) plateau = { width: far, trials: i + 1 };
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
