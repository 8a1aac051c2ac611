import { describe, expect, it } from 'vitest';
import { gridOf, placeOnGrid } from '#domain/data/gaps/place-on-grid.ts';
import { at, candlesAt, DAY, grid, HOUR } from './market.ts';

const place = (times: readonly number[], step: number) =>
  placeOnGrid(candlesAt(times, step), gridOf(Float64Array.from(times), step)!);

describe('candles off the grid', () => {
  it('a minority is moved back, and two candles in one step become one', () => {
    const start = at('2018-02-08T00:00');
    const late = grid(start + 12 * HOUR + 28 * 60_000 + 14_789, start + 16 * HOUR, HOUR);
    const times = [
      ...grid(start, start + 13 * HOUR, HOUR),
      ...late,
      ...grid(start + 18 * HOUR, start + DAY, HOUR),
    ];
    const given = candlesAt(times, HOUR);
    const { candles, notes, moved, merged } = placeOnGrid(candlesAt(times, HOUR), {
      step: HOUR,
      offset: 0,
    });
    expect({ moved, merged }).toEqual({ moved: 4, merged: 1 });
    expect(notes).toEqual([
      '4 candles off the grid, from 2018-02-08T12:28:14.789Z: moved back to it',
      '1 time with two candles (2018-02-08T12:00:00.000Z): open of the first, highest, lowest, close of the last, sum of the volumes',
    ]);
    expect([...candles.timestamp]).toEqual([
      ...grid(start, start + 16 * HOUR, HOUR),
      ...grid(start + 18 * HOUR, start + DAY, HOUR),
    ]);
    expect(candles.open[12]).toBe(given.open[12]);
    expect(candles.close[12]).toBe(given.close[13]);
    expect(candles.high[12]).toBe(Math.max(given.high[12]!, given.high[13]!));
    expect(candles.volume[12]).toBe(10);
  });

  it('a constant offset is the grid of a series, and clocks may move it by an hour', () => {
    const open = 14.5 * HOUR;
    const winter = grid(at('2025-02-03') + open, at('2025-03-08'), DAY);
    const summer = grid(at('2025-03-10') + open - HOUR, at('2025-04-05'), DAY);
    for (const times of [winter, [...winter, ...summer]]) {
      const { candles, notes } = place(times, DAY);
      expect([...candles.timestamp]).toEqual(times);
      expect(notes).toEqual([]);
    }
    const halves = grid(at('2025-02-03T14:30'), at('2025-02-03T21:00'), HOUR);
    expect([...place(halves, HOUR).candles.timestamp]).toEqual(halves);
  });

  it('days of London in summer, which begin an hour before those in winter, are none of the day before', () => {
    const winter = grid(at('2025-02-03'), at('2025-03-31'), DAY);
    const summer = grid(at('2025-03-30T23:00'), at('2025-10-20'), DAY);
    for (const days of [21, 56, summer.length]) {
      const { candles, notes } = place([...winter, ...summer.slice(0, days)], DAY);
      const midnights = summer.slice(0, days).map((time) => time + HOUR);
      expect([...candles.timestamp]).toEqual([...winter, ...midnights]);
      expect(notes).toEqual([`${days} candles off the grid, from 2025-03-30T23:00:00.000Z: moved to it`]);
    }
  });

  it('candles of three days open as those of the exchange do', () => {
    const times = [
      ...grid(at('2023-05-25'), at('2023-08-15'), 3 * DAY),
      ...grid(at('2023-08-16'), at('2023-12-12'), 3 * DAY),
    ];
    const { candles, notes } = place(times, 3 * DAY);
    expect([...candles.timestamp]).toEqual(times);
    expect(notes).toEqual([]);
  });

  it('times without an offset in common have no grid', () => {
    expect(gridOf(Float64Array.of(1_000, HOUR + 2_000, 2 * HOUR + 3_000), HOUR)).toBeUndefined();
    expect(gridOf(Float64Array.of(59_999, HOUR + 59_999), HOUR)).toBeUndefined();
  });
});
