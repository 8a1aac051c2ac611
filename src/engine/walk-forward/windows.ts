import { ML_ENGINE_DEFAULTS } from '#contract/limits.ts';
import type { ResolvedMlEngine } from '#contract/ml-engine.ts';
import { DAY_MS } from '#engine/timeframe.ts';
import type { MlEngineOverrides, StrategyDefinition } from '../strategy.ts';

/** One step of a walk-forward run, as times in ms. Ends are exclusive. */
export interface Window {
  /** 0 for the first. */
  readonly index: number;
  /** Its model learns from candles that open in [trainFrom, from), less those whose label is not known by `from`. */
  readonly trainFrom: number;
  /** It predicts candles that open in [from, to). */
  readonly from: number;
  readonly to: number;
}

/**
 * The windows of a range: the first is predicted from `start` on, each follows on the one before, the last ends with the
 * range. They hang on `start` alone, so a longer range has the same windows first.
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

/** The settings of a run: what is given, over what the strategy declares, over the defaults. Values are not checked. */
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
