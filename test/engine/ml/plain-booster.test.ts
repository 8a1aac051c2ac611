import { describe, expect, it } from 'vitest';
import { type SerializedForest, trainClassifier } from '#engine/ml/classifier.ts';
import { binFeatures } from '#engine/ml/features.ts';
import type { ClassifierSettings } from '#engine/ml/settings.ts';
import { RESULTS } from '#engine/ml/wasm/gradients.ts';
import { withKernel } from '#engine/ml/wasm/kernel.ts';
import { createRandom } from '#engine/random.ts';
import { DEFAULT_CLASSIFIER_SETTINGS } from './default-settings.ts';
import { boostPlainly, type PlainNode } from './plain-booster.ts';
import { labeled, matrixOf } from './synthetic.ts';

/** `features` features: continuous, coarse, partly and mostly missing, constant, and again. */
function problem(seed: number, rows: number, features: number) {
  const { matrix, labels } = labeled(
    seed,
    rows,
    Math.max(features, 3),
    (x) => 1 / (1 + Math.exp(-2 * x(0) * x(1) - x(2))),
  );
  const random = createRandom(seed + 1000);
  const columns = matrix.columns.slice(0, features).map((column, j) =>
    column.map((value) => {
      if (j % 6 === 2) return Math.round(2 * value);
      if (j % 6 === 3) return random() < 0.2 ? Number.NaN : value;
      if (j % 6 === 4) return random() < 0.8 ? Number.NaN : Math.round(value);
      return j % 6 === 5 ? 3 : value;
    }),
  );
  return { columns, labels };
}

/** Compares a tree with the plain one, to the last bit. */
function compare({ trees }: SerializedForest, tree: number, root: PlainNode): void {
  const ours = trees[tree]!;
  const visit = (node: number, expected: PlainNode): void => {
    const { split, value } = expected;
    expect(ours.feature[node]).toBe(split?.feature ?? -1);
    if (!split) {
      expect(ours.value[node]).toBe(value);
      return;
    }
    expect([ours.bin[node], ours.missing_left[node]]).toEqual([split.bin, Number(split.missingLeft)]);
    visit(ours.left[node]!, split.left);
    visit(ours.left[node]! + 1, split.right);
  };
  visit(0, root);
}

const DATA = {
  'nine features': problem(1, 300, 9),
  'one feature': problem(2, 301, 1),
  'equal features': ((one) => ({ ...one, columns: [0, 1, 2, 3].map(() => one.columns[0]!) }))(
    problem(3, 120, 1),
  ),
  'three rows': problem(4, 3, 3),
  'one row': problem(5, 1, 2),
  'as many rows of each label': ((data) => ({ ...data, labels: data.labels.map((_, i) => i % 2) }))(
    problem(11, 160, 6),
  ),
  'a constant label': { ...problem(6, 200, 4), labels: new Uint8Array(200).fill(1) },
};

const CASES: readonly Partial<ClassifierSettings>[] = [
  { max_depth: 6 },
  { max_depth: 4, min_child_weight: 0, l2: 0, max_bins: 5, gamma: 0.3 },
  { max_depth: 7, min_child_weight: 0.05, l2: 0.01, max_bins: 255, learning_rate: 1 },
  { max_depth: 1, l2: 1e6 },
  // The hessian of 40 rows of that data is exactly this.
  { max_depth: 3, min_child_weight: 10, n_estimators: 1 },
];

describe.each(['depthwise_gbdt', 'leafwise_gbdt', 'symmetric_gbdt'] as const)('%s', (kind) => {
  describe.each(Object.entries(DATA))('%s', (name, { columns, labels }) => {
    it.each(CASES)('trees equal those of a plain implementation, bit for bit: %o', (changes) => {
      const settings = {
        ...DEFAULT_CLASSIFIER_SETTINGS,
        kind,
        n_estimators: 3,
        learning_rate: 0.4,
        max_leaves: 9,
        ...changes,
      };
      const random = createRandom(7);
      const weights = Float64Array.from(labels, () => (changes.gamma ? 10 ** (4 * random() - 2) : 1));
      const binned = binFeatures(matrixOf(columns), settings.max_bins);
      const model = trainClassifier({ features: binned, labels, weights }, settings).serialize();
      const plain = boostPlainly({ binned, labels, weights, settings });
      plain.forEach((tree, t) => {
        compare(model.model as SerializedForest, t, tree);
      });
      if (name === 'nine features') expect(plain.some(({ split }) => split)).toBe(true);
    });
  });
});

