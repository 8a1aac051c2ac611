import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import {
  Dictionary,
  Float16,
  Float32,
  Int32,
  Int64,
  makeData,
  makeVector,
  TimestampMillisecond,
  Utf8,
  vectorFromArray,
} from 'apache-arrow';
import { describe, expect, test } from 'vitest';
import { FileReader } from '#adapters/import/formats/file-reader.ts';
import { CANDLE_COLUMNS } from '#engine/candles.ts';
import { FIXTURES, importFixture, MINUTES_5, T0 } from './import-fixture.ts';
import {
  column,
  columns,
  feather,
  flipped,
  loadWithValidFiles,
  nanoseconds,
  pandasFiles,
  parquetOf,
  rows,
} from './import-formats-fixture.ts';

const fixture = importFixture();
const { put, load, stored } = fixture;

const candles = Object.fromEntries(CANDLE_COLUMNS.map((name, index) => [name, column(index)]));
/** Like {@link candles}, with a volume in every third row only. */
const sparse = { ...candles, volume: candles.volume!.map((volume, i) => (i % 3 === 0 ? volume : 0)) };
const without = { ...candles, volume: candles.volume!.map(() => 0) };

const EXPECTED = {
  'gzip-us-nulls.parquet': [without, ['volume missing in 200 rows: set to 0']],
  'lz4-batches-us.feather': [candles, []],
  'lz4-s-nulls.feather': [sparse, ['volume missing in 133 rows: set to 0']],
  'lz4.feather': [candles, []],
  'snappy.parquet': [candles, []],
  'zstd-more-columns.parquet': [candles, []],
  'zstd-ms-naive.feather': [candles, []],
  'zstd.feather': [candles, []],
} as const;

const candleFiles = (folder: string) =>
  readdirSync(folder).filter((name) => /\.(feather|parquet)$/.test(name));

const importAs = (path: string) => {
  const ending = path.slice(path.lastIndexOf('.'));
  copyFileSync(path, join(fixture.folder, `BTC_USDT_USDT-5m-futures${ending}`));
  return load();
};

describe('files written by pandas', () => {
  test('fixtures folder contains exactly the expected files', () =>
    expect(candleFiles(FIXTURES)).toEqual(Object.keys(EXPECTED)));

  test.each(Object.entries(EXPECTED))('import reads the pandas file %s', async (name, [expected, notes]) => {
    expect(await importAs(join(FIXTURES, name))).toMatchObject([
      { outcome: 'imported', kind: 'candles', rows: 200, duplicates: 0, missing: 0, notes },
    ]);
    expect(await stored('5m')).toEqual(expected);
  });

  test('Feather fixtures are compressed with the codec in their name', () => {
    const magic = { lz4: '04224d18', zstd: '28b52ffd' };
    for (const name of candleFiles(FIXTURES).filter((file) => file.endsWith('.feather'))) {
      const codec = name.startsWith('lz4') ? 'lz4' : 'zstd';
      expect(readFileSync(join(FIXTURES, name)).includes(magic[codec], 0, 'hex'), name).toBe(true);
    }
  });

  const python = hasPython();
  if (!python) console.warn('Skipped: files fresh from pandas need python3 with pandas, pyarrow and lz4.');
  test.skipIf(!python)(
    'import reads files freshly written by the installed pandas',
    async () => {
      const made = mkdtempSync(join(tmpdir(), 'touchstone-pandas-'));
      try {
        execFileSync('python3', [join(FIXTURES, 'make.py'), made]);
        for (const [name, [expected]] of Object.entries(EXPECTED)) {
          for (const file of readdirSync(fixture.folder)) rmSync(join(fixture.folder, file));
          expect(await importAs(join(made, name)), name).toMatchObject([{ outcome: 'imported', rows: 200 }]);
          expect(await stored('5m'), name).toEqual({ ...expected });
        }
      } finally {
        rmSync(made, { recursive: true });
      }
    },
    60_000,
  );
});

