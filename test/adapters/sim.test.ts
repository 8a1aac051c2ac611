import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { SIM_LISTED_MS, SIM_SYMBOLS, SimExchange } from '#adapters/exchange/sim.ts';
import { CANDLE_COLUMNS, type Candles, sliceCandles } from '#engine/candles.ts';
import { TIMEFRAME_MS, TIMEFRAMES, type Timeframe } from '#engine/timeframe.ts';

const NOW = Date.UTC(2026, 0, 1);
const clock = { now: () => NOW };
const sim = new SimExchange({ clock });
const MINUTE = TIMEFRAME_MS['1m'];
const DAY = TIMEFRAME_MS['1d'];
const BTC = 'BTC/USDT:USDT';
const START = Date.UTC(2024, 0, 1);

const plain = (candles: Candles) => CANDLE_COLUMNS.map((name) => [...candles[name]]);
const digest = (columns: Iterable<Float64Array>) => {
  const hash = createHash('sha256');
  for (const column of columns) hash.update(Buffer.from(column.buffer, column.byteOffset, column.byteLength));
  return hash.digest('hex');
};

/** Log returns of closes `step` rows apart. */
function returns({ close }: Candles, step: number): number[] {
  const result: number[] = [];
  for (let i = step; i < close.length; i += step) result.push(Math.log(close[i]! / close[i - step]!));
  return result;
}

const mean = (values: readonly number[]) => values.reduce((a, b) => a + b, 0) / values.length;

function moment(values: readonly number[], power: number): number {
  const center = mean(values);
  return mean(values.map((value) => (value - center) ** power));
}

function correlation(a: readonly number[], b: readonly number[]): number {
  const [ma, mb] = [mean(a), mean(b)];
  const covariance = mean(a.map((value, i) => (value - ma) * (b[i]! - mb)));
  return covariance / Math.sqrt(moment(a, 2) * moment(b, 2));
}

const lagged = (values: readonly number[], lag: number) =>
  correlation(values.slice(lag), values.slice(0, values.length - lag));

