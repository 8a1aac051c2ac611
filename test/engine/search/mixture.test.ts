import { describe, expect, it } from 'vitest';
import { createRandom } from '#engine/random.ts';
import { axisOf } from '#engine/search/axis.ts';
import { truncatedNormal } from '#engine/search/kernels.ts';
import { Mixture, trialWeights } from '#engine/search/mixture.ts';
import type { Dimension } from '#engine/search/space.ts';

const SPACE: Dimension[] = [
  { kind: 'float', name: 'a', min: -5, max: 5 },
  { kind: 'float', name: 'b', min: 0.001, max: 0.3, log: true },
  { kind: 'int', name: 'c', min: 50, max: 500 },
  { kind: 'int', name: 'd', min: 1, max: 64, log: true },
  { kind: 'float', name: 'e', min: 0, max: 1, step: 0.02 },
  { kind: 'categorical', name: 'f', choices: ['x', 'y', 'z'] },
];
const AXES = SPACE.map(axisOf);

const TRIALS = [
  [3.018, 0.05508, 137, 17, 0.94, 0],
  [1.437, 0.22629, 408, 28, 0.64, 0],
  [-0.849, 0.05182, 52, 55, 0.4, 1],
  [3.351, 0.00676, 171, 11, 0.72, 1],
  [-2.91, 0.02326, 187, 36, 0, 2],
  [2.692, 0.00145, 447, 54, 0.04, 2],
  [-4.846, 0.23656, 192, 50, 0.46, 2],
  [-0.313, 0.01031, 241, 13, 0.74, 0],
  [0.233, 0.06463, 122, 1, 0.6, 2],
  [-4.152, 0.02478, 89, 58, 0.38, 1],
  [4.321, 0.00125, 193, 7, 0.22, 1],
  [-0.472, 0.03658, 185, 5, 0.66, 0],
  [-4.258, 0.02948, 366, 46, 0.76, 1],
  [-2.778, 0.00305, 360, 62, 0.5, 0],
  [-3.022, 0.01335, 83, 33, 0.58, 2],
  [2.503, 0.05651, 338, 23, 0.96, 0],
  [3.07, 0.01425, 207, 20, 0.92, 1],
  [1.204, 0.1068, 483, 25, 0.06, 1],
  [1.418, 0.01014, 425, 15, 0.86, 2],
  [0.583, 0.00958, 291, 43, 0.32, 0],
  [-1.196, 0.01432, 205, 40, 0.1, 2],
  [2.555, 0.01769, 209, 51, 0.56, 0],
  [3.268, 0.00878, 272, 27, 0.3, 1],
  [3.447, 0.08813, 61, 21, 0.08, 2],
  [2.129, 0.00122, 437, 29, 0.9, 1],
  [-1.102, 0.13525, 476, 64, 0.7, 0],
  [0.578, 0.04432, 305, 52, 0.88, 1],
  [1.777, 0.0279, 246, 37, 0.98, 1],
];
const POINTS = [
  [-5, 0.3, 500, 1, 0, 2],
  [0.5, 0.01, 61, 64, 0.5, 0],
  [4.99, 0.0012, 250, 7, 1, 1],
];

