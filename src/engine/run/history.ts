import type { ResolvedBacktestConfig } from '#contract/backtest.ts';
import type { ResolvedMlEngine } from '#contract/ml-engine.ts';
import type { DefinitionData } from '#engine/strategies/validate-definition.ts';
import type { ParameterValues, StrategyDefinition } from '#engine/strategy.ts';
import { DAY_MS, TIMEFRAME_MS, type Timeframe } from '#engine/timeframe.ts';
import { DEFAULT_FEATURE_CANDLES } from '#engine/walk-forward/training-inputs.ts';
import { BacktestError } from './errors.ts';
import { describeThrown } from './strategy-errors.ts';

/** More than any strategy needs: two years of 1m candles. */
export const MAX_STARTUP_CANDLES = 1_000_000;

/**
 * Candles of the run's timeframe that a strategy needs before the first one that it judges: its startup candles, and as many
 * complete candles of each informative timeframe, plus one for the candle that is still open at the start. With the ML
 * engine the default features need theirs too.
 *
 * @throws BacktestError `strategy` when `startupCandles` throws for these parameters, or does not return an integer
 */
export function startupRows(
  strategy: StrategyDefinition,
  params: ResolvedBacktestConfig['params'],
  timeframe: Timeframe,
  ml?: ResolvedMlEngine,
): number {
  const { informativeTimeframes } = strategy;
  const facts = { informativeTimeframes, ownFeatures: strategy.mlFeatures !== undefined };
  return startupRowsOf(facts, startupCandles(strategy, params), timeframe, ml);
}

/** Facts of a strategy on which its history depends, apart from its startup candles. */
type HistoryFacts = Pick<DefinitionData, 'informativeTimeframes' | 'ownFeatures'>;

/** {@link startupRows} of a strategy that needs `startup` candles for the parameters of the run. */
export function startupRowsOf(
  { informativeTimeframes = [], ownFeatures }: HistoryFacts,
  startup: number,
  timeframe: Timeframe,
  ml?: ResolvedMlEngine,
): number {
  const rows = informativeTimeframes.map(
    (each) => (startup + 1) * Math.ceil(TIMEFRAME_MS[each] / TIMEFRAME_MS[timeframe]),
  );
  const features = ml && !ownFeatures ? DEFAULT_FEATURE_CANDLES : 0;
  return Math.max(startup, features, ...rows);
}

/** Candles before the start from which the model of the first window learns; none without the ML engine. */
export function trainingRows(timeframe: Timeframe, ml: ResolvedMlEngine | undefined): number {
  return ml ? Math.ceil((ml.train_period_days * DAY_MS) / TIMEFRAME_MS[timeframe]) : 0;
}

/**
 * Startup candles of a strategy for some parameters.
 *
 * @throws BacktestError `strategy` when `startupCandles` throws, or does not return an integer from 0 to {@link MAX_STARTUP_CANDLES}
 */
export function startupCandles(
  strategy: StrategyDefinition,
  params: ResolvedBacktestConfig['params'],
): number {
  const problem = (text: string, cause?: unknown) =>
    new BacktestError(
      'strategy',
      `Strategy ${strategy.name}: startupCandles() ${text} for ${JSON.stringify(params)}.`,
      cause,
    );
  let candles: number;
  try {
    candles = strategy.startupCandles(params as ParameterValues);
  } catch (error) {
    throw problem(`threw "${describeThrown(error)}"`, error);
  }
  if (Number.isInteger(candles) && candles >= 0 && candles <= MAX_STARTUP_CANDLES) return candles;
  throw problem(`answered ${candles}, which is not an integer from 0 to ${MAX_STARTUP_CANDLES},`);
}

/** Time from which candles are read for a run that begins at `start`, ms. Errors as {@link startupRows}. */
export function historyStart(
  strategy: StrategyDefinition,
  params: ResolvedBacktestConfig['params'],
  timeframe: Timeframe,
  start: number,
  ml?: ResolvedMlEngine,
): number {
  return startBefore(start, startupRows(strategy, params, timeframe, ml), timeframe, ml);
}

/** {@link historyStart} of a strategy that needs `startup` candles for the parameters of the run. */
export function historyStartOf(
  facts: HistoryFacts,
  startup: number,
  timeframe: Timeframe,
  start: number,
  ml?: ResolvedMlEngine,
): number {
  return startBefore(start, startupRowsOf(facts, startup, timeframe, ml), timeframe, ml);
}

function startBefore(start: number, rows: number, timeframe: Timeframe, ml?: ResolvedMlEngine): number {
  return start - (rows + trainingRows(timeframe, ml)) * TIMEFRAME_MS[timeframe];
}
