import { describe, expect, it } from 'vitest';
import { FreshnessQuery } from '#contract/market-data/market-data.ts';
import { getDataFreshness } from '#domain/data/get-data-freshness.ts';
import type { SeriesInfo, SeriesStore } from '#domain/ports.ts';
import { createCandles } from '#engine/candles.ts';
import type { Timeframe } from '#engine/timeframe.ts';
import { readQuery } from '#runtime/request-schemas.ts';
import { at, BTC, ETH } from './market.ts';

const SOL = 'SOL/USDT:USDT';
const NOW = '2024-06-10T12:00';

function series(
  symbol: string,
  timeframe: Timeframe,
  first: string,
  last: string,
  gaps: readonly { readonly start: string; readonly missing: number }[] = [],
): SeriesInfo {
  const iso = (text: string) => new Date(at(text)).toISOString();
  return {
    exchange: 'sim',
    symbol,
    timeframe,
    first: iso(first),
    last: iso(last),
    count: 1,
    gap_count: gaps.length,
    gaps: gaps.map(({ start, missing }) => [at(start), missing] as const),
    longest_omitted_gap: 0,
    updated_at: iso(NOW),
  };
}

function storeOf(infos: readonly SeriesInfo[]): SeriesStore & { reads: number } {
  const known = new Map(infos.map((info) => [`${info.symbol}#${info.timeframe}`, info]));
  return {
    reads: 0,
    async getMany(_, wanted) {
      this.reads++;
      const names = wanted.map(({ symbol, timeframe }) => `${symbol}#${timeframe}`);
      return new Map(names.filter((name) => known.has(name)).map((name) => [name, known.get(name)!]));
    },
    list: async () => infos,
    listPage: () => Promise.reject(new Error('not here')),
    monthsOfMany: () => Promise.reject(new Error('not here')),
    months: async ({ symbol, timeframe }) => {
      const info = known.get(`${symbol}#${timeframe}`)!;
      const [first, last] = [Date.parse(info.first), Date.parse(info.last)];
      return [{ ...info, month: info.first.slice(0, 7), first, last }];
    },
    record: () => Promise.reject(new Error('not here')),
    markComplete: () => Promise.reject(new Error('not here')),
    markRefetched: () => Promise.reject(new Error('not here')),
    markCorrupt: () => Promise.reject(new Error('not here')),
  };
}

const check = (infos: readonly SeriesInfo[], query: Partial<FreshnessQuery>) =>
  getDataFreshness(
    {
      series: storeOf(infos),
      candles: { read: async () => createCandles(0) },
      clock: { now: () => at(NOW) },
      defaultExchange: 'sim',
    },
    { symbols: [BTC], stale_threshold_hours: 24, ...query },
  );
const isFresh = async (info: SeriesInfo, query: Partial<FreshnessQuery>) =>
  (await check([info], { timeframe: info.timeframe, ...query })).all_fresh;

describe('freshness by age', () => {
  it("age counts from the last candle's end and is fresh at exactly the threshold", async () => {
    expect(await isFresh(series(BTC, '1h', '2024-01-01T00:00', '2024-06-09T11:00'), {})).toBe(true);
    expect(await isFresh(series(BTC, '1h', '2024-01-01T00:00', '2024-06-09T10:00'), {})).toBe(false);
    expect(await isFresh(series(BTC, '1d', '2024-01-01T00:00', '2024-06-09T00:00'), {})).toBe(true);
    expect(await isFresh(series(BTC, '1d', '2024-01-01T00:00', '2024-06-08T00:00'), {})).toBe(false);
  });

  it('freshness uses the requested threshold', async () => {
    const info = series(BTC, '1h', '2024-01-01T00:00', '2024-06-09T10:00');
    expect(await isFresh(info, { stale_threshold_hours: 25 })).toBe(true);
    expect(await isFresh(info, { stale_threshold_hours: 24 })).toBe(false);
  });

  it.each([0, -1, 1.5, Number.NaN, 87_601])('freshness query rejects a threshold of %s', (hours) => {
    const query = new URLSearchParams({ symbols: BTC, stale_threshold_hours: String(hours) });
    expect(() => readQuery(FreshnessQuery, query)).toThrow(
      expect.objectContaining({ code: 'VAL005', field: 'stale_threshold_hours' }),
    );
  });

  it('freshness without a timeframe uses the series with the latest last candle', async () => {
    const infos = [
      series(BTC, '1d', '2024-01-01T00:00', '2024-06-08T00:00'),
      series(BTC, '5m', '2024-06-01T00:00', '2024-06-10T11:50'),
      series(BTC, '1h', '2024-06-01T00:00', '2024-06-01T00:00'),
    ];
    expect((await check(infos, {})).symbols).toEqual([
      {
        symbol: BTC,
        timeframe: '5m',
        first: '2024-06-01T00:00:00.000Z',
        last: '2024-06-10T11:50:00.000Z',
        age_hours: 0.08,
        fresh: true,
      },
    ]);
    expect((await check(infos, { timeframe: '1h' })).stale_symbols).toEqual([BTC]);
    // 15m candles are not built from finer candles.
    expect((await check(infos, { timeframe: '15m' })).stale_symbols).toEqual([BTC]);
  });
});

