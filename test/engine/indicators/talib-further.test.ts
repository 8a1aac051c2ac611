import { describe, expect, it } from 'vitest';
import { type Candles, sliceCandles } from '#engine/candles.ts';
import * as ta from '#engine/indicators/index.ts';
import { marketCandles } from './market.ts';
import talib from './talib-further.json' with { type: 'json' };

type Call = keyof typeof talib.outputs;

/** The indicators for each call made to TA-Lib, with a column for each output. */
const OURS: Record<Call, (candles: Candles) => readonly Float64Array[]> = {
  'STOCHF(high, low, close, 5, 3, 0)': (c) => columnsOf(ta.stochastic(c, 5, 1, 3)),
  'STOCHRSI(close, 14, 5, 3, 0)': ({ close }) => columnsOf(ta.stochasticRsi(close, 14, 5, 3)),
  'AROON(high, low, 14)': (c) => {
    const { down, up } = ta.aroon(c, 14);
    return [down, up];
  },
  'AROONOSC(high, low, 14)': (c) => [ta.aroonOscillator(c, 14)],
  'CMO(close, 14)': ({ close }) => [ta.chandeMomentum(close, 14)],
  'APO(close, 12, 26, 0)': ({ close }) => [ta.apo(close, 12, 26, ta.sma)],
  'PPO(close, 12, 26, 0)': ({ close }) => [ta.ppo(close, 12, 26, ta.sma)],
  'APO(close)': ({ close }) => [ta.apo(close)],
  'PPO(close)': ({ close }) => [ta.ppo(close)],
  'TRIX(close, 8)': ({ close }) => [ta.trix(close, 8)],
  'ULTOSC(high, low, close, 7, 14, 28)': (c) => [ta.ultimateOscillator(c, [7, 14, 28])],
  'BOP(open, high, low, close)': (c) => [ta.balanceOfPower(c)],
  'ROCR(close, 10)': ({ close }) => [ta.rateOfChangeRatio(close, 10)],
  'ROCP(close, 10)': ({ close }) => [ta.rateOfChangeRatio(close, 10).map((ratio) => ratio - 1)],
  'KAMA(close, 10)': ({ close }) => [ta.kama(close, 10)],
  'TRIMA(close, 11)': ({ close }) => [ta.trima(close, 11)],
  'TRIMA(close, 12)': ({ close }) => [ta.trima(close, 12)],
  'T3(close, 5, 0.7)': ({ close }) => [ta.t3(close, 5, 0.7)],
  'MIDPOINT(close, 14)': ({ close }) => [ta.midpoint(close, 14)],
  'MIDPRICE(high, low, 14)': (c) => [ta.donchian(c, 14).middle],
  'MEDPRICE(high, low)': (c) => [ta.medianPrice(c)],
  'AVGPRICE(open, high, low, close)': (c) => [ta.averagePrice(c)],
  'WCLPRICE(high, low, close)': (c) => [ta.weightedClose(c)],
  'TYPPRICE(high, low, close)': (c) => [ta.typicalPrice(c)],
  'NATR(high, low, close, 14)': (c) => [ta.natr(c, 14)],
  'PLUS_DM(high, low, 14)': (c) => [ta.directionalMovement(c, 14).plusDm],
  'MINUS_DM(high, low, 14)': (c) => [ta.directionalMovement(c, 14).minusDm],
  'DX(high, low, close, 14)': (c) => [ta.dx(c, 14)],
  'ADXR(high, low, close, 14)': (c) => [ta.adxr(c, 14)],
  'SAR(high, low, 0.02, 0.2)': (c) => [ta.parabolicSar(c, 0.02, 0.2)],
  'LINEARREG(close, 14)': ({ close }) => [ta.linearRegression(close, 14)],
  'LINEARREG_ANGLE(close, 14)': ({ close }) => [ta.linearRegressionAngle(close, 14)],
  'LINEARREG_INTERCEPT(close, 14)': ({ close }) => [ta.linearRegressionIntercept(close, 14)],
  'TSF(close, 14)': ({ close }) => [ta.timeSeriesForecast(close, 14)],
  'VAR(close, 10, 1)': ({ close }) => [ta.variance(close, 10)],
  'CORREL(high, volume, 20)': ({ high, volume }) => [ta.correlation(high, volume, 20)],
  'BETA(volume, close, 20)': ({ close, volume }) => [ta.beta(close, volume, 20)],
  'AD(high, low, close, volume)': (c) => [ta.accumulationDistribution(c)],
  'ADOSC(high, low, close, volume, 3, 10)': (c) => [ta.chaikinOscillator(c, 3, 10)],
  'HT_DCPERIOD(close)': ({ close }) => [ta.cyclePeriod(close)],
  'HT_SINE(close)': ({ close }) => columnsOf(ta.cycleSine(close)),
  'HT_TRENDLINE(close)': ({ close }) => [ta.trendline(close)],
  'HT_TRENDMODE(close)': ({ close }) => [ta.trendMode(close)],
  'MAMA(close, 0.5, 0.05)': ({ close }) => columnsOf(ta.mama(close)),
};

const columnsOf = (columns: object) => Object.values(columns) as Float64Array[];
const CALLS = Object.keys(OURS) as Call[];

/** TA-Lib starts the columns of these calls with the last one; ours start as soon as each is defined. */
const EARLIER_START: readonly Call[] = ['STOCHF(high, low, close, 5, 3, 0)', 'STOCHRSI(close, 14, 5, 3, 0)'];

