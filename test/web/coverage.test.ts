import { describe, expect, it } from 'vitest';
import type { StoredSeries } from '../../web/src/api/coverage.ts';
import {
  cellOf,
  closedAt,
  commonRange,
  coverageOf,
  hasProblem,
  isStale,
  monthsOf,
  monthText,
  sourcesOf,
} from '../../web/src/charts/coverage.ts';
import { shortSymbol } from '../../web/src/ui/format.ts';

type Month = StoredSeries['months'][number];

const month = (name: string, candles: number, expected: number, more: Partial<Month> = {}): Month => ({
  month: name,
  candles,
  expected,
  gap_count: 0,
  missing: { closed: 0, no_trades: 0, damage: 0 },
  corrupt: false,
  ...more,
});

const series = (first: string, last: string, months: Month[] = [], timeframe = '1h'): StoredSeries => ({
  symbol: 'BTC/USDT:USDT',
  timeframe,
  first: `${first}:00.000Z`,
  last: `${last}:00.000Z`,
  count: 1,
  gap_count: 0,
  missing_candles: 0,
  missing: { closed: 0, no_trades: 0, damage: 0 },
  imported: false,
  calendar: null,
  sessions: null,
  complete_from: null,
  updated_at: '2024-06-01T00:00:00.000Z',
  months,
});

describe('incomplete series', () => {
  it('lost candles and corrupt months count; closed times, and times without trades or outside of the series do not', () => {
    const of = (more: Partial<Month>) => hasProblem({ months: [month('2024-01', 700, 744, more)] });
    expect(of({})).toBe(false);
    expect(of({ missing: { closed: 44, no_trades: 0, damage: 0 } })).toBe(false);
    expect(of({ missing: { closed: 0, no_trades: 44, damage: 0 } })).toBe(false);
    expect(of({ missing: { closed: 0, no_trades: 0, damage: 1 } })).toBe(true);
    expect(of({ candles: 0, corrupt: true })).toBe(true);
  });
});

describe('cells of the coverage map', () => {
  it.each([
    [month('2024-02', 696, 696), 'full', '', '2024-02: 696 of 696 candles, 0 gaps'],
    [
      month('2024-02', 695, 696, { gap_count: 1, missing: { closed: 0, no_trades: 0, damage: 1 } }),
      'part',
      '99',
      '2024-02: 695 of 696 candles, 1 gap',
    ],
    [
      month('2024-02', 695, 696, { gap_count: 1, missing: { closed: 0, no_trades: 1, damage: 0 } }),
      'sparse',
      '99',
      '2024-02: 695 of 696 candles, 1 gap',
    ],
    [month('2024-02', 1, 44_640), 'sparse', '0', '2024-02: 1 of 44,640 candles, 0 gaps'],
    [month('2024-02', 0, 696, { gap_count: 1 }), 'none', '–', '2024-02: 0 of 696 candles, 1 gap'],
    [
      month('2024-02', 0, 696, { gap_count: 1, corrupt: true }),
      'corrupt',
      '!',
      '2024-02: corrupt, it is collected again when it is needed',
    ],
    [undefined, 'absent', '', '2024-02: nothing stored'],
  ])('cell of %j is %s', (stored, state, text, words) => {
    expect({ ...cellOf(stored), words: monthText(stored, '2024-02') }).toEqual({ state, text, words });
  });
});

describe('stored series', () => {
  it('months of series run from the first to the last of all, across a year', () => {
    const [a, b] = [['2023-11'], ['2024-01', '2024-02']].map((names) =>
      series(
        '2023-11-01T00:00',
        '2024-02-01T00:00',
        names.map((name) => month(name, 1, 1)),
      ),
    );
    expect(monthsOf([b!, a!])).toEqual(['2023-11', '2023-12', '2024-01', '2024-02']);
    expect(monthsOf([])).toEqual([]);
  });

  it('coverage is the stored share of the expected candles', () => {
    const months = [month('2024-01', 744, 744), month('2024-02', 0, 696), month('2024-03', 744, 744)];
    expect(coverageOf({ months })).toBeCloseTo(1488 / 2184);
    expect(coverageOf({ months: [] })).toBe(0);
  });

  it('series is stale a day after its last candle closed', () => {
    const daily = series('2024-01-01T00:00', '2024-05-30T00:00', [], '1d');
    expect(closedAt(daily)).toBe(Date.parse('2024-05-31T00:00Z'));
    expect(isStale(daily, Date.parse('2024-06-01T00:00Z'))).toBe(false);
    expect(isStale(daily, Date.parse('2024-06-01T00:01Z'))).toBe(true);
  });

  it('candles of a timeframe come from the longest series that they can be computed of', () => {
    const of = (timeframe: string, last: string) => series('2024-01-01T00:00', last, [], timeframe);
    const [minutes, hours, fours] = [
      of('1m', '2024-02-01T00:59'),
      of('1h', '2024-02-01T00:00'),
      of('4h', '2024-03-01T00:00'),
    ];
    const other = { ...minutes, symbol: 'ETH/USDT:USDT' };
    expect(sourcesOf([minutes, hours, fours, other], '2h')).toEqual([hours, other]);
    expect(sourcesOf([of('1m', '2024-02-02T00:00'), hours], '2h')).toMatchObject([{ timeframe: '1m' }]);
    expect(sourcesOf([fours], '2h')).toEqual([]);
  });

  it('common range begins with the youngest and ends with the oldest series', () => {
    const all = [
      series('2024-01-01T00:00', '2024-05-01T00:00'),
      series('2024-02-01T00:00', '2024-04-30T23:00'),
    ];
    expect(commonRange(all)).toEqual({ start: '2024-02-01', end: '2024-05-01' });
    expect(commonRange([...all, series('2024-06-01T00:00', '2024-07-01T00:00')])).toBeUndefined();
    expect(commonRange([])).toBeUndefined();
  });
});

it('short symbol states the spot market', () => {
  expect(['BTC/USDT:USDT', 'BTC/USDT'].map(shortSymbol)).toEqual(['BTC/USDT', 'BTC/USDT spot']);
});
