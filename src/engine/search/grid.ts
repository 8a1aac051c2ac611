import type { Point } from './space.ts';

/** Dimension of a grid. */
interface GridDimension {
  readonly name: string;
  readonly size: number;
  /** Value of an index below `size`. */
  readonly at: (index: number) => string | number | boolean;
}

/** Dimensions of a grid, the slowest first. */
export type Grid = readonly GridDimension[];

interface Steps {
  readonly min: number;
  readonly max: number;
  /** Above 0. */
  readonly step: number;
}

/** A number as an integer and a power of ten: 1.25 is 125 and 2. */
function decimalOf(value: number): { readonly digits: bigint; readonly decimals: number } {
  const [mantissa = '', exponent = '0'] = String(value).split('e');
  const [whole = '', fraction = ''] = mantissa.split('.');
  const decimals = fraction.length - Number(exponent);
  const digits = BigInt(whole + fraction);
  return decimals >= 0 ? { digits, decimals } : { digits: digits * 10n ** BigInt(-decimals), decimals: 0 };
}

/** The three numbers as integers of one power of ten. */
function scaled({ min, max, step }: Steps) {
  const all = [min, max, step].map(decimalOf);
  const decimals = Math.max(...all.map((each) => each.decimals));
  const [low, high, by] = all.map((each) => each.digits * 10n ** BigInt(decimals - each.decimals));
  return { low: low!, high: high!, by: by!, decimals };
}

/** Number of the values min, min + step, ... up to max, exact for any size. */
export function countSteps(steps: Steps): bigint {
  const { low, high, by } = scaled(steps);
  return (high - low) / by + 1n;
}

/** Dimension of the values min, min + step, ... up to max, computed as decimals: 0.1 + 0.2 is 0.3. */
export function steppedDimension(name: string, steps: Steps): GridDimension {
  const { low, by, decimals } = scaled(steps);
  const at = (index: number) => Number(`${low + BigInt(index) * by}e-${decimals}`);
  return { name, size: Number(countSteps(steps)), at };
}

/** Dimension of values as they are listed. */
export function listedDimension(name: string, values: readonly (string | number | boolean)[]): GridDimension {
  return { name, size: values.length, at: (index) => values[index]! };
}

/** Point of a grid by its number from 0: the last dimension varies fastest. */
export function gridPoint(grid: Grid, number: number): Point {
  const point: [string, string | number | boolean][] = [];
  let rest = number;
  for (const { name, size, at } of grid.toReversed()) {
    point.push([name, at(rest % size)]);
    rest = Math.floor(rest / size);
  }
  return Object.fromEntries(point.reverse());
}
