import { describe, expect, it } from 'vitest';
import { calibrationBins, modelQuality } from '#engine/ml/model-report.ts';

const quality = (probabilities: number[], labels: number[]) =>
  modelQuality(Float64Array.from(probabilities), Uint8Array.from(labels));

describe('modelQuality', () => {
  it("modelQuality matches scikit-learn's AUC and hand-computed losses", () => {
    // Example of scikit-learn's roc_auc_score([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8]): 0.75.
    const measured = quality([0.1, 0.4, 0.35, 0.8], [0, 0, 1, 1]);
    expect(measured.auc).toBeCloseTo(0.75, 12);
    expect(measured.brier).toBeCloseTo((0.01 + 0.16 + 0.4225 + 0.04) / 4, 12);
    expect(measured.log_loss).toBeCloseTo(
      -(Math.log(0.9) + Math.log(0.6) + Math.log(0.35) + Math.log(0.8)) / 4,
      12,
    );
    expect(measured.base_log_loss).toBeCloseTo(Math.LN2, 12);
    expect(measured).toMatchObject({ rows: 4, positives_pct: 50 });
  });

  it('AUC counts equal probabilities as half', () => {
    expect(quality([0.5, 0.5, 0.5, 0.5], [0, 1, 0, 1]).auc).toBe(0.5);
    expect(quality([0.2, 0.5, 0.5, 0.9], [0, 0, 1, 1]).auc).toBeCloseTo(3.5 / 4, 12);
  });

  it('AUC is 1 for a perfect order and 0 for a reversed one', () => {
    expect(quality([0.1, 0.2, 0.8, 0.9], [0, 0, 1, 1]).auc).toBe(1);
    expect(quality([0.9, 0.8, 0.2, 0.1], [0, 0, 1, 1]).auc).toBe(0);
  });

  it('modelQuality is null without rows, and AUC is null with one class', () => {
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

it('calibrationBins compares predicted and observed shares by tenths', () => {
  const bins = calibrationBins(Float64Array.of(0.05, 0.31, 0.39, 1), Uint8Array.of(0, 1, 0, 1));
  expect(bins).toEqual([
    { low: 0, high: 0.1, rows: 1, mean_probability: 0.05, positive_share: 0 },
    { low: 0.3, high: 0.4, rows: 2, mean_probability: 0.35, positive_share: 0.5 },
    { low: 0.9, high: 1, rows: 1, mean_probability: 1, positive_share: 1 },
  ]);
});
