/**
 * Indicators as pure functions on columns.
 *
 * - One value per input row; `NaN` until the indicator is defined. Inputs may begin with NaN (an indicator of an
 *   indicator) and have no NaN after that.
 * - Row `i` depends only on rows `0..i`.
 * - Time is linear in the number of candles; nothing is allocated per candle.
 * - The last argument is an optional output column of the same length. It must not be one of the inputs.
 * - Conventions follow TA-Lib for each indicator that TA-Lib has. The comment of a function names its deviations.
 */
export { averagePrice, kama, medianPrice, midpoint, t3, trima, weightedClose } from './adaptive.ts';
export { hammer, heikinAshi } from './candlesticks.ts';
export { adxr, directionalMovement, dx, natr, parabolicSar } from './directional.ts';
export { cyclePeriod, cycleSine, mama, trendline, trendMode } from './hilbert.ts';
export { cci, type Macd, macd, momentum, rateOfChange, rsi } from './momentum.ts';
export { dema, ema, emas, hma, rma, sma, tema, wma } from './moving-averages.ts';
export {
  apo,
  aroon,
  aroonOscillator,
  balanceOfPower,
  chandeMomentum,
  ppo,
  rateOfChangeRatio,
  stochasticRsi,
  trix,
  ultimateOscillator,
} from './oscillators.ts';
export {
  beta,
  correlation,
  linearRegression,
  linearRegressionAngle,
  linearRegressionIntercept,
  timeSeriesForecast,
  variance,
} from './regression.ts';
export {
  allOf,
  anyOf,
  crossedAbove,
  crossedBelow,
  crossings,
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
export {
  accumulationDistribution,
  chaikinOscillator,
  mfi,
  obv,
  rollingVwap,
  typicalPrice,
} from './volume.ts';
export { rollingSum, shift } from './windows.ts';
