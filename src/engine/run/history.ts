import type { ParameterValues, StrategyDefinition } from '#engine/strategy.ts';
import { TIMEFRAME_MS, type Timeframe } from '#engine/timeframe.ts';
import type { RunConfig } from './config.ts';
import { BacktestError } from './errors.ts';
import { describeThrown } from './strategy-faults.ts';

/** More than any strategy needs: two years of 1m candles. */
const MOST_STARTUP_CANDLES = 1_000_000;

/**
 * Candles of the run's timeframe that a strategy needs before the start: its startup candles, and as many complete candles
 * of each informative timeframe, plus one for the candle that is still open at the start.
 *
 * @throws BacktestError `strategy` when `startupCandles` throws for these parameters, or answers no whole number
 */
export function startupRows(
  strategy: StrategyDefinition,
  params: RunConfig['params'],
  timeframe: Timeframe,
): number {
  const startup = startupCandles(strategy, params);
  const rows = (strategy.informativeTimeframes ?? []).map(
    (each) => (startup + 1) * Math.ceil(TIMEFRAME_MS[each] / TIMEFRAME_MS[timeframe]),
  );
  return Math.max(startup, ...rows);
}

function startupCandles(strategy: StrategyDefinition, params: RunConfig['params']): number {
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
  if (Number.isInteger(candles) && candles >= 0 && candles <= MOST_STARTUP_CANDLES) return candles;
  throw problem(`answered ${candles}, which is no whole number from 0 to ${MOST_STARTUP_CANDLES},`);
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
