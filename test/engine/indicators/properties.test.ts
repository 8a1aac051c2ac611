import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Candles, sliceCandles } from '#engine/candles.ts';
import {
  adx,
  atr,
  bollinger,
  cci,
  dema,
  donchian,
  ema,
  highest,
  hma,
  linearRegressionSlope,
  lowest,
  macd,
  mfi,
  momentum,
  obv,
  rateOfChange,
  rma,
  rollingSum,
  rollingVwap,
  rsi,
  shift,
  sma,
  standardDeviation,
  stochastic,
  supertrend,
  tema,
  trueRange,
  typicalPrice,
  williamsR,
  wma,
  zScore,
} from '#engine/indicators/index.ts';
import { marketCandles } from './market.ts';

type Columns = Readonly<Record<string, Float64Array>>;

/** Scaling of a result when all prices are multiplied by a power of two. */
type Scaling = 'with the price' | 'not at all';

interface OfValues {
  readonly name: string;
  readonly run: (values: Float64Array, period: number) => Float64Array;
  readonly scaling: Scaling;
  /** Result in a constant market: the price, or this number. */
  readonly ofConstant: 'the price' | number;
}

const ofValues: readonly OfValues[] = [
  { name: 'sma', run: sma, scaling: 'with the price', ofConstant: 'the price' },
  { name: 'ema', run: ema, scaling: 'with the price', ofConstant: 'the price' },
  { name: 'rma', run: rma, scaling: 'with the price', ofConstant: 'the price' },
  { name: 'wma', run: wma, scaling: 'with the price', ofConstant: 'the price' },
  { name: 'dema', run: dema, scaling: 'with the price', ofConstant: 'the price' },
  { name: 'tema', run: tema, scaling: 'with the price', ofConstant: 'the price' },
  { name: 'hma', run: hma, scaling: 'with the price', ofConstant: 'the price' },
  { name: 'highest', run: highest, scaling: 'with the price', ofConstant: 'the price' },
  { name: 'lowest', run: lowest, scaling: 'with the price', ofConstant: 'the price' },
  { name: 'shift', run: shift, scaling: 'with the price', ofConstant: 'the price' },
  { name: 'standardDeviation', run: standardDeviation, scaling: 'with the price', ofConstant: 0 },
  { name: 'linearRegressionSlope', run: linearRegressionSlope, scaling: 'with the price', ofConstant: 0 },
  { name: 'momentum', run: momentum, scaling: 'with the price', ofConstant: 0 },
  {
    name: 'macd histogram',
    run: (values, period) => macd(values, period, 2 * period, 3).histogram,
    scaling: 'with the price',
    ofConstant: 0,
  },
  {
    name: 'bollinger upper',
    run: (values, period) => bollinger(values, period).upper,
    scaling: 'with the price',
    ofConstant: 'the price',
  },
  { name: 'zScore', run: zScore, scaling: 'not at all', ofConstant: 0 },
  { name: 'rateOfChange', run: rateOfChange, scaling: 'not at all', ofConstant: 0 },
  { name: 'rsi', run: rsi, scaling: 'not at all', ofConstant: 50 },
];

const ofCandles: readonly {
  readonly name: string;
  readonly run: (candles: Candles, period: number) => Columns;
  readonly scaling: Scaling;
}[] = [
  { name: 'trueRange', run: (c) => ({ out: trueRange(c) }), scaling: 'with the price' },
  { name: 'atr', run: (c, n) => ({ out: atr(c, n) }), scaling: 'with the price' },
  { name: 'typicalPrice', run: (c) => ({ out: typicalPrice(c) }), scaling: 'with the price' },
  { name: 'rollingVwap', run: (c, n) => ({ out: rollingVwap(c, n) }), scaling: 'with the price' },
  { name: 'donchian', run: (c, n) => ({ ...donchian(c, n) }), scaling: 'with the price' },
  { name: 'supertrend', run: (c, n) => ({ line: supertrend(c, n, 3).line }), scaling: 'with the price' },
  { name: 'direction', run: (c, n) => ({ out: supertrend(c, n, 3).direction }), scaling: 'not at all' },
  { name: 'adx', run: (c, n) => ({ ...adx(c, n) }), scaling: 'not at all' },
  { name: 'stochastic', run: (c, n) => ({ ...stochastic(c, n) }), scaling: 'not at all' },
  { name: 'williamsR', run: (c, n) => ({ out: williamsR(c, n) }), scaling: 'not at all' },
  { name: 'cci', run: (c, n) => ({ out: cci(c, n) }), scaling: 'not at all' },
  { name: 'mfi', run: (c, n) => ({ out: mfi(c, n) }), scaling: 'not at all' },
  { name: 'obv', run: (c) => ({ out: obv(c) }), scaling: 'not at all' },
  { name: 'rollingSum of volume', run: (c, n) => ({ out: rollingSum(c.volume, n) }), scaling: 'not at all' },
];

