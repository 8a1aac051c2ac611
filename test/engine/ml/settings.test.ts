import { describe, expect, it, test } from 'vitest';
import type { NumberBounds } from '#contract/values/bounds.ts';
import { CLASSIFIER_LIMITS, MODEL_ALIASES, MODEL_KINDS } from '#contract/values/model-limits.ts';
import { trainClassifier } from '#engine/ml/classifier.ts';
import { checkClassifierSettings, classifierSettingProblems, modelKindOf } from '#engine/ml/settings.ts';
import { DEFAULT_CLASSIFIER_SETTINGS } from './default-settings.ts';
import { matrixOf } from './synthetic.ts';

describe('classifier settings', () => {
  it('default settings have no problems', () => {
    expect(classifierSettingProblems(DEFAULT_CLASSIFIER_SETTINGS)).toEqual([]);
    expect(Object.keys(CLASSIFIER_LIMITS)).toEqual(
      Object.keys(DEFAULT_CLASSIFIER_SETTINGS).filter((setting) => setting !== 'kind'),
    );
  });

  it.each(Object.entries<NumberBounds>(CLASSIFIER_LIMITS))(
    'setting %s is valid at both ends of its range and invalid beyond',
    (name, range) => {
      const step = range.integer ? 1 : 1e-9;
      const problems = (value: unknown) =>
        classifierSettingProblems({ ...DEFAULT_CLASSIFIER_SETTINGS, [name]: value }).map(
          ({ setting }) => setting,
        );
      expect(problems(range.min)).toEqual([]);
      expect(problems(range.max)).toEqual([]);
      for (const bad of [range.min - step, range.max + range.max * step + step, Number.NaN, '1', null]) {
        expect(problems(bad)).toEqual([name]);
      }
      if (range.integer) expect(problems(range.min + 0.5)).toEqual([name]);
    },
  );

  it('setting problems state the allowed values', () => {
    const wrong = { ...DEFAULT_CLASSIFIER_SETTINGS, max_depth: 11, class_weight: 0, kind: 'forest' as never };
    expect(classifierSettingProblems(wrong).map(({ message }) => message)).toEqual([
      'kind: must be one of depthwise_gbdt, leafwise_gbdt, symmetric_gbdt, logistic_regression, not "forest"',
      'max_depth: must be an integer from 1 to 10, not 11',
      'class_weight: must be "none", "balanced" or a number from 0.001 to 1000, not 0',
    ]);
    expect(() => checkClassifierSettings(wrong)).toThrow(/kind: .*; max_depth: .*; class_weight: /);
  });
});

test('modelKindOf accepts model kinds and their aliases', () => {
  for (const kind of MODEL_KINDS) expect(modelKindOf(kind)).toBe(kind);
  expect(Object.keys(MODEL_ALIASES).map(modelKindOf)).toEqual([
    'depthwise_gbdt',
    'depthwise_gbdt',
    'leafwise_gbdt',
    'leafwise_gbdt',
    'symmetric_gbdt',
    'symmetric_gbdt',
  ]);
  expect(modelKindOf('CatBoostClassifier')).toBe('symmetric_gbdt');
  for (const unknown of ['', 'forest', 'constructor', '__proto__'])
    expect(modelKindOf(unknown)).toBeUndefined();
});

describe.each(MODEL_KINDS)('%s validation', (kind) => {
  const features = matrixOf([Float64Array.from([1, 2, 3])]);
  const labels = Uint8Array.from([0, 1, 1]);
  const settings = { ...DEFAULT_CLASSIFIER_SETTINGS, kind };

  it.each([
    ['settings out of range', { features, labels }, { learning_rate: 0 }, /learning_rate/],
    ['too few labels', { features, labels: labels.subarray(1) }, {}, /3 rows have 2 labels/],
    ['a label of 2', { features, labels: Uint8Array.from([0, 2, 1]) }, {}, /row 1 has 2/],
    ['too few weights', { features, labels, weights: new Float64Array(2) }, {}, /3 rows have 2 weights/],
    ['a negative weight', { features, labels, weights: Float64Array.from([1, -1, 1]) }, {}, /row 1 has -1/],
    ['a NaN weight', { features, labels, weights: Float64Array.from([1, 1, Number.NaN]) }, {}, /NaN/],
    ['only weights of 0', { features, labels, weights: new Float64Array(3) }, {}, /whose weight is not 0/],
    [
      'no rows',
      { features: matrixOf([new Float64Array(0)]), labels: new Uint8Array(0) },
      {},
      /at least one row/,
    ],
  ])('trainClassifier rejects %s', (_, data, changes, message) => {
    expect(() => trainClassifier(data, { ...settings, ...changes })).toThrow(message);
  });

  it('trainClassifier accepts one row, one class and rows of weight 0', () => {
    for (const label of [0, 1]) {
      const one = { features: matrixOf([Float64Array.of(4)]), labels: Uint8Array.of(label) };
      expect(Math.abs(trainClassifier(one, settings).predict(one.features)[0]! - label)).toBeLessThan(0.01);
    }
    const model = trainClassifier({ features, labels, weights: Float64Array.from([1, 1, 0]) }, settings);
    for (const p of model.predict(features)) expect(p > 0 && p < 1).toBe(true);
  });
});
