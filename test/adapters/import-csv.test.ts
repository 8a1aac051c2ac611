import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { DynamoSeriesStore } from '#adapters/aws/dynamo-series-store.ts';
import { type ImportResult, importFolder } from '#adapters/import/csv.ts';
import { contentOf } from '#adapters/import/file-name.ts';
import { FileObjectStore } from '#adapters/local/file-object-store.ts';
import { ParquetCandleStore } from '#adapters/parquet/candle-store.ts';
import { startEngine, type TestEngine } from '../support/engine.ts';

const HEADER = 'timestamp_ms,open,high,low,close,volume';
const T0 = Date.UTC(2025, 2, 1);
const MINUTES_5 = 300_000;
const root = mkdtempSync(join(tmpdir(), 'touchstone-import-'));
const FOREVER = Number.MAX_SAFE_INTEGER;

let engine: TestEngine;
let store: ParquetCandleStore;
let series: DynamoSeriesStore;
let folder: string;
let folders = 0;

beforeAll(async () => {
  engine = await startEngine();
});
afterAll(async () => {
  await engine?.stop();
  rmSync(root, { recursive: true, force: true });
});
beforeEach(async () => {
  folder = join(root, `in-${folders}`);
  mkdirSync(folder);
  series = new DynamoSeriesStore(engine.client, (await engine.freshTables()).series);
  const objects = new FileObjectStore(join(root, `out-${folders++}`));
  store = new ParquetCandleStore({ objects, series, clock: { now: () => T0 } });
});

const load = (path = folder) => importFolder(path, { store, exchange: 'binanceusdm' });

/** Rows of the 5m grid: `[row, open, high, low, close, volume]`. */
const lines = (...rows: number[][]) =>
  rows.map(([row, ...values]) => [T0 + row! * MINUTES_5, ...values].join(',')).join('\n');

function put(name: string, text: string): string {
  const path = join(folder, name);
  writeFileSync(path, name.endsWith('.gz') ? gzipSync(text) : text);
  return path;
}