describe('derivatives', () => {
  /** Derivatives of label 1 with weight 1 at these scores, and 1 + e of each. */
  const derive = (scores: Float64Array) =>
    withKernel((kernel) => {
      const { length } = scores;
      const take = () => kernel.take(8 * (length + 1));
      const [at, signs, weights, gradient, hessian, terms] = [take(), take(), take(), take(), take(), take()];
      kernel.f64(at, length).set(scores);
      kernel.f64(signs, length).fill(-1);
      kernel.f64(weights, length).fill(1);
      const loss = kernel.run.computeGradients(at, signs, weights, gradient, hessian, terms, length);
      const [gradientSum, hessianSum] = kernel.f64(RESULTS, 2);
      const read = (address: number) => kernel.f64(address, length).slice();
      return {
        loss,
        gradientSum,
        hessianSum,
        gradient: read(gradient),
        hessian: read(hessian),
        terms: read(terms),
      };
    });

  it('derivatives equal those computed with Math.exp, bit for bit', () => {
    const random = createRandom(8);
    const neighbors = (value: number) => {
      const bits = new BigInt64Array(Float64Array.of(value).buffer);
      return [-2n, -1n, 0n, 1n, 2n].map((k) => new Float64Array(BigInt64Array.of(bits[0]! + k).buffer)[0]!);
    };
    // Where the exponential changes its method: https://www.netlib.org/fdlibm/e_exp.c
    const edges = [
      0.34657359027997264,
      0.34657382965087885,
      0.3465738296508789,
      0.34657406806945795,
      1,
      1.0397207708399179,
      1.039720892906189,
      2 ** -28,
      2 ** -54,
      199,
      200,
      201,
      699,
      700,
      701,
      708.3,
      710,
      745.1,
      746,
      1e300,
    ].flatMap(neighbors);
    const scores = Float64Array.from([
      ...edges.flatMap((edge) => [edge, -edge]),
      0,
      -0,
      Number.POSITIVE_INFINITY,
      Number.NEGATIVE_INFINITY,
      ...Array.from({ length: 60_000 }, (_, i) => (random() - 0.5) * [4, 40, 1600][i % 3]!),
      ...Array.from({ length: 3001 }, () => (random() - 0.5) * 2 ** (-60 * random())),
    ]);
    const { terms, gradient, hessian, ...sums } = derive(scores);
    let gradientSum = 0;
    let hessianSum = 0;
    let loss = 0;
    scores.forEach((score, i) => {
      const e = Math.exp(Math.min(-score, 200));
      const share = e / (1 + e);
      if (terms[i] !== 1 + e || gradient[i] !== -share || hessian[i] !== Math.max(share / (1 + e), 1e-16))
        throw new Error(`The derivatives at ${score} differ.`);
      gradientSum += share;
      hessianSum += hessian[i]!;
      loss += Math.log(1 + e);
    });
    expect(sums.gradientSum).toBe(gradientSum);
    expect(sums.hessianSum).toBe(hessianSum);
    expect(sums.loss / loss).toBeCloseTo(1, 12);
  });

  it.each([1, 2, 3, 1000, 65_536])('packed derivatives of %i rows are rounded to units', (rows) => {
    const random = createRandom(rows);
    const exact = Array.from({ length: 2 }, () =>
      Float64Array.from({ length: rows }, () => 2 * random() - 1),
    );
    const [g, h] = [exact[0]!, exact[1]!.map(Math.abs)];
    const units = 2 ** 10;
    const packed = withKernel((kernel) => {
      const [gAt, hAt, into] = [0, 0, 0].map(() => kernel.take(8 * (rows + 1))) as [number, number, number];
      kernel.f64(gAt, rows).set(g);
      kernel.f64(hAt, rows).set(h);
      kernel.run.packGradients(gAt, hAt, into, rows, units, 2 * units);
      return new BigInt64Array(kernel.f64(into, rows).slice().buffer);
    });
    const expected = Array.from(
      g,
      (value, i) =>
        BigInt(Math.floor(value * units + 0.5)) * 2n ** 26n + BigInt(Math.floor(h[i]! * 2 * units + 0.5)),
    );
    expect([...packed]).toEqual(expected);
  });
});

it('a kernel refuses more memory than there is, and is usable afterwards', () => {
  expect(() => withKernel((kernel) => kernel.take(2 ** 32))).toThrow(/more than 4 GB.*fewer rows/);
  expect(withKernel((kernel) => kernel.f64(kernel.take(8), 1).length)).toBe(1);
});
