import { describe, expect, it } from 'vitest';
import { neweyWest, neweyWestLag } from '#engine/robustness/newey-west.ts';

/** The generator of Lehmer (1951), which other languages repeat exactly. */
function lehmer(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 48_271) % 2_147_483_647;
    return state / 2_147_483_647;
  };
}

/** Residuals that follow each other and grow with |x|. */
function series(days: number): { x: Float64Array; y: Float64Array } {
  const uniform = lehmer(12_345);
  const normal = () => {
    let sum = 0;
    for (let i = 0; i < 12; i++) sum += uniform();
    return sum - 6;
  };
  const x = new Float64Array(days);
  const y = new Float64Array(days);
  let residual = 0;
  for (let t = 0; t < days; t++) {
    x[t] = 0.001 + 0.03 * normal();
    residual = 0.4 * residual + 0.01 * normal() * (1 + 20 * Math.abs(x[t]!));
    y[t] = 0.0005 + 0.3 * x[t]! + residual;
  }
  return { x, y };
}

describe('neweyWest', () => {
  // statsmodels 0.15.0: OLS(y, add_constant(x)).fit(cov_type='HAC', cov_kwds={'maxlags': lag, 'use_correction': True}).
  it.each([
    [4, 0.0013599852500272155, 0.043230296905179114],
    [0, 0.001050142313691764, 0.04331574182197055],
    [9, 0.0012726774097423974, 0.04275490408337056],
  ])('errors with %i lags equal those of statsmodels', (lag, alphaError, betaError) => {
    const { x, y } = series(250);
    const line = neweyWest(y, x, lag)!;
    expect(line.alpha).toBeCloseTo(0.0032362291169539498, 14);
    expect(line.beta).toBeCloseTo(0.2280755577619083, 12);
    expect(line.alphaError / alphaError).toBeCloseTo(1, 10);
    expect(line.betaError / betaError).toBeCloseTo(1, 10);
  });

  it('lags follow the rule of Newey and West', () => {
    expect([100, 250, 365, 1_000, 3_650].map(neweyWestLag)).toEqual([4, 4, 5, 6, 8]);
    const { x, y } = series(250);
    expect(neweyWest(y, x)!.lag).toBe(4);
  });

  it('a benchmark that does not vary and too few days have no regression', () => {
    expect(neweyWest([1, 2, 3, 4], [0.1, 0.1, 0.1, 0.1])).toBeUndefined();
    expect(neweyWest([1, 2], [0, 1])).toBeUndefined();
  });

  it('a line without residuals has errors of 0', () => {
    const x = [0.5, -0.25, 0.125, 1];
    const line = neweyWest(
      x.map((each) => 0.25 + 2 * each),
      x,
    )!;
    expect(line).toMatchObject({ alpha: 0.25, beta: 2, alphaError: 0, betaError: 0 });
  });
});
