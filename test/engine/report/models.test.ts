import { expect, it } from 'vitest';
import { buildModels, type PairModels } from '#engine/ml/model-report.ts';
import { learningInput } from '../walk-forward/sample.ts';

const { config } = learningInput();
const quality = { rows: 0, positives_pct: null, auc: null, log_loss: null, base_log_loss: null, brier: null };

/** Pair with `count` windows, every second one without a model. */
function pairOf(pair: string, count: number, gain: number[]): PairModels {
  const time = '2024-01-01T00:00:00.000Z';
  const range = { train_from: time, train_to: time, test_from: time, test_to: time };
  return {
    names: ['a', 'b'],
    horizon: 3,
    windows: Array.from({ length: count }, (_, index) => ({
      pair,
      index,
      ...range,
      training_rows: 1,
      training_positives_pct: 50,
      iterations: 1,
      skipped: index % 2 === 0 ? null : 'none',
      quality,
      calibration: [],
    })),
    predictions: { probabilities: Float64Array.of(0.2, 0.8), labels: Uint8Array.of(0, 1) },
    gains: [Float64Array.from(gain)],
    permutations: [],
  };
}

it('buildModels lists at most 1,000 windows over all pairs and counts all', () => {
  const models = buildModels(config, [pairOf('A', 1500, [0, 1]), pairOf('B', 2500, [0, 1])]);
  expect(models).toMatchObject({ windows_total: 4000, trained: 2000 });
  expect(models.windows).toHaveLength(1000);
  expect(models.windows.filter(({ pair }) => pair === 'A')).toHaveLength(375);
  expect(models.windows[1]).toMatchObject({ pair: 'A', index: 4 });
});

it('buildModels joins predictions of all pairs and averages gains over models', () => {
  const models = buildModels(config, [pairOf('A', 2, [0.2, 0.8]), pairOf('B', 2, [0.4, 0.6])]);
  expect(models.windows).toHaveLength(4);
  expect(models.quality).toMatchObject({ rows: 4, auc: 1 });
  expect(models.importances).toEqual([
    { feature: 'b', gain: 0.7, permutation: null },
    { feature: 'a', gain: expect.closeTo(0.3, 12), permutation: null },
  ]);
});