describe('candles', () => {
  test.each([
    [
      'with a header',
      'BTC_USDT_USDT-5m.csv',
      `${HEADER}\n${lines([0, 1, 3, 0.5, 2, 10], [1, 2, 4, 2, 3, 0])}\n`,
    ],
    [
      'without one, and no end of line',
      'BTC_USDT_USDT-5m.csv',
      lines([0, 1, 3, 0.5, 2, 10], [1, 2, 4, 2, 3, 0]),
    ],
    ['gzipped', 'BTC_USDT_USDT-5m.csv.gz', `${HEADER}\n${lines([0, 1, 3, 0.5, 2, 10], [1, 2, 4, 2, 3, 0])}`],
    [
      'from Windows',
      'BTC_USDT_USDT-5m-futures.csv',
      `\ufeff${HEADER}\r\n${lines([0, 1, 3, 0.5, 2, 10], [1, 2, 4, 2, 3, 0]).replace('\n', '\r\n')}\r\n\r\n`,
    ],
  ])('a file %s is imported', async (_, name, text) => {
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
    };
    expect(await load()).toEqual([expected]);
    const read = await store.read(
      { exchange: 'binanceusdm', symbol: 'BTC/USDT:USDT', timeframe: '5m' },
      0,
      FOREVER,
    );
    expect(Object.values(read).map((column) => [...column])).toEqual([
      [T0, T0 + MINUTES_5],
      [1, 2],
      [3, 4],
      [0.5, 2],
      [2, 3],
      [10, 0],
    ]);
    expect(await load(file)).toEqual([expected]);
  });

  test('repeated times are merged, the later row winning, and holes are counted', async () => {
    put(
      'BTC_USDT_USDT-5m.csv',
      lines([0, 1, 1, 1, 1, 1], [0, 2, 2, 2, 2, 2], [3, 4, 4, 4, 4, 4], [4, 5, 5, 5, 5, 5]),
    );
    expect(await load()).toMatchObject([{ rows: 3, duplicates: 1, missing: 2 }]);
    const [info] = await series.list('binanceusdm');
    expect(info).toMatchObject({ count: 3, gaps: [{ start: '2025-03-01T00:05:00.000Z', missing: 2 }] });
    const read = await store.read(info!, 0, FOREVER);
    expect(read.open[0]).toBe(2);
  });

  test.each([
    [
      'times that go back',
      lines([1, 1, 1, 1, 1, 1], [0, 1, 1, 1, 1, 1]),
      /line 3: 2025-03-01T00:00:00.000Z comes after 2025-03-01T00:05/,
    ],
    [
      'a time off the grid',
      `${T0 + 1},1,1,1,1,1`,
      /line 2: 2025-03-01T00:00:00.001Z does not lie on the grid of 5m/,
    ],
    ['times in seconds', `${T0 / 1000},1,1,1,1,1`, /line 2: timestamp 1740787200 is not in milliseconds/],
    ['a high below the low', lines([0, 2, 1, 2, 2, 1]), /line 2: high 1 is below/],
    ['a high below the close', lines([0, 2, 2, 1, 3, 1]), /line 2: high 2 is below/],
    ['a low above the open', lines([0, 1, 4, 2, 3, 1]), /line 2: low 2 is above/],
    ['a price of zero', lines([0, 1, 4, 0, 3, 1]), /line 2: low 0 is not above 0/],
    ['a negative volume', lines([0, 1, 1, 1, 1, -1]), /line 2: volume -1 is negative/],
    ['a missing number', `${T0},1,1,,1,1`, /line 2: expected six numbers/],
    ['a word', `${T0},1,1,one,1,1`, /line 2: expected six numbers/],
    ['Infinity', `${T0},1,Infinity,1,1,1`, /line 2: expected six numbers/],
    ['too many cells', `${T0},1,1,1,1,1,1`, /line 2: expected six numbers/],
    ['no rows', '', /holds no rows/],
  ])('a file with %s fails and stores nothing, and the others are imported', async (_, body, reason) => {
    put('BTC_USDT_USDT-5m.csv', `${HEADER}\n${body}`);
    put('ETH_USDT_USDT-5m.csv', lines([0, 1, 1, 1, 1, 1]));
    const [bad, good] = await load();
    expect(bad).toMatchObject({ outcome: 'failed', reason: expect.stringMatching(reason) });
    expect(bad).toMatchObject({ reason: expect.stringMatching(/^BTC_USDT_USDT-5m\.csv[,:]/) });
    expect(good).toMatchObject({ outcome: 'imported', symbol: 'ETH/USDT:USDT' });
    expect((await series.list('binanceusdm')).map((info) => info.symbol)).toEqual(['ETH/USDT:USDT']);
  });

  test('another header, and a gzip file that is cut off, are said to be so', async () => {
    put('BTC_USDT_USDT-5m.csv', `open_time,open,high,low,close,volume\n${lines([0, 1, 1, 1, 1, 1])}`);
    const whole = gzipSync(lines(...Array.from({ length: 500 }, (_, i) => [i, 1, 1, 1, 1, Math.sin(i) + 1])));
    writeFileSync(join(folder, 'ETH_USDT_USDT-5m.csv.gz'), whole.subarray(0, 300));
    expect(await load()).toMatchObject([
      { outcome: 'failed', reason: `BTC_USDT_USDT-5m.csv, line 1: expected six numbers: ${HEADER}` },
      { outcome: 'failed', reason: 'ETH_USDT_USDT-5m.csv.gz: cannot be read: unexpected end of file' },
    ]);
  });

  test('rows over the edges of what is read at once stay whole', async () => {
    const rows = Array.from({ length: 20_000 }, (_, i) => [i, 1.5, 2.25, 1.125, 1.75, i]);
    put('BTC_USDT_USDT-5m.csv.gz', lines(...rows));
    expect(await load()).toMatchObject([{ rows: 20_000, missing: 0 }]);
    const read = await store.read(
      { exchange: 'binanceusdm', symbol: 'BTC/USDT:USDT', timeframe: '5m' },
      0,
      FOREVER,
    );
    expect([...read.volume]).toEqual(rows.map((row) => row[5]));
    expect(read.close.every((close) => close === 1.75)).toBe(true);
  });
});

describe('file names', () => {
  test.each([
    ['BTC_USDT_USDT-5m.csv', { kind: 'candles', symbol: 'BTC/USDT:USDT', timeframe: '5m' }],
    ['1000SHIB_USDT_USDT-1d.csv.gz', { kind: 'candles', symbol: '1000SHIB/USDT:USDT', timeframe: '1d' }],
    ['A_B_USD_BTC-4h-futures.csv', { kind: 'candles', symbol: 'A_B/USD:BTC', timeframe: '4h' }],
    ['BTC_USDT_USDT-8h-funding_rate.csv.gz', { kind: 'funding', symbol: 'BTC/USDT:USDT' }],
    ['BTC_USDT_USDT-1h-mark.csv', { kind: 'mark', symbol: 'BTC/USDT:USDT' }],
  ])('%s', (name, content) => expect(contentOf(name)).toEqual(content));

  test.each([
    ['README.md', 'not a CSV file'],
    ['BTC_USDT_USDT.csv', 'PAIR-TIMEFRAME.csv'],
    ['BTC_USDT_USDT-30m.csv', 'timeframe 30m is not one of 1m, 5m, 15m, 1h, 4h, 1d'],
    [
      'ETH_BTC-5m.csv.gz',
      'ETH_BTC names a spot pair; Touchstone trades perpetuals: symbol BASE/QUOTE:SETTLE',
    ],
    ['BTC-5m.csv', 'names a spot pair'],
  ])('%s is skipped', (name, reason) =>
    expect(contentOf(name)).toEqual({ kind: 'other', reason: expect.stringContaining(reason) }),
  );
});

