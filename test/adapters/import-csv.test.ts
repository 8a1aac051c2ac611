import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import type { ImportResult } from '#adapters/import/store-series.ts';
import { csvRows, importFixture, MINUTES_5, NOW, T0 } from './import-fixture.ts';

const HEADER = 'timestamp_ms,open,high,low,close,volume';
const fixture = importFixture();
const { put, load, stored } = fixture;

describe('CSV import', () => {
  const rows = csvRows([0, 1, 3, 0.5, 2, 10], [1, 2, 4, 2, 3, 0]);
  test.each([
    ['with a header', 'BTC_USDT_USDT-5m.csv', `${HEADER}\n${rows}\n`],
    ['without one, and no end of line', 'BTC_USDT_USDT-5m.csv', rows],
    ['with a header in capitals', 'BTC_USDT_USDT-5m.csv', `Date,Open,High,Low,Close,Volume\n${rows}`],
    ['gzipped', 'BTC_USDT_USDT-5m.csv.gz', `${HEADER}\n${rows}`],
    [
      'from Windows',
      'BTC_USDT_USDT-5m-futures.csv',
      `\ufeff${HEADER.replace('timestamp_ms', 'date')}\r\n${rows.replace('\n', '\r\n')}\r\n\r\n`,
    ],
  ])('CSV file %s is imported', async (_, name, text) => {
    const file = put(name, text);
    const expected: ImportResult = {
      outcome: 'imported',
      file,
      kind: 'candles',
      exchange: 'binanceusdm',
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

  test('import error states a missing column or a truncated gzip file', async () => {
    put('BTC_USDT_USDT-5m.csv', `open_time,open,high,floor,close,volume\n${csvRows([0, 1, 1, 1, 1, 1])}`);
    const whole = gzipSync(
      csvRows(...Array.from({ length: 500 }, (_, i) => [i, 1, 1, 1, 1, Math.sin(i) + 1])),
    );
    writeFileSync(join(fixture.folder, 'ETH_USDT_USDT-5m.csv.gz'), whole.subarray(0, 300));
    expect(await load()).toMatchObject([
      {
        outcome: 'failed',
        reason:
          'has no column for low: the columns are open_time, open, high, floor, close, volume. Name the missing ones: --columns low=NAME',
      },
      { outcome: 'failed', reason: 'is truncated' },
    ]);
  });

  test('CSV rows across read chunks stay complete', async () => {
    const values = Array.from({ length: 20_000 }, (_, i) => [i, 1.5, 2.25, 1.125, 1.75, i]);
    put('BTC_USDT_USDT-5m.csv.gz', csvRows(...values));
    expect(await load()).toMatchObject([{ rows: 20_000, missing: 0 }]);
    const { volume, close } = await stored('5m');
    expect(volume).toEqual(values.map((row) => row[5]));
    expect(close!.every((value) => value === 1.75)).toBe(true);
  });

  test.each([
    ['exponents and signs', '1e5,1.5E5,+9.9e4,.12e6,0', [1e5, 1.5e5, 9.9e4, 1.2e5, 0]],
    ['spaces, and points without digits', ' 2 , 4.,1.,3. ,\t5', [2, 4, 1, 3, 5]],
  ])('CSV import accepts %s as numbers', async (_, values, [open, high, low, close, volume]) => {
    put('BTC_USDT_USDT-5m.csv', `${T0},${values}`);
    expect(await load()).toMatchObject([{ outcome: 'imported', notes: [] }]);
    expect(await stored('5m')).toEqual({
      timestamp: [T0],
      open: [open],
      high: [high],
      low: [low],
      close: [close],
      volume: [volume],
    });
  });

  test.each([
    ['seconds', T0 / 1000, (T0 + MINUTES_5) / 1000, ['times are in seconds']],
    ['microseconds', T0 * 1000, (T0 + MINUTES_5) * 1000, ['times are in microseconds']],
    ['nanoseconds', `${T0}000000`, `${T0 + MINUTES_5}000000`, ['times are in nanoseconds']],
    ['ISO 8601', '2025-03-01T00:00:00.000Z', '2025-03-01T00:05:00.000Z', []],
    ['ISO 8601 without a zone', '2025-03-01', '2025-03-01 00:05', []],
    ['ISO 8601 as pandas writes it', '2025-03-01 00:00:00+00:00', '2025-03-01 00:05:00+00:00', []],
    ['ISO 8601 of another zone', '2025-03-01T05:30+0530', '2025-02-28T23:05:00-01:00', []],
    ['dates in the order of Germany', '01.03.2025 00:00', '01.03.2025 00:05', []],
    ['dates in the order of the United States', '3/1/2025 12:00 AM', '3/1/2025 12:05 AM', []],
    ['dates with names of months', '1-Mar-2025', '"Mar 1, 2025 00:05:00"', []],
    ['digits', '20250301', '202503010005', []],
    [
      'two units of joined files',
      T0 / 1_000,
      T0 + MINUTES_5,
      ['times are in seconds, from 2025-03-01T00:05:00.000Z in milliseconds'],
    ],
  ])('CSV import accepts times as %s', async (_, first, second, notes) => {
    put('BTC_USDT_USDT-5m.csv', `date,open,high,low,close,volume\n${first},1,1,1,1,1\n${second},1,1,1,1,1`);
    expect(await load()).toMatchObject([{ outcome: 'imported', rows: 2, notes }]);
    expect((await stored('5m')).timestamp).toEqual([T0, T0 + MINUTES_5]);
  });

  test('import error distinguishes an empty file, a file without gzip data and corrupt gzip data', async () => {
    put('A_USDT_USDT-5m.csv', '');
    const one = csvRows([0, 1, 1, 1, 1, 1]);
    writeFileSync(join(fixture.folder, 'B_USDT_USDT-5m.csv.gz'), '');
    writeFileSync(join(fixture.folder, 'C_USDT_USDT-5m.csv.gz'), one);
    const corrupt = gzipSync(one);
    corrupt[corrupt.length - 7]! ^= 1;
    writeFileSync(join(fixture.folder, 'D_USDT_USDT-5m.csv.gz'), corrupt);
    const notGzip = 'is not gzipped, or its gzip compressed data is corrupt';
    expect((await load()).map((result) => 'reason' in result && result.reason)).toEqual([
      'is empty',
      'is empty',
      notGzip,
      notGzip,
    ]);
  });

  test('CSV in UTF-16, as some shells write it, is imported', async () => {
    const text = `\ufeff${csvRows([0, 1, 1, 1, 1, 1])}`;
    writeFileSync(join(fixture.folder, 'A_USDT_USDT-5m.csv'), Buffer.from(text, 'utf16le'));
    writeFileSync(join(fixture.folder, 'B_USDT_USDT-5m.csv'), Buffer.from(text, 'utf16le').swap16());
    expect(await load()).toMatchObject([
      { outcome: 'imported', rows: 1 },
      { outcome: 'imported', rows: 1 },
    ]);
  });

  test('import rejects a line without end before it fills the memory', async () => {
    put('BTC_USDT_USDT-5m.csv.gz', '1'.repeat(10_000_000));
    expect(await load()).toMatchObject([{ outcome: 'failed', reason: 'is not CSV: a line has no end' }]);
  });
});

describe('CSV file with invalid rows', () => {
  test.each([
    [
      'a time off the grid',
      `${T0 + 1},1,1,1,1,1`,
      /^line 2: 2025-03-01T00:00:00.001Z is not on the 5m grid. --skip-invalid/,
    ],
    ['a time in an unknown unit', '17,1,1,1,1,1', /^line 2: the time is not in milliseconds. --skip-invalid/],
    [
      'a future time in microseconds',
      `${(NOW + MINUTES_5) * 1000},1,1,1,1,1`,
      /is in the future. --skip-invalid/,
    ],
    ['a date that does not exist', '2025-13-01 00:00,1,1,1,1,1', /^line 2: the time is "2025-13-01 00:00"/],
    [
      'a future time',
      `${NOW + MINUTES_5},1,1,1,1,1`,
      /^line 2: 2026-01-01T00:05:00.000Z is in the future. --skip-invalid/,
    ],
    ['a high below the low', csvRows([0, 2, 1, 2, 2, 1]), /^line 2: high 1 is below/],
    ['a high below the close', csvRows([0, 2, 2, 1, 3, 1]), /^line 2: high 2 is below/],
    ['a low above the open', csvRows([0, 1, 4, 2, 3, 1]), /^line 2: low 2 is above/],
    ['a price of zero', csvRows([0, 1, 4, 0, 3, 1]), /^line 2: low 0 is not above 0. --skip-invalid/],
    ['a negative volume', csvRows([0, 1, 1, 1, 1, -1]), /^line 2: volume -1 is negative/],
    ['an infinite volume', `${T0},1,1,1,1,Infinity`, /^line 2: volume is "Infinity": expected a number/],
    ['a number above the double range', `${T0},1,1,1,1,1e400`, /^line 2: volume is "1e400"/],
    ['a hexadecimal number', `${csvRows([0, 1, 1, 1, 1, 1])}\n${T0},1,1,1,0x1,1`, /^line 3: close is "0x1"/],
    ['a binary number', `${T0},1,1,1,0b1,1`, /^line 2: close is "0b1"/],
    ['an octal number', `${T0},1,1,1,1,0o17`, /^line 2: volume is "0o17"/],
    ['not a number', `${T0},nan,1,1,1,1`, /^line 2: a price is missing/],
    ['a quote that is not closed', `${T0},1,1,1,1,1\n${T0},"1,1,1,1,1`, /^line 3 has a quote that/],
    ['two numbers in one cell', `${T0},1 1,1,1,1,1`, /^line 2: open is "1 1"/],
    ['a truncated last line', `${csvRows([0, 1, 1, 1, 1, 1])}\n${T0},1,1`, /^line 3 has 3 values/],
    ['semicolons', `${T0};1;1;1;1;1`, /^holds no rows$/],
    ['a missing price', `${T0},1,1,,1,1`, /^line 2: a price is missing. --skip-invalid/],
    ['a missing time', ',1,1,1,1,1', /^line 2: the time is missing. --skip-invalid/],
    ['a word', `${T0},1,1,one,1,1`, /^line 2: low is "one"/],
    ['Infinity', `${T0},1,Infinity,1,1,1`, /^line 2: high is "Infinity"/],
    ['too many cells', `${T0},1,1,1,1,1,1`, /^line 2 has 7 values/],
    ['a cut row after an empty line', `${csvRows([0, 1, 1, 1, 1, 1])}\n\n1`, /^line 4 has 1 values/],
    ['no rows', '', /^holds no rows$/],
    [
      'several wrong rows',
      csvRows([0, 1, 1, 1, 1, 1], [1, 2, 1, 2, 2, 1], [2, 1, 1, 1, 1, 1], [3, 1, 4, 0, 3, 1]),
      /^line 3: high 1 is below open, low or close \(2 wrong rows in all\). --skip-invalid/,
    ],
  ])('import rejects a CSV file with %s and imports the others', async (_, body, reason) => {
    put('BTC_USDT_USDT-5m.csv', `${HEADER}\n${body}`);
    put('ETH_USDT_USDT-5m.csv', csvRows([0, 1, 1, 1, 1, 1]));
    const [bad, good] = await load();
    expect(bad).toMatchObject({ outcome: 'failed', reason: expect.stringMatching(reason) });
    expect(good).toMatchObject({ outcome: 'imported', symbol: 'ETH/USDT:USDT' });
    expect((await fixture.series.list('binanceusdm')).map((info) => info.symbol)).toEqual(['ETH/USDT:USDT']);
  });
});

describe('CSV corrections', () => {
  test('repeated times merge into one candle like in freqtrade, and gaps are counted', async () => {
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
    const [info] = await fixture.series.list('binanceusdm');
    expect(info).toMatchObject({ count: 3 });
    const { open, high, low, close, volume } = await stored('5m');
    expect([open![0], high![0], low![0], close![0], volume![0]]).toEqual([2, 9, 1, 5, 10]);
  });

  test('candles of a longer timeframe than in the name of the file are noted', async () => {
    const rows = (count: number, step: number) =>
      csvRows(...Array.from({ length: count }, (_, i) => [i * step, 1, 1, 1, 1, 1]));
    put('A_USDT_USDT-5m.csv', rows(10, 3));
    put('B_USDT_USDT-5m.csv', rows(9, 3));
    put('C_USDT_USDT-5m.csv', rows(10, 1));
    expect(await load()).toMatchObject([
      { notes: ['every candle is on the 15m grid: check that the file does not hold 15m'] },
      { notes: [] },
      { notes: [] },
    ]);
  });

  test('unordered rows are sorted and keep the file order within a time', async () => {
    put(
      'BTC_USDT_USDT-5m.csv',
      csvRows([2, 3, 3, 3, 3, 3], [0, 1, 1, 1, 1, 1], [2, 4, 4, 4, 4, 4], [1, 2, 2, 2, 2, 2]),
    );
    expect(await load()).toMatchObject([
      { rows: 3, duplicates: 1, missing: 0, notes: ['rows were not in time order: sorted'] },
    ]);
    expect(await stored('5m')).toMatchObject({
      timestamp: [T0, T0 + MINUTES_5, T0 + 2 * MINUTES_5],
      open: [1, 2, 3],
      close: [1, 2, 4],
      volume: [1, 2, 4],
    });
  });

  test('missing volume becomes 0', async () => {
    put('BTC_USDT_USDT-5m.csv', `${T0},1,1,1,1,\n${T0 + MINUTES_5},1,1,1,1,3`);
    expect(await load()).toMatchObject([{ notes: ['volume missing in 1 rows: set to 0'] }]);
    expect((await stored('5m')).volume).toEqual([0, 3]);
  });

  test('import omits the candle that is still open', async () => {
    const clock = { now: () => T0 + 2 * MINUTES_5 - 1 };
    put('BTC_USDT_USDT-5m.csv', csvRows([0, 1, 1, 1, 1, 1], [1, 1, 1, 1, 1, 1]));
    put('ETH_USDT_USDT-5m.csv', csvRows([1, 1, 1, 1, 1, 1]));
    expect(await load(fixture.folder, { clock })).toMatchObject([
      { rows: 1, notes: ['the last candle is still open: left out'] },
      { outcome: 'failed', reason: 'holds no closed candle' },
    ]);
    expect((await stored('5m')).timestamp).toEqual([T0]);
    clock.now = () => T0 + 2 * MINUTES_5;
    expect(await load(fixture.folder, { clock })).toMatchObject([{ rows: 2, notes: [] }, { rows: 1 }]);
  });
});
