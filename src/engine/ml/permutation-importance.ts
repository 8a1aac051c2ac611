import { createRandom, mix32 } from '../random.ts';
import type { Classifier } from './classifier.ts';
import type { FeatureMatrix } from './features.ts';
import { logLoss } from './loss.ts';

/**
 * By how much the mean log loss of these rows rises when one feature's values are shuffled among them, the mean of `repeats`
 * shuffles for each feature (Breiman 2001; Fisher, Rudin and Dominici 2019). About 0, or a little below, for a feature
 * that the model does not use or that tells it nothing. It shuffles rows apart from time: no statement about a forecast.
 *
 * @param labels 0 or 1 for each row
 * @param seed decides the shuffles; each feature's are independent of the other features
 * @param repeats 1 or more
 */
export function permutationImportance(
  classifier: Classifier,
  matrix: FeatureMatrix,
  labels: Uint8Array,
  seed: number,
  repeats: number,
): Float64Array {
  const { columns, rows } = matrix;
  const happened = labels.subarray(0, rows);
  const probabilities = new Float64Array(rows);
  const base = logLoss(classifier.predict(matrix, probabilities), happened);
  return Float64Array.from(columns, (column, j) => {
    const random = createRandom(mix32(seed) ^ mix32(j + 1));
    const shuffled = column.slice(0, rows);
    const changed = { ...matrix, columns: columns.with(j, shuffled) };
    let total = 0;
    for (let repeat = 0; repeat < repeats; repeat++) {
      shuffle(shuffled, random);
      total += logLoss(classifier.predict(changed, probabilities), happened) - base;
    }
    return total / repeats;
  });
}

/** Fisher and Yates: every order is equally likely. */
function shuffle(values: Float64Array, random: () => number): void {
  for (let i = values.length - 1; i > 0; i--) {
    const k = Math.floor(random() * (i + 1));
    const value = values[i]!;
    values[i] = values[k]!;
    values[k] = value;
  }
}
