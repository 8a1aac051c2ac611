import { describe, expect, it } from 'vitest';
import { MODEL_KINDS } from '#contract/values/model-limits.ts';
import {
  deserialize,
  permutationImportance,
  type SerializedClassifier,
  trainClassifier,
} from '#engine/ml/classifier.ts';
import { sha256 } from '../backtest-sample.ts';
import { DEFAULT_CLASSIFIER_SETTINGS } from './default-settings.ts';
import { labeled, matrixOf } from './synthetic.ts';

const { matrix, labels } = labeled(40, 1200, 4, (x) => 1 / (1 + Math.exp(-x(0) * x(1))));
const columns = matrix.columns.map((column) => column.slice());
columns[1]!.forEach((_, i) => {
  if (i % 7 === 0) columns[1]![i] = Number.NaN;
  if (i % 11 === 0) columns[2]![i] = i % 2 === 0 ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY;
});
const features = matrixOf(columns);

describe.each(MODEL_KINDS)('%s', (kind) => {
  const model = trainClassifier(
    { features, labels },
    { ...DEFAULT_CLASSIFIER_SETTINGS, kind, n_estimators: 25, early_stopping_rounds: 20 },
  );
  const written = JSON.stringify(model.serialize());
  const read = deserialize(JSON.parse(written) as SerializedClassifier);

  it('model predicts identical bits after a round trip through JSON', () => {
    expect(read.predict(features)).toEqual(model.predict(features));
    expect(JSON.stringify(read.serialize())).toBe(written);
    for (const key of [
      'kind',
      'version',
      'featureNames',
      'bestIteration',
      'trainingLoss',
      'validationLoss',
    ] as const) {
      expect(read[key]).toEqual(model[key]);
    }
    expect(read.gainImportance()).toEqual(model.gainImportance());
  });

  it('prediction of a row does not depend on other rows and can be written into a given array', () => {
    const all = model.predict(features);
    const into = new Float64Array(2000).fill(9);
    expect(model.predict(features, into)).toBe(into);
    expect(into.subarray(0, 1200)).toEqual(all);
    expect(into[1200]).toBe(9);
    for (const row of [0, 7, 11, 22, 511, 512, 1199]) {
      const single = matrixOf(columns.map((column) => column.slice(row, row + 1)));
      expect(model.predict(single)[0]).toBe(all[row]);
    }
    for (const p of all) expect(p > 0 && p < 1).toBe(true);
  });

  it('deserialize rejects another version and other objects', () => {
    const other = { ...model.serialize(), version: 2 };
    expect(() => deserialize(other)).toThrow(/version 2.*version 1.*[Tt]rain it again/);
    expect(() => deserialize({} as SerializedClassifier)).toThrow(/is not a serialized classifier/);
  });

  it('predict rejects other features than the model was trained on', () => {
    const swapped = { ...features, names: ['f1', 'f0', 'f2', 'f3'] };
    expect(() => model.predict(swapped)).toThrow(/trained on the features f0, f1, f2, f3.*given f1, f0/);
    expect(() => model.predict(features, new Float64Array(3))).toThrow(/do not fit/);
  });
});

/**
 * Digest of a model of each kind. A change of computed results needs a new ENGINE_VERSION. A change of the serialized
 * form, or of how it is evaluated, also needs a new version of the serialized form.
 */
const PINNED = {
  depthwise_gbdt: '2ec86e27da79940f',
  leafwise_gbdt: '86d2e12321967d18',
  symmetric_gbdt: '1ecc7ee4e17d3ef8',
  logistic_regression: '45b01a02c8635b72',
};

it('models equal their pinned digests', () => {
  const { matrix, labels } = labeled(43, 1500, 6, (x) => 1 / (1 + Math.exp(-x(0) * x(1) - x(2))));
  const options = {
    subsample: 0.8,
    column_sample: 0.7,
    early_stopping_rounds: 10,
    class_weight: 'balanced',
  } as const;
  const models = MODEL_KINDS.map((kind) =>
    trainClassifier({ features: matrix, labels }, { ...DEFAULT_CLASSIFIER_SETTINGS, kind, ...options }),
  );
  expect(
    Object.fromEntries(
      models.map((model) => [model.kind, sha256(JSON.stringify(model.serialize())).slice(0, 16)]),
    ),
  ).toEqual(PINNED);
});

describe.each(MODEL_KINDS)('importances of %s', (kind) => {
  const planted = labeled(41, 4000, 8, (x) => 1 / (1 + Math.exp(-2 * x(2) - 1.2 * x(5))));
  const model = trainClassifier(
    { features: planted.matrix, labels: planted.labels },
    { ...DEFAULT_CLASSIFIER_SETTINGS, kind, n_estimators: 40, max_depth: 3 },
  );
  const ranked = (values: Float64Array) => [...values.keys()].sort((a, b) => values[b]! - values[a]!);

  it('gain importance sums to 1 and is largest for the planted features', () => {
    const gains = model.gainImportance();
    expect(gains.reduce((sum, share) => sum + share, 0)).toBeCloseTo(1, 12);
    expect(ranked(gains).slice(0, 2)).toEqual([2, 5]);
    expect(gains[2]! + gains[5]!).toBeGreaterThan(0.8);
  });

  it('permutation importance is the rise of the loss, largest for the planted features', () => {
    const fresh = labeled(42, 4000, 8, (x) => 1 / (1 + Math.exp(-2 * x(2) - 1.2 * x(5))));
    const rises = permutationImportance(model, fresh.matrix, fresh.labels, 5, 3);
    expect(ranked(rises).slice(0, 2)).toEqual([2, 5]);
    expect(rises[2]!).toBeGreaterThan(0.1);
    rises.forEach((rise, j) => {
      if (j !== 2 && j !== 5) expect(Math.abs(rise)).toBeLessThan(0.01);
    });
    expect(permutationImportance(model, fresh.matrix, fresh.labels, 5, 3)).toEqual(rises);
  });
});

it('model of a constant feature has an importance of 0', () => {
  const model = trainClassifier(
    { features: matrixOf([new Float64Array(50)]), labels: new Uint8Array(50).fill(1, 20) },
    DEFAULT_CLASSIFIER_SETTINGS,
  );
  expect(model.gainImportance()).toEqual(new Float64Array(1));
});
