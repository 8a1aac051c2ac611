import { existsSync, readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Candles, createCandles, sliceCandles } from '#engine/candles.ts';
import { onTimeframe, resample, resampleCandles } from '#engine/indicators/resample.ts';
import { ceilToGrid, floorToGrid, isOnGrid, TIMEFRAME_MS } from '#engine/timeframe.ts';
import { marketCandles } from './market.ts';

const MINUTE = TIMEFRAME_MS['1m'];
const FIVE = TIMEFRAME_MS['5m'];
const HOUR = TIMEFRAME_MS['1h'];

/** One-minute candles at the given minutes: open 100 + minute, high +1, low -1, close +0.5, volume = minute. */
function minuteCandles(minutes: readonly number[]): Candles {
  const candles = createCandles(minutes.length);
  for (const [row, minute] of minutes.entries()) {
    candles.timestamp[row] = minute * MINUTE;
    candles.open[row] = 100 + minute;
    candles.high[row] = 101 + minute;
    candles.low[row] = 99 + minute;
    candles.close[row] = 100.5 + minute;
    candles.volume[row] = minute;
  }
  return candles;
}

const rows = (candles: Candles) =>
  [...candles.timestamp].map((time, row) => [
    time / MINUTE,
    candles.open[row],
    candles.high[row],
    candles.low[row],
    candles.close[row],
    candles.volume[row],
  ]);

