import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import type { ImportResult } from '#adapters/import/import-files.ts';
import { csvRows, importWorld, MINUTES_5, NOW, T0 } from './import-world.ts';

const HEADER = 'timestamp_ms,open,high,low,close,volume';
const world = importWorld();
const { put, load, stored } = world;

describe('a CSV file', () => {
  const rows = csvRows([0, 1, 3, 0.5, 2, 10], [1, 2, 4, 2, 3, 0]);
  test.each([
    ['with a header', 'BTC_USDT_USDT-5m.csv', `${HEADER}\n${rows}\n`],
    ['without one, and no end of line', 'BTC_USDT_USDT-5m.csv', rows],
    ['gzipped', 'BTC_USDT_USDT-5m.csv.gz', `${HEADER}\n${rows}`],
    [
      'from Windows',
      'BTC_USDT_USDT-5m-futures.csv',
      `\ufeff${HEADER.replace('timestamp_ms', 'date')}\r\n${rows.replace('\n', '\r\n')}\r\n\r\n`,
    ],
  ])('%s is imported', async (_, name, text) => {
    const file = put(name, text);
    const expected: ImportResult = {
      outcome: 'imported',
      file,
      kind: 'candles',
      symbol: 'BTC/USDT:USDT',
      timeframe: '5m',
      rows: 2,
      duplicates: 0,
      missing: 0,
      first: '2025-03-01T00:00:00.000Z',
      last: '2025-03-01T00:05:00.000Z',
      notes: [],
    };
    expect(await load()).toEqual([expected]);
    expect(await stored('5m')).toEqual({
      timestamp: [T0, T0 + MINUTES_5],
      open: [1, 2],
      high: [3, 4],
      low: [0.5, 2],
      close: [2, 3],
      volume: [10, 0],
    });
    expect(await load(file)).toEqual([expected]);
  });

  test('another header, and a gzip file that is cut off, are said to be so', async () => {
    put('BTC_USDT_USDT-5m.csv', `open_time,open,high,low,close,volume\n${csvRows([0, 1, 1, 1, 1, 1])}`);
    const whole = gzipSync(
      csvRows(...Array.from({ length: 500 }, (_, i) => [i, 1, 1, 1, 1, Math.sin(i) + 1])),
    );
    writeFileSync(join(world.folder, 'ETH_USDT_USDT-5m.csv.gz'), whole.subarray(0, 300));
    expect(await load()).toMatchObject([
      {
        outcome: 'failed',
        reason: 'line 1: expected 6 numbers: timestamp,open,high,low,close,volume',
      },
      { outcome: 'failed', reason: 'cannot be read: unexpected end of file' },
    ]);
  });

  test('rows over the edges of what is read at once stay whole', async () => {
    const values = Array.from({ length: 20_000 }, (_, i) => [i, 1.5, 2.25, 1.125, 1.75, i]);
    put('BTC_USDT_USDT-5m.csv.gz', csvRows(...values));
    expect(await load()).toMatchObject([{ rows: 20_000, missing: 0 }]);
    const { volume, close } = await stored('5m');
    expect(volume).toEqual(values.map((row) => row[5]));
    expect(close!.every((value) => value === 1.75)).toBe(true);
  });

  test('a line without end is given up before it fills the memory', async () => {
    put('BTC_USDT_USDT-5m.csv.gz', '1'.repeat(10_000_000));
    expect(await load()).toMatchObject([{ outcome: 'failed', reason: 'is not CSV: a line has no end' }]);
  });
});

