import { describe, expect, it } from 'vitest';
import {
  atr,
  ema,
  macd,
  rma,
  rollingVwap,
  rsi,
  sma,
  standardDeviation,
  trueRange,
  wma,
  zScore,
} from '#engine/indicators/index.ts';
import { candles, expectExactMoments, expectExactSums, LIMIT, perWindow, total } from './exact-windows.ts';
import {
  exactAtr,
  exactEma,
  exactMacd,
  exactRsi,
  exactSmoothing,
  fromFixed,
  toFixed,
  twoPassDeviation,
  worstError,
} from './reference.ts';

const { high, low, close, volume } = candles;

describe('exact reference', () => {
  it('exact reference keeps doubles unchanged and divides exactly', () => {
    for (const value of [0.1, -12345.678, 1 / 3, 2 ** -30]) expect(fromFixed(toFixed(value))).toBe(value);
    expect(
      exactSmoothing(
        [1n, 2n, 3n, 9n].map((value) => value << 96n),
        3,
        1,
        3,
      ).map(fromFixed),
    ).toEqual([2, 13 / 3]);
  });
});

describe('recursive indicators over 20,000 candles', () => {
  it.each([2, 9, 20, 200])('ema over %i equals exact arithmetic within 1e-12', (period) => {
    expect(worstError(ema(close, period), exactEma(close, period))).toBeLessThan(LIMIT);
  });

  it.each([2, 14, 100])('rma over %i equals exact arithmetic within 1e-12', (period) => {
    const exact = exactSmoothing([...close].map(toFixed), period, 1, period).map(fromFixed);
    const expected = Float64Array.from([...Array(period - 1).fill(Number.NaN), ...exact]);
    expect(worstError(rma(close, period), expected)).toBeLessThan(LIMIT);
  });

  it.each([2, 14, 50])('rsi over %i equals exact arithmetic within 1e-12', (period) => {
    expect(worstError(rsi(close, period), exactRsi(close, period))).toBeLessThan(LIMIT);
  });

  it.each([1, 14, 50])('atr over %i equals exact arithmetic within 1e-12', (period) => {
    expect(worstError(atr(candles, period), exactAtr(candles, period))).toBeLessThan(LIMIT);
  });

  it('macd equals exact arithmetic within 1e-12 of the price', () => {
    const exact = exactMacd(close, 12, 26, 9);
    const actual = macd(close, 12, 26, 9);
    for (const line of ['macd', 'signal', 'histogram'] as const) {
      expect(worstError(actual[line], exact[line], close)).toBeLessThan(LIMIT);
    }
  });
});

describe('window indicators', () => {
  it.each([1, 2, 7, 20])(
    'sma, wma, rolling sum and extremes over %i equal their definitions',
    expectExactSums,
  );

  it.each([2, 7, 20])(
    'deviation, bands, z-score and slope over %i equal their definitions',
    expectExactMoments,
  );

  it('rollingVwap equals its definition', () => {
    const typical = close.map((value, row) => (high[row]! + low[row]! + value) / 3);
    const expected = perWindow(typical, 24, (window, row) => {
      const volumes = volume.subarray(row - 23, row + 1);
      return total(window.map((price, k) => price * volumes[k]!)) / total(volumes);
    });
    expect(worstError(rollingVwap(candles, 24), expected)).toBeLessThan(LIMIT);
  });
});

describe('precision over long series', () => {
  it('standardDeviation stays exact after prices a million times larger', () => {
    const values = Float64Array.from(
      { length: 60_000 },
      (_, i) => (i < 50_000 ? 1e8 : 100) + Math.sin(i) * 0.01,
    );
    const calm = values.subarray(55_000);
    const deviation = standardDeviation(values, 20).subarray(55_000 + 19);
    expect(worstError(deviation, twoPassDeviation(calm, 20).deviation.subarray(19))).toBeLessThan(LIMIT);
  });

  it('deviation is exactly 0 and averages are exactly the price in a constant market', () => {
    const values = Float64Array.from({ length: 500 }, (_, i) => (i < 200 ? 100 + Math.sin(i) : 0.1));
    for (const period of [1, 3, 20, 47]) {
      const row = 200 + period - 1;
      expect(new Set(standardDeviation(values, period).subarray(row))).toEqual(new Set([0]));
      expect(new Set(sma(values, period).subarray(row))).toEqual(new Set([0.1]));
      expect(new Set(wma(values, period).subarray(row))).toEqual(new Set([0.1]));
      expect(new Set(zScore(values, period).subarray(row))).toEqual(new Set([0]));
    }
  });
});

describe('relations between indicators', () => {
  it('atr equals rma of the true range', () => {
    expect(atr(candles, 14)).toEqual(rma(trueRange(candles), 14));
  });

  it('macd line equals the difference of both emas after 600 rows', () => {
    const line = macd(close, 12, 26, 9).macd.subarray(600);
    const [fast, slow] = [ema(close, 12), ema(close, 26)];
    const expected = fast.map((value, row) => value - slow[row]!).subarray(600);
    expect(worstError(line, expected, close.subarray(600))).toBeLessThan(LIMIT);
  });
});
