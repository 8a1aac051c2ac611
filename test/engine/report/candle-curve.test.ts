import { expect, it } from 'vitest';
import { createCandles } from '#engine/candles.ts';
import { candleCurve } from '#engine/report/candle-curve.ts';

const HOUR = 3_600_000;

/** Candles from an hour on, with these closes. */
function pairOf(hour: number, closes: readonly number[]) {
  const candles = createCandles(closes.length);
  candles.close.set(closes);
  for (let row = 0; row < closes.length; row++) candles.timestamp[row] = (hour + row) * HOUR;
  return { candles };
}

it('market holds each pair in equal parts from its first candle to the end', () => {
  // The curve of a run begins one candle after its first candle.
  const curve = {
    timestamp: Float64Array.of(1, 2, 3, 4).map((hour) => hour * HOUR),
    equity: new Float64Array(4),
  };
  const pairs = [pairOf(0, [100, 110, 90, 120, 150]), pairOf(2, [10, 5])];
  const { market, start, step, equity } = candleCurve(curve, pairs, 1_000, HOUR);
  expect({ start, step }).toEqual({ start: HOUR, step: HOUR });
  expect(equity).toBe(curve.equity);
  expect([...market]).toEqual(
    [
      500 * 1.1 + 500,
      500 * 0.9 + 500,
      500 * 1.2 + 500 * 0.5,
      // The second pair has ended: its last close.
      500 * 1.5 + 500 * 0.5,
    ].map((value) => expect.closeTo(value, 9)),
  );
  // The mean of both market changes: +50 % and -50 %.
  expect(market.at(-1)).toBeCloseTo(1_000, 9);
});

it('run of one candle has an empty curve', () => {
  const curve = { timestamp: new Float64Array(0), equity: new Float64Array(0) };
  expect(candleCurve(curve, [pairOf(0, [100])], 1_000, HOUR).market).toHaveLength(0);
});
