import { describe, expect, it, test } from 'vitest';
import { MODEL_KINDS } from '#contract/values/model-limits.ts';
import { trainClassifier } from '#engine/ml/classifier.ts';
import { logLoss } from '#engine/ml/model.ts';
import type { ClassifierSettings } from '#engine/ml/settings.ts';
import { DEFAULT_CLASSIFIER_SETTINGS } from './default-settings.ts';
import { auc, labeled, matrixOf, mean } from './synthetic.ts';

const BOOSTED = MODEL_KINDS.filter((kind) => kind !== 'logistic_regression');

function settings(changes: Partial<ClassifierSettings>): ClassifierSettings {
  return { ...DEFAULT_CLASSIFIER_SETTINGS, ...changes };
}

describe.each(MODEL_KINDS)('%s', (kind) => {
  it('model separates classes at a boundary', () => {
    const make = (seed: number) => labeled(seed, 2000, 3, (x) => (x(0) > 0.3 ? 1 : 0));
    const { matrix, labels } = make(1);
    const fresh = make(2);
    const predicted = trainClassifier({ features: matrix, labels }, settings({ kind })).predict(fresh.matrix);
    const right = mean(predicted.map((p, i) => ((p > 0.5 ? 1 : 0) === fresh.labels[i] ? 1 : 0)));
    expect(right).toBeGreaterThan(0.98);
    expect(auc(predicted, fresh.labels)).toBeGreaterThan(0.995);
  });

  it('model learns a probability that rises with a feature', () => {
    const probability = (x: number) => 1 / (1 + Math.exp(-2 * x));
    const { matrix, labels } = labeled(3, 8000, 2, (x) => probability(x(0)));
    const model = trainClassifier(
      { features: matrix, labels },
      settings({ kind, max_depth: 3, n_estimators: 60 }),
    );
    const points = Float64Array.from([-2, -1, -0.5, 0, 0.5, 1, 2]);
    const predicted = model.predict(matrixOf([points, new Float64Array(points.length)]));
    points.forEach((x, i) => {
      expect(Math.abs(predicted[i]! - probability(x))).toBeLessThan(0.07);
    });
    expect([...predicted]).toEqual([...predicted].sort((a, b) => a - b));
  });

  it('model has an AUC of about 0.5 on noise', () => {
    const train = labeled(4, 3000, 5, () => 0.5);
    const fresh = labeled(5, 6000, 5, () => 0.5);
    const model = trainClassifier({ features: train.matrix, labels: train.labels }, settings({ kind }));
    expect(Math.abs(auc(model.predict(fresh.matrix), fresh.labels) - 0.5)).toBeLessThan(0.025);
  });

  it('model predicts the share of label 1 when no feature varies', () => {
    const labels = Uint8Array.from({ length: 1000 }, (_, i) => (i % 10 < 3 ? 1 : 0));
    const matrix = matrixOf([new Float64Array(1000).fill(7), new Float64Array(1000).fill(Number.NaN)]);
    for (const [class_weight, expected] of [
      ['none', 0.3],
      ['balanced', 0.5],
      [4, (4 * 0.3) / (4 * 0.3 + 0.7)],
    ] as const) {
      const predicted = trainClassifier(
        { features: matrix, labels },
        settings({ kind, class_weight }),
      ).predict(matrix);
      predicted.forEach((p) => {
        expect(p).toBeCloseTo(expected, 9);
      });
    }
  });

  it('model predicts a rare label more often with balanced classes', () => {
    const { matrix, labels } = labeled(6, 4000, 3, (x) => 0.2 / (1 + Math.exp(-3 * x(0))));
    const meanOf = (class_weight: ClassifierSettings['class_weight']) =>
      mean(
        trainClassifier({ features: matrix, labels }, settings({ kind, class_weight, max_depth: 2 })).predict(
          matrix,
        ),
      );
    expect(meanOf('none')).toBeCloseTo(mean(labels), 2);
    expect(Math.abs(meanOf('balanced') - 0.4)).toBeLessThan(0.1);
    expect(meanOf(1)).toBe(meanOf('none'));
  });

  it('balanced class weights change nothing when classes are balanced', () => {
    const { matrix, labels } = labeled(13, 400, 3, () => 0.5);
    const half = labels.map((_, i) => i % 2);
    const predict = (class_weight: ClassifierSettings['class_weight']) =>
      trainClassifier(
        { features: matrix, labels: half },
        settings({ kind, class_weight, n_estimators: 5 }),
      ).predict(matrix);
    expect(predict('balanced')).toEqual(predict('none'));
  });

  it('row of weight 3 equals three rows', () => {
    const { matrix, labels } = labeled(7, 80, 3, (x) => (x(0) + x(1) > 0 ? 0.8 : 0.2));
    const weights = Float64Array.from(labels, (_, i) => 1 + (i % 3));
    const times = [...labels.keys()].flatMap((i) => Array.from({ length: weights[i]! }, () => i));
    const repeated = {
      features: matrixOf(matrix.columns.map((column) => Float64Array.from(times, (i) => column[i]!))),
      labels: Uint8Array.from(times, (i) => labels[i]!),
    };
    const used = settings({ kind, max_bins: 255, n_estimators: 20 });
    const weighted = trainClassifier({ features: matrix, labels, weights }, used).predict(matrix);
    const plain = trainClassifier(repeated, used).predict(matrix);
    weighted.forEach((p, i) => {
      expect(p).toBeCloseTo(plain[i]!, 9);
    });
  });
});

