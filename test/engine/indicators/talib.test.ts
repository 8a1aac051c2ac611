import { describe, expect, it } from 'vitest';
import {
  adx,
  atr,
  bollinger,
  cci,
  dema,
  ema,
  highest,
  linearRegressionSlope,
  lowest,
  macd,
  mfi,
  momentum,
  obv,
  rateOfChange,
  rollingSum,
  rsi,
  sma,
  standardDeviation,
  stochastic,
  tema,
  trueRange,
  williamsR,
  wma,
} from '#engine/indicators/index.ts';
import talib from './talib.json' with { type: 'json' };

type Column = readonly (number | null)[];

const { high, low, close, volume } = Object.fromEntries(
  Object.entries(talib.candles).map(([name, values]) => [name, Float64Array.from(values)]),
) as Record<keyof typeof talib.candles, Float64Array>;
const candles = { high, low, close, volume };
const lines = macd(close, 12, 26, 9);
const bands = bollinger(close, 20, 2);
const direction = adx(candles, 14);
const { k, d } = stochastic(candles, 14, 3, 3);

/** Indicator columns for each call made to TA-Lib. */
const ours: Record<keyof typeof talib.outputs, readonly Float64Array[]> = {
  'SMA(close, 10)': [sma(close, 10)],
  'EMA(close, 10)': [ema(close, 10)],
  'WMA(close, 10)': [wma(close, 10)],
  'DEMA(close, 6)': [dema(close, 6)],
  'TEMA(close, 5)': [tema(close, 5)],
  'RSI(close, 14)': [rsi(close, 14)],
  'MACD(close, 12, 26, 9)': [lines.macd, lines.signal, lines.histogram],
  'BBANDS(close, 20, 2, 2)': [bands.upper, bands.middle, bands.lower],
  'STDDEV(close, 10, 1)': [standardDeviation(close, 10)],
  'LINEARREG_SLOPE(close, 10)': [linearRegressionSlope(close, 10)],
  'TRANGE(high, low, close)': [trueRange(candles)],
  'ATR(high, low, close, 14)': [atr(candles, 14)],
  'ADX(high, low, close, 14)': [direction.adx],
  'PLUS_DI(high, low, close, 14)': [direction.plusDi],
  'MINUS_DI(high, low, close, 14)': [direction.minusDi],
  'STOCH(high, low, close, 14, 3, 0, 3, 0)': [k, d],
  'WILLR(high, low, close, 14)': [williamsR(candles, 14)],
  'CCI(high, low, close, 20)': [cci(candles, 20)],
  'OBV(close, volume)': [obv(candles)],
  'MFI(high, low, close, volume, 14)': [mfi(candles, 14)],
  'ROC(close, 10)': [rateOfChange(close, 10)],
  'MOM(close, 10)': [momentum(close, 10)],
  'MAX(high, 20)': [highest(high, 20)],
  'MIN(low, 20)': [lowest(low, 20)],
  'SUM(volume, 7)': [rollingSum(volume, 7)],
};

/** TA-Lib starts all columns of these calls with the last one; ours start as soon as each is defined. */
const EARLIER_START = new Set(['MACD(close, 12, 26, 9)', 'STOCH(high, low, close, 14, 3, 0, 3, 0)']);

describe('TA-Lib', () => {
  it.each(Object.keys(talib.outputs) as (keyof typeof talib.outputs)[])(
    '%s equals TA-Lib within 1e-12',
    (call) => {
      const output = talib.outputs[call];
      const expected = (Array.isArray(output[0]) ? output : [output]) as readonly Column[];
      expect(ours[call]).toHaveLength(expected.length);
      for (const [index, column] of expected.entries()) {
        const actual = ours[call][index]!;
        expect(actual).toHaveLength(column.length);
        const scale = Math.max(...column.map((value) => Math.abs(value ?? 0)));
        for (const [row, value] of column.entries()) {
          if (value !== null) expect(Math.abs(actual[row]! - value)).toBeLessThanOrEqual(1e-12 * scale);
          else if (!EARLIER_START.has(call)) expect(actual[row]).toBeNaN();
        }
      }
    },
  );
});
