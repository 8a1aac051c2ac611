import type { Candles } from '../candles.ts';
import { type Analysis, computeColumns, decide } from '../strategies/analyse.ts';
import type { ParameterValues, PredictionColumns, StrategyDefinition } from '../strategy.ts';
import { fitWindow, type MlRun, predictRows, type WindowFit } from './fit-window.ts';
import { type Learning, learningOf } from './learning.ts';
import { noPredictions } from './predictions.ts';

/** What a strategy computes of one pair with the ML engine. */
export interface LearnedAnalysis extends Analysis {
  readonly learning: Learning;
  readonly predictions: PredictionColumns;
  readonly fits: readonly WindowFit[];
}

/** Trains the model of a window; a memo may answer for it. */
export type FitWindow = typeof fitWindow;

/**
 * Runs a strategy over the candles of one pair with a model for each window: columns, features and labels, predictions
 * window by window, signals. Pauses after every window, with the share that is done.
 *
 * @throws StrategyRunError as `analyse`, and when features or labels are not one value per candle
 */
export function* predicting(
  strategy: StrategyDefinition,
  params: ParameterValues,
  candles: Candles,
  run: MlRun,
  train: FitWindow = fitWindow,
): Generator<number, LearnedAnalysis> {
  const computed = computeColumns(strategy, params, candles);
  const learning = learningOf(strategy, params, candles, computed.columns);
  const predictions = noPredictions(candles.timestamp.length);
  const fits: WindowFit[] = [];
  for (const window of run.windows) {
    const fitted = train(learning, candles.timestamp, window, run);
    predictRows(fitted, learning, predictions);
    fits.push(fitted);
    yield fits.length / run.windows.length;
  }
  const gate = run.config.entry_threshold;
  const analysis = decide(strategy, params, candles, computed, { columns: predictions, gate });
  return { ...analysis, learning, predictions, fits };
}