describe('Parzen mixture', () => {
  // `_ParzenEstimator(...).log_pdf` of Optuna 5.0.0 for the first trials above, with its default parameters.
  it.each([
    [28, [-20.355101753616772, -24.27924502487496, -22.178731927579584]],
    [3, [-18.425186342002448, -19.6281301049518, -20.131225254594103]],
    [1, [-17.521285452151435, -20.40388491679817, -19.00012109834927]],
    [0, [-17.03896959198876, -20.9632704992893, -18.862599783919418]],
  ])('has the density of Optuna around %d trials', (count, densities) => {
    const mixture = new Mixture(AXES, TRIALS.slice(0, count));
    POINTS.forEach((point, i) => {
      expect(mixture.logDensity(point)).toBeCloseTo(densities[i]!, 10);
    });
  });

  it('has the density of Optuna where steps make observations equal', () => {
    const space: Dimension[] = [
      { kind: 'int', name: 'n', min: 1, max: 200 },
      { kind: 'categorical', name: 'c', choices: ['x', 'y'] },
    ];
    const rows = [
      [20, 0],
      [20, 1],
      [20, 0],
      [180, 1],
      [90, 0],
      [90, 1],
      [90, 1],
    ];
    const mixture = new Mixture(space.map(axisOf), rows);
    expect(mixture.logDensity([20, 0])).toBeCloseTo(-5.366494477801474, 10);
    expect(mixture.logDensity([100, 1])).toBeCloseTo(-5.634888311550291, 10);
    expect(mixture.logDensity([199, 0])).toBeCloseTo(-7.282916406034464, 10);
  });

  it('draws what its density says', () => {
    const mixture = new Mixture(
      AXES.slice(4),
      TRIALS.map((row) => row.slice(4)),
    );
    const random = createRandom(3);
    const draws = 40_000;
    const counts = new Map<string, number>();
    for (let i = 0; i < draws; i++) {
      const [step, choice] = mixture.sample(random);
      const key = `${Math.round(step! * 50)},${choice}`;
      counts.set(key, (counts.get(key) ?? 0) + 1);
    }
    let total = 0;
    let chiSquare = 0;
    for (let step = 0; step <= 50; step++) {
      for (let choice = 0; choice < 3; choice++) {
        const share = Math.exp(mixture.logDensity([step * 0.02, choice]));
        total += share;
        chiSquare += ((counts.get(`${step},${choice}`) ?? 0) - draws * share) ** 2 / (draws * share);
      }
    }
    expect(total).toBeCloseTo(1, 12);
    // 152 degrees of freedom: 235 is exceeded once in 50,000.
    expect(chiSquare).toBeLessThan(235);
  });

  it('keeps draws within the range and on the steps', () => {
    const mixture = new Mixture(AXES, [...TRIALS, ...POINTS]);
    const random = createRandom(4);
    for (let i = 0; i < 2000; i++) {
      const [a, b, c, d, e, f] = mixture.sample(random) as [number, number, number, number, number, number];
      expect(a >= -5 && a <= 5 && b >= 0.001 && b <= 0.3).toBe(true);
      expect(Number.isInteger(c) && c >= 50 && c <= 500 && Number.isInteger(d) && d >= 1 && d <= 64).toBe(
        true,
      );
      expect(Math.abs(e * 50 - Math.round(e * 50)) < 1e-9 && e >= 0 && e <= 1).toBe(true);
      expect([0, 1, 2]).toContain(f);
    }
  });

  it('takes very many steps for a continuum: no cell is too narrow to have a probability', () => {
    const max = 2 ** 50;
    const observed = Array.from({ length: 200 }, (_, i) => [i * 1000]);
    const steps = new Mixture([axisOf({ kind: 'int', name: 'n', min: 0, max })], observed);
    const continuum = new Mixture([axisOf({ kind: 'float', name: 'n', min: 0, max })], observed);
    for (const point of [0, 12_345, max / 100, max / 2, max]) {
      expect(steps.logDensity([point])).toBeCloseTo(continuum.logDensity([point]), 9);
    }
  });

  it('weighs the newest 25 trials in full and older ones less, from 1/n up', () => {
    expect(trialWeights(25)).toEqual(new Array(25).fill(1));
    expect(trialWeights(26)).toEqual([1 / 26, ...new Array(25).fill(1)]);
    const weights = trialWeights(28);
    expect(weights.slice(0, 4)).toEqual([1 / 28, 1 / 28 + 27 / 56, 1, 1]);
  });
});

describe('truncated normal', () => {
  // Computed with mpmath at 700 digits.
  it.each([
    [0, 1, 8, 9, 0.5, 8.084888899018166],
    [0, 1, -9, -8, 0.25, -8.168898708564893],
    [0, 1, -2, 3, 0.7, 0.5413885783147453],
    [0, 0.01, 0, 1, 0.999, 0.03290526731491895],
    [0, 1, 30, 100, 0.9, 30.076570337034944],
  ])('N(%d, %d) from %d to %d: quantile of %d', (mean, sigma, low, high, u, x) => {
    expect(Math.abs(truncatedNormal(mean, sigma, low, high, u) / x - 1)).toBeLessThan(1e-12);
  });

  it('gives the ends for 0 and 1, however far from the mean', () => {
    for (const mean of [-1000, 0, 0.5, 1, 1000]) {
      expect(truncatedNormal(mean, 1, 0, 1, 0)).toBeCloseTo(0, 9);
      expect(truncatedNormal(mean, 1, 0, 1, 1)).toBeCloseTo(1, 9);
    }
  });
});
