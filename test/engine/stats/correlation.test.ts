import { describe, expect, it } from 'vitest';
import { createRandom } from '#engine/random.ts';
import { meanCorrelation } from '#engine/stats/correlation.ts';

describe('mean correlation', () => {
  it('is the mean over all pairs', () => {
    // Correlations: a with b 1, a with c -1, b with c -1.
    const a = [1, 2, 3, 4];
    const b = [10, 20, 30, 40];
    const c = [4, 3, 2, 1];
    expect(meanCorrelation([a, b])).toBeCloseTo(1, 12);
    expect(meanCorrelation([a, b, c])).toBeCloseTo(-1 / 3, 12);
    expect(meanCorrelation([a, [1, -1, -1, 1]])).toBeCloseTo(0, 12);
  });

  it('finds a common part', () => {
    const random = createRandom(1);
    const normalish = () => random() + random() + random() - 1.5;
    const common = Array.from({ length: 5000 }, normalish);
    const series = Array.from({ length: 20 }, () => common.map((value) => value + normalish()));
    expect(Math.abs(meanCorrelation(series)! - 0.5)).toBeLessThan(0.03);
  });

  it('leaves out what does not vary', () => {
    expect(
      meanCorrelation([
        [1, 2, 3],
        [0, 0, 0],
        [2, 4, 6],
      ]),
    ).toBeCloseTo(1, 12);
    expect(
      meanCorrelation([
        [1, 2, 3],
        [5, 5, 5],
      ]),
    ).toBeNull();
    expect(meanCorrelation([])).toBeNull();
  });
});
