import { describe, expect, it } from 'vitest';
import { chooseSource } from '#domain/data/candle-source.ts';
import type { SeriesInfo } from '#domain/ports.ts';
import type { Timeframe } from '#engine/timeframe.ts';

const HOUR = 3_600_000;
const NOW = Date.UTC(2026, 2, 10, 12);
const DAY = 24 * HOUR;
const pair = 'BTC/USDT:USDT';

function stored(...series: [timeframe: Timeframe, first: number, last: number][]) {
  return new Map(
    series.map(([timeframe, first, last]) => {
      const iso = (time: number) => new Date(time).toISOString();
      const info = { exchange: 'sim', symbol: pair, timeframe, first: iso(first), last: iso(last), gaps: [] };
      return [`${pair}#${timeframe}`, info as unknown as SeriesInfo] as const;
    }),
  );
}

describe('source of informative candles', () => {
  const range = { start: NOW - 30 * DAY, end: NOW };
  const source = (...series: Parameters<typeof stored>) =>
    chooseSource(stored(...series), { pair, timeframe: '1h' }, range, NOW)?.timeframe;

  it('the series that lacks least is chosen, its own timeframe before others', () => {
    expect(source()).toBeUndefined();
    expect(source(['5m', range.start, NOW - HOUR / 12], ['1h', range.start, NOW - HOUR])).toBe('1h');
    expect(source(['5m', range.start, NOW - HOUR / 12], ['1h', range.start + DAY, NOW - HOUR])).toBe('5m');
  });

  it('a series that ends hours before the run is not preferred to one that has its latest candles', () => {
    const late = ['1h', range.start, NOW - 20 * HOUR] as const;
    expect(source(['5m', range.start, NOW - HOUR / 12], [...late])).toBe('5m');
    expect(source(['5m', range.start + DAY, NOW - HOUR / 12], [...late])).toBe('1h');
  });

  it('days that have not closed are not missing from daily candles', () => {
    const daily = { pair, timeframe: '1d' } as const;
    const both = stored(['1h', range.start - DAY, NOW - HOUR], ['1d', range.start - DAY, NOW - 36 * HOUR]);
    expect(chooseSource(both, daily, range, NOW)).toMatchObject({ timeframe: '1d', missingMs: 0 });
  });
});
