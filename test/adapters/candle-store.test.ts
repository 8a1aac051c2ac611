import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { GetCommand, PutCommand } from '@aws-sdk/lib-dynamodb';
import { describe, expect, test } from 'vitest';
import { appendChecksum } from '#adapters/parquet/checksum.ts';
import { SeriesFiles } from '#adapters/parquet/series-file.ts';
import { describeMonth } from '#adapters/series-months.ts';
import type { SeriesKey } from '#domain/ports.ts';
import { CANDLE_COLUMNS, type Candles, createCandles, sliceCandles } from '#engine/candles.ts';
import { TIMEFRAME_MS, TIMEFRAMES } from '#engine/timeframe.ts';
import { encodeParquet, numberColumn, timestampColumn } from '../support/snappy-parquet.ts';
import { candleStoreFixture, HOUR, range, T0 } from './candle-store-fixture.ts';

const fixture = candleStoreFixture();
const HOUR_MS = TIMEFRAME_MS['1h'];

/** Candles at the given rows of the hourly grid from T0; `level` distinguishes writes. */
function candlesAt(rows: readonly number[], level = 100): Candles {
  const candles = createCandles(rows.length);
  rows.forEach((row, i) => {
    candles.timestamp[i] = T0 + row * HOUR_MS;
    candles.open[i] = level + row;
    candles.high[i] = level + row + 2;
    candles.low[i] = level + row - 2;
    candles.close[i] = level + row + 1;
    candles.volume[i] = row;
  });
  return candles;
}

const plain = (candles: Candles) =>
  Object.fromEntries(Object.entries(candles).map(([name, values]) => [name, [...values]]));

async function keys(): Promise<string[]> {
  const found: string[] = [];
  for await (const key of fixture.objects.list('')) found.push(key);
  return found;
}

