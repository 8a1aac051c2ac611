import { describe, expect, it } from 'vitest';
import { resampleCandles } from '#engine/indicators/resample.ts';
import { TIMEFRAME_MS } from '#engine/timeframe.ts';
import { at, BTC, candlesAt, DAY, grid, HOUR, type Market } from '../domain/data/market.ts';
import { dataCollectionFixture, hours } from './data-collection-fixture.ts';

const fixture = dataCollectionFixture();
const { store, get, create } = fixture;
const COLUMNS = ['times', 'open', 'high', 'low', 'close', 'volume'] as const;
const FIVE = TIMEFRAME_MS['5m'];

type Page = Record<(typeof COLUMNS)[number], number[]> &
  Record<'count', number> &
  Record<'source_timeframe' | 'next_from' | 'next_to' | 'incomplete_from', string | null>;

const path = (query: string) => `/api/v1/candles?symbol=${encodeURIComponent(BTC)}&${query}`;

async function candles(query: string, target = fixture.service): Promise<Page> {
  const { status, body } = await get(path(query), target);
  expect(status, JSON.stringify(body)).toBe(200);
  const page = body as unknown as Page;
  for (const name of COLUMNS) expect(page[name]).toHaveLength(page.count);
  return page;
}

const opens = ({ times }: Page) => times.map((time) => new Date(time * 1000).toISOString().slice(0, 16));

describe('stored candles', () => {
  it('candles are columns with times in seconds', async () => {
    await store(BTC, '1h', hours('2024-01-31T20:00', '2024-02-01T04:00'), HOUR);
    // 2024-02-01T02:00Z is hour 474,098 since the epoch.
    expect(await candles('timeframe=1h&limit=2')).toEqual({
      exchange: 'test',
      symbol: BTC,
      timeframe: '1h',
      source_timeframe: '1h',
      count: 2,
      times: [1_706_752_800, 1_706_756_400],
      open: [1098, 1099],
      high: [1100, 1101],
      low: [1096, 1097],
      close: [1099, 1100],
      volume: [5, 5],
      next_from: null,
      next_to: '2024-02-01T02:00:00.000Z',
      incomplete_from: null,
    });
  });

  it('pages follow one another in both directions, also across a gap of months', async () => {
    const all = [
      ...hours('2024-01-31T20:00', '2024-02-01T01:00'),
      ...hours('2024-05-01T00:00', '2024-05-01T03:00'),
    ];
    await store(BTC, '1h', all, HOUR);
    const forward: number[] = [];
    for (let from: string | null = '2024-01-01'; from !== null; ) {
      const page: Page = await candles(`timeframe=1h&limit=3&from=${from}`);
      expect(page.next_to).toBeNull();
      forward.push(...page.times);
      from = page.next_from;
    }
    expect(forward).toEqual(all.map((time) => time / 1000));
    const backward: number[] = [];
    for (let to: string | null = '2024-06-01'; to !== null; ) {
      const page: Page = await candles(`timeframe=1h&limit=3&to=${to}`);
      expect(page.next_from).toBeNull();
      backward.unshift(...page.times);
      to = page.next_to;
    }
    expect(backward).toEqual(forward);
  });

  it('range begins and ends between candles', async () => {
    await store(BTC, '1h', hours('2024-02-01T00:00', '2024-02-01T05:00'), HOUR);
    expect(opens(await candles('timeframe=1h&from=2024-02-01T00:30&to=2024-02-01T03:00'))).toEqual([
      '2024-02-01T01:00',
      '2024-02-01T02:00',
    ]);
    expect(await candles('timeframe=1h&from=2024-03-01')).toMatchObject({ count: 0, next_from: null });
    expect(await candles('timeframe=1h&to=2024-01-01')).toMatchObject({ count: 0, next_to: null });
  });

  it('candles of a session have the times of their session', async () => {
    const times = ['2024-02-05', '2024-02-06', '2024-02-07'].map((day) => at(`${day}T14:30`));
    await store(BTC, '1d', times, DAY);
    expect(opens(await candles('timeframe=1d'))).toEqual([
      '2024-02-05T14:30',
      '2024-02-06T14:30',
      '2024-02-07T14:30',
    ]);
    expect(opens(await candles('timeframe=1d&from=2024-02-06T13:00'))).toHaveLength(2);
  });
});

