import { describe, expect, it } from 'vitest';
import { trainClassifier } from '#engine/ml/classifier.ts';
import { binFeatures } from '#engine/ml/features.ts';
import type { ClassifierSettings } from '#engine/ml/settings.ts';
import { createRandom } from '#engine/random.ts';
import { DEFAULT_CLASSIFIER_SETTINGS } from './default-settings.ts';
import { labeled, matrixOf } from './synthetic.ts';

const { matrix, labels } = labeled(20, 1500, 6, (x) => 1 / (1 + Math.exp(-x(0) * x(1) - x(2))));
const random = createRandom(21);
const columns = matrix.columns.map((column) => column.map((value) => (random() < 0.05 ? Number.NaN : value)));
const features = matrixOf(columns);
/** Weights of very different sizes, whose rounded sums depend on their order. */
const weights = Float64Array.from(labels, () => 10 ** (6 * random() - 3));

function train(changes: Partial<ClassifierSettings>) {
  const settings = { ...DEFAULT_CLASSIFIER_SETTINGS, n_estimators: 15, max_depth: 5, ...changes };
  return JSON.stringify(trainClassifier({ features, labels, weights }, settings).serialize());
}

describe('depthwise_gbdt and leafwise_gbdt', () => {
  const predict = (changes: Partial<ClassifierSettings>) => {
    const settings = { ...DEFAULT_CLASSIFIER_SETTINGS, n_estimators: 15, ...changes };
    return [...trainClassifier({ features, labels, weights }, settings).predict(features)];
  };

  it.each([
    ['are the same model where the leaves suffice for the depth', { max_depth: 4, max_leaves: 16 }, true],
    ['are the same model with the default settings of a run', { max_depth: 4, max_leaves: 31 }, true],
    ['differ where they do not', { max_depth: 4, max_leaves: 15 }, false],
  ] as const)('%s', (_name, changes, areSame) => {
    const [a, b] = (['depthwise_gbdt', 'leafwise_gbdt'] as const).map((kind) =>
      predict({ ...changes, kind }),
    );
    if (areSame) expect(a).toEqual(b);
    else expect(a).not.toEqual(b);
  });
});

describe.each(['depthwise_gbdt', 'leafwise_gbdt', 'symmetric_gbdt'] as const)('%s', (kind) => {
  it('model depends on its seed only when rows or features are sampled', () => {
    for (const drawn of [{ subsample: 0.5 }, { column_sample: 0.5 }]) {
      expect(train({ kind, ...drawn, seed: 7 })).toBe(train({ kind, ...drawn, seed: 7 }));
      expect(train({ kind, ...drawn, seed: 8 })).not.toBe(train({ kind, ...drawn, seed: 7 }));
    }
    expect(train({ kind, seed: 8 })).toBe(train({ kind, seed: 7 }));
  });

  it('model starts with the trees of a shorter model', () => {
    const trees = (n_estimators: number) =>
      JSON.parse(train({ kind, n_estimators, subsample: 0.7, column_sample: 0.7 })).model.trees;
    expect(trees(12).slice(0, 5)).toEqual(trees(5));
  });

  it('each tree uses only sampled features, and all features are used over time', () => {
    const { model } = JSON.parse(train({ kind, column_sample: 0.2, n_estimators: 40 }));
    const used = model.trees.map(
      ({ feature }: { feature: number[] }) => new Set(feature.filter((f) => f >= 0)),
    );
    for (const set of used) expect(set.size).toBeLessThanOrEqual(1);
    expect(new Set(used.flatMap((set: Set<number>) => [...set])).size).toBe(6);
  });

  it('model from binned features equals the model from raw features', () => {
    const settings = { ...DEFAULT_CLASSIFIER_SETTINGS, kind, n_estimators: 5 };
    const binned = binFeatures(features, 64);
    const model = trainClassifier({ features: binned, labels }, settings);
    expect(model.serialize()).toEqual(trainClassifier({ features, labels }, settings).serialize());
    expect(() => trainClassifier({ features: binned, labels }, { ...settings, max_bins: 32 })).toThrow(
      /64 bins.*32/,
    );
  });
});