describe('ParquetCandleStore candles', () => {
  test('series with the same times share that column, others do not', async () => {
    const other: SeriesKey = { ...HOUR, symbol: 'ETH/USDT:USDT' };
    const third: SeriesKey = { ...HOUR, symbol: 'SOL/USDT:USDT' };
    await fixture.store.write(HOUR, candlesAt(range(0, 100)));
    await fixture.store.write(other, candlesAt(range(0, 100), 200));
    await fixture.store.write(third, candlesAt([...range(0, 98), 99, 100], 300));
    // A series shares the times of the one that was read before it: concurrent reads may end in any order.
    const a = await fixture.store.read(HOUR, T0, T0 + 100 * HOUR_MS);
    const b = await fixture.store.read(other, T0, T0 + 100 * HOUR_MS);
    const c = await fixture.store.read(third, T0, T0 + 101 * HOUR_MS);
    expect(b.timestamp).toBe(a.timestamp);
    expect(c.timestamp).not.toBe(a.timestamp);
    expect(plain(a)).toEqual(plain(candlesAt(range(0, 100))));
    expect(plain(b)).toEqual(plain(candlesAt(range(0, 100), 200)));
    expect(plain(c)).toEqual(plain(candlesAt([...range(0, 98), 99, 100], 300)));
  });

  test('read returns the written candles for any range across months', async () => {
    const written = candlesAt(range(0, 24 * 70));
    const info = await fixture.store.write(HOUR, written);
    expect(await keys()).toEqual(
      ['2025-01', '2025-02', '2025-03', '2025-04'].map(
        (month) => `candles/exchange=sim/symbol=BTC_USDT_USDT/timeframe=1h/${month}.parquet`,
      ),
    );
    expect(info).toEqual({
      ...HOUR,
      first: '2025-01-30T00:00:00.000Z',
      last: '2025-04-09T23:00:00.000Z',
      count: 1_680,
      gap_count: 0,
      gaps: [],
      longest_omitted_gap: 0,
      missing: { closed: 0, no_trades: 0, damage: 0 },
      updated_at: '2025-07-01T00:00:00.000Z',
    });
    for (const [from, to] of [
      [0, 1_680],
      [5, 6],
      [40, 55],
      [47, 48],
      [700, 1_500],
      [10, 10],
    ] as const) {
      const read = await fixture.store.read(HOUR, T0 + from * HOUR_MS, T0 + to * HOUR_MS);
      expect(plain(read)).toEqual(plain(sliceCandles(written, from, to)));
    }
    const everything = await fixture.store.read(HOUR, 0, Number.MAX_SAFE_INTEGER);
    expect(everything.timestamp).toHaveLength(1_680);
    const between = await fixture.store.read(HOUR, T0 + 1, T0 + 2 * HOUR_MS + 1);
    expect([...between.open]).toEqual([101, 102]);
    expect(
      (await fixture.store.read({ ...HOUR, symbol: 'ETH/USDT:USDT' }, 0, T0 * 2)).timestamp,
    ).toHaveLength(0);
    expect((await fixture.store.read({ ...HOUR, timeframe: '4h' }, 0, T0 * 2)).timestamp).toHaveLength(0);
  });

  test('later write replaces, fills and extends stored candles', async () => {
    await fixture.store.write(HOUR, candlesAt(range(40, 60)));
    await fixture.store.write(HOUR, candlesAt([30, 31, 45, 70, 71], 500));
    const read = await fixture.store.read(HOUR, 0, T0 * 2);
    expect([...read.timestamp]).toEqual([30, 31, ...range(40, 60), 70, 71].map((row) => T0 + row * HOUR_MS));
    expect(read.open[2 + 5]).toBe(545);
    expect(read.open[2 + 4]).toBe(144);
    const info = (await fixture.series.getMany('sim', [HOUR])).get('BTC/USDT:USDT#1h');
    expect(info).toMatchObject({
      count: 24,
      gap_count: 2,
      gaps: [
        [Date.parse('2025-01-31T08:00:00Z'), 8],
        [Date.parse('2025-02-01T12:00:00Z'), 10],
      ],
    });
    await fixture.store.write(HOUR, candlesAt([...range(32, 40), ...range(60, 70)]));
    expect((await fixture.series.list('sim'))[0]).toMatchObject({ count: 42, gap_count: 0, gaps: [] });
  });

  test('write of stored candles changes no file', async () => {
    await fixture.store.write(HOUR, candlesAt(range(0, 100)));
    const etags = async () =>
      Promise.all((await keys()).map(async (key) => (await fixture.objects.get(key))?.etag));
    const before = await etags();
    const info = await fixture.store.write(HOUR, candlesAt(range(10, 20)));
    expect(await etags()).toEqual(before);
    expect(info.count).toBe(100);
  });

  test('a candle may open later than its place on the grid, and replaces the one that is stored for it', async () => {
    const DAYS: SeriesKey = { ...HOUR, timeframe: '1d' };
    const days = candlesAt([0, 1, 4, 5].map((day) => 24 * day));
    await fixture.store.write(DAYS, days);
    const late = {
      ...days,
      timestamp: days.timestamp.map((time, i) => time + (i < 2 ? 14.5 : 13.5) * HOUR_MS),
    };
    const info = await fixture.store.write(DAYS, late);
    expect(info).toMatchObject({ count: 4, gap_count: 1, gaps: [[T0 + 2 * 24 * HOUR_MS, 2]] });
    expect((await fixture.store.read(DAYS, 0, T0 * 2)).timestamp).toEqual(late.timestamp);
    const twice = { ...days, timestamp: days.timestamp.with(1, T0 + HOUR_MS) };
    await expect(fixture.store.write(DAYS, twice)).rejects.toThrow(RangeError);
  });

  test('a series knows why its candles are missing', async () => {
    const weekday = (row: number) => new Date(T0 + row * HOUR_MS).getUTCDay() % 6 !== 0;
    const lost = (row: number) => row >= 24 * 4 + 5 && row < 24 * 4 + 8;
    const some = candlesAt(range(0, 24 * 40).filter((row) => weekday(row) && !lost(row)));
    const key = { ...HOUR, exchange: 'kraken' };
    expect(await fixture.store.import(key, some, 'A')).toMatchObject({
      imported: true,
      sessions: { clock: 'utc', closed: [[7200, 2880]] },
      missing: { closed: 24 * 12, no_trades: 0, damage: 3 },
      gap_count: 7,
      gaps: [[T0 + (24 * 4 + 5) * HOUR_MS, 3]],
    });
    // A market that never closes: the weekends are times without trades, and stay so in a later write.
    await fixture.store.import(key, some, 'B', '24/7');
    const info = await fixture.store.write(key, candlesAt(range(24 * 40, 24 * 41)));
    expect(info).toMatchObject({
      calendar: '24/7',
      missing: { closed: 0, no_trades: 24 * 12 + 3, damage: 0 },
      gaps: [],
    });
    const collected = await fixture.store.write(HOUR, candlesAt([0, 2]));
    expect(collected.missing).toEqual({ closed: 0, no_trades: 0, damage: 1 });
  });

  test('missing month counts as one gap', async () => {
    await fixture.store.write(HOUR, candlesAt([0, 1]));
    const info = await fixture.store.write(HOUR, candlesAt([24 * 40]));
    expect(info).toMatchObject({
      gap_count: 1,
      gaps: [[Date.parse('2025-01-30T02:00:00Z'), 24 * 40 - 2]],
    });
  });

  test('gap count covers all gaps; the list holds the 40 longest by time', async () => {
    // Every third row is missing, and every 200 rows one or two more: longer gaps of 2 and 3 rows.
    const long = new Set(range(1, 24).flatMap((i) => (i % 2 ? [200 * i] : [200 * i, 200 * i + 1])));
    const rows = range(0, 24 * 200).filter((row) => row % 3 !== 1 && !long.has(row));
    const info = await fixture.store.write(HOUR, candlesAt(rows));
    const missing = (i: number) => rows[i + 1]! - rows[i]! - 1;
    const gaps = range(0, rows.length - 1).flatMap((i): [number, number][] =>
      missing(i) > 0 ? [[T0 + (rows[i]! + 1) * HOUR_MS, missing(i)]] : [],
    );
    expect(info.gap_count).toBe(gaps.length);
    expect(info.gaps).toHaveLength(40);
    const longer = (gaps: typeof info.gaps) => gaps.filter((gap) => gap[1] > 1);
    expect(longer(info.gaps)).toEqual(longer(gaps));
    expect([...info.gaps].sort((a, b) => a[0] - b[0])).toEqual(info.gaps);
    expect(info.longest_omitted_gap).toBe(1);
  });

  test.each([
    ['descending times', candlesAt([2, 1])],
    ['a repeated time', candlesAt([1, 1])],
    ['a time off the grid', { ...candlesAt([0]), timestamp: Float64Array.of(T0 + 1) }],
    ['NaN', { ...candlesAt([0]), close: Float64Array.of(Number.NaN) }],
    ['columns of different length', { ...candlesAt([0, 1]), volume: Float64Array.of(1) }],
  ])('write rejects %s and stores nothing', async (_, candles) => {
    await expect(fixture.store.write(HOUR, candles)).rejects.toThrow(RangeError);
    expect(await keys()).toEqual([]);
  });

  test('concurrent writers in one process keep every candle of a series', async () => {
    await Promise.all(range(0, 20).map((i) => fixture.store.write(HOUR, candlesAt(range(i * 5, i * 5 + 5)))));
    const read = await fixture.store.read(HOUR, 0, T0 * 2);
    expect([...read.volume]).toEqual(range(0, 100));
    expect((await fixture.series.list('sim'))[0]).toMatchObject({ count: 100, gap_count: 0 });
  });

  test('read rejects with DATA005 only when its range needs a missing file', async () => {
    await fixture.store.write(HOUR, candlesAt([0, 24 * 20, 24 * 50]));
    const [, february] = await keys();
    await fixture.objects.delete(february!);
    const read = (from: number, to: number, onCorrupt?: (file: string) => void) =>
      fixture.store.read(HOUR, T0 + from * HOUR_MS, T0 + to * HOUR_MS, onCorrupt);
    await expect(read(0, 24 * 60)).rejects.toMatchObject({
      code: 'DATA005',
      message: expect.stringContaining(`${february} is missing`),
    });
    expect((await read(0, 24 * 20)).timestamp).toHaveLength(1);
    expect((await read(24 * 20 + 1, 24 * 60)).timestamp).toHaveLength(1);
    const missing: string[] = [];
    expect((await read(0, 24 * 60, (file) => missing.push(file))).timestamp).toHaveLength(2);
    expect(missing).toEqual([february]);
  });

  test('months in the format of earlier versions are read, and rewritten when candles are added', async () => {
    const candles = candlesAt(range(0, 24 * 10));
    await fixture.store.write(HOUR, candles);
    const [january, february] = await keys();
    for (const key of [january!, february!]) {
      const isJanuary = key === january;
      const part = isJanuary ? sliceCandles(candles, 0, 48) : sliceCandles(candles, 48, 240);
      const [times, ...values] = CANDLE_COLUMNS.map((name) => numberColumn(name, part[name]));
      const earlier = encodeParquet([timestampColumn(times!.name, part.timestamp), ...values]);
      await fixture.objects.put(key, appendChecksum(earlier), 'application/vnd.apache.parquet');
    }
    const files = new SeriesFiles(CANDLE_COLUMNS);
    const ownFormat = async () =>
      Promise.all((await keys()).map(async (key) => !!files.decode((await fixture.objects.get(key))!.body)));
    expect(await ownFormat()).toEqual([false, false]);
    expect(plain(await fixture.store.read(HOUR, 0, T0 * 2))).toEqual(plain(candles));
    await fixture.store.write(HOUR, candlesAt(range(240, 250)));
    expect(await ownFormat()).toEqual([false, true]);
    expect(plain(await fixture.store.read(HOUR, 0, T0 * 2))).toEqual(plain(candlesAt(range(0, 250))));
  });

  test('read rejects a file of another program with other columns, whose checksum is right, with DATA005', async () => {
    await fixture.store.write(HOUR, candlesAt([0]));
    const [key] = await keys();
    const other = appendChecksum(
      new SeriesFiles(['timestamp', 'price']).encode([Float64Array.of(T0), Float64Array.of(1)]),
    );
    await fixture.objects.put(key!, other, 'application/vnd.apache.parquet');
    await expect(fixture.store.read(HOUR, 0, T0 * 2)).rejects.toMatchObject({ code: 'DATA005' });
  });

  test("read rejects a corrupt file with DATA005 and the file's path", async () => {
    await fixture.store.write(HOUR, candlesAt([0]));
    const [key] = await keys();
    writeFileSync(join(fixture.root, key!), 'PAR1 broken');
    await expect(fixture.store.read(HOUR, 0, T0 * 2)).rejects.toMatchObject({
      code: 'DATA005',
      message: expect.stringContaining('symbol=BTC_USDT_USDT'),
    });
  });
});