describe('SimExchange candles', () => {
  test('candles of any range equal the slice of a longer range', async () => {
    const whole = new Map<Timeframe, Candles>();
    for (const timeframe of TIMEFRAMES) {
      whole.set(timeframe, await sim.fetchCandles(BTC, timeframe, START, START + 20 * DAY));
    }
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...TIMEFRAMES),
        fc.integer({ min: 0, max: 20 * 1440 }),
        fc.integer({ min: 0, max: 3000 }),
        async (timeframe, from, length) => {
          const step = TIMEFRAME_MS[timeframe];
          const start = START + from * MINUTE;
          const end = Math.min(start + length * MINUTE, START + 20 * DAY);
          const part = await sim.fetchCandles(BTC, timeframe, start, end);
          const firstRow = Math.ceil((start - START) / step);
          const lastRow = Math.max(firstRow, Math.ceil((end - START) / step));
          expect(plain(part)).toEqual(plain(sliceCandles(whole.get(timeframe)!, firstRow, lastRow)));
        },
      ),
      { numRuns: 60 },
    );
  });

  test('candles are continuous across year-long blocks and their chunks', async () => {
    const joint = Math.ceil(START / MINUTE / 2 ** 19) * 2 ** 19 * MINUTE;
    const around = await sim.fetchCandles(BTC, '1m', joint - 3 * MINUTE, joint + 3 * MINUTE);
    const before = await sim.fetchCandles(BTC, '1m', joint - 3 * MINUTE, joint);
    const after = await sim.fetchCandles(BTC, '1m', joint, joint + 3 * MINUTE);
    expect(plain(around)).toEqual(plain(before).map((column, i) => [...column, ...plain(after)[i]!]));
    expect([...around.open.slice(1)]).toEqual([...around.close.slice(0, -1)]);

    const long = await sim.fetchCandles(BTC, '1h', START, START + 100 * DAY);
    const late = await sim.fetchCandles(BTC, '1h', START + 44 * DAY, START + 46 * DAY);
    expect(plain(late)).toEqual(plain(sliceCandles(long, 44 * 24, 46 * 24)));
  });

  test('longer candles are exact aggregates of shorter ones', async () => {
    const pairs: [Timeframe, Timeframe][] = [
      ['1m', '5m'],
      ['1m', '1d'],
      ['5m', '15m'],
      ['15m', '1h'],
      ['1h', '4h'],
      ['4h', '1d'],
    ];
    for (const symbol of [BTC, 'DOGE/USDT:USDT', 'SOL/USDT:USDT']) {
      for (const [short, long] of pairs) {
        const minor = await sim.fetchCandles(symbol, short, START, START + 4 * DAY);
        const major = await sim.fetchCandles(symbol, long, START, START + 4 * DAY);
        const group = TIMEFRAME_MS[long] / TIMEFRAME_MS[short];
        expect(major.timestamp).toHaveLength((4 * DAY) / TIMEFRAME_MS[long]);
        for (let row = 0; row < major.timestamp.length; row++) {
          const part = sliceCandles(minor, row * group, (row + 1) * group);
          expect({
            time: major.timestamp[row],
            open: major.open[row],
            high: major.high[row],
            low: major.low[row],
            close: major.close[row],
            volume: major.volume[row],
          }).toEqual({
            time: part.timestamp[0],
            open: part.open[0],
            high: Math.max(...part.high),
            low: Math.min(...part.low),
            close: part.close.at(-1),
            volume: part.volume.reduce((sum, value) => sum + value, 0),
          });
        }
      }
    }
  });

  test('every simulated candle is valid: on the grid, high and low consistent, values positive', async () => {
    for (const symbol of await sim.symbols()) {
      const { timestamp, open, high, low, close, volume } = await sim.fetchCandles(
        symbol,
        '1m',
        START,
        START + 3 * DAY,
      );
      expect(timestamp).toHaveLength(3 * 1440);
      const bad = timestamp.filter(
        (time, i) =>
          time !== START + i * MINUTE ||
          !(high[i]! >= Math.max(open[i]!, close[i]!)) ||
          !(low[i]! <= Math.min(open[i]!, close[i]!)) ||
          !(low[i]! > 0 && volume[i]! > 0) ||
          (i > 0 && open[i] !== close[i - 1]),
      );
      expect([...bad]).toEqual([]);
    }
  });

  test('simulated candles and funding never change', async () => {
    const candles = await sim.fetchCandles(BTC, '5m', Date.UTC(2025, 2, 1), Date.UTC(2025, 2, 8));
    expect(digest(CANDLE_COLUMNS.map((name) => candles[name]))).toBe(
      '71860363140bf9bfc8bd3570b1a2dcbd836a6b410c2349a1d8a2499903c5af70',
    );
    const hours = [...SIM_SYMBOLS.keys()].map((symbol) => sim.fetchCandles(symbol, '1h', START, START + DAY));
    const columns = (await Promise.all(hours)).flatMap((each) => CANDLE_COLUMNS.map((name) => each[name]));
    expect(digest(columns)).toBe('a4c9ec481c5dcd2afeee0771ab167536f65861be32d9b99068b76e041992a1e5');
    const { timestamp, rate, markPrice } = await sim.fetchFunding(BTC, START, START + 30 * DAY);
    expect(digest([timestamp, rate, markPrice])).toBe(
      '1edec6364d845f6dd873a20015002b09f31d6dde93cf3ba7284098d73d212e5f',
    );
  });

  test('another seed produces another market', async () => {
    const other = new SimExchange({ clock, seed: 2 });
    const mine = await sim.fetchCandles(BTC, '1d', START, START + 30 * DAY);
    const theirs = await other.fetchCandles(BTC, '1d', START, START + 30 * DAY);
    expect([...mine.close].filter((price, i) => price === theirs.close[i])).toEqual([]);
  });

  test('fetchCandles returns nothing before the listing or after now and rejects an unlisted symbol', async () => {
    const first = await sim.fetchCandles(BTC, '1d', 0, SIM_LISTED_MS + 2 * DAY);
    expect([...first.timestamp]).toEqual([SIM_LISTED_MS, SIM_LISTED_MS + DAY]);
    const last = await sim.fetchCandles(BTC, '1h', NOW - 2 * TIMEFRAME_MS['1h'], NOW + DAY);
    expect([...last.timestamp].map((time) => NOW - time)).toEqual([7_200_000, 3_600_000, 0]);
    expect((await sim.fetchCandles(BTC, '1h', NOW + DAY, NOW + 2 * DAY)).timestamp).toHaveLength(0);
    expect((await sim.fetchCandles(BTC, '1h', START + DAY, START)).timestamp).toHaveLength(0);
    await expect(sim.fetchCandles('NOPE/USDT:USDT', '1h', START, NOW)).rejects.toMatchObject({
      code: 'DATA003',
      context: { symbol: 'NOPE/USDT:USDT' },
    });
    await expect(sim.fetchFunding('NOPE/USDT:USDT', START, NOW)).rejects.toMatchObject({ code: 'DATA003' });
  });
});

