import type { Random } from '../random.ts';

/** A real number. */
interface FloatDimension {
  readonly kind: 'float';
  readonly name: string;
  readonly min: number;
  readonly max: number;
  /** Search on a logarithmic scale; needs a `min` above 0. */
  readonly log?: boolean;
  /** Restricts values to min, min + step, ... up to max; not together with `log`. */
  readonly step?: number;
}

/** An integer, both ends included. */
interface IntDimension {
  readonly kind: 'int';
  readonly name: string;
  readonly min: number;
  readonly max: number;
  /** Search on a logarithmic scale; needs a `min` of at least 1. */
  readonly log?: boolean;
}

/** One of several unordered values. */
interface CategoricalDimension {
  readonly kind: 'categorical';
  readonly name: string;
  readonly choices: readonly (string | number | boolean)[];
}

export type Dimension = FloatDimension | IntDimension | CategoricalDimension;

/** Dimensions of a search; every trial has a value for each. */
export type SearchSpace = readonly Dimension[];

/** A value for each dimension, by name. */
export type Point = Readonly<Record<string, string | number | boolean>>;

/**
 * Checks a space before a study starts.
 *
 * @throws RangeError that names the dimension and its error
 */
export function checkSpace(space: SearchSpace): void {
  const names = new Set<string>();
  for (const dimension of space) {
    const problem = names.has(dimension.name)
      ? 'is defined twice; use each name once'
      : dimensionProblem(dimension);
    if (problem) throw new RangeError(`Search dimension ${dimension.name} ${problem}`);
    names.add(dimension.name);
  }
}

function dimensionProblem(dimension: Dimension): string | undefined {
  if (dimension.kind === 'categorical') {
    const { choices } = dimension;
    if (choices.length === 0) return 'has no choices; give at least one';
    return new Set(choices).size < choices.length ? 'has a choice twice; give each choice once' : undefined;
  }
  return rangeProblem(dimension);
}

function rangeProblem(dimension: Exclude<Dimension, { kind: 'categorical' }>): string | undefined {
  const { min, max } = dimension;
  if (!Number.isFinite(min) || !Number.isFinite(max))
    return `needs a finite min and max, not ${min} and ${max}`;
  if (min > max) return `has a min of ${min} above its max of ${max}; swap them`;
  if (dimension.kind === 'int') {
    if (!Number.isSafeInteger(min) || !Number.isSafeInteger(max))
      return `needs integers as min and max, not ${min} and ${max}`;
    return dimension.log && min < 1 ? `is logarithmic: its min must be at least 1, not ${min}` : undefined;
  }
  if (dimension.log && !(min > 0)) return `is logarithmic: its min must be above 0, not ${min}`;
  if (dimension.log && dimension.step !== undefined)
    return 'has a step and is logarithmic; remove one of both';
  if (dimension.step !== undefined && !(dimension.step > 0))
    return `needs a step above 0, not ${dimension.step}`;
  return undefined;
}

/** Numeric dimension in model coordinates: the logarithm of the value for a logarithmic dimension. */
export interface NumericAxis {
  readonly kind: 'numeric';
  readonly name: string;
  /** Ends in model coordinates; with steps, half a step beyond the outermost values. */
  readonly low: number;
  readonly high: number;
  readonly log: boolean;
  /** 0 without steps: every number from min to max. */
  readonly step: number;
  readonly min: number;
  readonly max: number;
}

/** Dimension of choices; its coordinate is the index of the choice. */
export interface ChoiceAxis {
  readonly kind: 'choice';
  readonly name: string;
  readonly choices: readonly (string | number | boolean)[];
}

export type Axis = NumericAxis | ChoiceAxis;

/** Model of a dimension for the sampler. A numeric dimension with a single value is a choice of one. */
export function axisOf(dimension: Dimension): Axis {
  const { kind, name } = dimension;
  if (kind === 'categorical') return { kind: 'choice', name, choices: dimension.choices };
  const { min, log = false } = dimension;
  const step = kind === 'int' ? 1 : (dimension.step ?? 0);
  // Last step within the range. The margin of 1e-9 allows for rounding errors of the division.
  const max = step === 0 ? dimension.max : min + Math.floor((dimension.max - min) / step + 1e-9) * step;
  const [low, high] = [min - step / 2, max + step / 2].map((end) => (log ? Math.log(end) : end)) as [
    number,
    number,
  ];
  // Ends that differ only in their last digits can have equal logarithms.
  if (min === max || low === high) return { kind: 'choice', name, choices: [min] };
  return { kind: 'numeric', name, low, high, log, step, min, max };
}

/** Value of the dimension that is nearest to a model coordinate. */
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

/** Uniform draw of a value or of the index of a choice; on a logarithmic axis, uniform in the logarithm. */
export function uniform(axis: Axis, random: Random): number {
  if (axis.kind === 'choice') return Math.floor(random() * axis.choices.length);
  return snap(axis, axis.low + random() * (axis.high - axis.low));
}

/**
 * Coordinate input of a trial's parameter: the value itself, or the index of the choice.
 *
 * @throws RangeError when the dimension does not have this value: the trial belongs to another space
 */
export function indexOrValue(axis: Axis, parameter: unknown): number {
  if (axis.kind === 'numeric' && typeof parameter === 'number') {
    if (parameter >= axis.min && parameter <= axis.max) return parameter;
  }
  const index = axis.kind === 'choice' ? axis.choices.indexOf(parameter as string) : -1;
  if (index < 0) {
    throw new RangeError(
      `${String(parameter)} is not a value of search dimension ${axis.name}; pass only trials of this search space`,
    );
  }
  return index;
}
