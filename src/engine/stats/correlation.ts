import { deviation, mean } from '../metrics/moments.ts';

/**
 * Mean correlation between two different series, over all pairs, in one pass over the data: of the standardised series the
 * squared sum holds all pairs at once.
 *
 * @param series of one length; those that do not vary are left out
 * @returns null with fewer than two series that vary
 */
export function meanCorrelation(series: readonly ArrayLike<number>[]): number | null {
  const length = series[0]?.length ?? 0;
  const total = new Float64Array(length);
  let count = 0;
  for (const values of series) {
    const spread = deviation(values, 'population');
    if (!(spread > 0)) continue;
    const centre = mean(values);
    for (let i = 0; i < length; i++) total[i]! += (values[i]! - centre) / spread;
    count++;
  }
  if (count < 2) return null;
  const squares = total.reduce((sum, value) => sum + value * value, 0);
  return (squares / length - count) / (count * (count - 1));
}
