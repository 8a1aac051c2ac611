import type { ModelQuality } from '#contract/report-models.ts';
import { logLoss } from '../ml/model.ts';

/** Predictions of one share of probability, beside what happened. */
export interface CalibrationBin {
  /** Probabilities in [low, high); the last bin holds 1 too. */
  readonly low: number;
  readonly high: number;
  readonly rows: number;
  /** Mean of the probabilities, and share of the labels that are 1. */
  readonly mean_probability: number;
  readonly positive_share: number;
}

const BINS = 10;

/** @param labels 0 or 1 for each probability */
export function modelQuality(probabilities: Float64Array, labels: Uint8Array): ModelQuality {
  const rows = labels.length;
  if (rows === 0) {
    return { rows, positives_pct: null, auc: null, log_loss: null, base_log_loss: null, brier: null };
  }
  let positives = 0;
  let squares = 0;
  for (let row = 0; row < rows; row++) {
    positives += labels[row]!;
    squares += (probabilities[row]! - labels[row]!) ** 2;
  }
  const share = positives / rows;
  return {
    rows,
    positives_pct: share * 100,
    auc: areaUnderCurve(probabilities, labels, positives),
    log_loss: logLoss(probabilities, labels),
    base_log_loss: logLoss(new Float64Array(rows).fill(share), labels),
    brier: squares / rows,
  };
}

/** Area under the ROC curve as the rank sum of Mann and Whitney; equal probabilities share their mean rank. */
function areaUnderCurve(probabilities: Float64Array, labels: Uint8Array, positives: number): number | null {
  const negatives = labels.length - positives;
  if (positives === 0 || negatives === 0) return null;
  const order = Uint32Array.from(labels, (_, row) => row).sort(
    (a, b) => probabilities[a]! - probabilities[b]!,
  );
  let rankSum = 0;
  for (let start = 0, end = 0; start < order.length; start = end) {
    const value = probabilities[order[start]!]!;
    let tied = 0;
    for (end = start; end < order.length && probabilities[order[end]!] === value; end++) {
      tied += labels[order[end]!]!;
    }
    rankSum += tied * ((start + 1 + end) / 2);
  }
  return (rankSum - (positives * (positives + 1)) / 2) / (positives * negatives);
}

/** Ten bins of equal width from 0 to 1; those without a row are left out. */
export function calibrationBins(probabilities: Float64Array, labels: Uint8Array): CalibrationBin[] {
  const bins = Array.from({ length: BINS }, () => ({ rows: 0, probability: 0, positives: 0 }));
  for (let row = 0; row < labels.length; row++) {
    const bin = bins[Math.min(BINS - 1, Math.floor(probabilities[row]! * BINS))]!;
    bin.rows++;
    bin.probability += probabilities[row]!;
    bin.positives += labels[row]!;
  }
  const told = bins.map(({ rows, probability, positives }, index) => ({
    low: index / BINS,
    high: (index + 1) / BINS,
    rows,
    mean_probability: probability / rows,
    positive_share: positives / rows,
  }));
  return told.filter(({ rows }) => rows > 0);
}