describe('exclusive or', () => {
  const make = (seed: number) => labeled(seed, 4000, 2, (x) => (x(0) > 0 !== x(1) > 0 ? 1 : 0));
  const train = make(8);
  const fresh = make(9);
  const aucOf = (changes: Partial<ClassifierSettings>) => {
    const model = trainClassifier({ features: train.matrix, labels: train.labels }, settings(changes));
    return auc(model.predict(fresh.matrix), fresh.labels);
  };

  test.each(BOOSTED)('%s learns exclusive or from depth 2', (kind) => {
    expect(aucOf({ kind, max_depth: 2, n_estimators: 150, learning_rate: 0.3 })).toBeGreaterThan(0.97);
    expect(aucOf({ kind, max_depth: 4 })).toBeGreaterThan(0.97);
  });

  test.each(BOOSTED)('%s does not learn exclusive or with depth 1', (kind) => {
    expect(aucOf({ kind, max_depth: 1 })).toBeLessThan(0.6);
  });

  test('logistic regression does not learn exclusive or', () => {
    expect(aucOf({ kind: 'logistic_regression' })).toBeLessThan(0.6);
  });
});

describe.each(BOOSTED)('%s', (kind) => {
  it('training loss falls with every tree and equals the loss of the predictions', () => {
    const { matrix, labels } = labeled(10, 3000, 6, (x) => 1 / (1 + Math.exp(-x(0) * x(1) - x(2))));
    const model = trainClassifier(
      { features: matrix, labels },
      settings({ kind, learning_rate: 0.05, n_estimators: 80 }),
    );
    expect(model.trainingLoss).toHaveLength(80);
    for (let round = 1; round < 80; round++) {
      expect(model.trainingLoss[round]!).toBeLessThan(model.trainingLoss[round - 1]!);
    }
    expect(model.trainingLoss[79]).toBeCloseTo(logLoss(model.predict(matrix), labels), 10);
    expect(model.trainingLoss[0]!).toBeLessThan(Math.log(2));
  });

  it('training loss is weighted and includes rows that a tree did not sample', () => {
    const { matrix, labels } = labeled(12, 900, 4, (x) => 0.4 / (1 + Math.exp(-2 * x(0))));
    const weights = Float64Array.from(labels, (_, i) => 0.2 + (i % 5));
    const model = trainClassifier(
      { features: matrix, labels, weights },
      settings({ kind, subsample: 0.4, class_weight: 3, n_estimators: 30 }),
    );
    let loss = 0;
    let total = 0;
    model.predict(matrix).forEach((p, i) => {
      const weight = weights[i]! * (labels[i] === 1 ? 3 : 1);
      loss -= weight * Math.log(labels[i] === 1 ? p : 1 - p);
      total += weight;
    });
    expect(model.trainingLoss[29]).toBeCloseTo(loss / total, 10);
  });

  it('missing values are sent to the side with the same label', () => {
    const random = labeled(11, 4000, 2, () => 0.5);
    const x = random.matrix.columns[0]!.map((value, i) => (i % 4 === 0 ? Number.NaN : value));
    // Missing values have label 1, like large values, which are on either side depending on the sign.
    for (const sign of [1, -1]) {
      const labels = Uint8Array.from(x, (value) => (Number.isNaN(value) || sign * value > 0.5 ? 1 : 0));
      const matrix = matrixOf([x, random.matrix.columns[1]!]);
      const model = trainClassifier({ features: matrix, labels }, settings({ kind, max_depth: 1 }));
      const [missing, large, small] = model.predict(
        matrixOf([Float64Array.from([Number.NaN, 2 * sign, -2 * sign]), new Float64Array(3)]),
      );
      expect(missing).toBeGreaterThan(0.95);
      expect(large).toBe(missing);
      expect(small).toBeLessThan(0.05);
    }
  });

  it('missing values can be separated from all others', () => {
    const x = Float64Array.from({ length: 2000 }, (_, i) => (i % 2 === 0 ? Number.NaN : i / 1000 - 1));
    const labels = Uint8Array.from(x, (value) => (Number.isNaN(value) ? 1 : 0));
    const model = trainClassifier({ features: matrixOf([x]), labels }, settings({ kind, max_depth: 1 }));
    const predicted = model.predict(matrixOf([Float64Array.from([Number.NaN, -5, 0, 5])]));
    expect(predicted[0]).toBeGreaterThan(0.95);
    for (const p of predicted.subarray(1)) expect(p).toBeLessThan(0.05);
  });
});