describe('a file with wrong rows fails and stores nothing, and the others are imported', () => {
  test.each([
    [
      'a time off the grid',
      `${T0 + 1},1,1,1,1,1`,
      /^line 2: 2025-03-01T00:00:00.001Z does not lie on the grid of 5m$/,
    ],
    ['times in seconds', `${T0 / 1000},1,1,1,1,1`, /^line 2: timestamp 1740787200 is not in milliseconds$/],
    [
      'a time to come',
      `${NOW + MINUTES_5},1,1,1,1,1`,
      /^line 2: 2026-01-01T00:05:00.000Z lies in the future$/,
    ],
    ['a high below the low', csvRows([0, 2, 1, 2, 2, 1]), /^line 2: high 1 is below/],
    ['a high below the close', csvRows([0, 2, 2, 1, 3, 1]), /^line 2: high 2 is below/],
    ['a low above the open', csvRows([0, 1, 4, 2, 3, 1]), /^line 2: low 2 is above/],
    ['a price of zero', csvRows([0, 1, 4, 0, 3, 1]), /^line 2: low 0 is not above 0$/],
    ['a negative volume', csvRows([0, 1, 1, 1, 1, -1]), /^line 2: volume -1 is negative/],
    ['an infinite volume', `${T0},1,1,1,1,Infinity`, /^line 2: volume Infinity is negative or not finite$/],
    ['a missing price', `${T0},1,1,,1,1`, /^line 2: a price is missing$/],
    ['a missing time', ',1,1,1,1,1', /^line 2: the time is missing$/],
    ['a word', `${T0},1,1,one,1,1`, /^line 2: expected 6 numbers/],
    ['Infinity', `${T0},1,Infinity,1,1,1`, /^line 2: high is not finite$/],
    ['too many cells', `${T0},1,1,1,1,1,1`, /^line 2: expected 6 numbers/],
    ['rows after an empty line', `${csvRows([0, 1, 1, 1, 1, 1])}\n\n1`, /^line 4: expected 6 numbers/],
    ['no rows', '', /^holds no rows$/],
    [
      'several wrong rows',
      csvRows([0, 1, 1, 1, 1, 1], [1, 2, 1, 2, 2, 1], [2, 1, 1, 1, 1, 1], [3, 1, 4, 0, 3, 1]),
      /^line 3: high 1 is below open, low or close \(2 wrong rows in all\)$/,
    ],
  ])('%s', async (_, body, reason) => {
    put('BTC_USDT_USDT-5m.csv', `${HEADER}\n${body}`);
    put('ETH_USDT_USDT-5m.csv', csvRows([0, 1, 1, 1, 1, 1]));
    const [bad, good] = await load();
    expect(bad).toMatchObject({ outcome: 'failed', reason: expect.stringMatching(reason) });
    expect(good).toMatchObject({ outcome: 'imported', symbol: 'ETH/USDT:USDT' });
    expect((await world.series.list('binanceusdm')).map((info) => info.symbol)).toEqual(['ETH/USDT:USDT']);
  });
});

describe('what is put right', () => {
  test('repeated times become one candle as in freqtrade, and holes are counted', async () => {
    put(
      'BTC_USDT_USDT-5m.csv',
      csvRows(
        [0, 2, 5, 1, 3, 10],
        [0, 3, 4, 2, 4, 7],
        [0, 9, 9, 3, 5, 8],
        [3, 4, 4, 4, 4, 4],
        [4, 5, 5, 5, 5, 5],
      ),
    );
    expect(await load()).toMatchObject([{ rows: 3, duplicates: 2, missing: 2, notes: [] }]);
    const [info] = await world.series.list('binanceusdm');
    expect(info).toMatchObject({ count: 3, gaps: [{ start: '2025-03-01T00:05:00.000Z', missing: 2 }] });
    const { open, high, low, close, volume } = await stored('5m');
    expect([open![0], high![0], low![0], close![0], volume![0]]).toEqual([2, 9, 1, 5, 10]);
  });

  test('rows out of order are sorted, those of one time in the order of the file', async () => {
    put(
      'BTC_USDT_USDT-5m.csv',
      csvRows([2, 3, 3, 3, 3, 3], [0, 1, 1, 1, 1, 1], [2, 4, 4, 4, 4, 4], [1, 2, 2, 2, 2, 2]),
    );
    expect(await load()).toMatchObject([
      { rows: 3, duplicates: 1, missing: 0, notes: ['rows were not in the order of time: sorted'] },
    ]);
    expect(await stored('5m')).toMatchObject({
      timestamp: [T0, T0 + MINUTES_5, T0 + 2 * MINUTES_5],
      open: [1, 2, 3],
      close: [1, 2, 4],
      volume: [1, 2, 4],
    });
  });

  test('an absent volume is 0', async () => {
    put('BTC_USDT_USDT-5m.csv', `${T0},1,1,1,1,\n${T0 + MINUTES_5},1,1,1,1,3`);
    expect(await load()).toMatchObject([{ notes: ['volume missing in 1 rows: taken as 0'] }]);
    expect((await stored('5m')).volume).toEqual([0, 3]);
  });

  test('a candle that is still open is left out', async () => {
    const clock = { now: () => T0 + 2 * MINUTES_5 - 1 };
    put('BTC_USDT_USDT-5m.csv', csvRows([0, 1, 1, 1, 1, 1], [1, 1, 1, 1, 1, 1]));
    put('ETH_USDT_USDT-5m.csv', csvRows([1, 1, 1, 1, 1, 1]));
    expect(await load(world.folder, { clock })).toMatchObject([
      { rows: 1, notes: ['the last candle is still open: left out'] },
      { outcome: 'failed', reason: 'holds no closed candle' },
    ]);
    expect((await stored('5m')).timestamp).toEqual([T0]);
    clock.now = () => T0 + 2 * MINUTES_5;
    expect(await load(world.folder, { clock })).toMatchObject([{ rows: 2, notes: [] }, { rows: 1 }]);
  });
});