describe('resampleCandles', () => {
  it('resampleCandles takes first open, highest high, lowest low, last close and summed volume', () => {
    const candles = minuteCandles([0, 1, 2, 3, 4]);
    candles.high[2] = 300;
    candles.low[3] = 2;
    expect(rows(resampleCandles(candles, MINUTE, FIVE))).toEqual([[0, 100, 300, 2, 104.5, 10]]);
  });

  it('resampleCandles omits incomplete buckets at both ends', () => {
    const minutes = Array.from({ length: 12 }, (_, i) => i + 3);
    expect(rows(resampleCandles(minuteCandles(minutes), MINUTE, FIVE)).map(([time]) => time)).toEqual([
      5, 10,
    ]);
    expect(resampleCandles(minuteCandles(minutes.slice(0, -1)), MINUTE, FIVE).timestamp).toHaveLength(1);
    expect(resampleCandles(minuteCandles([1, 2, 3, 4]), MINUTE, FIVE).timestamp).toHaveLength(0);
    expect(resampleCandles(minuteCandles([0, 1, 2, 3]), MINUTE, FIVE).timestamp).toHaveLength(0);
    expect(resampleCandles(minuteCandles([]), MINUTE, FIVE).timestamp).toHaveLength(0);
  });

  it('resampleCandles aggregates the existing candles of a bucket with gaps', () => {
    const resampled = resampleCandles(minuteCandles([0, 2, 4, 11, 13, 15, 19]), MINUTE, FIVE);
    expect(rows(resampled)).toEqual([
      [0, 100, 105, 99, 104.5, 6],
      [10, 111, 114, 110, 113.5, 24],
      [15, 115, 120, 114, 119.5, 34],
    ]);
  });

  it('resampleCandles starts days at midnight UTC', () => {
    const hours = marketCandles(1, 72);
    const days = resampleCandles(hours, HOUR, TIMEFRAME_MS['1d']);
    expect([...days.timestamp]).toEqual([1, 2, 3].map((day) => Date.UTC(2024, 0, day)));
  });

  it('resampleCandles starts weeks on Monday, and 3d candles at multiples of three days since the epoch', () => {
    // 1 January 2024 is a Monday, and day 19,723 after the epoch: 3 * 6,574 + 1.
    const hours = marketCandles(1, 24 * 21);
    const weeks = resampleCandles(hours, HOUR, TIMEFRAME_MS['1w']);
    expect([...weeks.timestamp]).toEqual([1, 8, 15].map((day) => Date.UTC(2024, 0, day)));
    expect(weeks.open[1]).toBe(hours.open[24 * 7]);
    expect(weeks.close[1]).toBe(hours.close[24 * 14 - 1]);
    const [first] = resampleCandles(hours, HOUR, TIMEFRAME_MS['3d']).timestamp;
    expect(first).toBe(Date.UTC(2024, 0, 3));
  });

  it.each([
    // The example of a weekly candle in Binance's documentation of klines, and its close time.
    ['1w', 1_499_040_000_000, 1_499_644_799_999],
    // Candles of Bitget, BTC/USDT in ccxt's pull request 18652: open times of the first and of the one after it.
    ['3d', 1_664_582_400_000, 1_664_841_599_999],
    ['3d', 1_668_211_200_000, 1_668_470_399_999],
  ] as const)('a candle of %s that opens at %i on an exchange is on the grid', (timeframe, open, close) => {
    const stepMs = TIMEFRAME_MS[timeframe];
    for (const time of [open, open + 1, close]) expect(floorToGrid(time, stepMs)).toBe(open);
    expect(isOnGrid(open, stepMs)).toBe(true);
    expect(ceilToGrid(close, stepMs)).toBe(close + 1);
  });

  it('a week that begins on Thursday, as on KuCoin, is not on the grid', () => {
    expect(isOnGrid(1_642_032_000_000, TIMEFRAME_MS['1w'])).toBe(false);
  });

  it('resampleCandles in two steps equals one step', () => {
    const candles = marketCandles(9, 3_000, '5m');
    const quarters = resampleCandles(candles, FIVE, TIMEFRAME_MS['15m']);
    const { volume, ...stepwise } = resampleCandles(quarters, TIMEFRAME_MS['15m'], HOUR);
    const { volume: directVolume, ...direct } = resampleCandles(candles, FIVE, HOUR);
    expect(stepwise).toEqual(direct);
    // Sums in another order differ by rounding.
    for (const [row, value] of volume.entries()) expect(value).toBeCloseTo(directVolume[row]!, 9);
  });

  it('resampleCandles never changes a candle when later rows are added', () => {
    const candles = marketCandles(2, 400, '5m');
    const whole = resampleCandles(candles, FIVE, HOUR);
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 400 }), (cut) => {
        const part = resampleCandles(sliceCandles(candles, 0, cut), FIVE, HOUR);
        expect(part.timestamp).toHaveLength(Math.floor(cut / 12));
        expect(part).toEqual(sliceCandles(whole, 0, part.timestamp.length));
      }),
    );
  });

  it('resampleCandles rejects timeframes that are not multiples', () => {
    const candles = minuteCandles([0, 1]);
    expect(resampleCandles(candles, MINUTE, MINUTE)).toBe(candles);
    expect(() => resampleCandles(candles, FIVE, MINUTE)).toThrow(RangeError);
    expect(() => resampleCandles(candles, 2 * MINUTE, FIVE)).toThrow(RangeError);
    expect(() => resampleCandles(candles, 0, FIVE)).toThrow(RangeError);
  });
});

const DATA = '../shared/data/candles';

function readCandles(name: string): Candles {
  const lines = gunzipSync(readFileSync(`${DATA}/${name}.csv.gz`))
    .toString('utf8')
    .trim()
    .split('\n')
    .slice(1)
    .map((line) => line.split(',').map(Number));
  const column = (index: number) => Float64Array.from(lines, (values) => values[index]!);
  return {
    timestamp: column(0),
    open: column(1),
    high: column(2),
    low: column(3),
    close: column(4),
    volume: column(5),
  };
}

/** Number of resampled candles that the exchange also published. Each of them must be equal. */
function expectEqualWhereBoth(resampled: Candles, published: Candles): number {
  const rowOf = new Map([...published.timestamp].map((time, row) => [time, row]));
  let compared = 0;
  for (const [row, time] of resampled.timestamp.entries()) {
    const other = rowOf.get(time);
    if (other === undefined) continue;
    compared++;
    for (const name of ['open', 'high', 'low', 'close'] as const) {
      expect(resampled[name][row]).toBe(published[name][other]);
    }
    // Volumes are published with few decimals; sums of doubles differ in the last digit.
    expect(Math.abs(resampled.volume[row]! - published.volume[other]!)).toBeLessThan(
      1e-9 * published.volume[other]! + 1e-9,
    );
  }
  return compared;
}