describe('columns of other types', () => {
  test.each([
    ['integer milliseconds', { date: vectorFromArray(column(0).map(BigInt), new Int64()) }],
    ['integer volumes', { volume: vectorFromArray(column(5).map(BigInt), new Int64()) }],
    [
      'times as text in a dictionary',
      {
        date: vectorFromArray(
          column(0).map((time) => new Date(time).toISOString()),
          new Dictionary(new Utf8(), new Int32()),
        ),
      },
    ],
    ['prices as text', { close: vectorFromArray(column(4).map(String), new Utf8()) }],
    ['single-precision numbers', { close: vectorFromArray(column(4), new Float32()) }],
    [
      'an additional column',
      {
        count: vectorFromArray(
          rows.map(() => 'x'),
          new Utf8(),
        ),
      },
    ],
  ])('import accepts %s', async (_, others) => {
    put('BTC_USDT_USDT-5m-futures.feather', feather({ ...columns(), ...others }));
    expect(await load()).toMatchObject([{ outcome: 'imported', notes: [] }]);
    expect(await stored('5m')).toEqual(candles);
  });

  test('import accepts half-precision numbers', async () => {
    const flat = (bits: number) =>
      makeVector(makeData({ type: new Float16(), data: new Uint16Array(rows.length).fill(bits) }));
    const date = vectorFromArray(column(0), new TimestampMillisecond());
    // 101.5, 1024, 2^-20 (below the smallest normal number) and 3 by IEEE 754.
    const prices = { open: flat(0x5658), high: flat(0x6400), low: flat(0x0010), close: flat(0x0010) };
    put('BTC_USDT_USDT-5m-futures.feather', feather({ date, ...prices, volume: flat(0x4200) }));
    expect(await load()).toMatchObject([{ outcome: 'imported', notes: [] }]);
    const { open, high, low } = await stored('5m');
    expect([open![0], high![0], low![0]]).toEqual([101.5, 1_024, 2 ** -20]);
  });

  test('import accepts the time column name timestamp', async () => {
    const { date, ...others } = columns();
    put('BTC_USDT_USDT-5m-futures.feather', feather({ timestamp: date, ...others }));
    expect(await load()).toMatchObject([{ outcome: 'imported' }]);
  });

  test('import accepts integer times in seconds', async () => {
    const seconds = vectorFromArray(
      column(0).map((time) => BigInt(time / 1000)),
      new Int64(),
    );
    put('BTC_USDT_USDT-5m-futures.feather', feather({ ...columns(), date: seconds }));
    expect(await load()).toMatchObject([{ outcome: 'imported', notes: ['times are in seconds'] }]);
    expect(await stored('5m')).toEqual(candles);
  });

  test('import rejects big-endian numbers', async () => {
    const swapped = BigInt64Array.from(column(0), (time) => BigInt(time) * 1_000_000n);
    Buffer.from(swapped.buffer).swap64();
    put('BTC_USDT_USDT-5m-futures.feather', feather({ ...columns(), date: nanoseconds([...swapped]) }));
    expect(await load()).toMatchObject([
      { outcome: 'failed', reason: expect.stringMatching(/^row 1: .*200 wrong rows in all/) },
    ]);
  });

  test('import moves a time between two milliseconds back to the grid, and says so', async () => {
    const late = nanoseconds(column(0).map((time, i) => BigInt(time) * 1_000_000n + (i === 7 ? 1_000n : 0n)));
    put('BTC_USDT_USDT-5m-futures.feather', feather({ ...columns(), date: late }));
    expect(await load()).toMatchObject([
      { outcome: 'imported', notes: [expect.stringMatching(/^1 candle off the grid, from .*: moved back/)] },
    ]);
  });
});

describe('Parquet stored by Touchstone', () => {
  const months = 'candles/exchange=binanceusdm/symbol=BTC_USDT_USDT/timeframe=5m';

  test("import reads Parquet from Touchstone's folders", async () => {
    put(`${months}/2025-03.parquet`, parquetOf(CANDLE_COLUMNS));
    expect(await load()).toMatchObject([{ outcome: 'imported', symbol: 'BTC/USDT:USDT', rows: 200 }]);
    expect(await stored('5m')).toEqual(candles);
  });
});

describe('JSON import', () => {
  const spaced = JSON.stringify(rows, null, 2);
  test.each([
    ['as freqtrade writes it', 'json', JSON.stringify(rows)],
    ['gzipped', 'json.gz', JSON.stringify(rows)],
    ['with spaces, and a byte order mark', 'json', `\ufeff \n${spaced}\n`],
  ])('import reads JSON %s', async (_, ending, text) => {
    put(`BTC_USDT_USDT-5m-futures.${ending}`, text);
    expect(await load()).toMatchObject([{ outcome: 'imported', rows: 200, notes: [] }]);
    expect(await stored('5m')).toEqual(candles);
  });

  test('null volumes in JSON become 0', async () => {
    const nulls = rows.map(([time, ...prices], i) => [
      time,
      ...prices.slice(0, 4),
      i % 3 === 0 ? prices[4] : null,
    ]);
    put('BTC_USDT_USDT-5m-futures.json', JSON.stringify(nulls));
    expect(await load()).toMatchObject([{ notes: ['volume missing in 133 rows: set to 0'] }]);
    expect(await stored('5m')).toEqual(sparse);
  });

  test('import reads a JSON file of 30,000 rows across read chunks', async () => {
    const many = Array.from({ length: 30_000 }, (_, i) => [T0 + i * 60_000, 1.5, 2.5, 0.5, 1.25, i]);
    put('BTC_USDT_USDT-1m-futures.json.gz', JSON.stringify(many));
    expect(await load()).toMatchObject([{ rows: 30_000, missing: 0 }]);
    expect((await stored('1m')).volume).toEqual(many.map((row) => row[5]));
  });

  test.each([
    ['an object', '{"a": [1]}', 'holds no candles'],
    ['records without prices', '[{"date": 1}]', 'has no column for open, high, low, close'],
    ['rows within rows', `[[${T0}, [1, 1], 1, 1, 1, 1]]`, 'row 1 is not a JSON array of numbers'],
    [
      'Infinity',
      `[[${T0},1,1,1,1,1], [${T0 + MINUTES_5},1,Infinity,1,1,1]]`,
      `row 2 is not a JSON array of numbers: [${T0 + MINUTES_5},1,Infinity,1,1,1]`,
    ],
    ['a hexadecimal number', `[[${T0},1,1,1,1,0x10]]`, 'row 1 is not a JSON array of numbers'],
    [
      'a number above the double range',
      `[[${T0},1,1,1,1,1e400]]`,
      'row 1: volume Infinity is negative or not finite',
    ],
    ['a missing time', '[[null,1,1,1,1,1]]', 'row 1: the time is missing'],
    ['numbers', '[1, 2, 3]', 'is not a JSON array of rows'],
    ['a word', `[[${T0}, "one", 1, 1, 1, 1]]`, 'row 1: open is "one": expected a number'],
    ['four columns', `[[${T0}, 1, 1, 1]]`, 'has no column for time'],
    ['no rows', '[]', 'holds no rows'],
    ['nothing', '', 'is empty'],
    ['spaces', ' \n', 'is not a JSON array of rows'],
    ['a truncated end', JSON.stringify(rows).slice(0, 5_000), 'is truncated'],
    ['no comma', `[[${T0},1,1,1,1,1] [${T0},1,1,1,1,1]]`, 'is not a JSON array of rows'],
    ['an endless string', '['.padEnd(1_000_000, 'x'), 'is not a JSON array of rows'],
  ])('import rejects JSON with %s', async (_, text, reason) => {
    put('BTC_USDT_USDT-5m-futures.json', text);
    expect(await load()).toMatchObject([{ outcome: 'failed', reason: expect.stringContaining(reason) }]);
  });
});

