import { predictedAbove, predictedBelow } from '../indicators/predictions.ts';
import { allOf } from '../indicators/signals.ts';
import type { PredictionColumns, Signals } from '../strategy.ts';

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