describe('ParquetCandleStore funding', () => {
  const events = (rows: readonly number[], rate = 0.0001) => ({
    timestamp: Float64Array.from(rows, (row) => T0 + row * 8 * HOUR_MS),
    rate: Float64Array.from(rows, (row) => rate * row),
    markPrice: Float64Array.from(rows, (row) => 1000 + row),
  });

  test('readFunding returns the written events with both ends included', async () => {
    await fixture.store.writeFunding('sim', 'BTC/USDT:USDT', events(range(0, 10)));
    await fixture.store.writeFunding('sim', 'BTC/USDT:USDT', events([9, 10], 0.0002));
    const end = T0 + 9 * 8 * HOUR_MS;
    const read = await fixture.store.readFunding('sim', 'BTC/USDT:USDT', T0 + 8 * HOUR_MS, end);
    expect([...read.timestamp]).toEqual([...events(range(1, 10)).timestamp]);
    expect(read.rate[8]).toBe(0.0002 * 9);
    expect(read.markPrice[8]).toBe(1009);
    expect((await fixture.store.readFunding('sim', 'ETH/USDT:USDT', 0, end)).timestamp).toHaveLength(0);
  });
});

describe('DynamoSeriesStore', () => {
  /** January from T0 on, without gaps. */
  const monthOf = (count: number) => ({
    month: '2025-01',
    first: T0,
    last: T0 + (count - 1) * HOUR_MS,
    count,
    gap_count: 0,
    gaps: [],
    longest_omitted_gap: 0,
  });

  test('getMany returns 130 series once each and skips unknown ones', async () => {
    const symbols = range(0, 130).map((i) => `A${i}/USDT:USDT`);
    const month = monthOf(2);
    await Promise.all(
      symbols.map((symbol) => fixture.series.record({ ...HOUR, symbol }, [month], '2025-02-01T00:00:00Z')),
    );
    const wanted = [...symbols, ...symbols.slice(0, 5), 'NONE/USDT:USDT'].map((symbol) => ({
      symbol,
      timeframe: '1h' as const,
    }));
    const found = await fixture.series.getMany('sim', wanted);
    expect([...found.keys()].sort()).toEqual(symbols.map((symbol) => `${symbol}#1h`).sort());
    expect(await fixture.series.getMany('sim', [])).toEqual(new Map());
    const listed = (await fixture.series.list('sim')).map((info) => info.symbol);
    expect(listed).toEqual([...symbols].sort());
    expect(await fixture.series.list('other')).toEqual([]);
  });

  test('series of five years of minutes with 50,000 gaps fits in two small items', async () => {
    const minute: SeriesKey = { ...HOUR, timeframe: '1m' };
    for (let at = Date.UTC(2020, 0); at < Date.UTC(2025, 0); ) {
      const next = new Date(at).setUTCMonth(new Date(at).getUTCMonth() + 1);
      // Every fiftieth minute is missing, and an hour of the tenth day.
      const times = range(0, (next - at) / 60_000).filter((i) => i % 50 !== 3 && (i < 14_400 || i > 14_459));
      const month = new Date(at).toISOString().slice(0, 7);
      const columns = Float64Array.from(times, (i) => at + i * 60_000);
      await fixture.series.record(minute, [describeMonth(month, columns, 60_000)], '2025-02-01T00:00:00Z');
      at = next;
    }
    const [info] = await fixture.series.list('sim');
    expect(info!.gap_count).toBeGreaterThan(50_000);
    expect(info!.gaps.filter((gap) => gap[1] >= 60)).toHaveLength(40);
    expect(info!.longest_omitted_gap).toBe(60);
    const item = async (exchange: string, name: string) => {
      const Key = { exchange, series: name };
      return (await fixture.engine.client.send(new GetCommand({ TableName: fixture.table, Key }))).Item;
    };
    const size = async (...key: [string, string]) => JSON.stringify(await item(...key)).length;
    expect(await size('sim', minute.symbol)).toBeLessThan(2_000);
    expect(await size('sim#months', `${minute.symbol}#1m`)).toBeLessThan(40_000);
  });

  test('concurrent writers keep every timeframe of a symbol', async () => {
    const at = '2025-02-01T00:00:00Z';
    await Promise.all(
      TIMEFRAMES.flatMap((timeframe) =>
        range(1, 6).map((count) => fixture.series.record({ ...HOUR, timeframe }, [monthOf(count)], at)),
      ),
    );
    const listed = await fixture.series.list('sim');
    expect(listed.map(({ timeframe, count }) => [timeframe, count])).toEqual(
      TIMEFRAMES.map((each) => [each, 5]),
    );
  });

  test('series record ignores an older month summary', async () => {
    const at = '2025-02-01T00:00:00Z';
    await fixture.series.record(HOUR, [monthOf(10)], at);
    expect((await fixture.series.record(HOUR, [monthOf(7)], at)).count).toBe(10);
    const counts = range(11, 25);
    await Promise.all(counts.map((count) => fixture.series.record(HOUR, [monthOf(count)], at)));
    expect((await fixture.series.list('sim'))[0]?.count).toBe(24);
    await expect(fixture.series.record({ ...HOUR, symbol: 'X/Y:Z' }, [], at)).rejects.toThrow('X/Y:Z#1h');
  });

  test('series store rejects an invalid item with the series and the field', async () => {
    const item = { exchange: 'sim', series: 'X', '1h': '{"schema_version":3}' };
    await fixture.engine.client.send(new PutCommand({ TableName: fixture.table, Item: item }));
    await expect(fixture.series.list('sim')).rejects.toMatchObject({
      code: 'SVC001',
      message: expect.stringMatching('X#1h.*first'),
    });
  });
});
