import { describe, expect, it } from 'vitest';
import { checkCandles, fillGaps } from '#engine/analysis/candle-checks.ts';
import { type Candles, sliceCandles } from '#engine/candles.ts';
import { MINUTE, START, walk, without } from './candles.ts';

describe('fillGaps', () => {
  it('fillGaps fills gaps with flat candles at the previous close', () => {
    const whole = walk(6, MINUTE);
    const { candles, filled } = fillGaps(without(whole, [2, 3]), MINUTE);
    expect(filled).toBe(2);
    expect([...candles.timestamp]).toEqual([...whole.timestamp]);
    for (const row of [2, 3]) {
      for (const name of ['open', 'high', 'low', 'close'] as const) {
        expect(candles[name][row]).toBe(whole.close[1]);
      }
      expect(candles.volume[row]).toBe(0);
    }
    expect(candles.open[4]).toBe(whole.open[4]);
    expect(candles.volume[5]).toBe(whole.volume[5]);
  });

  it('fillGaps returns the same candles when they have no gaps', () => {
    const whole = walk(6, MINUTE);
    expect(fillGaps(whole, MINUTE).candles).toBe(whole);
    expect(fillGaps(sliceCandles(whole, 0, 0), MINUTE).filled).toBe(0);
  });
});

describe('checkCandles', () => {
  const broken = (change: (candles: Candles) => void) => {
    const candles = walk(5, MINUTE);
    change(candles);
    return () => checkCandles('BTC/USDT:USDT', candles, MINUTE);
  };

  it('checkCandles accepts valid candles with gaps', () => {
    expect(checkCandles('X', without(walk(5, MINUTE), [2]), MINUTE).outsideRange).toBe(0);
  });

  it.each<[string, (candles: Candles) => void, RegExp]>([
    ['order', (c) => c.timestamp.fill(START, 3), /^BTC.USDT:USDT: .*does not come after/],
    ['grid', (c) => c.timestamp.fill(START + 3.5 * MINUTE, 3, 4), /2024-01-01T00:03:30.*grid/],
    ['time', (c) => c.timestamp.fill(Number.NaN, 3), /row 3/],
    ['price', (c) => c.low.fill(0, 2, 3), /00:02:00.*not above 0/],
    ['missing price', (c) => c.close.fill(Number.NaN, 2, 3), /not above 0/],
    ['high', (c) => c.high.fill(1, 1, 2), /00:01:00.*high/],
    ['infinite high', (c) => c.high.fill(Number.POSITIVE_INFINITY, 1, 2), /high/],
    ['infinite close', (c) => c.close.fill(Number.POSITIVE_INFINITY, 1, 2), /without bound/],
    ['volume', (c) => c.volume.fill(-1, 4), /00:04:00.*volume/],
    ['missing volume', (c) => c.volume.fill(Number.NaN, 4), /volume/],
  ])('checkCandles rejects a wrong %s and names the candle', (_, change, message) => {
    expect(broken(change)).toThrow(message);
  });

  it('checkCandles rejects columns of different lengths', () => {
    const candles = { ...walk(5, MINUTE), close: new Float64Array(4) };
    expect(() => checkCandles('X', candles, MINUTE)).toThrow('column close holds 4 values for 5');
  });

  it('checkCandles reports the largest jump and candles outside their own range', () => {
    const candles = walk(5, MINUTE);
    candles.open[3] = candles.close[2]! * 1.25;
    expect(checkCandles('X', candles, MINUTE)).toEqual({
      outsideRange: 1,
      largestJumpPct: expect.closeTo(25, 9),
    });
  });
});
