const DAYS_PER_YEAR = 365;

/** What a part of a walk-forward run made of its capital. */
export interface PartReturn {
  /** Final by initial equity; parts after one another multiply. */
  readonly growth: number;
  /** Days of all parts together. */
  readonly days: number;
}

/**
 * Walk-forward efficiency: the annualised return out of sample by that in sample (Pardo, The Evaluation and Optimization of
 * Trading Strategies, 2008). About 1: what was found holds; near 0 or below: it was fitted to the past.
 *
 * @returns null when nothing was earned in sample, when there is nothing to keep, or without days
 */
export function walkForwardEfficiency(inSample: PartReturn, outOfSample: PartReturn): number | null {
  const earned = annualReturn(inSample);
  const kept = annualReturn(outOfSample);
  if (earned === null || kept === null || !(earned > 0)) return null;
  return kept / earned;
}

/** Compound return of a year; -1 when everything is lost. */
function annualReturn({ growth, days }: PartReturn): number | null {
  const value = Math.max(0, growth) ** (DAYS_PER_YEAR / days) - 1;
  return days > 0 && Number.isFinite(value) ? value : null;
}
