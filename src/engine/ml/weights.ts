import type { ClassifierSettings } from './settings.ts';

/**
 * What each of `rows` rows counts: its own weight times that of its class.
 * `balanced` gives both classes half of the total each (rows / (2 * rows of the class) without own weights).
 *
 * @param fitted how many rows, from the first, decide what is balanced
 * @throws RangeError when labels or weights are too short, a label is not 0 or 1, a weight is negative or not finite, or those
 *   of the fitted rows are all 0
 */
export function rowWeights(
  labels: Uint8Array,
  own: Float64Array | undefined,
  classWeight: ClassifierSettings['class_weight'],
  rows: number,
  fitted: number,
): Float64Array {
  if (labels.length < rows) throw new RangeError(`${rows} rows have ${labels.length} labels.`);
  if (own && own.length < rows) throw new RangeError(`${rows} rows have ${own.length} weights.`);
  const totals = [0, 0];
  for (let i = 0; i < rows; i++) {
    const label = labels[i]!;
    if (label > 1) throw new RangeError(`Labels are 0 or 1; row ${i} has ${label}.`);
    const weight = own ? own[i]! : 1;
    if (!(weight >= 0 && weight < Number.POSITIVE_INFINITY)) {
      throw new RangeError(`Weights are finite and not negative; row ${i} has ${weight}.`);
    }
    if (i < fitted) totals[label]! += weight;
  }
  const [negative, positive] = totals as [number, number];
  if (!(negative + positive > 0))
    throw new RangeError('A model needs at least one row whose weight is not 0.');
  const [zero, one] = classWeights(negative, positive, classWeight);
  const weights = new Float64Array(rows);
  for (let i = 0; i < rows; i++) weights[i] = (own ? own[i]! : 1) * (labels[i] === 1 ? one : zero);
  return weights;
}

/** Weights of label 0 and label 1. A class that does not occur leaves the other as it is. */
function classWeights(
  negative: number,
  positive: number,
  classWeight: ClassifierSettings['class_weight'],
): [number, number] {
  if (typeof classWeight === 'number') return [1, classWeight];
  if (classWeight === 'none' || negative === 0 || positive === 0) return [1, 1];
  const half = (negative + positive) / 2;
  return [half / negative, half / positive];
}
