import type { ResolvedBacktestConfig } from '#contract/backtest.ts';
import type { Candles } from '#engine/candles.ts';
import { type Analysis, analyse } from '#engine/strategies/analyze.ts';
import type { ParameterValues, StrategyDefinition } from '#engine/strategy.ts';
import { type LearnedAnalysis, type MlRun, predicting } from '#engine/walk-forward/fit-window.ts';
import { planWindows } from '#engine/walk-forward/windows.ts';
import { BacktestError } from './errors.ts';
import type { PairHistory } from './pair-history.ts';
import { messageOf } from './strategy-errors.ts';
import { enter } from './whereabouts.ts';
import { detectWrites, type WriteDetectingCandles } from './write-detecting-candles.ts';

/**
 * Runs a strategy over a pair's history, with models where the run has the ML engine. Pauses after each model, with the
 * share of them that is done.
 * @throws BacktestError `strategy`
 */
export function* runStrategy(
  strategy: StrategyDefinition,
  config: ResolvedBacktestConfig,
  history: PairHistory,
): Generator<number, Analysis | LearnedAnalysis> {
  enter('the analysis', [history.data.pair]);
  const own = atTimeframe(strategy, config);
  const params = config.params as ParameterValues;
  const run = mlRunOf(config, history);
  const watched = detectWrites(history.candles);
  const rows = history.candles.timestamp.length;
  const steps = run
    ? predicting(own, params, watched.candles, run)
    : analysing(own, params, watched.candles, rows);
  for (;;) {
    const step = withStrategyErrors(strategy, history.data.pair, () => {
      const next = steps.next();
      if (next.done) checkUnchanged(watched);
      return next;
    });
    if (step.done) return step.value;
    yield step.value;
  }
}

// biome-ignore lint/correctness/useYield: it has nothing to wait for; its form is that of `predicting`.
function* analysing(...run: Parameters<typeof analyse>): Generator<number, Analysis> {
  return analyse(...run);
}

/** A run may override the timeframe for which the strategy was written. */
export function atTimeframe(
  strategy: StrategyDefinition,
  { timeframe }: Pick<ResolvedBacktestConfig, 'timeframe'>,
): StrategyDefinition {
  return { ...strategy, timeframe };
}

/** What is trained for a pair in a run with the ML engine. */
export function mlRunOf(config: ResolvedBacktestConfig, history: PairHistory): MlRun | undefined {
  if (!config.ml_engine) return undefined;
  const { start, end, stepMs, startup, data } = history;
  return {
    config: config.ml_engine,
    windows: planWindows(start, end, config.ml_engine),
    seed: config.seed,
    pair: data.pair,
    stepMs,
    firstRow: startup,
  };
}

/**
 * Runs code of a strategy on a pair's candles; what goes wrong is the strategy's fault, and said so.
 * @throws BacktestError `strategy` when it throws, or wrote into the candles
 */
export function onCandles<T>(
  strategy: StrategyDefinition,
  pair: string,
  candles: Candles,
  action: (candles: Candles) => T,
): T {
  return withStrategyErrors(strategy, pair, () => {
    const watched = detectWrites(candles);
    const result = action(watched.candles);
    checkUnchanged(watched);
    return result;
  });
}

function withStrategyErrors<T>(strategy: StrategyDefinition, pair: string, action: () => T): T {
  try {
    return action();
  } catch (error) {
    const reason = messageOf(error);
    throw new BacktestError('strategy', `Strategy ${strategy.name} failed on ${pair}: ${reason}`, error);
  }
}

function checkUnchanged(watched: WriteDetectingCandles): void {
  if (watched.changed()) {
    throw new Error('it wrote into the candles it was given; write into columns of its own');
  }
}

/** Runs a simulation; an error of a callback or its return value is reported as an error of the strategy. */
export function withSimulationErrors<T>(strategy: StrategyDefinition, action: () => T): T {
  if (!strategy.callbacks) return action();
  try {
    return action();
  } catch (error) {
    const reason = messageOf(error);
    throw new BacktestError(
      'strategy',
      `Strategy ${strategy.name} failed during the simulation: ${reason}`,
      error,
    );
  }
}
