import { describe, expect, test } from 'vitest';
import { BatchedWrites } from '#adapters/import/batched-writes.ts';
import { longDecimal } from '#adapters/import/columns/long-decimal.ts';
import { type Candles, createCandles } from '#engine/candles.ts';
import { createRandom } from '#engine/random.ts';
import { importFixture, MINUTES_5, T0 } from './import-fixture.ts';

const { put, load, stored } = importFixture();
const MINUTE = 60_000;
/** More than the reading process keeps in memory. */
const ROWS = 70_000;
const HEADER = 'time,open,high,low,close,volume';

/** Rows with doubles of all lengths. */
function randomRows(): number[][] {
  const random = createRandom(7);
  return Array.from({ length: ROWS }, (_, row) => {
    const [a, b, c, d] = [random(), random(), random(), random()].map((value) => 1 + value * 10_000);
    const ordered = [a!, b!, c!, d!].sort((x, y) => x - y) as [number, number, number, number];
    return [T0 + row * MINUTES_5, ordered[1], ordered[3], ordered[0], ordered[2], random() * 1_000];
  });
}

const lines = (rows: readonly (readonly number[])[]) => rows.map((row) => row.join(','));

describe('file of more rows than are kept in memory', () => {
  const rows = randomRows();
  const columns = (given: readonly (readonly number[])[]) => {
    const column = (index: number) => given.map((row) => row[index]!);
    return {
      timestamp: column(0),
      open: column(1),
      high: column(2),
      low: column(3),
      close: column(4),
      volume: column(5),
    };
  };

  test.each([
    ['candles in order', lines(rows), [], rows],
    [
      'candles in seconds, with a gap and a missing volume',
      rows.flatMap(([time, ...values], row) =>
        row === 40_000
          ? []
          : [time! / 1_000, ...values.slice(0, 4), row === 50_000 ? '' : values[4]].join(','),
      ),
      ['times are in seconds', 'volume missing in 1 rows: set to 0'],
      rows.flatMap((row, index) =>
        index === 40_000 ? [] : index === 50_000 ? [[...row.slice(0, 5), 0]] : [row],
      ),
    ],
    [
      'two candles in the wrong order near the end',
      lines(rows.with(-2, rows.at(-1)!).with(-1, rows.at(-2)!)),
      ['rows were not in time order: sorted'],
      rows,
    ],
  ])('%s: every value is stored', async (_, text, notes, expected) => {
    put('BTC_USDT_USDT-5m.csv', `${HEADER}\n${text.join('\n')}`);
    expect(await load()).toMatchObject([{ outcome: 'imported', rows: expected.length, notes }]);
    expect(await stored('5m')).toEqual(columns(expected));
  });

  test.each(['', 'BTCUSDT,'])(
    'wrong row near the end is named by its line, and nothing is stored',
    async (symbol) => {
      const text = lines(rows.with(-3, [...rows.at(-3)!.slice(0, 2), 0.5, ...rows.at(-3)!.slice(3)]));
      const names = symbol === '' ? HEADER : `symbol,${HEADER}`;
      const all = text.map((line) => `${symbol}${line}`).toSpliced(100, 0, '', '');
      put('BTC_USDT_USDT-5m.csv', `${names}\n${all.join('\n')}\n`);
      const [result] = await load();
      expect(result).toMatchObject({ outcome: 'failed' });
      // A header, two empty lines, and counted from 1.
      expect(result).toHaveProperty(
        'reason',
        expect.stringContaining(`line ${ROWS - 2 + 3}: high 0.5 is below`),
      );
      expect((await stored('5m')).timestamp).toEqual([]);
    },
  );
});

test('candles that do not fit into one write are divided at the beginning of a month', async () => {
  const writes: [first: string, last: string][] = [];
  const times: number[] = [];
  const store = new BatchedWrites({
    write: async (_, { timestamp }: Candles) => {
      writes.push([new Date(timestamp[0]!).toISOString(), new Date(timestamp.at(-1)!).toISOString()]);
      for (const time of timestamp) times.push(time);
    },
    writeFunding: async () => {},
    read: async () => createCandles(0),
  });
  const part = createCandles(90_000);
  for (let from = 0; from < 4; from++) {
    part.timestamp.forEach((_, row, column) => {
      column[row] = T0 + (from * 90_000 + row) * MINUTE;
    });
    await store.write({ exchange: 'binanceusdm', symbol: 'BTC/USDT:USDT', timeframe: '1m' }, part);
  }
  await store.flush();
  expect(writes).toEqual([
    ['2025-03-01T00:00:00.000Z', '2025-06-30T23:59:00.000Z'],
    ['2025-07-01T00:00:00.000Z', '2025-11-05T23:59:00.000Z'],
  ]);
  expect(times).toEqual(Array.from({ length: 360_000 }, (_, row) => T0 + row * MINUTE));
});

test('number of up to 30 digits is the double that is next to it, or left to others', () => {
  const random = createRandom(3);
  const digits = (count: number) => Array.from({ length: count }, () => Math.floor(random() * 10)).join('');
  const texts = Array.from({ length: 100_000 }, () => {
    const whole = digits(1 + Math.floor(random() * 12));
    return `${whole}.${digits(1 + Math.floor(random() * 18))}`;
  });
  // In the middle between two doubles, and next to it.
  texts.push(
    '9007199254740993',
    '9007199254740993.0000000001',
    '9007199254740992.9999999999',
    '0.5',
    '1577836800000000000',
  );
  const read = texts.map((text) => longDecimal(Buffer.from(text), 0, text.length));
  const wrong = texts.filter((text, index) => !Number.isNaN(read[index]) && read[index] !== Number(text));
  expect(wrong).toEqual([]);
  expect(read.filter(Number.isNaN).length).toBeLessThan(10);
});
