import { tableFromIPC } from 'apache-arrow';
import fc from 'fast-check';
import { readParquet, wasmMemory } from 'parquet-wasm';
import { describe, expect, test } from 'vitest';
import { candlesPrefix, decodeSymbol, encodeSymbol, monthOf } from '#adapters/parquet/keys.ts';
import { mergeRows } from '#adapters/parquet/month-files.ts';
import { readColumns } from '#adapters/parquet/read.ts';
import { writeTradesParquet } from '#adapters/parquet/trades.ts';
import { encodeParquet, numberColumn, timestampColumn } from '#adapters/parquet/write.ts';
import { monthBounds } from '#domain/data/months.ts';
import { tradeRecord } from '#engine/report/trades.ts';
import type { SimulatedTrade } from '#engine/simulator/trade-table.ts';
import { tableOf } from '../engine/metrics/samples.ts';

const NAMES = ['timestamp', 'open', 'close'];

function encode(times: number[], open: number[], close: number[]): Uint8Array {
  return encodeParquet([
    timestampColumn('timestamp', Float64Array.from(times)),
    numberColumn('open', Float64Array.from(open)),
    numberColumn('close', Float64Array.from(close)),
  ]);
}

function decode(file: Uint8Array): number[][] {
  const columns: number[][] = [[], [], []];
  readColumns(file, NAMES, (batch) => {
    batch.forEach((values, index) => {
      columns[index]!.push(...values);
    });
  });
  return columns;
}

describe('Parquet columns', () => {
  test('columns keep every time and double exactly', () => {
    const rows = fc.array(
      fc.tuple(
        fc.integer({ min: -8.64e15, max: 8.64e15 }),
        fc.double({ noNaN: true }),
        fc.double({ noNaN: true }),
      ),
      { maxLength: 50 },
    );
    fc.assert(
      fc.property(rows, (values) => {
        const columns = [0, 1, 2].map((k) => values.map((row) => row[k]!));
        const [times, open, close] = decode(encode(columns[0]!, columns[1]!, columns[2]!));
        expect(times).toEqual(columns[0]!.map((time) => time + 0));
        expect(open).toEqual(columns[1]);
        expect(close).toEqual(columns[2]);
      }),
    );
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
    const make = () => encode([1, 2], [3, 4], [5, 6]);
    expect(Buffer.compare(make(), make())).toBe(0);
  });

  test('readColumns rejects other columns with both lists, and a file that is not Parquet', () => {
    expect(() => readColumns(encode([1], [1], [1]), ['timestamp', 'open', 'high'], () => {})).toThrow(
      'timestamp tsm:UTC, open g, close g instead of timestamp tsm:UTC, open g, high g',
    );
    expect(() => readColumns(new TextEncoder().encode('not parquet at all'), NAMES, () => {})).toThrow();
  });

  test('repeated reads do not grow the memory', () => {
    const values = Array.from({ length: 40_000 }, (_, i) => i);
    const file = encode(values, values, values);
    decode(file);
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
      i === 1 ? { ...trade, enterTag: 'dip ✓', liquidationPrice: 123.5, leftOpen: true } : trade,
    );
    const table = tableFromIPC(readParquet(writeTradesParquet(tableOf(trades))).intoIPCStream());
    expect(table.numRows).toBe(3_000);
    const wanted = tradeRecord(tableOf(trades), 1, 2);
    expect(table.get(1)?.toJSON()).toEqual({
      ...wanted,
      opened_at: Date.parse(wanted.opened_at),
      closed_at: Date.parse(wanted.closed_at),
    });
    expect(table.get(2_999)?.toJSON()).toMatchObject({ id: 3_000, enter_tag: null, liquidation_price: null });
  });

  test('empty trades file has the columns and zero rows', () => {
    const empty = tableFromIPC(readParquet(writeTradesParquet(tableOf([]))).intoIPCStream());
    const one = tableFromIPC(readParquet(writeTradesParquet(tableOf([trade]))).intoIPCStream());
    expect(empty.numRows).toBe(0);
    expect(String(empty.schema)).toBe(String(one.schema));
  });
});
