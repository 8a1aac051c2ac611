import type { FeatureMatrix } from '#engine/ml/features.ts';
import { createRandom, type Random } from '#engine/random.ts';

export interface Labeled {
  readonly matrix: FeatureMatrix;
  readonly labels: Uint8Array;
}

/** A standard normal number (Box and Muller). */
function gauss(random: Random): number {
  return Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
}

/** Independent standard normal features f0, f1, ..., and labels that are 1 with the probability given per row. */
export function labeled(
  seed: number,
  rows: number,
  features: number,
  probability: (x: (feature: number) => number) => number,
): Labeled {
  const random = createRandom(seed);
  const columns = Array.from({ length: features }, () =>
    Float64Array.from({ length: rows }, () => gauss(random)),
  );
  const labels = Uint8Array.from({ length: rows }, (_, i) =>
    random() < probability((feature) => columns[feature]![i]!) ? 1 : 0,
  );
  return { matrix: matrixOf(columns), labels };
}

export function matrixOf(columns: readonly Float64Array[]): FeatureMatrix {
  return { names: columns.map((_, j) => `f${j}`), columns, rows: columns[0]!.length };
}

/** Thirty features, nine of which affect the label: a sine, a maximum, a square, steps and an interaction. */
export function nonlinear(seed: number, rows: number): Labeled {
  return labeled(seed, rows, 30, (x) => {
    const smooth = Math.sin(2 * x(0)) + Math.max(x(1), x(2)) + 0.5 * x(3) ** 2 + 0.3 * Math.abs(x(8)) - 1.4;
    const steps = (x(4) > 0.5 ? 1 : -0.5) + (x(6) > 0 ? x(5) : 0) + 0.3 * x(7);
    return 1 / (1 + Math.exp(-1.2 * (smooth + steps)));
  });
}

/** Rows from..to-1 of a set. */
export function slice({ matrix, labels }: Labeled, from: number, to: number): Labeled {
  const columns = matrix.columns.map((column) => column.slice(from, to));
  return { matrix: { ...matrix, columns, rows: to - from }, labels: labels.slice(from, to) };
}

/** Probability that a row of label 1 is ranked above one of label 0; ties count half (Mann and Whitney). */
export function auc(probabilities: Float64Array, labels: Uint8Array): number {
  const order = [...labels.keys()].sort((a, b) => probabilities[a]! - probabilities[b]!);
  let positives = 0;
  let ranks = 0;
  for (let i = 0; i < order.length; ) {
    let end = i;
    while (end < order.length && probabilities[order[end]!] === probabilities[order[i]!]) end++;
    for (const row of order.slice(i, end)) {
      if (labels[row] !== 1) continue;
      positives++;
      ranks += (i + 1 + end) / 2;
    }
    i = end;
  }
  return (ranks - (positives * (positives + 1)) / 2) / (positives * (labels.length - positives));
}

export function mean(values: ArrayLike<number>): number {
  let total = 0;
  for (let i = 0; i < values.length; i++) total += values[i]!;
  return total / values.length;
}
