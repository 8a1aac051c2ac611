import type { Candles } from '#engine/candles.ts';
import { linearRegressionSlope, standardDeviation, zScore } from '#engine/indicators/deviation.ts';
import { williamsR } from '#engine/indicators/extremes.ts';
import { sma } from '#engine/indicators/moving-averages.ts';
import { trueRange } from '#engine/indicators/trend.ts';
import { mfi } from '#engine/indicators/volume.ts';
import type { Columns, MlLabel } from '#engine/strategy.ts';
import { DAY_MS } from '#engine/timeframe.ts';
import { riseLabel } from './labels.ts';

/** Candles over which returns are measured. */
const RETURNS = [1, 2, 4, 8, 16, 32] as const;

/** Candles before the first row on which every default feature is defined: the longest window is 50. */
export const DEFAULT_FEATURE_CANDLES = 50;

/** Candles ahead at which the default label looks. */
const DEFAULT_HORIZON = 12;

/**
 * The features of a strategy that declares none: returns, volatility, where the price stands in its recent range, the shape
 * of the candle, volume, time of day. All are free of the price level and depend on 50 candles at the most.
 */
export function defaultFeatures(candles: Candles): Columns {
  const { open, high, low, close, volume } = candles;
  const logarithm = close.map(Math.log);
  const returns = RETURNS.map((ahead) => [`return_${ahead}`, difference(logarithm, ahead)] as const);
  const [, step] = returns[0]!;
  const [fast, slow] = [standardDeviation(step, 8), standardDeviation(step, 32)];
  const range = trueRange(candles);
  const size = (row: number) => high[row]! - low[row]!;
  const shareOfRange = (distance: (row: number) => number) =>
    each(close, (row) => (size(row) > 0 ? distance(row) / size(row) : 0));
  return {
    ...Object.fromEntries(returns),
    volatility_8: fast,
    volatility_32: slow,
    volatility_ratio: relative(fast, slow),
    z_score_20: zScore(close, 20),
    z_score_50: zScore(close, 50),
    position_14: williamsR(candles, 14),
    position_50: williamsR(candles, 50),
    slope_20: linearRegressionSlope(logarithm, 20),
    body: shareOfRange((row) => close[row]! - open[row]!),
    upper_wick: shareOfRange((row) => high[row]! - Math.max(open[row]!, close[row]!)),
    lower_wick: shareOfRange((row) => Math.min(open[row]!, close[row]!) - low[row]!),
    range_ratio: relative(range, sma(range, 20)),
    volume_ratio: relative(volume, sma(volume, 20)),
    money_flow_14: mfi(candles, 14),
    hour_sin: each(close, (row) => Math.sin(dayAngle(candles.timestamp[row]!))),
    hour_cos: each(close, (row) => Math.cos(dayAngle(candles.timestamp[row]!))),
  };
}

/** The label of a strategy that declares none: whether the close is higher in 12 candles. */
export function defaultLabel(candles: Candles): MlLabel {
  return riseLabel(candles, DEFAULT_HORIZON);
}

const dayAngle = (time: number) => (2 * Math.PI * (time % DAY_MS)) / DAY_MS;

/** Of a logarithm: the return over `ahead` candles. */
function difference(values: Float64Array, ahead: number): Float64Array {
  return each(values, (row) => (row < ahead ? Number.NaN : values[row]! - values[row - ahead]!));
}

/** A value over the usual one; 1 where nothing is usual. */
function relative(values: Float64Array, usual: Float64Array): Float64Array {
  return each(values, (row) => (usual[row] === 0 ? 1 : values[row]! / usual[row]!));
}

function each(values: Float64Array, value: (row: number) => number): Float64Array {
  return values.map((_, row) => value(row));
}
