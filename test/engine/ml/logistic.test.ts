import { describe, expect, it } from 'vitest';
import { type TrainingData, trainClassifier } from '#engine/ml/classifier.ts';
import type { SerializedLogistic } from '#engine/ml/logistic.ts';
import { logLoss } from '#engine/ml/model.ts';
import type { ClassifierSettings } from '#engine/ml/settings.ts';
import { DEFAULT_CLASSIFIER_SETTINGS } from './default-settings.ts';
import { labeled, matrixOf } from './synthetic.ts';

function regress(data: TrainingData, changes: Partial<ClassifierSettings> = {}) {
  const settings = { ...DEFAULT_CLASSIFIER_SETTINGS, kind: 'logistic_regression' as const, ...changes };
  const model = trainClassifier(data, settings);
  return { model, parts: model.serialize().model as SerializedLogistic };
}

describe('logistic regression', () => {
  it('logistic regression of one binary feature predicts the shares of both values', () => {
    const x = Float64Array.from({ length: 100 }, (_, i) => (i < 40 ? 0 : 1));
    const labels = Uint8Array.from(x, (_, i) => (i < 10 || i >= 55 ? 1 : 0));
    const { model } = regress({ features: matrixOf([x]), labels }, { l2: 0 });
    const [low, high] = model.predict(matrixOf([Float64Array.from([0, 1])]));
    expect(low).toBeCloseTo(10 / 40, 6);
    expect(high).toBeCloseTo(45 / 60, 6);
    const ratio = Math.log(high! / (1 - high!)) - Math.log(low! / (1 - low!));
    expect(ratio).toBeCloseTo(Math.log((45 * 30) / (15 * 10)), 5);
  });

  it('logistic regression is at the stationary point of the penalized likelihood', () => {
    const { matrix, labels } = labeled(50, 500, 3, (x) => 1 / (1 + Math.exp(-1 - 2 * x(0) + x(1))));
    const weights = Float64Array.from(labels, (_, i) => 1 + (i % 4) / 2);
    for (const l2 of [0.5, 50]) {
      const { model, parts } = regress({ features: matrix, labels, weights }, { l2 });
      const p = model.predict(matrix);
      const residual = p.map((value, i) => weights[i]! * (labels[i]! - value));
      expect(residual.reduce((sum, r) => sum + r, 0)).toBeCloseTo(0, 6);
      matrix.columns.forEach((column, j) => {
        const slope = residual.reduce(
          (sum, r, i) => sum + r * ((column[i]! - parts.mean[j]!) / parts.scale[j]!),
          0,
        );
        expect(slope).toBeCloseTo(l2 * parts.weights[j]!, 6);
      });
    }
  });

  it('logistic regression recovers the weights that generated the labels', () => {
    const { matrix, labels } = labeled(
      51,
      40_000,
      3,
      (x) => 1 / (1 + Math.exp(-0.5 - 1.5 * x(0) + 0.7 * x(2))),
    );
    const { parts } = regress({ features: matrix, labels });
    const natural = parts.weights.map((weight, j) => weight / parts.scale[j]!);
    [1.5, 0, -0.7].forEach((weight, j) => {
      expect(Math.abs(natural[j]! - weight)).toBeLessThan(0.06);
    });
  });

  it('loss of logistic regression falls with each step to that of its predictions', () => {
    const { matrix, labels } = labeled(52, 800, 4, (x) => 1 / (1 + Math.exp(-3 * x(0))));
    const { model } = regress({ features: matrix, labels }, { l2: 1e-3 });
    const losses = [...model.trainingLoss];
    expect(model.bestIteration).toBe(losses.length);
    expect(losses.length).toBeLessThan(15);
    expect(losses.at(-1)).toBeCloseTo(logLoss(model.predict(matrix), labels), 10);
    expect(losses).toEqual([...losses].sort((a, b) => b - a));
  });

  it('logistic regression does not depend on the units of a feature', () => {
    const { matrix, labels } = labeled(53, 500, 2, (x) => 1 / (1 + Math.exp(-x(0) - x(1))));
    const [a, b] = matrix.columns as [Float64Array, Float64Array];
    const scaled = matrixOf([a.map((x) => 1e9 * x - 5e9), b.map((x) => 1e-9 * x)]);
    const plain = regress({ features: matrix, labels }).model.predict(matrix);
    regress({ features: scaled, labels })
      .model.predict(scaled)
      .forEach((p, i) => {
        expect(p).toBeCloseTo(plain[i]!, 9);
      });
  });

  it('logistic regression stays finite for separable classes, collinear and constant features without penalty', () => {
    const { matrix, labels } = labeled(54, 300, 1, (x) => (x(0) > 0 ? 1 : 0));
    const [x] = matrix.columns as [Float64Array];
    const twins = matrixOf([x, x.map((value) => 2 * value), new Float64Array(300).fill(0.1)]);
    const { model, parts } = regress({ features: twins, labels }, { l2: 0 });
    for (const number of [parts.intercept, ...parts.weights]) expect(Number.isFinite(number)).toBe(true);
    expect(parts.weights[2]).toBe(0);
    expect(model.trainingLoss.at(-1)!).toBeLessThan(0.01);
  });

  it('logistic regression treats a missing value as the mean', () => {
    const { matrix, labels } = labeled(55, 400, 2, (x) => 1 / (1 + Math.exp(-x(0))));
    const { model, parts } = regress({ features: matrix, labels });
    const [missing, mean] = model.predict(
      matrixOf([Float64Array.from([Number.NaN, parts.mean[0]!]), Float64Array.from([0.3, 0.3])]),
    );
    expect(missing).toBe(mean);
  });
});
