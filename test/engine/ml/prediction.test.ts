import { describe, expect, it } from 'vitest';
import { deserialize, type SerializedForest, trainClassifier } from '#engine/ml/classifier.ts';
import { createRandom } from '#engine/random.ts';
import { DEFAULT_CLASSIFIER_SETTINGS } from './default-settings.ts';
import { labeled, matrixOf } from './synthetic.ts';

/** Probability of a row by the serialized trees, one node after the other. */
function walk({ base, trees, cuts }: SerializedForest, values: readonly number[]): number {
  let score = base;
  for (const { feature, bin, missing_left, left, value } of trees) {
    let node = 0;
    while (feature[node]! >= 0) {
      const given = values[feature[node]!]!;
      const below = cuts[feature[node]!]!.filter((cut) => Number(cut) < given).length;
      const goesLeft = Number.isNaN(given) ? missing_left[node] === 1 : below <= bin[node]!;
      node = left[node]! + (goesLeft ? 0 : 1);
    }
    score += value[node]!;
  }
  return 1 / (1 + Math.exp(-score));
}

/** Continuous, rarely missing, often missing, coarse, infinite and constant features. */
function matrix(seed: number, rows: number) {
  const random = createRandom(seed);
  const { columns, labels } = (({ matrix: { columns }, labels }) => ({ columns, labels }))(
    labeled(seed, rows, 6, (x) => 1 / (1 + Math.exp(-3 * x(0) * x(1) - x(2) + x(3)))),
  );
  const [a, b, c, d, e, f] = columns as Float64Array[];
  return {
    labels,
    features: matrixOf([
      a!,
      b!.map((value) => (random() < 0.05 ? Number.NaN : value)),
      c!.map((value) => (random() < 0.6 ? Number.NaN : value)),
      d!.map((value) => Math.round(2 * value)),
      e!.map((value) =>
        value > 1 ? Number.POSITIVE_INFINITY : value < -1 ? Number.NEGATIVE_INFINITY : value,
      ),
      f!.fill(1),
    ]),
  };
}

const train = matrix(1, 900);

describe.each(['depthwise_gbdt', 'leafwise_gbdt', 'symmetric_gbdt'] as const)('%s', (kind) => {
  it.each([1, 2, 3, 4, 6, 7, 10])(
    'probabilities of trees of depth %i equal those of single steps',
    (max_depth) => {
      const settings = {
        ...DEFAULT_CLASSIFIER_SETTINGS,
        kind,
        max_depth,
        n_estimators: 8,
        min_child_weight: 0.1,
      };
      const shape = { max_leaves: 300, max_bins: max_depth === 6 ? 255 : 64 };
      const model = trainClassifier(train, { ...settings, ...shape });
      const serialized = model.serialize();
      for (const rows of [1, 15, 17, 530]) {
        const { features } = matrix(rows, rows);
        const expected = Float64Array.from({ length: rows }, (_, r) =>
          walk(
            serialized.model as SerializedForest,
            features.columns.map((column) => column[r]!),
          ),
        );
        expect(model.predict(features)).toEqual(expected);
        expect(deserialize(serialized).predict(features)).toEqual(expected);
      }
    },
  );

  it('a model predicts while another is trained', () => {
    const settings = { ...DEFAULT_CLASSIFIER_SETTINGS, kind, n_estimators: 3 };
    const alone = trainClassifier(train, settings);
    const during: Float64Array[] = [];
    const model = trainClassifier(train, settings, {
      onRound: () => during.push(alone.predict(train.features)),
    });
    expect(during).toEqual(Array(3).fill(alone.predict(train.features)));
    expect(model.serialize()).toEqual(alone.serialize());
  });
});
