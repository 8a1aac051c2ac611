import { predictedAbove, predictedBelow } from '../indicators/predictions.ts';
import { allOf } from '../indicators/signals.ts';
import type { PredictionColumns, Signals } from '../strategy.ts';

/** Prediction columns in which nothing is predicted yet. */
export function noPredictions(rows: number): PredictionColumns {
  return { ml_probability: new Float64Array(rows).fill(Number.NaN), do_predict: new Float64Array(rows) };
}

/**
 * Lets through the entries that a model agrees with: a long on a row predicted with at least the threshold, a short with at
 * most 1 less it; on a row that is not predicted there is no entry. Exits are never held back. Without a threshold all
 * signals stay as they are.
 */
export function gateEntries(
  signals: Signals,
  { columns, gate }: { readonly columns: PredictionColumns; readonly gate: number | null },
): Signals {
  if (gate === null) return signals;
  const { enterLong, enterShort } = signals;
  return {
    ...signals,
    ...(enterLong && { enterLong: allOf(enterLong, predictedAbove(columns, gate)) }),
    ...(enterShort && { enterShort: allOf(enterShort, predictedBelow(columns, 1 - gate)) }),
  };
}
