import { describe, expect, it } from 'vitest';
import { type TrainingOptions, trainClassifier } from '#engine/ml/classifier.ts';
import { binFeatures } from '#engine/ml/features.ts';
import {
  buildHistogram,
  type HistogramBuilder,
  mergeHistograms,
  partitionedHistograms,
} from '#engine/ml/gbdt/histogram.ts';
import { createGradients, PACKED_UNIT, packGradients } from '#engine/ml/gbdt/split.ts';
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

function train(changes: Partial<ClassifierSettings>, options?: TrainingOptions) {
  const settings = { ...DEFAULT_CLASSIFIER_SETTINGS, n_estimators: 15, max_depth: 5, ...changes };
  return JSON.stringify(trainClassifier({ features, labels, weights }, settings, options).serialize());
}

/** Distributes rows randomly over five parts. */
const scattered: HistogramBuilder = ({ columns, rows, packed, from, to }, into) => {
  const deal = createRandom(to - from);
  const hands: { rows: number[]; packed: number[] }[] = Array.from({ length: 5 }, () => ({
    rows: [],
    packed: [],
  }));
  for (let i = from; i < to; i++) {
    const hand = hands[Math.floor(deal() * 5)]!;
    hand.rows.unshift(rows ? rows[i]! : i);
    hand.packed.unshift(packed[i]!);
  }
  const parts = hands.map((hand) => {
    const part = new Float64Array(into.length);
    const task = { columns, rows: Int32Array.from(hand.rows), packed: Float64Array.from(hand.packed) };
    buildHistogram({ ...task, from: 0, to: hand.rows.length }, part);
    return part;
  });
  mergeHistograms(parts, into);
};

describe.each(['depthwise_gbdt', 'leafwise_gbdt', 'symmetric_gbdt'] as const)('%s', (kind) => {
  it.each([
    {},
    { subsample: 0.6, column_sample: 0.5 },
    { early_stopping_rounds: 3, class_weight: 'balanced' as const },
  ])('model does not depend on how rows are split among workers: %o', (changes) => {
    const whole = train({ kind, ...changes });
    for (const parts of [2, 3, 64]) {
      expect(train({ kind, ...changes }, { histograms: partitionedHistograms(parts) })).toBe(whole);
    }
    expect(train({ kind, ...changes }, { histograms: scattered })).toBe(whole);
  });

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

describe('packGradients', () => {
  it.each([1, 2, 1000, 100_000])('packed gradients of %i rows stay safe integers in every sum', (rows) => {
    for (const spread of [0, 3, 12]) {
      const gradients = createGradients(rows);
      const draw = createRandom(rows + spread);
      for (let i = 0; i < rows; i++) {
        const weight = 10 ** (spread * (draw() - 0.5));
        gradients.gradient[i] = (2 * draw() - 1) * weight;
        gradients.hessian[i] = 0.25 * draw() * weight;
      }
      packGradients(gradients);
      let absolute = 0n;
      let hessian = 0n;
      for (const packed of gradients.packed) {
        if (!Number.isSafeInteger(packed)) throw new Error(`${packed} is not exact`);
        const g = Math.floor(packed / PACKED_UNIT);
        absolute += BigInt(Math.abs(g));
        hessian += BigInt(packed - g * PACKED_UNIT);
      }
      expect(absolute < 2n ** 27n).toBe(true);
      expect(hessian < 2n ** 26n).toBe(true);
      // At most a factor of two is lost: the resolution is what the number of rows allows.
      if (rows >= 1000) expect(absolute > 2n ** 25n).toBe(true);
    }
  });

  it('packed gradients differ from exact ones by at most half a unit', () => {
    const gradients = createGradients(500);
    const draw = createRandom(3);
    gradients.gradient.forEach((_, i) => {
      gradients.gradient[i] = 2 * draw() - 1;
      gradients.hessian[i] = draw() / 4;
    });
    packGradients(gradients);
    const { gradientUnits, hessianUnits } = gradients;
    expect(Math.log2(gradientUnits) % 1).toBe(0);
    gradients.packed.forEach((packed, i) => {
      const g = Math.floor(packed / PACKED_UNIT);
      expect(Math.abs(g / gradientUnits - gradients.gradient[i]!)).toBeLessThanOrEqual(0.5 / gradientUnits);
      const h = packed - g * PACKED_UNIT;
      expect(Math.abs(h / hessianUnits - gradients.hessian[i]!)).toBeLessThanOrEqual(0.5 / hessianUnits);
    });
  });
});
