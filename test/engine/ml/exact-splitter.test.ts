import { describe, expect, it } from 'vitest';
import type { SerializedForest } from '#engine/ml/classifier.ts';
import { trainClassifier } from '#engine/ml/classifier.ts';
import type { ClassifierSettings } from '#engine/ml/settings.ts';
import { createRandom } from '#engine/random.ts';
import { boostExactly, type ExactNode } from './brute-force.ts';
import { DEFAULT_CLASSIFIER_SETTINGS } from './default-settings.ts';
import { labeled, matrixOf } from './synthetic.ts';

const ROWS = 130;

/** Continuous, coarse, partly missing and constant features. The weights prevent equally good splits. */
function problem(seed: number) {
  const { matrix, labels } = labeled(seed, ROWS, 5, (x) => 1 / (1 + Math.exp(-2 * x(0) * x(1) - x(2))));
  const random = createRandom(seed + 1000);
  const [a, b, c, d, e] = matrix.columns as Float64Array[];
  const columns = [
    a!,
    b!.map((value) => (random() < 0.2 ? Number.NaN : value)),
    c!.map((value) => Math.round(2 * value)),
    d!.map((value) => (random() < 0.5 ? Number.NaN : Math.round(value))),
    e!.fill(3),
  ];
  return { columns, labels, weights: Float64Array.from(labels, () => 0.5 + random()) };
}

/** Compares both trees from the root down. */
function compare(
  forest: SerializedForest,
  tree: number,
  columns: readonly Float64Array[],
  exact: ExactNode,
): void {
  const ours = forest.trees[tree]!;
  const visit = (node: number, rows: readonly number[], expected: ExactNode): void => {
    expect(rows).toEqual(expected.rows);
    if (!expected.split) {
      expect(ours.feature[node]).toBe(-1);
      expect(ours.value[node]).toBeCloseTo(expected.value, 11);
      return;
    }
    const feature = ours.feature[node]!;
    expect(feature).toBe(expected.split.feature);
    const cut = Number(forest.cuts[feature]![ours.bin[node]!] ?? Number.POSITIVE_INFINITY);
    const missingLeft = ours.missing_left[node] === 1;
    const goesLeft = (row: number) => {
      const value = columns[feature]![row]!;
      return Number.isNaN(value) ? missingLeft : value <= cut;
    };
    // Rows that were not separated are all on both sides.
    const isWhole = expected.split.left.rows.length === rows.length;
    const side = (isLeft: boolean) => (isWhole ? rows : rows.filter((row) => goesLeft(row) === isLeft));
    visit(ours.left[node]!, side(true), expected.split.left);
    visit(ours.left[node]! + 1, side(false), expected.split.right);
  };
  visit(0, [...columns[0]!.keys()], exact);
}

const CASES: readonly Partial<ClassifierSettings>[] = [
  { max_depth: 3 },
  { max_depth: 5, min_child_weight: 0.1, l2: 0.01 },
  { max_depth: 4, min_child_weight: 4, l2: 3 },
  { max_depth: 4, gamma: 1.5, min_child_weight: 0 },
];

describe.each(['depthwise_gbdt', 'leafwise_gbdt', 'symmetric_gbdt'] as const)('%s', (kind) => {
  it.each(CASES)('trees equal those of an exhaustive splitter: %o', (changes) => {
    for (const seed of [1, 2, 3]) {
      const { columns, labels, weights } = problem(seed);
      const settings = {
        ...DEFAULT_CLASSIFIER_SETTINGS,
        kind,
        n_estimators: 3,
        learning_rate: 0.4,
        max_leaves: 7,
        max_bins: 255,
        ...changes,
      };
      const model = trainClassifier({ features: matrixOf(columns), labels, weights }, settings).serialize();
      const exact = boostExactly({ columns, labels, weights, settings });
      exact.forEach((tree, t) => {
        compare(model.model as SerializedForest, t, columns, tree);
      });
      expect(exact.some((tree) => tree.split)).toBe(true);
    }
  });
});
