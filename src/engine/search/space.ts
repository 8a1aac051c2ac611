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

/** A whole number, both ends included. */
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
