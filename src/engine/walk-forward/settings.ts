import { ML_ENGINE_DEFAULTS } from '#contract/limits.ts';
import type { ResolvedMlEngine } from '#contract/ml-engine.ts';

/** Settings that a strategy or a request may give of the ML engine. */
export type MlEngineOverrides = Readonly<Partial<Omit<ResolvedMlEngine, 'enabled'>>>;

const { entry_threshold: DEFAULT_ENTRY_THRESHOLD, ...DEFAULTS } = ML_ENGINE_DEFAULTS;

/** The settings of a run: what is given, over what the strategy declares, over the defaults. Values are not checked. */
export function mlEngineOf(
  strategy: { readonly mlEngine?: MlEngineOverrides },
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
