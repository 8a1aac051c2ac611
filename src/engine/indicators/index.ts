/**
 * Indicators as pure functions on columns.
 *
 * - One value per input row; `NaN` until the indicator is defined. Inputs may begin with NaN (an indicator of an
 *   indicator) and have no NaN after that.
 * - Row `i` depends only on rows `0..i`.
 * - Time is linear in the number of candles; nothing is allocated per candle.
 * - The last argument is an optional output column of the same length. It must not be one of the inputs.
 * - Files are TA-Lib's groups. Two large groups are split: the averages stand next to the other overlap studies, and
 *   the directional movement and the oscillators next to the other momentum indicators.
 * - Conventions follow TA-Lib for each indicator that TA-Lib has. The comment of a function names its deviations.
 */
export { kama, mama, trendline } from './adaptive.ts';
export { hammer, heikinAshi } from './candlesticks.ts';
export { cyclePeriod, cycleSine, trendMode } from './cycle.ts';
export { adx, adxr, directionalMovement, dx } from './directional.ts';
export {
  balanceOfPower,
  cci,
  type Macd,
  macd,
  mfi,
  momentum,
  rateOfChange,
  rateOfChangeRatio,
  rsi,
} from './momentum.ts';
export { dema, ema, emas, hma, rma, sma, t3, tema, trima, wma } from './moving-averages.ts';
export {
  apo,
  aroon,
  aroonOscillator,
  chandeMomentum,
  ppo,
  stochastic,
  stochasticRsi,
  trix,
  ultimateOscillator,
  williamsR,
} from './oscillators.ts';
export { type Bands, bollinger, donchian, midpoint, parabolicSar, supertrend } from './overlap.ts';
export { averagePrice, medianPrice, typicalPrice, weightedClose } from './price.ts';
export { onTimeframe, resample } from './resample.ts';
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
export {
  beta,
  correlation,
  linearRegression,
  linearRegressionAngle,
  linearRegressionIntercept,
  linearRegressionSlope,
  standardDeviation,
  timeSeriesForecast,
  variance,
  zScore,
} from './statistics.ts';
export { atr, natr, trueRange } from './volatility.ts';
export { accumulationDistribution, chaikinOscillator, obv, rollingVwap } from './volume.ts';
export { highest, lowest, rollingSum, shift } from './windows.ts';
