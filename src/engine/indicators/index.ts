/**
 * Indicators as pure functions on columns.
 *
 * - One value per input row; `NaN` until the indicator is defined. Inputs may begin with NaN (an indicator of an
 *   indicator) and have no NaN after that.
 * - Row `i` depends on rows `0..i` alone.
 * - Linear in the number of candles and without allocation per candle. The last argument takes a column of the same length to
 *   write to instead of a new one; it must not be one of the inputs.
 * - Conventions are TA-Lib's where TA-Lib has the indicator; each deviation is named at its function.
 */
export { cci, type Macd, macd, momentum, rateOfChange, rsi } from './momentum.ts';
export { dema, ema, hma, rma, sma, tema, wma } from './moving-averages.ts';
export {
  allOf,
  anyOf,
  crossedAbove,
  crossedBelow,
  predictedAbove,
  predictedBelow,
  where,
} from './signals.ts';
export { adx, atr, supertrend, trueRange } from './trend.ts';
export {
  type Bands,
  bollinger,
  donchian,
  highest,
  linearRegressionSlope,
  lowest,
  standardDeviation,
  stochastic,
  williamsR,
  zScore,
} from './volatility.ts';
export { mfi, obv, rollingVwap, typicalPrice } from './volume.ts';
export { rollingSum, shift } from './windows.ts';
