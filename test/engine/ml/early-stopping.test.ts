import { describe, expect, it } from 'vitest';
import { trainClassifier } from '#engine/ml/classifier.ts';
import type { ClassifierSettings } from '#engine/ml/settings.ts';
import { DEFAULT_CLASSIFIER_SETTINGS } from './default-settings.ts';
import { labeled, matrixOf, slice } from './synthetic.ts';

/** One binary feature. In the fitted rows 9 of 10 labels follow it, in the tail `followers` of 10. */
function planted(followers: number) {
  const fitted = 800;
  const rows = 1000;
  const x = Float64Array.from({ length: rows }, (_, i) => i % 2);
  const labels = Uint8Array.from(x, (value, i) => {
    const follows = (i >> 1) % 10 < (i < fitted ? 9 : followers);
    return follows ? value : 1 - value;
  });
  return { features: matrixOf([x]), labels };
}

/**
 * Round with the lowest loss in the tail, computed by hand. The score of both values moves by rate * (0.9 - p) / (p (1 - p))
 * from 0 up to the log odds of 0.9. The tail's loss is lowest at the log odds of its own share.
 */
function bestRound(share: number, rate: number, rounds: number): number {
  let score = 0;
  let best = { round: 0, loss: Number.POSITIVE_INFINITY };
  for (let round = 1; round <= rounds; round++) {
    const p = 1 / (1 + Math.exp(-score));
    score += (rate * (0.9 - p)) / (p * (1 - p));
    const after = 1 / (1 + Math.exp(-score));
    const loss = -share * Math.log(after) - (1 - share) * Math.log(1 - after);
    if (loss < best.loss) best = { round, loss };
  }
  return best.round;
}

function settings(changes: Partial<ClassifierSettings>): ClassifierSettings {
  return { ...DEFAULT_CLASSIFIER_SETTINGS, l2: 0, n_estimators: 200, early_stopping_rounds: 10, ...changes };
}

describe.each(['depthwise_gbdt', 'leafwise_gbdt', 'symmetric_gbdt'] as const)('%s', (kind) => {
  it.each([6, 7, 8])(
    'early stopping ends at the planted round when %i of 10 tail rows follow',
    (followers) => {
      const expected = bestRound(followers / 10, 0.05, 200);
      expect(expected).toBeGreaterThan(1);
      const rounds: number[] = [];
      const model = trainClassifier(planted(followers), settings({ kind, learning_rate: 0.05 }), {
        onRound: (round) => rounds.push(round),
      });
      expect(model.bestIteration).toBe(expected);
      expect(rounds).toHaveLength(expected + 10);
      expect(model.validationLoss).toHaveLength(expected + 10);
      expect(model.trainingLoss).toHaveLength(expected + 10);
      const odds = model.predict(matrixOf([Float64Array.from([0, 1])]));
      expect(Math.abs(odds[1]! - followers / 10)).toBeLessThan(0.03);
      expect(odds[0]).toBeCloseTo(1 - odds[1]!, 9);
    },
  );

  it('early stopping keeps one tree when the tail contradicts the fitted rows', () => {
    const model = trainClassifier(planted(1), settings({ kind, early_stopping_rounds: 4 }));
    expect(model.bestIteration).toBe(1);
    expect(model.validationLoss).toHaveLength(5);
  });

  it('stopped model equals a model of as many rounds fitted to the rows before tail and embargo', () => {
    const drawn = labeled(30, 1000, 4, (x) => 1 / (1 + Math.exp(-x(0) - x(1) * x(2))));
    // Few values that both windows contain, so that their bins are equal.
    const columns = drawn.matrix.columns.map((column) =>
      column.map((x) => Math.max(-2, Math.min(2, Math.round(2 * x) / 2))),
    );
    const all = { matrix: matrixOf(columns), labels: drawn.labels };
    const used = settings({
      kind,
      learning_rate: 0.3,
      early_stopping_rounds: 5,
      validation_fraction: 0.3,
      l2: 1,
    });
    const stopped = trainClassifier({ features: all.matrix, labels: all.labels }, used, { embargoRows: 12 });
    expect(stopped.bestIteration).toBeLessThan(200);
    const before = slice(all, 0, 688);
    const plain = trainClassifier(
      { features: before.matrix, labels: before.labels },
      { ...used, early_stopping_rounds: 0, n_estimators: stopped.bestIteration },
    );
    expect(plain.validationLoss).toBeNull();
    expect(stopped.predict(all.matrix)).toEqual(plain.predict(all.matrix));
    expect(stopped.gainImportance()).toEqual(plain.gainImportance());
  });
});

it('fit does not read labels of the embargo or of the tail', () => {
  const { matrix, labels } = labeled(31, 500, 3, (x) => 1 / (1 + Math.exp(-2 * x(0))));
  const changed = labels.slice();
  for (let i = 390; i < 400; i++) changed[i] = 1 - changed[i]!;
  const used = settings({ l2: 1, n_estimators: 20, early_stopping_rounds: 50 });
  const trees = (given: Uint8Array) =>
    trainClassifier({ features: matrix, labels: given }, used, { embargoRows: 10 }).serialize();
  expect(trees(changed)).toEqual(trees(labels));
});

it('trainClassifier rejects an embargo that leaves no rows', () => {
  expect(() => trainClassifier(planted(8), settings({}), { embargoRows: 800 })).toThrow(/leave none to fit/);
});
