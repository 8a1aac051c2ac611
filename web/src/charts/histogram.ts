/** Counts of values in intervals of equal width. No interval contains both sides of zero. */
export interface Histogram {
  readonly width: number;
  /** Lower edge of each interval; the first and the last one also count what is beyond them. */
  readonly edges: readonly number[];
  readonly counts: readonly number[];
}

/** Share of the values at each end that gets no intervals of its own, so that one outlier does not squeeze the rest. */
const TAIL = 0.005;

/**
 * Histogram with about `bins` intervals of a round width.
 *
 * @param bins at least 1
 */
export function histogramOf(values: readonly number[], bins: number): Histogram {
  if (values.length === 0) return { width: 1, edges: [], counts: [] };
  const sorted = Float64Array.from(values).sort();
  const tail = Math.floor(sorted.length * TAIL);
  const low = sorted[tail]!;
  const high = sorted[sorted.length - 1 - tail]!;
  const width = roundWidth((high - low) / bins);
  const first = Math.floor(low / width);
  const last = Math.max(first, Math.floor(high / width));
  const counts = new Array<number>(last - first + 1).fill(0);
  for (const value of sorted)
    counts[Math.min(last, Math.max(first, Math.floor(value / width))) - first]! += 1;
  return { width, edges: counts.map((_, index) => (first + index) * width), counts };
}

/** The next 1, 2 or 5 times a power of ten. */
function roundWidth(width: number): number {
  if (!(width > 0)) return 1;
  const power = 10 ** Math.floor(Math.log10(width));
  return [1, 2, 5, 10].map((factor) => factor * power).find((each) => each >= width * 0.999_999)!;
}
