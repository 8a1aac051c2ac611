import { describe, expect, it } from 'vitest';
import { calibrationBins, modelQuality } from '#engine/report/models.ts';

const quality = (probabilities: number[], labels: number[]) =>
  modelQuality(Float64Array.from(probabilities), Uint8Array.from(labels));

describe('quality of probabilities', () => {
  it('is as worked out by hand', () => {
    // scikit-learn's roc_auc_score([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8]) of its documentation: 0.75.
    const told = quality([0.1, 0.4, 0.35, 0.8], [0, 0, 1, 1]);
    expect(told.auc).toBeCloseTo(0.75, 12);
    expect(told.brier).toBeCloseTo((0.01 + 0.16 + 0.4225 + 0.04) / 4, 12);
    expect(told.log_loss).toBeCloseTo(
      -(Math.log(0.9) + Math.log(0.6) + Math.log(0.35) + Math.log(0.8)) / 4,
      12,
    );
    expect(told.base_log_loss).toBeCloseTo(Math.LN2, 12);
    expect(told).toMatchObject({ rows: 4, positives_pct: 50 });
  });

  it('counts equal probabilities as half right', () => {
    expect(quality([0.5, 0.5, 0.5, 0.5], [0, 1, 0, 1]).auc).toBe(0.5);
    expect(quality([0.2, 0.5, 0.5, 0.9], [0, 0, 1, 1]).auc).toBeCloseTo(3.5 / 4, 12);
  });

  it('is one for a perfect order and nothing for a reversed one', () => {
    expect(quality([0.1, 0.2, 0.8, 0.9], [0, 0, 1, 1]).auc).toBe(1);
    expect(quality([0.9, 0.8, 0.2, 0.1], [0, 0, 1, 1]).auc).toBe(0);
  });

  it('is undefined without rows, the order also with one class', () => {
    expect(quality([], [])).toEqual({
      rows: 0,
      positives_pct: null,
      auc: null,
      log_loss: null,
      base_log_loss: null,
      brier: null,
    });
    expect(quality([0.5, 0.6], [1, 1])).toMatchObject({ auc: null, positives_pct: 100 });
  });
});

it('calibration puts what was said beside what happened, by tenths', () => {
  const bins = calibrationBins(Float64Array.of(0.05, 0.31, 0.39, 1), Uint8Array.of(0, 1, 0, 1));
  expect(bins).toEqual([
    { low: 0, high: 0.1, rows: 1, mean_probability: 0.05, positive_share: 0 },
    { low: 0.3, high: 0.4, rows: 2, mean_probability: 0.35, positive_share: 0.5 },
    { low: 0.9, high: 1, rows: 1, mean_probability: 1, positive_share: 1 },
  ]);
});
