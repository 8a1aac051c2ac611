import { describe, expect, it } from 'vitest';
import { createRandom } from '#engine/random.ts';
import {
  deflatedSharpe,
  effectiveTrials,
  expectedMaximumSharpe,
  meanCorrelation,
  minimumTrackRecord,
  probabilisticSharpe,
  sharpeInterval,
  sharpeSample,
} from '#engine/stats/sharpe-ratio.ts';

const FIRST = { sharpe: 0.1, periods: 500, skewness: -0.5, kurtosis: 5 };
const SECOND = { sharpe: 0.15, periods: 400, skewness: -1, kurtosis: 6 };

describe('significance of a Sharpe ratio', () => {
  // Published vectors, to the digits given.
  it('Sharpe statistics match the published vector of 500 periods', () => {
    expect(probabilisticSharpe(FIRST)).toBeCloseTo(0.984985, 6);
    expect(minimumTrackRecord(FIRST)).toBeCloseTo(287.79, 2);
    expect(expectedMaximumSharpe(0.0025, 100)).toBeCloseTo(0.12653, 6);
    expect(deflatedSharpe(FIRST, { variance: 0.0025, trials: 100 })).toBeCloseTo(0.282436, 6);
    expect(expectedMaximumSharpe(0.0025, 10)).toBeCloseTo(0.07873, 6);
    expect(deflatedSharpe(FIRST, { variance: 0.0025, trials: 10 })).toBeCloseTo(0.677778, 6);
  });

  it('Sharpe statistics match the published vector of 400 trades', () => {
    expect(expectedMaximumSharpe(0.05 ** 2, 100)).toBeCloseTo(0.12653014466, 11);
    expect(deflatedSharpe(SECOND, { variance: 0.05 ** 2, trials: 100 })).toBeCloseTo(0.667099447521, 11);
    expect(probabilisticSharpe(SECOND)).toBeCloseTo(0.9971140303, 11);
  });

  it('deflatedSharpe equals probabilisticSharpe for one trial or zero variance', () => {
    const plain = probabilisticSharpe(FIRST);
    expect(deflatedSharpe(FIRST, { variance: 0.0025, trials: 1 })).toBe(plain);
    expect(deflatedSharpe(FIRST, { variance: 0, trials: 100 })).toBe(plain);
  });

  it('minimumTrackRecord is null at or below the benchmark and grows with confidence', () => {
    expect(minimumTrackRecord({ ...FIRST, sharpe: 0 })).toBeNull();
    expect(minimumTrackRecord(FIRST, { benchmark: 0.1 })).toBeNull();
    expect(minimumTrackRecord(FIRST, { confidence: 0.99 })!).toBeGreaterThan(minimumTrackRecord(FIRST)!);
  });

  it('probabilisticSharpe equals the confidence after the minimum track record', () => {
    const periods = minimumTrackRecord(SECOND, { confidence: 0.9, benchmark: 0.05 })!;
    expect(probabilisticSharpe({ ...SECOND, periods }, 0.05)).toBeCloseTo(0.9, 12);
  });

  it('probabilisticSharpe is null for one period or a non-positive variance', () => {
    expect(probabilisticSharpe({ ...FIRST, periods: 1 })).toBeNull();
    expect(probabilisticSharpe({ sharpe: 1, periods: 10, skewness: 2, kurtosis: 5 })).toBeNull();
  });
});

describe('sharpeInterval', () => {
  it('of a normal sample is the ratio +- 1.96 standard errors of sqrt((1 + SR^2 / 2) / (T - 1))', () => {
    const normal = { sharpe: 0.1, periods: 101, skewness: 0, kurtosis: 3 };
    // sqrt(1.005 / 100) = 0.1002497, times 1.9599640 = 0.1964858
    const [low, high] = sharpeInterval(normal)!;
    expect(low).toBeCloseTo(-0.0964858, 6);
    expect(high).toBeCloseTo(0.2964858, 6);
    // Losses that are larger than the gains widen it.
    expect(sharpeInterval({ ...normal, skewness: -2 })![0]).toBeLessThan(low);
  });

  it('is null without two periods', () => {
    expect(sharpeInterval({ sharpe: 0.1, periods: 1, skewness: 0, kurtosis: 3 })).toBeNull();
  });
});

describe('sharpeSample', () => {
  it('sharpeSample matches SciPy', () => {
    const returns = [0.012, -0.004, 0.007, -0.021, 0.016, 0.003, -0.009, 0.025, 0.001, -0.002, 0.011, -0.006];
    // mean / std(ddof=1), scipy.stats.skew, scipy.stats.kurtosis(fisher=False), SciPy 1.17.1.
    const sample = sharpeSample(returns)!;
    expect(sample.periods).toBe(12);
    expect(sample.sharpe).toBeCloseTo(0.2217158673581593, 12);
    expect(sample.skewness).toBeCloseTo(-0.06656228402077907, 12);
    expect(sample.kurtosis).toBeCloseTo(2.65616024195536, 12);
  });

  it('sharpeSample is undefined for returns without variance', () => {
    expect(sharpeSample([])).toBeUndefined();
    expect(sharpeSample([0.1])).toBeUndefined();
    expect(sharpeSample(new Float64Array(50))).toBeUndefined();
    expect(sharpeSample(new Float64Array(50).fill(0.1))).toBeUndefined();
  });
});

describe('effectiveTrials', () => {
  it.each([
    [100, 0, 100],
    [100, 1, 1],
    [100, 0.5, 50.5],
    [100, -0.2, 100],
  ])('effective number of %d trials at a correlation of %d is %d', (trials, correlation, effective) => {
    expect(effectiveTrials(trials, correlation)).toBeCloseTo(effective, 12);
  });
});

describe('meanCorrelation', () => {
  it('meanCorrelation averages over all pairs', () => {
    // Correlations: a and b 1, a and c -1, b and c -1.
    const a = [1, 2, 3, 4];
    const b = [10, 20, 30, 40];
    const c = [4, 3, 2, 1];
    expect(meanCorrelation([a, b])).toBeCloseTo(1, 12);
    expect(meanCorrelation([a, b, c])).toBeCloseTo(-1 / 3, 12);
    expect(meanCorrelation([a, [1, -1, -1, 1]])).toBeCloseTo(0, 12);
  });

  it('meanCorrelation finds a common component', () => {
    const random = createRandom(1);
    const normalish = () => random() + random() + random() - 1.5;
    const common = Array.from({ length: 5000 }, normalish);
    const series = Array.from({ length: 20 }, () => common.map((value) => value + normalish()));
    expect(Math.abs(meanCorrelation(series)! - 0.5)).toBeLessThan(0.03);
  });

  it('meanCorrelation ignores constant series and is null without two others', () => {
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