describe.skipIf(!existsSync(DATA))(`real candles of ${DATA} (skipped when the folder is absent)`, () => {
  it.each([
    ['BTC_USDT_USDT', 10_906],
    ['ETH_USDT_USDT', 10_906],
    ['BNB_USDT_USDT', 10_906],
    ['SOL_USDT_USDT', 8_639],
  ])("resampled 5m candles of %s equal the exchange's 15m and 1h candles", (pair, length) => {
    const candles = readCandles(`${pair}-5m`);
    expect(candles.close).toHaveLength(length);
    for (const timeframe of ['15m', '1h'] as const) {
      const resampled = resampleCandles(candles, FIVE, TIMEFRAME_MS[timeframe]);
      const compared = expectEqualWhereBoth(resampled, readCandles(`${pair}-${timeframe}`));
      expect(compared).toBeGreaterThan(timeframe === '1h' ? 715 : 2_870);
    }
  });

  it("resampled 1m candles of XRP/ETH with gaps equal the exchange's 5m candles", () => {
    const resampled = resampleCandles(readCandles('XRP_ETH-1m'), MINUTE, FIVE);
    expect(expectEqualWhereBoth(resampled, readCandles('XRP_ETH-5m'))).toBeGreaterThan(700);
  });
});

describe('resample', () => {
  const HOURS = Array.from({ length: 24 }, (_, hour) => hour * 60);

  it('candles of any multiple open at multiples since 1970, and incomplete ones are left out', () => {
    const hourly = minuteCandles(HOURS.map((minute) => minute + 60));
    // From 01:00 on: the first whole bucket of 3h opens at 03:00; 01:00 of the next day ends none.
    expect(rows(resample(hourly, '3h'))).toEqual(rows(resampleCandles(hourly, HOUR, 3 * HOUR)));
    expect([...resample(hourly, '3h').timestamp].map((time) => time / HOUR)).toEqual([
      3, 6, 9, 12, 15, 18, 21,
    ]);
    expect([...resample(hourly, '7h').timestamp].map((time) => time / HOUR)).toEqual([7, 14]);
    expect(rows(resample(hourly, '180m'))).toEqual(rows(resample(hourly, '3h')));
    expect(rows(resample(minuteCandles([0, 1, 2, 3, 4, 5, 6]), '7m'))).toEqual([
      [0, 100, 107, 99, 106.5, 21],
    ]);
  });

  it('weeks begin on Monday', () => {
    const days = Array.from({ length: 20 }, (_, day) => day * 24 * 60);
    // 1970-01-05 and -12 are Mondays.
    expect([...resample(minuteCandles(days), '1w').timestamp].map((time) => time / (24 * HOUR))).toEqual([
      4, 11,
    ]);
  });

  it.each(['8d', '2w', '0h', '1.5h', '3', '', '90s', '61m', '__proto__', '10081m', 180 as never])(
    'the interval %s of hourly candles is refused',
    (interval) => expect(() => resample(minuteCandles(HOURS), interval)).toThrow(RangeError),
  );

  it('columns appear on the candle that closes with the longer one', () => {
    const hourly = minuteCandles(HOURS.slice(0, 8));
    const { last } = onTimeframe(hourly, '3h', ({ close }) => ({ last: close }));
    const [first, second] = [hourly.close[2]!, hourly.close[5]!];
    expect([...last]).toEqual([Number.NaN, Number.NaN, first, first, first, second, second, second]);
    expect(() => onTimeframe(hourly, '3h', () => ({ last: new Float64Array(1) }))).toThrow(RangeError);
  });
});
