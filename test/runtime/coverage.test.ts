import { describe, expect, it } from 'vitest';
import { at, BTC, DAY, ETH, grid, HOUR, type Market } from '../domain/data/market.ts';
import { dataCollectionFixture, hours } from './data-collection-fixture.ts';

// The clock of the fixture is at 2024-06-01T00:00Z.
const fixture = dataCollectionFixture();
const { store, get, create } = fixture;

interface Series {
  symbol: string;
  timeframe: string;
  months: unknown[];
}

async function coverage(query = '', target = fixture.service) {
  const { status, body } = await get(`/api/v1/coverage?${query}`, target);
  expect(status, JSON.stringify(body)).toBe(200);
  return body as unknown as { exchange: string; items: Series[]; next_cursor: string | null };
}

const months = async () => (await coverage()).items[0]!.months;
const month = (
  name: string,
  candles: number,
  expected: number,
  gap_count = 0,
  { corrupt = false, damage = 0 } = {},
) => ({
  month: name,
  candles,
  expected,
  gap_count,
  missing: { closed: 0, no_trades: 0, damage },
  corrupt,
});
const of = (symbol: string) => `symbol=${encodeURIComponent(symbol)}`;

describe('months of a series', () => {
  it('coverage counts stored and expected candles, and gaps within and between months', async () => {
    await store(
      BTC,
      '1h',
      [
        // 2024 is a leap year: February has 696 hours. Its first day is missing, and two hours on the 10th.
        ...hours('2024-02-02T00:00', '2024-02-10T05:00'),
        ...hours('2024-02-10T07:00', '2024-03-01T00:00'),
        // March misses its last day, April is missing, and May begins an hour late.
        ...hours('2024-03-01T00:00', '2024-03-31T00:00'),
        ...hours('2024-05-01T01:00', '2024-05-31T12:00'),
      ],
      HOUR,
    );
    expect(await coverage()).toEqual({
      exchange: 'test',
      items: [
        {
          symbol: BTC,
          timeframe: '1h',
          complete_from: null,
          updated_at: '2024-06-01T00:00:00.000Z',
          first: '2024-02-02T00:00:00.000Z',
          last: '2024-05-31T11:00:00.000Z',
          count: 670 + 720 + 731,
          gap_count: 2,
          missing_candles: 2 + 24 + 720 + 1,
          missing: { closed: 0, no_trades: 0, damage: 2 + 24 + 720 + 1 },
          imported: false,
          calendar: null,
          sessions: null,
          months: [
            month('2024-02', 670, 696, 1, { damage: 2 }),
            month('2024-03', 720, 744, 1, { damage: 24 }),
            month('2024-04', 0, 720, 1, { damage: 720 }),
            month('2024-05', 731, 744, 1, { damage: 1 }),
          ],
        },
      ],
      next_cursor: null,
    });
  });

  it('current month is expected up to the last closed candle', async () => {
    await store(BTC, '1h', hours('2024-05-01T00:00', '2024-05-03T00:00'), HOUR);
    fixture.market.setNow(at('2024-05-03T02:59'));
    expect(await months()).toEqual([month('2024-05', 48, 50)]);
    // The clock is behind the candles.
    fixture.market.setNow(at('2024-05-01T00:00'));
    expect(await months()).toEqual([month('2024-05', 48, 48)]);
  });

  it('candles from before the exchange listed the symbol are not expected', async () => {
    await store(BTC, '1d', grid(at('2024-03-11'), at('2024-04-01'), DAY), DAY);
    const series = { exchange: 'test', symbol: BTC, timeframe: '1d' } as const;
    const now = '2024-06-01T00:00:00.000Z';
    expect(await months()).toEqual([month('2024-03', 21, 31)]);
    await fixture.market.series.markComplete(series, { from: at('2024-03-05'), to: at('2024-04-01') }, now);
    expect(await months()).toEqual([month('2024-03', 21, 25)]);
    await fixture.market.series.markComplete(series, { from: at('2023-01-01'), to: at('2024-04-01') }, now);
    expect(await months()).toEqual([month('2024-03', 21, 21)]);
  });

  it('corrupt month has no candles', async () => {
    await store(BTC, '1h', hours('2024-01-01T00:00', '2024-03-01T00:00'), HOUR);
    await fixture.market.damage('candles/exchange=test/symbol=BTC_USDT_USDT/timeframe=1h/2024-02.parquet');
    expect((await get(`/api/v1/ohlcv?${of(BTC)}&timeframe=1h`)).status).toBe(503);
    expect(await months()).toEqual([
      month('2024-01', 744, 744),
      month('2024-02', 0, 696, 1, { corrupt: true, damage: 696 }),
    ]);
  });
});

