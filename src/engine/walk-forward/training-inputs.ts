import type { Candles } from '../candles.ts';
import { sma } from '../indicators/moving-averages.ts';
import { trueRange } from '../indicators/trend.ts';
import { linearRegressionSlope, standardDeviation, williamsR, zScore } from '../indicators/volatility.ts';
import { mfi } from '../indicators/volume.ts';
import type { FeatureMatrix } from '../ml/features.ts';
import { checkColumns, StrategyRunError, withErrorContext } from '../strategies/analyze.ts';
import {
  type Columns,
  type MlLabel,
  type ParameterValues,
  type StrategyDefinition,
  UNKNOWN_LABEL,
} from '../strategy.ts';
import { DAY_MS } from '../timeframe.ts';
import { riseLabel } from './labels.ts';

/** What models of one pair learn from: a row per candle. */
export interface TrainingInputs extends MlLabel {
  readonly features: FeatureMatrix;
}

/** More would be a slip, such as a column per candle. */
const MAX_FEATURES = 500;
const FEATURES = { from: 'mlFeatures()', column: 'feature' } as const;

/**
 * Features and labels of a pair, from the strategy or by default.
 *
 * @param columns those of the strategy's indicators
 * @throws StrategyRunError when the strategy throws, or they are not one value per candle
 */
export function trainingInputsOf(
  strategy: StrategyDefinition,
  params: ParameterValues,
  candles: Candles,
  columns: Columns,
): TrainingInputs {
  const rows = candles.timestamp.length;
  const taken = ['ml_probability', 'do_predict'].find((name) => Object.hasOwn(columns, name));
  if (taken) throw new StrategyRunError(`Strategy ${strategy.name}: ${taken} is a column of the ML engine.`);
  const features = strategy.mlFeatures
    ? withErrorContext('mlFeatures()', () => strategy.mlFeatures!(candles, columns, params))
    : defaultFeatures(candles);
  checkColumns(strategy.name, FEATURES, features, rows);
  const names = Object.keys(features);
  if (names.length === 0 || names.length > MAX_FEATURES) {
    throw new StrategyRunError(
      `Strategy ${strategy.name}: mlFeatures() answered ${names.length} features: there must be 1 to ${MAX_FEATURES}.`,
    );
  }
  const label = strategy.mlLabel
    ? withErrorContext('mlLabel()', () => strategy.mlLabel!(candles, params))
    : defaultLabel(candles);
  checkLabel(strategy.name, label, rows);
  return { ...label, features: { names, columns: Object.values(features), rows } };
}

function checkLabel(strategy: string, label: MlLabel, rows: number): void {
  const wrong = (text: string) => new StrategyRunError(`Strategy ${strategy}: mlLabel() ${text}.`);
  if (typeof label !== 'object' || label === null) throw wrong('must answer labels and their horizon');
  const { labels, horizon } = label;
  if (!(labels instanceof Uint8Array) || labels.length !== rows) {
    throw wrong(`must answer labels as a Uint8Array of ${rows} values`);
  }
  if (!Number.isInteger(horizon) || horizon < 1) {
    throw wrong(`answered the horizon ${horizon}: it must be an integer number of candles from 1`);
  }
  for (let row = 0; row < rows; row++) {
    if (labels[row]! > 1 && labels[row] !== UNKNOWN_LABEL) {
      throw wrong(`holds ${labels[row]} in row ${row}: a label is 0, 1 or ${UNKNOWN_LABEL} for unknown`);
    }
  }
}

/** Labelled rows of a stretch. */
export interface LabelledRows {
  readonly features: FeatureMatrix;
  /** 0 or 1 each. */
  readonly labels: Uint8Array;
  readonly positives: number;
}

/** The rows of [from, to) that have a label; views where all have one. */
export function labelledRows({ features, labels }: TrainingInputs, from: number, to: number): LabelledRows {
  const given = labels.subarray(from, to);
  let known = 0;
  let positives = 0;
  for (let row = 0; row < given.length; row++) {
    if (given[row] !== UNKNOWN_LABEL) known++;
    if (given[row] === 1) positives++;
  }
  const stretch = featureRows(features, from, to);
  if (known === given.length) return { features: stretch, labels: given, positives };
  const keep = (_: number, row: number) => given[row] !== UNKNOWN_LABEL;
  const columns = stretch.columns.map((column) => column.filter(keep));
  return { features: { ...stretch, columns, rows: known }, labels: given.filter(keep), positives };
}

/** The rows of [from, to), as views. */
export function featureRows(features: FeatureMatrix, from: number, to: number): FeatureMatrix {
  const columns = features.columns.map((column) => column.subarray(from, to));
  return { names: features.names, columns, rows: Math.max(0, to - from) };
}

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
function defaultFeatures(candles: Candles): Columns {
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
function defaultLabel(candles: Candles): MlLabel {
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
