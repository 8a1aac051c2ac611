/** Limit of a metric of a trial. */
export interface Constraint {
  readonly metric: string;
  readonly bound: 'min' | 'max';
  readonly limit: number;
  /** Size of a miss that counts 1, above 0. */
  readonly divisor: number;
}

/**
 * By how much a trial misses its constraints: the sum of max(0, miss) / divisor, 0 for a feasible trial. An undefined metric misses by 1.
 *
 * @param metricOf value of a metric; null where undefined
 */
export function violationOf(
  constraints: readonly Constraint[],
  metricOf: (metric: string) => number | null,
): number {
  let violation = 0;
  for (const { metric, bound, limit, divisor } of constraints) {
    const value = metricOf(metric);
    if (value === null) violation += 1;
    else violation += Math.max(0, bound === 'min' ? limit - value : value - limit) / divisor;
  }
  return violation;
}