describe('corrupt or foreign files', () => {
  const { lz4, lz4Block, zstd, snappy } = pandasFiles();
  const { low: _, ...noLow } = columns();

  test.each<[string, string, Uint8Array, string | RegExp]>([
    ['Feather, truncated', 'feather', lz4.subarray(0, 3_000), 'is truncated'],
    ['Feather that is a CSV file', 'feather', Buffer.from('1,2,3\n'), 'is not a Feather file'],
    ['Feather version 1', 'feather', Buffer.from('FEA1....FEA1'), 'is Feather version 1: expected version 2'],
    ['Feather, LZ4 corrupt', 'feather', flipped(lz4, lz4Block + 1), 'its LZ4 compressed data is corrupt'],
    [
      'Feather with a corrupt schema',
      'feather',
      Buffer.concat([Buffer.from('ARROW1\0\0'), Buffer.alloc(500, 7), Buffer.from('ARROW1')]),
      'cannot be read: its data is corrupt',
    ],
    [
      'Feather that allocates all memory immediately',
      'feather',
      Uint8Array.from(lz4).with(5_134, 9),
      'cannot be read: the reader process ended',
    ],
    ['Feather, a column missing', 'feather', feather(noLow), 'has no column for low'],
    [
      'Feather, times for prices',
      'feather',
      feather({ ...columns(), open: vectorFromArray(column(0), new TimestampMillisecond()) }),
      'column open holds Timestamp<MILLISECOND>: expected numbers',
    ],
    [
      'Parquet, truncated',
      'parquet',
      snappy.subarray(0, 4_000),
      'does not end with PAR1: it is truncated, or encrypted',
    ],
    ['Parquet, a page corrupt', 'parquet', flipped(snappy, 4), /^cannot be read: /],
  ])('import rejects %s, stores nothing of it and continues', async (_, ending, bytes, reason) => {
    const [bad, ...good] = await loadWithValidFiles(fixture, ending, bytes);
    const matcher =
      typeof reason === 'string' ? expect.stringContaining(reason) : expect.stringMatching(reason);
    expect(bad).toMatchObject({ outcome: 'failed', reason: matcher });
    expect(good).toMatchObject([
      { outcome: 'imported', rows: 200 },
      { outcome: 'imported', rows: 200 },
    ]);
    expect((await stored('5m')).timestamp).toEqual([]);
  });

  test('import rejects a Feather file that exceeds the time limit', async () => {
    // Found by mutation: the Arrow library iterates over a billion entries that do not exist.
    put('BTC_USDT_USDT-5m-futures.feather', flipped(zstd, 3_988));
    const reader = new FileReader({ baseLimitMs: 1_000 });
    expect(await load(fixture.folder, { reader })).toMatchObject([
      { outcome: 'failed', reason: 'cannot be read: reading timed out; the file may be corrupt' },
    ]);
    reader.close();
  });

  test('import rejects a gzipped file named .json', async () => {
    const path = put('BTC_USDT_USDT-5m-futures.json', gzipSync('[]'));
    copyFileSync(path, join(fixture.folder, 'ETH_USDT_USDT-5m-futures.json'));
    expect(await load()).toMatchObject([
      { outcome: 'failed', reason: expect.stringContaining('is not a JSON array') },
      { outcome: 'failed' },
    ]);
  });
});

function hasPython(): boolean {
  try {
    execFileSync('python3', ['-c', 'import pandas, pyarrow, lz4.frame'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}
