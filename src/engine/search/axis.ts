import type { Random } from '../random.ts';
import type { Dimension } from './space.ts';

/** A numeric dimension as the sampler models it: in the logarithm when it is logarithmic. */
export interface NumericAxis {
  readonly kind: 'numeric';
  readonly name: string;
  /** Ends in model coordinates, half a step beyond the outermost values when there are steps. */
  readonly low: number;
  readonly high: number;
  readonly log: boolean;
  /** 0: every number from min to max. */
  readonly step: number;
  readonly min: number;
  readonly max: number;
}

/** A dimension of a few values; its coordinate is the index of the value. */
export interface ChoiceAxis {
  readonly kind: 'choice';
  readonly name: string;
  readonly choices: readonly (string | number | boolean)[];
}

export type Axis = NumericAxis | ChoiceAxis;

/** How the sampler sees a dimension. A number without room to vary is a choice of one. */
export function axisOf(dimension: Dimension): Axis {
  const { kind, name } = dimension;
  if (kind === 'categorical') return { kind: 'choice', name, choices: dimension.choices };
  const { min, log = false } = dimension;
  const step = kind === 'int' ? 1 : (dimension.step ?? 0);
  // The last step within the range; the margin forgives what rounding took from a whole number of steps.
  const max = step === 0 ? dimension.max : min + Math.floor((dimension.max - min) / step + 1e-9) * step;
  const [low, high] = [min - step / 2, max + step / 2].map((end) => (log ? Math.log(end) : end)) as [
    number,
    number,
  ];
  // Ends that differ by their last digits may have one logarithm.
  if (min === max || low === high) return { kind: 'choice', name, choices: [min] };
  return { kind: 'numeric', name, low, high, log, step, min, max };
}

/** The value of the dimension nearest to a model coordinate. */
export function snap(axis: NumericAxis, x: number): number {
  const value = axis.log ? Math.exp(x) : x;
  if (axis.step === 0) return Math.min(axis.max, Math.max(axis.min, value));
  const steps = Math.round((value - axis.min) / axis.step);
  return Math.min(axis.max, Math.max(axis.min, axis.min + steps * axis.step));
}

/** The model coordinate of a value. */
export function coordinate(axis: NumericAxis, value: number): number {
  return axis.log ? Math.log(value) : value;
}

/** A uniform draw (uniform in the logarithm on a logarithmic axis): the value, or the index of the choice. */
export function uniform(axis: Axis, random: Random): number {
  if (axis.kind === 'choice') return Math.floor(random() * axis.choices.length);
  return snap(axis, axis.low + random() * (axis.high - axis.low));
}

/**
 * What a trial's parameter is to the model: the value itself, or the index of the choice.
 *
 * @throws RangeError when it is no value of the dimension: the trial belongs to another space
 */
export function indexOrValue(axis: Axis, parameter: unknown): number {
  if (axis.kind === 'numeric' && typeof parameter === 'number') {
    if (parameter >= axis.min && parameter <= axis.max) return parameter;
  }
  const index = axis.kind === 'choice' ? axis.choices.indexOf(parameter as string) : -1;
  if (index < 0) throw new RangeError(`${String(parameter)} is no value of search dimension ${axis.name}`);
  return index;
}
