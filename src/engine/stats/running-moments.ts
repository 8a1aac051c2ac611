/** Number of values, their mean, and the sum of their squared deviations from it. */
export interface RunningMoments {
  readonly count: number;
  readonly mean: number;
  readonly squares: number;
}

const NO_VALUES: RunningMoments = { count: 0, mean: 0, squares: 0 };

/**
 * Moments of the values of both. No values are needed again, and nothing cancels.
 * Chan, Golub, LeVeque, Updating Formulae and a Pairwise Algorithm for Computing Sample Variances, COMPSTAT 1982.
 */
export function combineMoments(a: RunningMoments, b: RunningMoments): RunningMoments {
  if (a.count === 0) return b;
  if (b.count === 0) return a;
  const count = a.count + b.count;
  const off = b.mean - a.mean;
  return {
    count,
    mean: a.mean + (off * b.count) / count,
    squares: a.squares + b.squares + (off * off * a.count * b.count) / count,
  };
}

export function momentsOf(values: readonly number[]): RunningMoments {
  return values.reduce<RunningMoments>(
    (moments, mean) => combineMoments(moments, { count: 1, mean, squares: 0 }),
    NO_VALUES,
  );
}

/** Sample variance (divisor n - 1); undefined for fewer than two values. */
export function sampleVariance({ count, squares }: RunningMoments): number | undefined {
  return count < 2 ? undefined : squares / (count - 1);
}