const candles = {
  timestamp: new Float64Array(talib.candles.close.length),
  ...Object.fromEntries(
    Object.entries(talib.candles).map(([name, values]) => [name, Float64Array.from(values)]),
  ),
} as unknown as Candles;

describe('TA-Lib', () => {
  it.each(CALLS)('%s equals TA-Lib within 1e-11', (call) => {
    const actual = OURS[call](candles);
    const expected = talib.outputs[call];
    expect(actual).toHaveLength(expected.length);
    for (const [index, { first, values }] of expected.entries()) {
      const column = actual[index]!;
      if (first > 0 && !EARLIER_START.includes(call)) expect(column[first - 1]).toBeNaN();
      const rows = [...column.keys()].filter(
        (row) => row === first || row === first + 1 || (row > first && row % 4 === 3),
      );
      expect(rows).toHaveLength(values.length);
      const scale = Math.max(...values.map(Math.abs));
      for (const [at, row] of rows.entries()) {
        const error = Math.abs(column[row]! - values[at]!);
        expect(error, `row ${row}: ${column[row]} instead of ${values[at]}`).toBeLessThanOrEqual(
          1e-11 * scale,
        );
      }
    }
  });
});

const same = (a: Float64Array, b: Float64Array) =>
  a.length === b.length && a.every((value, row) => Object.is(value, b[row]!) || value === b[row]);

describe.each(CALLS)('%s', (call) => {
  it('does not depend on later rows, and has a value from its first row on for any length', () => {
    const market = marketCandles(11, 200);
    const whole = OURS[call](market);
    for (const length of [0, 1, 2, 13, 33, 64, 100, 199]) {
      const part = OURS[call](sliceCandles(market, 0, length));
      for (const [index, column] of part.entries())
        expect(same(column, whole[index]!.subarray(0, length)), `${length} rows`).toBe(true);
    }
    for (const column of whole) {
      const first = column.findIndex((value) => !Number.isNaN(value));
      expect(column.subarray(first).every(Number.isFinite)).toBe(true);
    }
  });

  it('is finite in a market that does not move', () => {
    const still = marketCandles(3, 120);
    for (const column of [still.open, still.high, still.low, still.close]) column.fill(100);
    for (const column of OURS[call](still)) expect(Number.isFinite(column.at(-1))).toBe(true);
  });
});

describe('columns that begin with undefined values', () => {
  it.each([
    ['kama', (values: Float64Array) => ta.kama(values, 10)],
    ['trima', (values: Float64Array) => ta.trima(values, 10)],
    ['t3', (values: Float64Array) => ta.t3(values, 4)],
    ['midpoint', (values: Float64Array) => ta.midpoint(values, 10)],
    ['stochasticRsi', (values: Float64Array) => ta.stochasticRsi(values, 10).k],
    ['chandeMomentum', (values: Float64Array) => ta.chandeMomentum(values, 10)],
    ['ppo', (values: Float64Array) => ta.ppo(values, 5, 10)],
    ['trix', (values: Float64Array) => ta.trix(values, 5)],
    ['rateOfChangeRatio', (values: Float64Array) => ta.rateOfChangeRatio(values, 5)],
    ['linearRegression', (values: Float64Array) => ta.linearRegression(values, 5)],
    ['variance', (values: Float64Array) => ta.variance(values, 5)],
    ['cyclePeriod', (values: Float64Array) => ta.cyclePeriod(values)],
    ['cycleSine', (values: Float64Array) => ta.cycleSine(values).sine],
    ['mama', (values: Float64Array) => ta.mama(values).fama],
    ['trendMode', (values: Float64Array) => ta.trendMode(values)],
  ])('%s is that of the rest, later', (_name, run) => {
    const { close } = marketCandles(5, 150);
    const led = new Float64Array(close.length + 7).fill(Number.NaN);
    led.set(close, 7);
    expect(run(led).subarray(0, 7).every(Number.isNaN)).toBe(true);
    expect(same(run(led).subarray(7), run(close))).toBe(true);
  });
});

it('stochasticRsi is 50 while nothing is traded, in spite of rounding', () => {
  const { close } = marketCandles(5, 300);
  close.fill(close[100]!, 100);
  expect([...ta.stochasticRsi(close, 14).k.subarray(106)].every((value) => value === 50)).toBe(true);
});

describe('arguments', () => {
  it('an apo of exponential averages is the line of a MACD in the long run', () => {
    const { close } = marketCandles(5, 400);
    expect(ta.apo(close, 12, 26).at(-1)).toBeCloseTo(ta.macd(close).macd.at(-1)!, 9);
  });

  it.each([
    ['kama', () => ta.kama(candles.close, 0)],
    ['trima', () => ta.trima(candles.close, 1.5)],
    ['aroon', () => ta.aroon(candles, -1)],
    ['linearRegression', () => ta.linearRegression(candles.close, 1)],
    ['parabolicSar', () => ta.parabolicSar(candles, Number.NaN)],
    ['mama', () => ta.mama(candles.close, 2)],
    ['ultimateOscillator', () => ta.ultimateOscillator(candles, [0, 1, 2])],
  ])('%s rejects an argument that makes no sense, by its name', (name, run) => {
    expect(run).toThrow(new RegExp(`^${name}: `));
  });
});