describe('computed candles', () => {
  it('computed candles equal the resampled series, page by page', async () => {
    // Half of the candles are missing in a repeating pattern; the series begins and ends inside an hour.
    const times = grid(at('2024-01-31T20:35'), at('2024-02-02T07:20'), FIVE).filter(
      (time) => (time / FIVE) % 29 < 15,
    );
    await store(BTC, '5m', times, FIVE);
    const whole = resampleCandles(candlesAt(times, FIVE), FIVE, HOUR);
    const seen = Object.fromEntries(COLUMNS.map((name) => [name, [] as number[]]));
    for (let from: string | null = '2024-01-01'; from !== null; ) {
      const page: Page = await candles(`timeframe=1h&limit=7&from=${from}`);
      expect(page).toMatchObject({ source_timeframe: '5m' });
      for (const name of COLUMNS) seen[name]!.push(...page[name]);
      from = page.next_from;
    }
    const { timestamp, ...prices } = whole;
    const columns = Object.entries(prices).map(([name, values]) => [name, [...values]]);
    expect(seen).toEqual({
      times: [...timestamp].map((time) => time / 1000),
      ...Object.fromEntries(columns),
    });
    const newest = await candles('timeframe=1h&limit=7');
    expect(newest.times).toEqual(seen.times!.slice(-7));
  });

  it('candles of 3d open when those of Binance do, page by page, also around the day that it moved them', async () => {
    const times = grid(at('2023-07-30'), at('2023-09-02'), DAY);
    const key = { exchange: 'binance', symbol: BTC, timeframe: '1d' } as const;
    await fixture.market.candles.write(key, candlesAt(times, DAY));
    const seen: string[] = [];
    for (let from: string | null = '2023-08-01'; from !== null; ) {
      const page: Page = await candles(`exchange=binance&timeframe=3d&limit=2&from=${from}`);
      seen.push(...opens(page));
      from = page.next_from;
    }
    // Day 19,583 since 1970, 3 * 6,527 + 2, is 2023-08-14. The candle of 31 August is not complete.
    const dates = ['02', '05', '08', '11', '14', '16', '19', '22', '25', '28'];
    const wanted = dates.map((date) => `2023-08-${date}T00:00`);
    expect(seen).toEqual(wanted);
    const newest: number[] = [];
    for (let to: string | null = '2023-08-22'; to !== null && newest.length < 6; ) {
      const page: Page = await candles(`exchange=binance&timeframe=3d&limit=2&to=${to}`);
      newest.unshift(...page.times);
      to = page.next_to;
    }
    expect(opens({ times: newest } as Page)).toEqual(wanted.slice(1, 7));
  });

  it('candles that are only partly stored are left out, and the last one is named', async () => {
    await store(BTC, '1h', hours('2024-02-01T03:00', '2024-02-03T05:00'), HOUR);
    const days = await candles('timeframe=1d');
    expect(opens(days)).toEqual(['2024-02-02T00:00']);
    expect(days.incomplete_from).toBe('2024-02-03T00:00:00.000Z');
    expect((await candles('timeframe=1d&to=2024-02-03')).incomplete_from).toBeNull();
    expect((await candles('timeframe=1d&from=2024-02-04')).incomplete_from).toBeNull();
    await store(BTC, '1h', hours('2024-02-03T05:00', '2024-02-04T00:00'), HOUR);
    const complete = await candles('timeframe=1d');
    expect(opens(complete)).toEqual(['2024-02-02T00:00', '2024-02-03T00:00']);
    expect(complete.incomplete_from).toBeNull();
  });

  it('source is the stored timeframe itself, else the shorter one with the longest range', async () => {
    await store(BTC, '1h', hours('2024-02-01T00:00', '2024-02-03T00:00'), HOUR);
    await store(BTC, '5m', grid(at('2024-02-01'), at('2024-02-02'), FIVE), FIVE);
    expect((await candles('timeframe=1d')).source_timeframe).toBe('1h');
    expect((await candles('timeframe=15m')).source_timeframe).toBe('5m');
    await store(BTC, '5m', grid(at('2024-02-02'), at('2024-02-03'), FIVE), FIVE);
    expect((await candles('timeframe=4h')).source_timeframe).toBe('1h');
    await store(BTC, '1d', [at('2024-01-01')], DAY);
    expect(await candles('timeframe=1d')).toMatchObject({ source_timeframe: '1d', count: 1 });
  });

  it('page of computed candles reads at most 500,000 stored ones', async () => {
    const MINUTE = TIMEFRAME_MS['1m'];
    const [first, days] = [at('2020-01-01'), 1000];
    let read = 0;
    const stores = {
      series: {
        ...fixture.market.series,
        getMany: async () => {
          const last = new Date(first + days * DAY - MINUTE).toISOString();
          const range = { first: new Date(first).toISOString(), last, count: days * 1440 };
          const info = { ...range, gap_count: 0, gaps: [], longest_omitted_gap: 0, updated_at: last };
          return new Map([[`${BTC}#1m`, { exchange: 'test', symbol: BTC, timeframe: '1m', ...info }]]);
        },
      } as Market['series'],
      candles: {
        ...fixture.market.candles,
        read: async (_, start, end) => {
          read += (end - start) / MINUTE;
          return candlesAt(grid(start, end, MINUTE), MINUTE);
        },
      } as Market['candles'],
    };
    const service = create(stores);
    const page = await candles('timeframe=1d&limit=10000&from=2020-01-01', service);
    // 347 days of 1440 candles are the most that fit.
    expect([page.count, page.next_from, read]).toEqual([347, '2020-12-13T00:00:00.000Z', 499_680]);
    const newest = await candles('timeframe=1d&limit=10000', service);
    expect([newest.count, newest.next_to]).toEqual([347, '2021-10-15T00:00:00.000Z']);
  });
});

it.each([
  ['timeframe=7h', 400, 'VAL003', 'timeframe'],
  ['timeframe=1h&limit=10001', 400, 'VAL005', 'limit'],
  ['timeframe=1h&from=yesterday', 400, 'VAL001', 'from'],
  ['timeframe=1h&to=1700000000', 400, 'VAL001', 'to'],
  ['timeframe=1h&from=2024-02-02&to=2024-02-01', 400, 'VAL001', 'from'],
  ['timeframe=15m', 404, 'DATA003', 'symbol'],
  ['timeframe=1h&exchange=other', 404, 'DATA003', 'symbol'],
])('candles rejects ?%s with %i %s', async (query, status, code, field) => {
  await store(BTC, '1h', hours('2024-02-01T00:00', '2024-02-01T05:00'), HOUR);
  expect(await get(path(query))).toMatchObject({ status, body: { detail: { code, field } } });
});

it('corrupt month is reported, not served', async () => {
  await store(BTC, '1h', hours('2024-01-31T20:00', '2024-02-01T04:00'), HOUR);
  await fixture.market.damage('candles/exchange=test/symbol=BTC_USDT_USDT/timeframe=1h/2024-02.parquet');
  expect(await get(path('timeframe=4h'))).toMatchObject({
    status: 503,
    body: { detail: { code: 'DATA005' } },
  });
});