const periods = fc.integer({ min: 2, max: 30 });
const markets = fc
  .record({ seed: fc.nat(), length: fc.integer({ min: 1, max: 200 }) })
  .map(({ seed, length }) => marketCandles(seed, length));
const prices = markets.map(({ close }) => close);

/** Bitwise equality, NaN included. */
const same = (a: Float64Array, b: Float64Array) =>
  a.length === b.length && a.every((value, row) => Object.is(value, b[row]!) || value === b[row]);

const check = <Ts extends [unknown, ...unknown[]]>(
  ...args: [...arbitraries: { [K in keyof Ts]: fc.Arbitrary<Ts[K]> }, holds: (...values: Ts) => boolean]
) => fc.assert(fc.property<Ts>(...args), { numRuns: 60 });

describe.each(ofValues)('$name', ({ run, scaling, ofConstant }) => {
  it('result at a row does not depend on later rows', () => {
    check(prices, periods, fc.nat(), (values, period, seed) => {
      const cut = seed % (values.length + 1);
      return same(run(values.slice(0, cut), period), run(values, period).slice(0, cut));
    });
  });

  it('result does not change after leading undefined values', () => {
    check(prices, periods, fc.integer({ min: 1, max: 60 }), (values, period, lead) => {
      const led = new Float64Array(values.length + lead).fill(Number.NaN);
      led.set(values, lead);
      const result = run(led, period);
      return result.subarray(0, lead).every(Number.isNaN) && same(result.subarray(lead), run(values, period));
    });
  });

  it('result scales exactly with the price unit', () => {
    check(prices, periods, fc.integer({ min: -20, max: 20 }), (values, period, exponent) => {
      const factor = 2 ** exponent;
      const scaled = run(
        values.map((value) => value * factor),
        period,
      );
      const unscaled = run(values, period);
      return same(scaled, scaling === 'with the price' ? unscaled.map((value) => value * factor) : unscaled);
    });
  });

  it('result is exact for a constant market', () => {
    check(fc.double({ min: 1e-6, max: 1e6, noNaN: true }), periods, (price, period) => {
      const result = run(new Float64Array(150).fill(price), period);
      const expected = ofConstant === 'the price' ? price : ofConstant;
      const defined = result.filter((value) => !Number.isNaN(value));
      return defined.length > 0 && defined.every((value) => value === expected);
    });
  });
});

describe.each(ofCandles)('$name', ({ run, scaling }) => {
  it('columns at a row do not depend on later rows', () => {
    check(markets, periods, fc.nat(), (candles, period, seed) => {
      const cut = seed % (candles.close.length + 1);
      const whole = run(candles, period);
      const part = run(sliceCandles(candles, 0, cut), period);
      return Object.keys(whole).every((name) => same(part[name]!, whole[name]!.slice(0, cut)));
    });
  });

  it('columns scale exactly with the price unit', () => {
    check(markets, periods, fc.integer({ min: -20, max: 20 }), (candles, period, exponent) => {
      const factor = 2 ** exponent;
      const times = (values: Float64Array) => values.map((value) => value * factor);
      const { open, high, low, close } = candles;
      const scaled = run(
        { ...candles, open: times(open), high: times(high), low: times(low), close: times(close) },
        period,
      );
      const unscaled = run(candles, period);
      return Object.keys(unscaled).every((name) =>
        same(scaled[name]!, scaling === 'with the price' ? times(unscaled[name]!) : unscaled[name]!),
      );
    });
  });
});

