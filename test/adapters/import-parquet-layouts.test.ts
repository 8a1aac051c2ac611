import {
  Table as ArrowTable,
  DateDay,
  Decimal,
  Float64,
  Int64,
  makeData,
  makeVector,
  TimestampMicrosecond,
  tableToIPC,
  Utf8,
  type Vector,
  vectorFromArray,
} from 'apache-arrow';
import { Table, writeParquet } from 'parquet-wasm';
import { describe, expect, test } from 'vitest';
import { importCommand } from './import-command-fixture.ts';
import { importFixture, T0 } from './import-fixture.ts';

const fixture = importFixture();
const { load, storedIn } = importCommand(fixture);
const MINUTE = 60_000;

describe('Parquet layouts', () => {
  const micros = (minutes: readonly number[]) =>
    vectorFromArray(
      minutes.map((minute) => T0 + minute * MINUTE),
      new TimestampMicrosecond(),
    );
  const numbers = (values: readonly number[]) => vectorFromArray(values, new Float64());
  const texts = (values: readonly string[]) => vectorFromArray(values, new Utf8());
  const file = (columns: Record<string, Vector>) =>
    writeParquet(Table.fromIPCStream(tableToIPC(new ArrowTable(columns), 'stream')));
  const prices = (count: number) => {
    const all = (value: number) => numbers(Array(count).fill(value));
    return { open: all(2), high: all(3), low: all(1), close: all(2.5) };
  };

  test('folders name the series, whatever else they are split by', async () => {
    const bytes = (minutes: number[]) =>
      file({ open_time: micros(minutes), ...prices(minutes.length), volume: numbers(minutes) });
    const folder = 'exchange=binanceusdm/symbol=BTCUSDT/timeframe=1m/year=2025';
    fixture.put(`${folder}/month=03/data_0.parquet`, bytes([0, 1]));
    fixture.put(`${folder}/month=04/data_0.parquet`, bytes([2]));
    fixture.put('exchange=binance/symbol=ETH%2FBTC/interval=1m/part-0.parquet', bytes([0]));
    fixture.put('exchange=sim/symbol=BTCUSDT/timeframe=1m/a.parquet', bytes([0]));
    const { results, recognizers } = await load();
    expect(recognizers[0]![1]).toBe('Candles');
    expect(results).toMatchObject([
      { symbol: 'ETH/BTC', timeframe: '1m', rows: 1 },
      { symbol: 'BTC/USDT:USDT', timeframe: '1m', rows: 2 },
      { symbol: 'BTC/USDT:USDT', timeframe: '1m', rows: 1 },
      { outcome: 'skipped', reason: 'candles of sim, the simulated market' },
    ]);
    expect((await storedIn('binanceusdm', 'BTC/USDT:USDT')).volume).toEqual([0, 1, 2]);
    expect((await storedIn('binance', 'ETH/BTC')).close).toEqual([2.5]);
  });

  test('columns name the series of one file', async () => {
    fixture.put(
      'all.parquet',
      file({
        ts: vectorFromArray(
          [0, 0, 1].map((minute) => BigInt(T0 + minute * MINUTE) * 1_000_000n),
          new Int64(),
        ),
        symbol: texts(['BTC/USDT:USDT', 'ETH/BTC', 'BTC/USDT:USDT']),
        tf: texts(['1m', '1m', '1m']),
        ...Object.fromEntries(
          Object.entries(prices(3)).map(([name, column]) => [name[0]!.toUpperCase(), column]),
        ),
        V: numbers([5, 6, 7]),
      }),
    );
    expect((await load()).results).toMatchObject([
      { symbol: 'BTC/USDT:USDT', rows: 2, notes: ['times are in nanoseconds'] },
      { symbol: 'ETH/BTC', rows: 1 },
    ]);
    expect((await storedIn('binanceusdm', 'BTC/USDT:USDT')).volume).toEqual([5, 7]);
  });

  test('decimals of any size are read', async () => {
    const words = [2_500_000n, 3_000_000n, 1_000_000n, 2n ** 70n].map((value) => [
      ...new Uint32Array(BigUint64Array.of(value & (2n ** 64n - 1n), value >> 64n).buffer),
    ]);
    const decimal = (index: number) =>
      makeVector(
        makeData({
          type: new Decimal(6, 30, 128),
          length: 1,
          nullCount: 0,
          data: Uint32Array.from(words[index]!),
        }),
      );
    fixture.put(
      'BTC_USDT_USDT_1m.parquet',
      file({
        t: micros([0]),
        o: decimal(0),
        h: decimal(1),
        l: decimal(2),
        c: decimal(0),
        v: decimal(3),
      }),
    );
    expect((await load()).results).toMatchObject([{ outcome: 'imported', notes: [] }]);
    expect(await storedIn('binanceusdm', 'BTC/USDT:USDT')).toEqual({
      timestamp: [T0],
      open: [2.5],
      high: [3],
      low: [1],
      close: [2.5],
      volume: [2 ** 70 / 1e6],
    });
  });

  test('days without volume are daily candles', async () => {
    const days = vectorFromArray([new Date(T0), new Date(T0 + 86_400_000)], new DateDay());
    fixture.put('BTC_USDT_USDT_1d.parquet', file({ Date: days, ...prices(2) }));
    expect((await load()).results).toMatchObject([
      { symbol: 'BTC/USDT:USDT', timeframe: '1d', rows: 2, notes: ['volume missing in 2 rows: set to 0'] },
    ]);
    expect((await storedIn('binanceusdm', 'BTC/USDT:USDT', '1d')).timestamp).toEqual([T0, T0 + 86_400_000]);
  });

  test.each<[string, Record<string, Vector>, string]>([
    [
      'a time of day that is none',
      { date: texts(['2025-03-01']), time: texts(['noon']), ...prices(1), open: numbers([9]) },
      'row 1: high 3 is below open',
    ],
    [
      'no low',
      { ts: micros([0]), open: numbers([1]), high: numbers([1]), close: numbers([1]) },
      'has no column for low: the columns are ts, open, high, close',
    ],
    [
      'two spellings of a column',
      { ts: micros([0]), ...prices(1), Open: numbers([1]) },
      'has the columns open and Open: name one of them, such as --columns open=open',
    ],
    [
      'text in prices',
      { ts: micros([0]), ...prices(1), open: texts(['one']) },
      'row 1: open is "one": expected a number',
    ],
    ['text that is no time', { ts: texts(['yesterday']), ...prices(1) }, 'row 1: ts is "yesterday"'],
    [
      'infinite prices',
      { ts: micros([0]), ...prices(1), high: numbers([Infinity]) },
      'row 1: high is not finite',
    ],
  ])('file with %s is rejected', async (_, columns, reason) => {
    fixture.put('BTC_USDT_USDT_1m.parquet', file(columns));
    expect((await load()).results).toMatchObject([
      { outcome: 'failed', reason: expect.stringContaining(reason) },
    ]);
  });
});