describe('pages of symbols', () => {
  const symbols = ['A', 'B', 'C', 'D', 'E'].map((base) => `${base}/USDT:USDT`);

  it('pages hold every series once, by symbol and timeframe, without reading candles', async () => {
    for (const symbol of symbols) {
      await store(symbol, '1d', [at('2024-03-01')], DAY);
      await store(symbol, '1h', [at('2024-03-01')], HOUR);
    }
    const read = () => Promise.reject(new Error('candles were read'));
    const service = create({ candles: { read, readFunding: read } as unknown as Market['candles'] });
    const seen: string[] = [];
    let pages = 0;
    for (let cursor: string | null = ''; cursor !== null; pages++) {
      const page = await coverage(`limit=2${cursor && `&cursor=${cursor}`}`, service);
      seen.push(...page.items.map(({ symbol, timeframe }) => `${symbol} ${timeframe}`));
      expect(page.items.length).toBeLessThanOrEqual(4);
      cursor = page.next_cursor;
    }
    expect(seen).toEqual(symbols.flatMap((symbol) => [`${symbol} 1h`, `${symbol} 1d`]));
    expect(pages).toBe(3);
    const days = await coverage('timeframe=1d&limit=200', service);
    expect(days.items.map(({ timeframe }) => timeframe)).toEqual(Array(5).fill('1d'));
    expect(days.items[0]!.months).toEqual([month('2024-03', 1, 31)]);
  });

  it('page ends before a symbol whose months would be too many', async () => {
    // A century each: 1,200 months.
    const many = Array.from({ length: 18 }, (_, i) => `S${String(i).padStart(2, '0')}/USDT:USDT`);
    for (const symbol of many) await store(symbol, '1d', [at('2000-01-01'), at('2099-12-31')], DAY);
    await store(many[16]!, '1h', [at('2024-03-01')], HOUR);
    const page = await coverage('limit=200');
    expect(page.items.map(({ symbol }) => symbol)).toEqual(many.slice(0, 16));
    const rest = await coverage(`limit=200&cursor=${page.next_cursor}`);
    expect(rest.items.map(({ symbol }) => symbol)).toEqual([many[16], many[16], many[17]]);
    expect(rest.next_cursor).toBeNull();
  });

  it('one symbol has all its timeframes, or one', async () => {
    await store(BTC, '1h', [at('2024-03-01')], HOUR);
    await store(BTC, '1d', [at('2024-03-01')], DAY);
    await store(ETH, '1h', [at('2024-03-01')], HOUR);
    const timeframes = async (query: string) =>
      (await coverage(query)).items.map(({ symbol, timeframe }) => [symbol, timeframe]);
    expect(await timeframes(of(BTC))).toEqual([
      [BTC, '1h'],
      [BTC, '1d'],
    ]);
    expect(await timeframes(`${of(BTC)}&timeframe=1d`)).toEqual([[BTC, '1d']]);
    expect(await timeframes(of('X/USDT:USDT'))).toEqual([]);
    expect(await timeframes('exchange=other')).toEqual([]);
  });

  it('cursor belongs to its exchange', async () => {
    for (const symbol of symbols) await store(symbol, '1d', [at('2024-03-01')], DAY);
    const { next_cursor } = await coverage('limit=2');
    const rejected = { status: 400, body: { detail: { code: 'VAL006', field: 'cursor' } } };
    expect(await get(`/api/v1/coverage?cursor=${next_cursor}&exchange=other`)).toMatchObject(rejected);
    expect(await get('/api/v1/coverage?cursor=x')).toMatchObject(rejected);
  });
});

it.each([
  ['symbol=BTC', 'VAL002', 'symbol'],
  ['timeframe=7h', 'VAL003', 'timeframe'],
  ['limit=201', 'VAL005', 'limit'],
  ['exchange=%23months', 'VAL005', 'exchange'],
])('coverage rejects ?%s with 400 %s', async (query, code, field) => {
  expect(await get(`/api/v1/coverage?${query}`)).toMatchObject({
    status: 400,
    body: { detail: { code, field } },
  });
});
