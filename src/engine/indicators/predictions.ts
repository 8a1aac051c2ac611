import type { PredictionColumns } from '../strategy.ts';

/** The columns of a strategy, with the predictions in a run that has them. */
type MaybePredicted = Partial<PredictionColumns>;

/**
 * 1 where a model predicts the row and gives its label at least this probability.
 * @throws RangeError in a run without the ML engine of a strategy that does not declare `mlEngine`
 */
export function predictedAbove(columns: MaybePredicted, least: number): Uint8Array {
  return predicted(columns, (probability) => probability >= least);
}

/** 1 where a model predicts the row and gives its label at most this probability. Errors as {@link predictedAbove}. */
export function predictedBelow(columns: MaybePredicted, most: number): Uint8Array {
  return predicted(columns, (probability) => probability <= most);
}

function predicted(
  { ml_probability, do_predict }: MaybePredicted,
  holds: (probability: number) => boolean,
): Uint8Array {
  if (!ml_probability || !do_predict) {
    throw new RangeError(
      'this run has no predictions; declare mlEngine in the strategy, or run it with ml_engine.enabled',
    );
  }
  const result = new Uint8Array(ml_probability.length);
  for (let row = 0; row < result.length; row++) {
    if (do_predict[row] === 1 && holds(ml_probability[row]!)) result[row] = 1;
  }
  return result;
}