describe('funding', () => {
  const HOURS_8 = 8 * 3_600_000;
  const at = (event: number, late = 0) => T0 + event * HOURS_8 + late;

  test('rates and mark prices of the same times become events', async () => {
    put(
      'BTC_USDT_USDT-8h-funding_rate.csv.gz',
      [`${at(0, 17)},0.0001,0,0,0,0`, `${at(1)},-0.0002,0,0,0,0`, `${at(3)},0.0003,0,0,0,0`].join('\n'),
    );
    put('BTC_USDT_USDT-8h-mark.csv', [0, 1, 2].map((i) => `${at(i)},${100 + i},200,50,150,0`).join('\n'));
    expect(await load()).toMatchObject([
      { outcome: 'imported', kind: 'funding', symbol: 'BTC/USDT:USDT', rows: 2, withoutMark: 1 },
    ]);
    const events = await store.readFunding('binanceusdm', 'BTC/USDT:USDT', 0, FOREVER - 1);
    expect([...events.timestamp]).toEqual([at(0), at(1)]);
    expect([...events.rate]).toEqual([0.0001, -0.0002]);
    expect([...events.markPrice]).toEqual([100, 101]);
  });

  test('either file alone is skipped with its reason', async () => {
    put('BTC_USDT_USDT-8h-funding_rate.csv', `${at(0)},0.0001,0,0,0,0`);
    put('ETH_USDT_USDT-8h-mark.csv', `${at(0)},1,1,1,1,0`);
    expect(await load()).toMatchObject([
      { outcome: 'skipped', reason: expect.stringContaining('no mark prices') },
      { outcome: 'skipped', reason: expect.stringContaining('without funding rates') },
    ]);
  });

  test('a price in place of a rate fails', async () => {
    put('BTC_USDT_USDT-8h-funding_rate.csv', `${at(0)},60000,0,0,0,0`);
    put('BTC_USDT_USDT-8h-mark.csv', `${at(0)},1,1,1,1,0`);
    expect(await load()).toMatchObject([
      { outcome: 'failed', reason: expect.stringContaining('not a ratio') },
    ]);
  });
});

test('folders in the folder are imported too, and progress is told', async () => {
  mkdirSync(join(folder, 'deeper'));
  put('BTC_USDT_USDT-5m.csv', lines([0, 1, 1, 1, 1, 1]));
  put('deeper/ETH_USDT_USDT-5m.csv', lines([0, 1, 1, 1, 1, 1]));
  put('notes.txt', 'x');
  const told: unknown[] = [];
  const results = await importFolder(folder, {
    store,
    exchange: 'sim',
    onFile: (result) => told.push(result),
    onProgress: (done, total) => told.push(`${done}/${total}`),
  });
  expect(results.map((result) => result.outcome)).toEqual(['imported', 'imported', 'skipped']);
  expect(told).toEqual([results[0], '1/3', results[1], '2/3', results[2], '3/3']);
  await expect(load(join(folder, 'absent'))).rejects.toMatchObject({ code: 'ENOENT' });
});

const REAL = join(import.meta.dirname, '../../../shared/data');
if (!existsSync(REAL)) console.warn('Skipped: the import of real candles needs ../shared/data.');

test.skipIf(!existsSync(REAL))('real perpetuals are imported as their README describes them', async () => {
  const results = await load(join(REAL, 'candles'));
  const name = (result: ImportResult) => result.file.split('/').at(-1)!.replace('.csv.gz', '');
  const imported = results.flatMap((result) =>
    result.outcome === 'imported' ? [`${name(result)} ${result.rows} ${result.first}`] : [],
  );
  expect(imported).toHaveLength(19);
  expect(imported).toEqual(
    expect.arrayContaining([
      'BTC_USDT_USDT-5m 10906 2025-03-06T10:30:00.000Z',
      'ETH_USDT_USDT-1m 60191 2025-05-04T15:33:00.000Z',
      'BNB_USDT_USDT-15m 3635 2025-03-06T10:30:00.000Z',
      'SOL_USDT_USDT-1h 719 2025-03-06T11:00:00.000Z',
      'BTC_USDT_USDT-1d 29 2025-03-17T00:00:00.000Z',
      'ADA_USDT_USDT-1m 1440 2022-12-13T00:00:00.000Z',
      'XRP_USDT_USDT-5m 1999 2021-11-15T00:00:00.000Z',
    ]),
  );
  const skipped = results.filter((result) => result.outcome === 'skipped').map(name);
  expect(skipped).toEqual(
    expect.arrayContaining(['ETH_USDT_USDT-30m', 'ETH_BTC-5m', 'XRP_ETH-1m', 'BTC_USD-1d', 'BTC_USD-1m']),
  );
  expect(results.filter((result) => result.outcome === 'failed')).toEqual([]);
  expect(imported.length + skipped.length).toBe(results.length);

  const funding = await load(join(REAL, 'futures-funding'));
  expect(funding.map((result) => result.outcome === 'imported' && `${name(result)} ${result.rows}`)).toEqual([
    'BNB_USDT_USDT-8h-funding_rate 266',
    'BTC_USDT_USDT-8h-funding_rate 266',
    'ETH_USDT_USDT-8h-funding_rate 302',
    'SOL_USDT_USDT-8h-funding_rate 266',
    'XRP_USDT_USDT-8h-funding_rate 91',
  ]);
});
