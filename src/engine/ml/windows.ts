import type { ResolvedMlEngine } from '#contract/config/ml-engine.ts';
import { DAY_MS } from '#contract/values/durations.ts';
import { ML_ENGINE_DEFAULTS } from '#contract/values/model-limits.ts';
import type { MlEngineOverrides, StrategyDefinition } from '../strategy.ts';

/** One step of a walk-forward run, as times in ms. Ends are exclusive. */
export interface Window {
  /** 0 for the first. */
  readonly index: number;
  /** Its model trains on candles that open in [trainFrom, from), except those whose label is unknown at `from`. */
  readonly trainFrom: number;
  /** Its model predicts candles that open in [from, to). */
  readonly from: number;
  readonly to: number;
}

/**
 * Windows of a range. The first begins at `start`, each begins at the end of the previous one, the last ends with the
 * range. They are aligned to `start`, so a longer range begins with the same windows.
 *
 * @param start first candle of the range, ms
 * @param end exclusive, ms
 */
export function planWindows(
  start: number,
  end: number,
  {
    train_period_days,
    backtest_period_days,
  }: Pick<ResolvedMlEngine, 'train_period_days' | 'backtest_period_days'>,
): Window[] {
  const train = train_period_days * DAY_MS;
  const test = backtest_period_days * DAY_MS;
  return Array.from({ length: Math.ceil((end - start) / test) }, (_, index) => {
    const from = start + index * test;
    return { index, trainFrom: from - train, from, to: Math.min(from + test, end) };
  });
}

const { entry_threshold: DEFAULT_ENTRY_THRESHOLD, ...DEFAULTS } = ML_ENGINE_DEFAULTS;

/** Settings of a run, in order of precedence: `given`, the strategy's declaration, the defaults. Values are not checked. */
export function mlEngineOf(
  strategy: Pick<StrategyDefinition, 'mlEngine'>,
  { entry_threshold, ...given }: MlEngineOverrides = {},
): ResolvedMlEngine {
  return {
    enabled: true,
    ...DEFAULTS,
    ...strategy.mlEngine,
    ...given,
    entry_threshold: strategy.mlEngine ? null : (entry_threshold ?? DEFAULT_ENTRY_THRESHOLD),
  };
}
