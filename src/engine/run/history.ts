import type { ParameterValues, StrategyDefinition } from '#engine/strategy.ts';
import { TIMEFRAME_MS, type Timeframe } from '#engine/timeframe.ts';
import type { RunConfig } from './config.ts';

/**
 * Candles of the run's timeframe that a strategy needs before the start: its startup candles, and as many complete candles
 * of each informative timeframe, plus one for the candle that is still open at the start.
 */
export function startupRows(
  strategy: StrategyDefinition,
  params: RunConfig['params'],
  timeframe: Timeframe,
): number {
  const startup = strategy.startupCandles(params as ParameterValues);
  const rows = (strategy.informativeTimeframes ?? []).map(
    (each) => (startup + 1) * Math.ceil(TIMEFRAME_MS[each] / TIMEFRAME_MS[timeframe]),
  );
  return Math.max(startup, ...rows);
}

/** Time from which candles are read for a run that begins at `start`, ms. */
export function historyStart(
  strategy: StrategyDefinition,
  params: RunConfig['params'],
  timeframe: Timeframe,
  start: number,
): number {
  return start - startupRows(strategy, params, timeframe) * TIMEFRAME_MS[timeframe];
}
