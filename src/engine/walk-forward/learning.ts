import type { Candles } from '../candles.ts';
import type { FeatureMatrix } from '../ml/index.ts';
import { checkColumns, StrategyRunError, withErrorContext } from '../strategies/analyse.ts';
import {
  type Columns,
  type MlLabel,
  type ParameterValues,
  type StrategyDefinition,
  UNKNOWN_LABEL,
} from '../strategy.ts';
import { defaultFeatures, defaultLabel } from './default-learning.ts';

/** What models of one pair learn from: a row per candle. */
export interface Learning extends MlLabel {
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
export function learningOf(
  strategy: StrategyDefinition,
  params: ParameterValues,
  candles: Candles,
  columns: Columns,
): Learning {
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
    throw wrong(`answered the horizon ${horizon}: it must be a whole number of candles from 1`);
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
export function labelledRows({ features, labels }: Learning, from: number, to: number): LabelledRows {
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
