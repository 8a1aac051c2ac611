import { tableFromIPC } from 'apache-arrow';
import fc from 'fast-check';
import { readParquet, wasmMemory } from 'parquet-wasm';
import { describe, expect, test } from 'vitest';
import { candlesPrefix, decodeSymbol, encodeSymbol, monthOf } from '#adapters/parquet/keys.ts';
import { mergeRows } from '#adapters/parquet/month-files.ts';
import { readColumns } from '#adapters/parquet/other-file.ts';
import { SeriesFiles } from '#adapters/parquet/series-file.ts';
import { writeTradesParquet } from '#adapters/parquet/trades.ts';
import { monthBounds } from '#domain/data/calendar-months.ts';
import { tradeRecord } from '#engine/report/trades.ts';
import type { SimulatedTrade } from '#engine/simulator/trade-table.ts';
import { tableOf } from '../engine/metrics/samples.ts';
import { encodeParquet, numberColumn, timestampColumn } from '../support/snappy-parquet.ts';

const NAMES = ['timestamp', 'open', 'close'];
const files = new SeriesFiles(NAMES);

const floats = (columns: readonly number[][]) => columns.map((column) => Float64Array.from(column));
const encode = (...columns: number[][]) => files.encode(floats(columns));

/** A file of an earlier version. */
const encodeSnappy = (...columns: number[][]) => {
  const [times, ...values] = floats(columns);
  return encodeParquet([
    timestampColumn(NAMES[0]!, times!),
    ...values.map((column, index) => numberColumn(NAMES[index + 1]!, column)),
  ]);
};

/** Columns as the Parquet library reads them. */
function readByLibrary(file: Uint8Array): number[][] {
  const columns: number[][] = [[], [], []];
  readColumns(file, NAMES, (batch) => {
    batch.forEach((values, index) => {
      columns[index]!.push(...values);
    });
  });
  return columns;
}

const decode = (file: Uint8Array) => files.decode(file)?.map((column) => [...column]);