describe('indicator bounds', () => {
  const within = (column: Float64Array, low: number, high: number) =>
    column.every((value) => Number.isNaN(value) || (value >= low && value <= high));

  it('oscillators stay in their range', () => {
    check(markets, periods, (candles, period) => {
      const { k, d } = stochastic(candles, period);
      const movement = adx(candles, period);
      return (
        [rsi(candles.close, period), mfi(candles, period)].every((column) => within(column, 0, 100)) &&
        // Averages of values at the bound may exceed it by a rounding error.
        [k, d, ...Object.values(movement)].every((column) => within(column, -1e-9, 100 + 1e-9)) &&
        within(williamsR(candles, period), -100, 0)
      );
    });
  });

  it('supertrend line is on the side of the price given by its direction', () => {
    check(markets, periods, (candles, period) => {
      const { line, direction } = supertrend(candles, period, 2);
      return direction.every(
        (value, row) => Number.isNaN(value) || (candles.close[row]! - line[row]!) * value >= 0,
      );
    });
  });
});

describe('output columns', () => {
  const candles = marketCandles(3, 100);
  const column = () => new Float64Array(100).fill(7);

  it('given output columns are overwritten completely', () => {
    for (const { run } of ofValues.slice(0, 13)) {
      const out = column();
      const withOut = run as (values: Float64Array, period: number, out: Float64Array) => Float64Array;
      expect(withOut(candles.close, 9, out)).toBe(out);
      expect(out).toEqual(run(candles.close, 9));
    }
    const bands = { upper: column(), middle: column(), lower: column() };
    expect(bollinger(candles.close, 9, 2, bands)).toEqual(bollinger(candles.close, 9, 2));
    expect(bands.lower).toEqual(bollinger(candles.close, 9, 2).lower);
    const lines = { macd: column(), signal: column(), histogram: column() };
    macd(candles.close, 3, 9, 4, lines);
    expect(lines).toEqual(macd(candles.close, 3, 9, 4));
    const movement = { adx: column(), plusDi: column(), minusDi: column() };
    adx(candles, 9, movement);
    expect(movement).toEqual(adx(candles, 9));
    const trend = { line: column(), direction: column() };
    supertrend(candles, 9, 3, trend);
    expect(trend).toEqual(supertrend(candles, 9, 3));
    const oscillator = { k: column(), d: column() };
    stochastic(candles, 9, 3, 3, oscillator);
    expect(oscillator).toEqual(stochastic(candles, 9));
  });

  it('output column of another length is rejected', () => {
    expect(() => ema(candles.close, 9, new Float64Array(99))).toThrow('99 rows for 100 values');
  });

  it('columns are NaN when the series is too short', () => {
    for (const { run } of ofValues) expect(run(candles.close.slice(0, 1), 9).every(Number.isNaN)).toBe(true);
    for (const length of [1, 20, 25, 30]) {
      const { macd: line, signal } = macd(candles.close.slice(0, length));
      expect(line.filter((value) => !Number.isNaN(value))).toHaveLength(Math.max(0, length - 25));
      expect(signal.every(Number.isNaN)).toBe(true);
    }
  });
});

describe('indicator periods', () => {
  const values = Float64Array.of(1, 2, 3);

  it.each([0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY])(
    'indicators reject a period of %d',
    (period) => {
      for (const { name, run } of ofValues) {
        if (name === 'shift' && period === 0) continue;
        expect(() => run(values, period)).toThrow(RangeError);
      }
    },
  );

  it('shift rejects a negative period', () => {
    expect(() => shift(values, -1)).toThrow('shift: a period must be an integer from 0, got -1');
  });

  it('macd rejects a fast period that is not shorter than the slow one', () => {
    expect(() => macd(values, 26, 26, 9)).toThrow('macd (slow): a period must be an integer from 27');
  });
});