it('freshness requires every requested timeframe to be fresh', async () => {
  const fine = series(BTC, '5m', '2024-06-01T00:00', '2024-06-10T11:50');
  const coarse = series(BTC, '1h', '2024-06-01T00:00', '2024-06-01T00:00');
  const report = await check([fine, coarse], { timeframe: '5m,1h' });
  expect(report.stale_symbols).toEqual([BTC]);
  expect(report.symbols.map(({ timeframe, fresh }) => [timeframe, fresh])).toEqual([['1h', false]]);
  expect((await check([fine], { timeframe: '5m,15m' })).all_fresh).toBe(false);
  expect((await check([fine], { timeframe: '5m' })).all_fresh).toBe(true);
  await expect(check([fine], { timeframe: '5m,' })).rejects.toMatchObject({ code: 'VAL003' });
});

it('freshness report lists stale and unknown symbols once, in request order', async () => {
  const fresh = series(ETH, '1h', '2024-01-01T00:00', '2024-06-10T10:00');
  const stale = series(BTC, '1h', '2024-01-01T00:00', '2024-06-01T10:00');
  const report = await check([fresh, stale], { symbols: [SOL, ETH, BTC, SOL], timeframe: '1h' });
  expect(report).toMatchObject({
    all_fresh: false,
    stale_symbols: [SOL, BTC],
    exchange: 'sim',
    stale_threshold_hours: 24,
  });
  expect(report.symbols.map(({ symbol, fresh, last }) => [symbol, fresh, last])).toEqual([
    [SOL, false, null],
    [ETH, true, '2024-06-10T10:00:00.000Z'],
    [BTC, false, '2024-06-01T10:00:00.000Z'],
  ]);
});

describe('freshness by range', () => {
  const old = series(BTC, '1h', '2023-01-01T00:00', '2023-12-31T23:00');

  it('covered past range is fresh regardless of its age', async () => {
    expect(await isFresh(old, { start: '2023-01-01', end: '2024-01-01' })).toBe(true);
    expect(await isFresh(old, { start: '2023-03-01', end: '2023-04-01' })).toBe(true);
  });

  it('range is stale when candles are missing at either end', async () => {
    expect(await isFresh(old, { start: '2022-12-31T23:00', end: '2023-04-01' })).toBe(false);
    expect(await isFresh(old, { start: '2023-01-01', end: '2024-01-01T01:00' })).toBe(false);
    expect(await isFresh(old, { end: '2024-01-01' })).toBe(true);
    expect(await isFresh(old, { start: '2023-01-01' })).toBe(false);
  });

  it('range off the grid requires only candles that open within it', async () => {
    expect(await isFresh(old, { start: '2022-12-31T23:30', end: '2023-04-01' })).toBe(true);
    expect(await isFresh(old, { start: '2023-01-01', end: '2023-12-31T23:30' })).toBe(true);
    expect(await isFresh(old, { start: '2023-01-01', end: '2024-01-01T00:30' })).toBe(false);
  });

  it('range that ends near now requires only candles closed before the threshold', async () => {
    const info = series(BTC, '1h', '2024-01-01T00:00', '2024-06-09T11:00');
    expect(await isFresh(info, { start: '2024-01-01', end: '2024-06-10T12:00' })).toBe(true);
    expect(
      await isFresh(info, { start: '2024-01-01', end: '2024-06-10T12:00', stale_threshold_hours: 23 }),
    ).toBe(false);
    expect(await isFresh(info, { start: '2024-01-01', end: '2030-01-01' })).toBe(true);
    // The day that was open at the threshold is not required.
    const daily = series(BTC, '1d', '2024-01-01T00:00', '2024-06-08T00:00');
    expect(await isFresh(daily, { start: '2024-01-01', end: '2030-01-01' })).toBe(true);
  });

  it('range before the first candle is fresh from `complete_from` on', async () => {
    const listed = {
      ...series(BTC, '1h', '2024-02-01T00:00', '2024-06-10T11:00'),
      complete_from: new Date(at('2024-01-10')).toISOString(),
    };
    const end = '2024-03-01T00:00:00Z';
    expect(await isFresh(listed, { start: '2024-01-10T00:00:00Z', end })).toBe(true);
    expect(await isFresh(listed, { start: '2024-01-09T23:00:00Z', end })).toBe(false);
  });

  it('series is stale when the range needs a month with a corrupt file', async () => {
    const corrupt = {
      ...series(BTC, '1h', '2024-01-01T00:00', '2024-06-10T11:00'),
      corrupt: ['2024-03'],
    };
    expect(await isFresh(corrupt, { start: '2024-01-05', end: '2024-03-01' })).toBe(true);
    expect(await isFresh(corrupt, { start: '2024-01-05', end: '2024-03-01T01:00:00Z' })).toBe(false);
    expect(await isFresh(corrupt, { start: '2024-03-31T23:00:00Z', end: '2024-05-01' })).toBe(false);
    expect(await isFresh(corrupt, { start: '2024-04-01', end: '2024-05-01' })).toBe(true);
    expect(await isFresh(corrupt, { start: '2024-01-31T23:00:00Z', end: '2024-05-01' })).toBe(false);
    expect(await isFresh(corrupt, {})).toBe(false);
  });

  it('series is stale when the range contains a gap longer than the threshold', async () => {
    const withGaps = series(BTC, '1h', '2023-01-01T00:00', '2023-12-31T23:00', [
      { start: '2023-02-01T00:00', missing: 24 },
      { start: '2023-06-01T00:00', missing: 25 },
    ]);
    expect(await isFresh(withGaps, { start: '2023-01-01', end: '2023-06-01' })).toBe(true);
    expect(await isFresh(withGaps, { start: '2023-01-01', end: '2023-07-01' })).toBe(false);
    expect(await isFresh(withGaps, { start: '2023-06-01T02:00', end: '2023-07-01' })).toBe(true);
    expect(await isFresh(withGaps, { start: '2023-07-01', end: '2023-08-01' })).toBe(true);
    // The position of an omitted gap is unknown, so it may be anywhere in the series.
    const past = { start: '2023-01-01', end: '2023-06-01' };
    expect(await isFresh({ ...withGaps, longest_omitted_gap: 24 }, past)).toBe(true);
    expect(await isFresh({ ...withGaps, longest_omitted_gap: 25 }, past)).toBe(false);
  });
});