describe('files of candles and funding events', () => {
  const value = fc.double({ noNaN: true });
  const rowsOf = (times: readonly number[]) =>
    fc.tuple(
      fc.constant(times),
      ...[1, 2].map(() => fc.array(value, { minLength: times.length, maxLength: times.length })),
    );
  const anyTimes = fc.array(fc.integer({ min: -8.64e15, max: 8.64e15 }), { minLength: 1, maxLength: 50 });
  const evenTimes = fc
    .tuple(
      fc.integer({ min: -4e15, max: 4e15 }),
      fc.integer({ min: 0, max: 1e9 }),
      fc.integer({ min: 1, max: 400 }),
    )
    .map(([first, step, length]) => Array.from({ length }, (_, row) => first + row * step));

  test.each([
    ['evenly spaced', evenTimes],
    ['any', anyTimes],
  ])('columns with %s times keep every time and double, in this reader and the library', (_, times) => {
    fc.assert(
      fc.property(times.chain(rowsOf), (columns) => {
        const file = encode(...(columns as number[][]));
        // Integers have one zero.
        const wanted = [columns[0]!.map((time) => time + 0), ...columns.slice(1)];
        expect(decode(file)).toEqual(wanted);
        expect(readByLibrary(file)).toEqual(wanted);
      }),
    );
  });

  test('times of candles without gaps take less than a bit each', () => {
    const rows = Array.from({ length: 44_640 }, (_, row) => row);
    const times = rows.map((row) => Date.UTC(2025, 0) + row * 60_000);
    expect(encode(times, rows, rows).length - 16 * rows.length).toBeLessThan(44_640 / 8);
  });

  test('other Arrow readers see UTC timestamps and doubles without nulls', () => {
    const file = encode([1_700_000_000_000, 1_700_000_060_000], [1.5, 2], [3, 4]);
    const table = tableFromIPC(readParquet(file).intoIPCStream());
    expect(table.schema.fields.map((field) => `${field.name}: ${field.type} ${field.nullable}`)).toEqual([
      'timestamp: Timestamp<MILLISECOND, UTC> false',
      'open: Float64 false',
      'close: Float64 false',
    ]);
    expect(table.get(1)?.toJSON()).toEqual({ timestamp: 1_700_000_060_000, open: 2, close: 4 });
  });

  test('equal columns are encoded to equal bytes', () => {
    const make = () =>
      new SeriesFiles(NAMES).encode(
        floats([
          [1, 2],
          [3, 4],
          [5, 6],
        ]),
      );
    expect(Buffer.compare(make(), make())).toBe(0);
  });

  test('file inside another buffer is read at any address', () => {
    const file = encode([1, 3, 4], [1, 2, 3], [4, 5, 6]);
    for (let before = 0; before < 9; before++) {
      const buffer = Buffer.concat([Buffer.alloc(before, 7), file, Buffer.alloc(5, 7)]);
      const view = new Uint8Array(buffer.buffer, buffer.byteOffset + before, file.length);
      expect(decode(view)).toEqual([
        [1, 3, 4],
        [1, 2, 3],
        [4, 5, 6],
      ]);
    }
  });

  test.each<[string, Uint8Array]>([
    ['an earlier version', encodeSnappy([1, 2], [3, 4], [5, 6])],
    ['other columns', new SeriesFiles(['timestamp', 'open', 'high']).encode(floats([[1], [2], [3]]))],
    ['fewer columns', new SeriesFiles(['timestamp', 'open']).encode(floats([[1], [2]]))],
    ['more columns', new SeriesFiles([...NAMES, 'high']).encode(floats([[1], [2], [3], [4]]))],
    ['no rows', encode([], [], [])],
    ['nothing', new Uint8Array()],
    ['text', Buffer.from('not parquet at all')],
    ['the same byte', Buffer.alloc(5_000, 255)],
  ])('file of %s is left to the library', (_, file) => {
    expect(files.decode(file)).toBeUndefined();
  });

  test.each([
    ['evenly spaced times', [1_000, 2_000, 3_000]],
    ['other times', [1_000, 2_000, 2_500]],
  ])('file with %s and one wrong byte is left to the library, or read as by the library', (_, times) => {
    const file = encode(times, [1.5, 2, -3], [4, 5, 6.25]);
    let read = 0;
    for (let byte = 0; byte < file.length; byte++) {
      for (const wrong of [1, 2, 4, 8, 16, 32, 64, 128, 255]) {
        const changed = Uint8Array.from(file);
        changed[byte]! ^= wrong;
        const columns = decode(changed);
        if (!columns) continue;
        read++;
        expect(columns, `byte ${byte}`).toEqual(readByLibrary(changed));
      }
    }
    // Values, and nothing else, may have any bits.
    expect(read).toBeGreaterThanOrEqual(2 * 3 * 8 * 9);
    expect(read).toBeLessThan(0.5 * file.length * 9);
  });

  test('truncated or lengthened file is left to the library', () => {
    const file = encode([1_000, 2_000, 3_000], [1, 2, 3], [4, 5, 6]);
    for (let end = 0; end < file.length; end++) {
      expect(files.decode(file.subarray(0, end))).toBeUndefined();
      expect(files.decode(file.subarray(file.length - end))).toBeUndefined();
    }
    expect(files.decode(Buffer.concat([file, Buffer.alloc(8)]))).toBeUndefined();
  });
});

describe('files of other programs and earlier versions', () => {
  test('columns keep every time and double', () => {
    const columns = [
      [1, 3, 2],
      [1.5, -0, 1e300],
      [4, 5, 6],
    ];
    expect(readByLibrary(encodeSnappy(...columns))).toEqual(columns);
  });

  test('readColumns rejects other columns with both lists, and a file that is not Parquet', () => {
    expect(() => readColumns(encodeSnappy([1], [1], [1]), ['timestamp', 'open', 'high'], () => {})).toThrow(
      'timestamp tsm:UTC, open g, close g instead of timestamp tsm:UTC, open g, high g',
    );
    expect(() => readColumns(new TextEncoder().encode('not parquet at all'), NAMES, () => {})).toThrow();
  });

  test('repeated reads do not grow the memory', () => {
    const values = Array.from({ length: 40_000 }, (_, i) => i);
    const file = encodeSnappy(values, values, values);
    readByLibrary(file);
    const before = wasmMemory().buffer.byteLength;
    for (let i = 0; i < 30; i++) readColumns(file, NAMES, () => {});
    expect(wasmMemory().buffer.byteLength).toBe(before);
  });
});