describe('simulated market', () => {
  test('prices stay within a factor of 6 of the listing price', async () => {
    expect((await sim.symbols()).length).toBeGreaterThanOrEqual(20);
    const { markPrice } = await sim.fetchFunding(BTC, SIM_LISTED_MS, NOW);
    expect(markPrice).toHaveLength(9 * 365 * 3 + 2 * 3 + 1);
    expect(Math.min(...markPrice)).toBeGreaterThan(60_000 / 6);
    expect(Math.max(...markPrice)).toBeLessThan(60_000 * 6);
  });

  test('returns have fat tails, clustered volatility, changing regimes and no autocorrelation', async () => {
    const year = await sim.fetchCandles('ETH/USDT:USDT', '1m', START, START + 365 * DAY);
    const hourly = returns(year, 60);
    expect(moment(hourly, 4) / moment(hourly, 2) ** 2).toBeGreaterThan(3.5);
    const sizes = hourly.map(Math.abs);
    expect(lagged(sizes, 1)).toBeGreaterThan(0.05);
    expect(lagged(sizes, 24)).toBeGreaterThan(0.05);
    expect(Math.abs(lagged(hourly, 1))).toBeLessThan(0.06);

    const annual = Math.sqrt(moment(hourly, 2) * 24 * 365);
    expect(annual).toBeGreaterThan(0.3);
    expect(annual).toBeLessThan(1.2);

    const weeks = Array.from({ length: 52 }, (_, week) => hourly.slice(week * 168, (week + 1) * 168));
    const volatility = weeks.map((week) => Math.sqrt(moment(week, 2))).sort((a, b) => a - b);
    expect(volatility[46]! / volatility[5]!).toBeGreaterThan(1.5);

    const minutes = returns(year, 1).slice(0, 100_000);
    expect(moment(minutes, 4) / moment(minutes, 2) ** 2).toBeGreaterThan(3.5);
    const moved = minutes.map(Math.abs);
    expect(correlation(moved, [...year.volume.slice(1, 100_001)])).toBeGreaterThan(0.2);
  });

  test('symbols are correlated but not equal', async () => {
    const of = async (symbol: string) =>
      returns(await sim.fetchCandles(symbol, '4h', START, START + 365 * DAY), 1);
    const together = correlation(await of(BTC), await of('SOL/USDT:USDT'));
    expect(together).toBeGreaterThan(0.4);
    expect(together).toBeLessThan(0.95);
  });
});

test("funding occurs every 8 hours, is small and mostly paid by longs, at the minute's price", async () => {
  const { timestamp, rate, markPrice } = await sim.fetchFunding(BTC, START + 1, START + 90 * DAY);
  expect(timestamp).toHaveLength(270);
  expect(timestamp[0]).toBe(START + DAY / 3);
  expect(timestamp.at(-1)).toBe(START + 90 * DAY);
  expect(Math.max(...rate.map(Math.abs))).toBeLessThanOrEqual(0.0075);
  expect(mean([...rate])).toBeGreaterThan(0);
  expect(mean([...rate])).toBeLessThan(0.0004);
  const minute = await sim.fetchCandles(BTC, '1m', timestamp[7]!, timestamp[7]! + MINUTE);
  expect(markPrice[7]).toBe(minute.open[0]);
  expect((await sim.fetchFunding(BTC, NOW + DAY, NOW + 2 * DAY)).timestamp).toHaveLength(0);
});
