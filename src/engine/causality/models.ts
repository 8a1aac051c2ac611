import type { ResolvedMlEngine } from '#contract/ml-engine.ts';
import type { Candles } from '../candles.ts';
import { startupRows, trainingRows } from '../run/history.ts';
import type { ParameterValues, StrategyDefinition } from '../strategy.ts';
import { TIMEFRAME_MS } from '../timeframe.ts';
import {
  type FitWindow,
  fitWindow,
  type LearnedAnalysis,
  type MlRun,
  predicting,
  type TrainingSet,
  trainingSet,
  type WindowFit,
} from '../walk-forward/fit-window.ts';
import { planWindows } from '../walk-forward/windows.ts';
import { isSame } from './findings.ts';

/** Models with which a strategy is searched. */
export interface SearchedModels {
  readonly config: ResolvedMlEngine;
  /** Of the run. Default 0. */
  readonly seed?: number;
  /** Open time (ms) of the first candle of the first window. Default: the first with the whole training period before it. */
  readonly start?: number;
}

/** How a strategy with models is searched on one pair. */
export interface ModelSearch {
  /** Candles of the shortest history: the first window has begun. */
  readonly least: number;
  /**
   * Lengths of histories of which a window has just begun: a model that learned across the border was trained on labels that
   * are not known in them.
   */
  readonly beginnings: readonly number[];
  readonly run: (candles: Candles, memo: 'memo' | 'anew') => LearnedAnalysis;
}

/** Windows whose beginning is cut off on purpose; spread over the pair. */
const MAX_BEGINNINGS = 12;

export function modelSearch(
  strategy: StrategyDefinition,
  params: ParameterValues,
  pair: string,
  { timestamp }: Candles,
  { config, seed = 0, start }: SearchedModels,
): ModelSearch {
  const stepMs = TIMEFRAME_MS[strategy.timeframe];
  const firstRow = startupRows(strategy, params, strategy.timeframe, config);
  const before = firstRow + trainingRows(strategy.timeframe, config);
  const first = start ?? (timestamp[0] ?? 0) + before * stepMs;
  const windows = planWindows(first, (timestamp.at(-1) ?? 0) + stepMs, config);
  const run: MlRun = { config, windows, seed, pair, stepMs, firstRow };
  const begun = windows.map(({ from }) => Math.round((from - timestamp[0]!) / stepMs) + 1);
  const every = Math.max(1, begun.length / MAX_BEGINNINGS);
  const remembered = rememberingFit();
  return {
    least: Math.max(before, Math.round((first - (timestamp[0] ?? 0)) / stepMs)) + 1,
    beginnings: begun.filter((_, index) => Math.floor(index / every) !== Math.floor((index - 1) / every)),
    run: (candles, memo) =>
      finish(predicting(strategy, params, candles, run, memo === 'memo' ? remembered : fitWindow)),
  };
}

function finish<T>(steps: Generator<unknown, T>): T {
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
  }
}

/**
 * Trains a window's model once and answers with it wherever it would be trained on the same rows: training is a function of
 * those, and most of the time of a search.
 */
export function rememberingFit(): FitWindow {
  const known = new Map<number, { readonly set: TrainingSet; readonly fit: WindowFit }>();
  return (learning, timestamps, window, run) => {
    const set = trainingSet(learning, timestamps, window, run);
    const before = known.get(window.index);
    if (before && isSameSet(before.set, set)) return { ...before.fit, ...set.rows };
    const fit = fitWindow(learning, timestamps, window, run);
    if (!before && fit.model) known.set(window.index, { set, fit });
    return fit;
  };
}

function isSameSet(a: TrainingSet, b: TrainingSet): boolean {
  if (a.labels.length !== b.labels.length || b.rows.to === b.rows.from) return false;
  if (a.labels.some((label, row) => label !== b.labels[row])) return false;
  return a.features.columns.every((column, feature) => {
    const other = b.features.columns[feature];
    return other !== undefined && column.every((value, row) => isSame(value, other[row]!));
  });
}
