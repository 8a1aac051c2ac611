import { DAY_MS } from '#contract/values/durations.ts';
import { type Computed, checkColumns, StrategyRunError, withErrorContext } from '../analysis/analyze.ts';
import type { Candles } from '../candles.ts';
import { mfi } from '../indicators/momentum.ts';
import { sma } from '../indicators/moving-averages.ts';
import { williamsR } from '../indicators/oscillators.ts';
import { linearRegressionSlope, standardDeviation, zScore } from '../indicators/statistics.ts';
import { trueRange } from '../indicators/volatility.ts';
import { ownColumns, ownFlags } from '../own-columns.ts';
import {
  type Columns,
  type InformativeColumns,
  type MlLabel,
  type ParameterValues,
  type StrategyDefinition,
  UNKNOWN_LABEL,
} from '../strategy.ts';
import type { FeatureMatrix } from './features.ts';
import { riseLabel } from './labels.ts';

/** Features and labels of one pair, one row per candle. */
export interface TrainingInputs extends MlLabel {
  readonly features: FeatureMatrix;
}

/** A larger number indicates a mistake, such as one column per candle. */
const MAX_FEATURES = 500;
const FEATURES = { from: 'mlFeatures()', column: 'feature' } as const;

/**
 * Features and labels of a pair, from the strategy or by default.
 *
 * @throws StrategyRunError when the strategy throws, or features or labels do not have one value per candle
 */
export function trainingInputsOf(
  strategy: StrategyDefinition,
  params: ParameterValues,
  candles: Candles,
  { columns, informative, pair, given = { columns, informative } }: Computed,
): TrainingInputs {
  const rows = candles.timestamp.length;
  const taken = ['ml_probability', 'do_predict'].find((name) => Object.hasOwn(columns, name));
  if (taken)
    throw new StrategyRunError(
      `Strategy ${strategy.name}: ${taken} is a column of the ML engine. Rename the column in indicators().`,
    );
  const returned = strategy.mlFeatures
    ? withErrorContext('mlFeatures()', () =>
        strategy.mlFeatures!(candles, given.columns, { ...params }, given.informative as InformativeColumns, {
          pair,
          timeframe: strategy.timeframe,
        }),
      )
    : defaultFeatures(candles);
  checkColumns(strategy.name, FEATURES, returned, rows);
  // Copies: the report measures the models after the strategy has run again.
  const features = ownColumns(returned);
  const names = Object.keys(features);
  if (names.length === 0 || names.length > MAX_FEATURES) {
    throw new StrategyRunError(
      `Strategy ${strategy.name}: mlFeatures() returned ${names.length} features: return 1 to ${MAX_FEATURES}.`,
    );
  }
  const label = strategy.mlLabel
    ? withErrorContext('mlLabel()', () => strategy.mlLabel!(candles, { ...params }))
    : defaultLabel(candles);
  return {
    ...ownLabel(strategy.name, label, rows),
    features: { names, columns: Object.values(features), rows },
  };
}

/** A checked copy, which the strategy does not have. */
function ownLabel(strategy: string, label: MlLabel, rows: number): MlLabel {
  const invalid = (problem: string) => new StrategyRunError(`Strategy ${strategy}: mlLabel() ${problem}.`);
  if (typeof label !== 'object' || label === null) throw invalid('must return labels and their horizon');
  const { labels: returned, horizon } = label;
  const labels = ownFlags(returned);
  if (labels?.length !== rows) throw invalid(`must return labels as a Uint8Array of ${rows} values`);
  if (!Number.isInteger(horizon) || horizon < 1) {
    throw invalid(`returned the horizon ${horizon}: it must be an integer number of candles from 1`);
  }
  for (let row = 0; row < rows; row++) {
    if (labels[row]! > 1 && labels[row] !== UNKNOWN_LABEL) {
      throw invalid(
        `returned the label ${labels[row]} in row ${row}: a label must be 0, 1 or ${UNKNOWN_LABEL} for unknown`,
      );
    }
  }
  return { labels, horizon };
}

/** Labeled rows of an interval. */
export interface LabeledRows {
  readonly features: FeatureMatrix;
  /** Labels, each 0 or 1. */
  readonly labels: Uint8Array;
  readonly positives: number;
}

/** Rows of [from, to) with a label. If all have a label, the columns are views, not copies. */
export function labeledRows({ features, labels }: TrainingInputs, from: number, to: number): LabeledRows {
  const given = labels.subarray(from, to);
  let known = 0;
  let positives = 0;
  for (let row = 0; row < given.length; row++) {
    if (given[row] !== UNKNOWN_LABEL) known++;
    if (given[row] === 1) positives++;
  }
  const all = featureRows(features, from, to);
  if (known === given.length) return { features: all, labels: given, positives };
  const keep = (_: number, row: number) => given[row] !== UNKNOWN_LABEL;
  const columns = all.columns.map((column) => column.filter(keep));
  return { features: { ...all, columns, rows: known }, labels: given.filter(keep), positives };
}

/** Rows of [from, to) as views. */
export function featureRows(features: FeatureMatrix, from: number, to: number): FeatureMatrix {
  const columns = features.columns.map((column) => column.subarray(from, to));
  return { names: features.names, columns, rows: Math.max(0, to - from) };
}

/** Intervals of the return features, candles. */
const RETURNS = [1, 2, 4, 8, 16, 32] as const;

/** Number of candles before the first row on which every default feature is defined: the longest window is 50. */
export const DEFAULT_FEATURE_CANDLES = 50;

/** Horizon of the default label, candles. */
const DEFAULT_HORIZON = 12;

/**
 * Default features: returns, volatility, position of the price in its recent range, shape of the candle, volume, time of
 * day. All are independent of the price level and depend on at most 50 candles.
 */
function defaultFeatures(candles: Candles): Columns {
  const { open, high, low, close, volume } = candles;
  const logarithm = close.map(Math.log);
  const returns = RETURNS.map((lag) => [`return_${lag}`, difference(logarithm, lag)] as const);
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

/** Default label: 1 if the close is higher after 12 candles. */
function defaultLabel(candles: Candles): MlLabel {
  return riseLabel(candles, DEFAULT_HORIZON);
}

const dayAngle = (time: number) => (2 * Math.PI * (time % DAY_MS)) / DAY_MS;

/** Difference from the value `lag` candles ago; for logarithms of prices it is the logarithmic return. */
function difference(values: Float64Array, lag: number): Float64Array {
  return each(values, (row) => (row < lag ? Number.NaN : values[row]! - values[row - lag]!));
}

/** Ratio of a value to its usual value; 1 where the usual value is 0. */
function relative(values: Float64Array, usual: Float64Array): Float64Array {
  return each(values, (row) => (usual[row] === 0 ? 1 : values[row]! / usual[row]!));
}

function each(values: Float64Array, value: (row: number) => number): Float64Array {
  return values.map((_, row) => value(row));
}
