/** Histograms that are used again: thousands of nodes would otherwise leave theirs to the garbage collector. */
export interface HistogramPool {
  /** One with any content. */
  take(): Float64Array;
  give(histogram: Float64Array): void;
}

/** A pool of histograms of one size. */
export function createHistogramPool(size: number): HistogramPool {
  const free: Float64Array[] = [];
  return {
    take: () => free.pop() ?? new Float64Array(size),
    give: (histogram) => {
      free.push(histogram);
    },
  };
}
