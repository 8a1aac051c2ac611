import type { DIRECTIONS } from './hyperopt-limits.ts';

/** Objectives of windows; null without one. */
export interface WindowFigures {
  readonly worst: number | null;
  /** The middle one, or the mean of the two middle ones. */
  readonly median: number | null;
  readonly best: number | null;
}

/** Worst, median and best objective of a trial's windows. Windows without a value, such as those without trades, are left out. */
export function windowFigures(
  windows: readonly (number | null)[],
  direction: (typeof DIRECTIONS)[number],
): WindowFigures {
  const sorted = windows.filter((value) => value !== null).sort((a, b) => a - b);
  if (sorted.length === 0) return { worst: null, median: null, best: null };
  const [low, high] = [sorted[0]!, sorted.at(-1)!];
  const median = (sorted[(sorted.length - 1) >> 1]! + sorted[sorted.length >> 1]!) / 2;
  return direction === 'maximize' ? { worst: low, median, best: high } : { worst: high, median, best: low };
}
