import { describe, expect, it } from 'vitest';
import { studentTwoSidedP } from '#engine/stats/student-t.ts';

const sqrt = Math.sqrt;

describe('two-sided Student t', () => {
  // Critical values as every statistics table prints them.
  it.each([
    [12.706, 1, 0.05],
    [63.657, 1, 0.01],
    [4.303, 2, 0.05],
    [4.0321, 5, 0.01],
    [2.2281, 10, 0.05],
    [3.1693, 10, 0.01],
    [2.0423, 30, 0.05],
    [3.646, 30, 0.001],
    [1.984, 100, 0.05],
    [1.96, 1e6, 0.05],
  ])('t = %d with %d degrees of freedom is %d', (t, df, p) => {
    expect(Math.abs(studentTwoSidedP(t, df) / p - 1)).toBeLessThan(5e-4);
  });

  it('agrees to twelve digits where there is a closed form', () => {
    for (const t of [1e-9, 0.1, 0.5898, 1, 2.5, 7, 40, 1e5]) {
      const angle = Math.atan(1 / t);
      near(studentTwoSidedP(t, 1), (2 / Math.PI) * angle);
      // 1 - t/sqrt(2 + t^2), without the subtraction.
      const root = sqrt(2 + t * t);
      near(studentTwoSidedP(t, 2), 2 / (root * (root + t)));
      const theta = Math.atan(sqrt(3) / t);
      if (t < 10) near(studentTwoSidedP(t, 3), (2 / Math.PI) * (theta - Math.sin(theta) * Math.cos(theta)));
    }
    const s = 1 / sqrt(1 + 0.5898 ** 2 / 4);
    near(studentTwoSidedP(0.5898, 4), 1 - 0.75 * 0.5898 * s * (1 - (0.5898 * s) ** 2 / 12));
  });

  it('approaches the normal distribution', () => {
    // The distance left at 1e8 degrees of freedom is about t^3 / (2 df).
    near(studentTwoSidedP(1.959963984540054, 1e8), 0.05, 1e-7);
    near(studentTwoSidedP(2.5758293035489004, 1e8), 0.01, 2e-7);
  });

  it('takes fractional degrees of freedom, in order between the whole ones', () => {
    const [a, b, c] = [7, 7.5, 8].map((df) => studentTwoSidedP(2, df));
    expect(a).toBeGreaterThan(b!);
    expect(b).toBeGreaterThan(c!);
  });

  it('is symmetric, and defined at the ends', () => {
    expect(studentTwoSidedP(-2, 9)).toBe(studentTwoSidedP(2, 9));
    expect(studentTwoSidedP(0, 9)).toBe(1);
    expect(studentTwoSidedP(Number.POSITIVE_INFINITY, 9)).toBe(0);
    expect(studentTwoSidedP(1, 0)).toBeNaN();
    expect(studentTwoSidedP(Number.NaN, 9)).toBeNaN();
  });
});

function near(actual: number, expected: number, tolerance = 1e-12): void {
  expect(Math.abs(actual / expected - 1)).toBeLessThan(tolerance);
}
