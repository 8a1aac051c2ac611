import { Utf8, vectorFromArray } from 'apache-arrow';
import { describe, expect, test } from 'vitest';
import { CANDLE_COLUMNS } from '#engine/candles.ts';
import { encodeParquet, numberColumn, timestampColumn } from '../support/snappy-parquet.ts';
import { importFixture } from './import-fixture.ts';
import {
  columns,
  feather,
  flipped,
  loadWithValidFiles,
  pandasFiles,
  parquetOf,
  rows,
} from './import-formats-fixture.ts';

const fixture = importFixture();
const { put, load, stored } = fixture;

describe('Parquet stored by Touchstone', () => {
  test('import reads a long Parquet file in batches', async () => {
    const length = 600_000;
    const start = Date.UTC(2024, 0, 1);
    const time = Float64Array.from({ length }, (_, i) => start + i * 60_000);
    const price = Float64Array.from({ length }, (_, i) => 1 + i);
    put(
      'BTC_USDT_USDT-1m.parquet',
      encodeParquet([
        timestampColumn('timestamp', time),
        ...CANDLE_COLUMNS.slice(1).map((name) => numberColumn(name, price.slice())),
      ]),
    );
    expect(await load()).toMatchObject([{ outcome: 'imported', rows: length, missing: 0 }]);
    const { timestamp, volume } = await stored('1m');
    expect(timestamp!.every((value, i) => value === time[i])).toBe(true);
    expect(volume!.every((value, i) => value === 1 + i)).toBe(true);
  });
});

describe('corrupt or foreign files', () => {
  const { lz4, lz4Block, zstd, snappy } = pandasFiles();
  const { date: __, ...noTimes } = columns();
  const names = CANDLE_COLUMNS;

  test.each<[string, string, Uint8Array, string | RegExp]>([
    ['Feather, its first bytes only', 'feather', lz4.subarray(0, 6), 'is truncated'],
    ['Feather, empty', 'feather', new Uint8Array(), 'is empty'],
    ['Feather, another magic', 'feather', flipped(lz4, 0), 'is not a Feather file'],
    [
      'Feather, LZ4 of impossible length',
      'feather',
      flipped(lz4, lz4Block - 16),
      'its compressed data is corrupt',
    ],
    [
      'Feather, ZSTD corrupt',
      'feather',
      flipped(zstd, zstd.indexOf('28b52ffd', 0, 'hex')),
      'cannot be read: ',
    ],
    ['Feather, footer corrupt', 'feather', flipped(lz4, lz4.length - 9), /^cannot be read: |is truncated/],
    // Found by mutation: the Arrow library follows the offset and never stops allocating.
    [
      'Feather that allocates all memory gradually',
      'feather',
      flipped(lz4, lz4.length - 76, 0x30),
      'cannot be read: the reader process ended',
    ],
    ['Feather, no times', 'feather', feather(noTimes), 'has no column for time: the columns are'],
    [
      'Feather, words for prices',
      'feather',
      feather({
        ...columns(),
        open: vectorFromArray(
          rows.map(() => 'one'),
          new Utf8(),
        ),
      }),
      'row 1: open is "one": expected a number',
    ],
    ['Parquet, empty', 'parquet', new Uint8Array(), 'is empty'],
    ['Parquet that is a CSV file', 'parquet', Buffer.from('1,2,3\n'.repeat(50)), /^does not end with PAR1: /],
    ['Parquet, a column missing', 'parquet', parquetOf(names.slice(0, 4)), 'has no column for close'],
    [
      'Parquet, no times',
      'parquet',
      parquetOf(['when', ...names.slice(1)]),
      'has no column for time: the columns are',
    ],
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

  test('import rejects a file with any changed byte or stores plausible candles', async () => {
    let expected = 0;
    for (const [base, ending, whole] of [
      ['LZ', 'feather', lz4],
      ['ZSTD', 'feather', zstd],
      ['SNAPPY', 'parquet', snappy],
    ] as const) {
      for (let at = 0; at < whole.length; at += 1_009) {
        put(`${at}/${base}_USDT_USDT-5m-futures.${ending}`, flipped(whole, at));
        expected++;
      }
    }
    put('last/BTC_USDT_USDT-5m-futures.feather', lz4);
    const results = await load();
    expect(results).toHaveLength(expected + 1);
    expect(results.filter((result) => result.outcome === 'failed').length).toBeGreaterThan(expected / 4);
    expect(results.at(-1)).toMatchObject({ outcome: 'imported', symbol: 'BTC/USDT:USDT', rows: 200 });
  });
});
