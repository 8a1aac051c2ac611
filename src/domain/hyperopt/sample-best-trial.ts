import type { ResolvedBacktestConfig } from '#contract/backtests/backtest.ts';
import { type LookAhead, notChecked } from '#contract/config/look-ahead.ts';
import { runBacktestPausing } from '#engine/backtest.ts';
import { BacktestError, cutError } from '#engine/strategy-errors.ts';
import { type SampleDeps, sampleBacktest } from '../inputs/search-look-ahead.ts';
import type { RunTrialDeps } from './run-trial.ts';

/**
 * Searches a hyperopt job for look-ahead bias: a backtest with the parameters of the best trial, and its cuts. All trials run the same
 * code on the same candles, so a leak of the best is one of all. Throws errors of the platform only.
 *
 * @param config of the best trial
 */
export async function sampleBestTrial(
  { strategy, pairs, digest }: Omit<RunTrialDeps, 'cache'>,
  config: ResolvedBacktestConfig,
  deps: SampleDeps,
): Promise<LookAhead> {
  const { definition, digest: strategyDigest } = strategy;
  try {
    const input = { strategy: definition, config, pairs, strategyDigest };
    const outcome = await runBacktestPausing(input, { digest, observed: true }, deps.pause);
    return await sampleBacktest(deps, strategy, { config, pairs, outcome });
  } catch (error) {
    if (!(error instanceof BacktestError)) throw error;
    return notChecked(`not_checked: ${cutError(error.message)}`);
  }
}
