import type { ResolvedBacktestConfig } from '#contract/backtests/backtest.ts';
import type { BacktestConfigRequest } from '#contract/backtests/backtest-api.ts';
import { statedDefaults, withoutReplacedLimit } from '#contract/values/repeated-config.ts';

/**
 * The request that runs `config` again, with the fields of `given` over it. Of an order option, the slippage model and the tests of
 * robustness, the parts that `given` names; without any part there is no model and no test.
 * A share of the balance replaces a capital, and a capital a share. A universe without pairs replaces the pairs by all stored ones.
 */
export function overrideRequest(
  config: Omit<ResolvedBacktestConfig, 'date_range'> & Partial<ResolvedBacktestConfig>,
  given: BacktestConfigRequest,
): BacktestConfigRequest {
  const { ml_engine, ...base } = config;
  const { entry_threshold, ...ml } = ml_engine ?? {};
  const stated = statedDefaults(config);
  return {
    ...withoutReplacedLimit(given.universe && !given.pairs ? { ...base, pairs: undefined } : base, given),
    ...stated,
    ...given,
    order_types: { ...stated.order_types, ...given.order_types },
    ...((base.unfilled_timeout ?? given.unfilled_timeout) && {
      unfilled_timeout: { ...base.unfilled_timeout, ...given.unfilled_timeout },
    }),
    ...(given.slippage_model && { slippage_model: partsOver(base.slippage_model, given.slippage_model) }),
    ...(given.robustness && { robustness: partsOver(base.robustness, given.robustness) }),
    params: { ...base.params, ...given.params },
    ...((ml_engine ?? given.ml_engine) && {
      ml_engine: { ...ml, ...(entry_threshold != null && { entry_threshold }), ...given.ml_engine },
    }),
  };
}

function partsOver<T extends object>(parts: T | undefined, given: T): T {
  return Object.keys(given).length === 0 ? given : { ...parts, ...given };
}
