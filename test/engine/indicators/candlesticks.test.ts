import { describe, expect, it } from 'vitest';
import { type Candles, sliceCandles } from '#engine/candles.ts';
import { hammer, heikinAshi } from '#engine/indicators/index.ts';
import published from './candlesticks.json' with { type: 'json' };
import { marketCandles } from './market.ts';
import talib from './talib-further.json' with { type: 'json' };

const candles = {
  timestamp: new Float64Array(talib.candles.close.length),
  ...Object.fromEntries(
    Object.entries(talib.candles).map(([name, values]) => [name, Float64Array.from(values)]),
  ),
} as unknown as Candles;

const isPublished = (_: number, row: number) => row < 20 || row % 10 === 0;

describe('candlesticks', () => {
  it('hammer is 1 where CDLHAMMER of TA-Lib is 100', () => {
    const rows = [...hammer(candles).entries()].filter(([, value]) => value !== 0).map(([row]) => row);
    expect(rows).toEqual(published.hammer.rows);
  });

  it.each(['open', 'high', 'low', 'close'] as const)('%s of Heikin-Ashi equals qtpylib', (name) => {
    expect([...heikinAshi(candles)[name].filter(isPublished)]).toEqual(published.heikinAshi[name]);
  });

  it('Heikin-Ashi writes given columns', () => {
    const out = sliceCandles(marketCandles(1, 140), 0, 140);
    expect(heikinAshi(candles, out).close).toBe(out.close);
    expect(out.close).toEqual(heikinAshi(candles).close);
    expect(() => heikinAshi(candles, sliceCandles(out, 0, 139))).toThrow('139 rows');
  });

  it('results at a row do not depend on later rows', () => {
    const market = marketCandles(11, 200);
    for (const length of [0, 1, 11, 12, 100, 199]) {
      const part = sliceCandles(market, 0, length);
      expect(hammer(part)).toEqual(hammer(market).subarray(0, length));
      for (const name of ['open', 'high', 'low', 'close'] as const)
        expect(heikinAshi(part)[name]).toEqual(heikinAshi(market)[name].subarray(0, length));
    }
  });
});
