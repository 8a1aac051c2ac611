import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { trainClassifier } from '#engine/ml/classifier.ts';
import type { ClassifierSettings } from '#engine/ml/settings.ts';
import { DEFAULT_CLASSIFIER_SETTINGS } from './default-settings.ts';
import { auc, type Labeled, labeled, matrixOf, nonlinear } from './synthetic.ts';
import { pythonWithXgboost, startXgboost, type Xgboost } from './xgboost.ts';

const found = await pythonWithXgboost();
if ('missing' in found) console.warn(`Skipped: the comparison with XGBoost. ${found.missing}`);

/** XGBoost's settings of a growth policy. */
const POLICIES = {
  depthwise_gbdt: { grow_policy: 'depthwise' },
  leafwise_gbdt: { grow_policy: 'lossguide', max_leaves: 31 },
} as const;

describe.skipIf('missing' in found)('XGBoost (skipped where pip cannot install it)', () => {
  let xgboost: Xgboost;
  beforeAll(async () => {
    if ('python' in found) xgboost = await startXgboost(found.python);
  });
  afterAll(() => xgboost.stop());

  const train = nonlinear(60, 20_000);
  const fresh = nonlinear(61, 10_000);

  /** AUC of 100 trees of both implementations on fresh rows. */
  async function aucs(kind: keyof typeof POLICIES, max_bins: number, fitted: Labeled, judged: Labeled) {
    const settings: ClassifierSettings = {
      ...DEFAULT_CLASSIFIER_SETTINGS,
      kind,
      max_bins,
      n_estimators: 100,
    };
    const model = trainClassifier({ features: fitted.matrix, labels: fitted.labels }, settings);
    await xgboost.train(fitted, 100, { max_depth: 6, eta: 0.1, max_bin: max_bins, ...POLICIES[kind] });
    const { probabilities } = await xgboost.predict(judged);
    const theirs = auc(probabilities, judged.labels);
    expect(theirs).toBeGreaterThan(0.8);
    return { ours: auc(model.predict(judged.matrix), judged.labels), theirs };
  }

  test.each([
    ['depthwise_gbdt', 64],
    ['depthwise_gbdt', 255],
    ['leafwise_gbdt', 64],
  ] as const)(
    "AUC of %s with 20,000 x 30 rows and %i bins is within 0.002 of XGBoost's",
    async (kind, maxBins) => {
      const { ours, theirs } = await aucs(kind, maxBins, train, fresh);
      expect(Math.abs(ours - theirs)).toBeLessThan(0.002);
    },
  );

  test("AUC of depthwise_gbdt is within 0.0002 of XGBoost's when bins are equal", async () => {
    const coarse = ({ matrix, labels }: Labeled): Labeled => {
      const columns = matrix.columns.map((column) =>
        column.map((x) => Math.round(8 * Math.max(-3, Math.min(3, x)))),
      );
      return { matrix: matrixOf(columns), labels };
    };
    const { ours, theirs } = await aucs('depthwise_gbdt', 64, coarse(train), coarse(fresh));
    expect(Math.abs(ours - theirs)).toBeLessThan(0.0002);
  });

  test.each(['depthwise_gbdt', 'leafwise_gbdt'] as const)(
    "probabilities of %s equal XGBoost's within 1e-5 on small data",
    async (kind) => {
      const data = labeled(62, 250, 4, (x) => 1 / (1 + Math.exp(-2 * x(0) * x(1) - x(2))));
      const columns = data.matrix.columns.map((column) => Float64Array.from(Float32Array.from(column)));
      columns[3]!.forEach((_, i) => {
        if (i % 3 === 0) columns[3]![i] = Number.NaN;
      });
      const small = { matrix: matrixOf(columns), labels: data.labels };
      const prior = data.labels.reduce((sum, label) => sum + label, 0) / 250;
      for (const [max_depth, l2, min_child_weight, gamma] of [
        [3, 1, 1, 0],
        [5, 0.1, 2, 0.5],
      ] as const) {
        const settings = { ...DEFAULT_CLASSIFIER_SETTINGS, kind, max_depth, l2, min_child_weight, gamma };
        const model = trainClassifier(
          { features: small.matrix, labels: small.labels },
          { ...settings, n_estimators: 20, max_bins: 255 },
        );
        await xgboost.train(small, 20, {
          max_depth,
          eta: 0.1,
          lambda: l2,
          min_child_weight,
          gamma,
          max_bin: 1024,
          base_score: prior,
          ...POLICIES[kind],
        });
        const { probabilities } = await xgboost.predict(small);
        model.predict(small.matrix).forEach((p, i) => {
          expect(Math.abs(p - probabilities[i]!)).toBeLessThan(1e-5);
        });
      }
    },
  );
});