describe('object keys', () => {
  test('candlesPrefix returns a hive-style path', () => {
    expect(candlesPrefix({ exchange: 'binanceusdm', symbol: 'BTC/USDT:USDT', timeframe: '5m' })).toBe(
      'candles/exchange=binanceusdm/symbol=BTC_USDT_USDT/timeframe=5m',
    );
  });

  test.each([
    'BTC/USDT:USDT',
    'ETH/BTC',
    '1000SHIB/USDT:USDT',
    'A.B/C_D:E=F',
    'BTC/USDT:USDT-240628-50000-C',
    '币/USDT:USDT',
  ])('encoded symbol decodes to %s', (symbol) => {
    expect(encodeSymbol(symbol)).toMatch(/^[A-Za-z0-9._-]+$/);
    expect(decodeSymbol(encodeSymbol(symbol))).toBe(symbol);
  });

  test('different symbols have different paths', () => {
    const part = fc.string({ minLength: 1, maxLength: 6, unit: fc.constantFrom(...'AB1._-=%é') });
    fc.assert(
      fc.property(part, part, part, (base, quote, settle) => {
        const symbol = `${base}/${quote}:${settle}`;
        expect(decodeSymbol(encodeSymbol(symbol))).toBe(symbol);
      }),
    );
  });

  test('monthBounds ends where the next month begins, in UTC', () => {
    expect(monthBounds('2024-02')).toEqual({ start: Date.UTC(2024, 1, 1), end: Date.UTC(2024, 2, 1) });
    expect(monthBounds('2024-12').end).toBe(monthBounds('2025-01').start);
    expect(monthOf(Date.UTC(2025, 2, 1) - 1)).toBe('2025-02');
  });
});

test('mergeRows returns the union by time with added rows replacing existing ones', () => {
  const rows = fc
    .uniqueArray(fc.tuple(fc.integer({ min: 0, max: 15 }), fc.integer({ min: 0, max: 2 })), {
      selector: ([time]) => time,
      maxLength: 12,
    })
    .map((list) => list.sort(([a], [b]) => a - b));
  const columns = (list: [number, number][]) => [
    Float64Array.from(list, ([time]) => time),
    Float64Array.from(list, ([, value]) => value),
  ];
  fc.assert(
    fc.property(rows, rows, (existing, added) => {
      const expected = [...new Map([...existing, ...added])].sort(([a], [b]) => a - b);
      const merged = mergeRows(columns(existing), columns(added));
      if (merged) expect(merged).toEqual(columns(expected));
      else expect(expected).toEqual(existing);
      if (expected.length === existing.length && expected.every(([, v], i) => v === existing[i]![1])) {
        expect(merged).toBeUndefined();
      }
    }),
  );
});

describe('trades file', () => {
  const trade: SimulatedTrade = {
    pair: 'BTC/USDT:USDT',
    side: 'short',
    openedAt: Date.UTC(2025, 0, 1),
    closedAt: Date.UTC(2025, 0, 1, 1),
    entryPrice: 100,
    exitPrice: 90,
    amount: 1,
    stake: 100,
    leverage: 1,
    enterTag: null,
    exitReason: 'roi',
    fees: 0.1,
    slippageCost: 0,
    funding: -0.01,
    profit: 9.89,
    profitRatio: 0.0989,
    initialStopPrice: 110,
    stopPrice: 110,
    liquidationPrice: null,
    lowestPrice: 89,
    highestPrice: 101,
    leftOpen: false,
  };

  test('trades file contains the fields of the trade records', () => {
    const trades = Array.from({ length: 3_000 }, (_, i) =>
      i === 1 ? { ...trade, enterTag: 'dip ✓:a', liquidationPrice: 123.5, leftOpen: true } : trade,
    );
    const table = tableFromIPC(readParquet(writeTradesParquet(tableOf(trades))).intoIPCStream());
    expect(table.numRows).toBe(3_000);
    const wanted = tradeRecord(tableOf(trades), 1, 2, 1);
    expect(wanted).toMatchObject({ group: 'dip ✓', position: 1 });
    expect(table.get(1)?.toJSON()).toEqual({
      ...wanted,
      opened_at: Date.parse(wanted.opened_at),
      closed_at: Date.parse(wanted.closed_at),
    });
    expect(table.get(2_999)?.toJSON()).toMatchObject({
      id: 3_000,
      enter_tag: null,
      liquidation_price: null,
      group: null,
      position: null,
    });
  });

  test('empty trades file has the columns and zero rows', () => {
    const empty = tableFromIPC(readParquet(writeTradesParquet(tableOf([]))).intoIPCStream());
    const one = tableFromIPC(readParquet(writeTradesParquet(tableOf([trade]))).intoIPCStream());
    expect(empty.numRows).toBe(0);
    expect(String(empty.schema)).toBe(String(one.schema));
  });
});