it.each([
  [{ symbols: ['BTCUSDT'] }, 'VAL002', 'symbols'],
  [{ timeframe: '7m' }, 'VAL003', 'timeframe'],
  [{ timeframe: '1h,2h' }, 'VAL003', 'timeframe'],
  [{ start: 'soon' }, 'VAL001', 'start'],
  [{ start: '2024-01-02', end: '2024-01-02' }, 'VAL001', 'start'],
])('freshness rejects %j with %s', async (query, code, field) => {
  await expect(check([], query)).rejects.toMatchObject({ code, field });
});

it('freshness accepts a further timeframe where it is stored', async () => {
  const { all_fresh } = await check([series(BTC, '2h', '2024-06-01', '2024-06-10T10:00')], {
    symbols: [BTC],
    timeframe: '2h',
  });
  expect(all_fresh).toBe(true);
});

describe('estimate of missing candles', () => {
  const range = { start: '2024-06-10T00:00:00Z', end: '2024-06-20T00:00:00Z', timeframe: '1h' };
  const missingOf = async (infos: readonly SeriesInfo[], query: object = {}) =>
    (await check(infos, { ...range, ...query } as Partial<FreshnessQuery>)).missing_candles;

  it('candles that have closed and are not stored are counted, at both ends and in gaps', async () => {
    // 12 candles of the range have closed.
    expect(await missingOf([])).toBe(12);
    expect(await missingOf([series(BTC, '1h', '2024-06-10T00:00', '2024-06-10T08:00')])).toBe(3);
    expect(await missingOf([series(BTC, '1h', '2024-06-10T02:00', '2024-06-10T11:00')])).toBe(2);
    const gaps = [{ start: '2024-06-10T03:00', missing: 4 }];
    expect(await missingOf([series(BTC, '1h', '2024-06-01T00:00', '2024-06-10T11:00', gaps)])).toBe(4);
  });

  it('candles of every symbol and timeframe are counted', async () => {
    const stored = [series(BTC, '1h', '2024-06-10T00:00', '2024-06-10T11:00')];
    expect(await missingOf(stored, { symbols: [BTC, ETH] })).toBe(12);
    expect(await missingOf(stored, { timeframe: '1h,5m' })).toBe(144);
  });

  it('candles from before an exchange listed the symbol are not missing', async () => {
    const info = series(BTC, '1h', '2024-06-10T05:00', '2024-06-10T11:00');
    expect(await missingOf([info])).toBe(5);
    expect(await missingOf([{ ...info, complete_from: '2024-06-01T00:00:00.000Z' }])).toBe(0);
  });

  it.each(['start', 'end', 'timeframe'])('there is no estimate without %s', async (name) => {
    expect(await missingOf([], { [name]: undefined })).toBeUndefined();
  });
});
