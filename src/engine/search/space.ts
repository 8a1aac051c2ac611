import type { Random } from '../random.ts';

/** A real number. */
interface FloatDimension {
  readonly kind: 'float';
  readonly name: string;
  readonly min: number;
  readonly max: number;
  /** Searched in the logarithm; needs a `min` above 0. */
  readonly log?: boolean;
  /** Only min, min + step, ... up to max; not together with `log`. */
  readonly step?: number;
}

/** An integer, both ends included. */
interface IntDimension {
  readonly kind: 'int';
  readonly name: string;
  readonly min: number;
  readonly max: number;
  /** Searched in the logarithm; needs a `min` of at least 1. */
  readonly log?: boolean;
}

/** One of a few values without an order. */
interface CategoricalDimension {
  readonly kind: 'categorical';
  readonly name: string;
  readonly choices: readonly (string | number | boolean)[];
}

export type Dimension = FloatDimension | IntDimension | CategoricalDimension;

/** What is searched: every trial has a value for each dimension. */
export type SearchSpace = readonly Dimension[];

/** A value for each dimension, by name. */
export type Point = Readonly<Record<string, string | number | boolean>>;

/**
 * Checks a space before a study starts.
 *
 * @throws RangeError naming the dimension and what is wrong with it
 */
export function checkSpace(space: SearchSpace): void {
  const names = new Set<string>();
  for (const dimension of space) {
    const problem = names.has(dimension.name) ? 'is there twice' : dimensionProblem(dimension);
    if (problem) throw new RangeError(`Search dimension ${dimension.name} ${problem}`);
    names.add(dimension.name);
  }
}

function dimensionProblem(dimension: Dimension): string | undefined {
  if (dimension.kind === 'categorical') {
    const { choices } = dimension;
    if (choices.length === 0) return 'has no choices';
    return new Set(choices).size < choices.length ? 'has a choice twice' : undefined;
  }
  return rangeProblem(dimension);
}

function rangeProblem(dimension: Exclude<Dimension, { kind: 'categorical' }>): string | undefined {
  const { min, max } = dimension;
  if (!Number.isFinite(min) || !Number.isFinite(max)) return 'needs finite ends';
  if (min > max) return `has a min of ${min} above its max of ${max}`;
  if (dimension.kind === 'int') {
    if (!Number.isSafeInteger(min) || !Number.isSafeInteger(max)) return 'needs whole ends';
    return dimension.log && min < 1 ? 'is logarithmic: its min must be at least 1' : undefined;
  }
  if (dimension.log && !(min > 0)) return 'is logarithmic: its min must be above 0';
  if (dimension.log && dimension.step !== undefined) return 'cannot have a step and be logarithmic';
  if (dimension.step !== undefined && !(dimension.step > 0)) return 'needs a step above 0';
  return undefined;
}

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
