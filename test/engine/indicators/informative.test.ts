import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { alignInformative } from '#engine/indicators/resample.ts';
import { TIMEFRAME_MS, type Timeframe } from '#engine/timeframe.ts';

const FIVE = TIMEFRAME_MS['5m'];
const HOUR = TIMEFRAME_MS['1h'];

const grid = (step: number, count: number, start = 0) =>
  Float64Array.from({ length: count }, (_, i) => start + i * step);

describe('alignInformative', () => {
  it('informative value of the 14:00 hour first appears on the candle opened at 14:55', () => {
    const start = Date.UTC(2024, 0, 1, 13);
    const base = grid(FIVE, 36, start);
    const hours = grid(HOUR, 3, start);
    const aligned = alignInformative(base, FIVE, hours, HOUR, Float64Array.of(13, 14, 15));
    const at = (hour: number, minute: number) => aligned[base.indexOf(Date.UTC(2024, 0, 1, hour, minute))];
    expect(at(13, 50)).toBeNaN();
    expect(at(13, 55)).toBe(13);
    expect(at(14, 50)).toBe(13);
    expect(at(14, 55)).toBe(14);
    expect(at(15, 50)).toBe(14);
    expect(at(15, 55)).toBe(15);
  });

  it('alignInformative keeps the last closed value through a gap, including NaN', () => {
    const base = grid(HOUR, 10);
    const informative = Float64Array.of(0, 2, 3).map((i) => i * 2 * HOUR);
    const aligned = alignInformative(base, HOUR, informative, 2 * HOUR, Float64Array.of(1, 2, Number.NaN));
    expect([...aligned]).toEqual([Number.NaN, 1, 1, 1, 1, 2, 2, Number.NaN, Number.NaN, Number.NaN]);
  });

  it('alignInformative does not shift columns of the same timeframe', () => {
    const base = grid(HOUR, 3);
    expect([...alignInformative(base, HOUR, base, HOUR, Float64Array.of(1, 2, 3))]).toEqual([1, 2, 3]);
  });

  it("alignInformative returns the newest value closed at each base candle's close, for any grids", () => {
    const timeframe = fc.constantFrom<Timeframe>('1m', '5m', '15m', '1h', '4h');
    const rows = fc.uniqueArray(fc.nat(300), { minLength: 1 }).map((all) => all.sort((a, b) => a - b));
    fc.assert(
      fc.property(timeframe, timeframe, rows, rows, (first, second, baseRows, informativeRows) => {
        const [baseMs, informativeMs] = [TIMEFRAME_MS[first], TIMEFRAME_MS[second]].sort((a, b) => a - b);
        const base = Float64Array.from(baseRows, (row) => row * baseMs!);
        const informative = Float64Array.from(informativeRows, (row) => row * informativeMs!);
        const closes = informative.map((time) => time + informativeMs!);
        const aligned = alignInformative(base, baseMs!, informative, informativeMs!, closes);
        for (const [row, time] of base.entries()) {
          const closed = closes.filter((close) => close <= time + baseMs!);
          expect(aligned[row]).toBe(closed.at(-1) ?? Number.NaN);
        }
      }),
    );
  });

  it('alignInformative rejects a shorter timeframe and a column of another length', () => {
    const base = grid(HOUR, 3);
    expect(() => alignInformative(base, HOUR, base, FIVE, base)).toThrow('shorter than the base');
    expect(() => alignInformative(base, HOUR, base, HOUR, base.slice(1))).toThrow('2 values for 3 candles');
  });
});
