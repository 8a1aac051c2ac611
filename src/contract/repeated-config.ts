import type { ResolvedBacktestConfig } from './backtest.ts';

/**
 * What a request states that repeats a configuration: a resolved one leaves these out at their defaults, and a request without them
 * gets those of the strategy.
 */
export function statedDefaults(
  config: Partial<
    Pick<
      ResolvedBacktestConfig,
      'protections' | 'order_types' | 'timeframe_detail' | 'ignore_entry_after_candles'
    >
  >,
) {
  const { protections = [], order_types = { entry: 'limit', exit: 'limit' } as const } = config;
  return {
    ...{ protections, order_types },
    // Without detail candles it is left out for another reason.
    ...(config.timeframe_detail && {
      ignore_entry_after_candles: config.ignore_entry_after_candles ?? null,
    }),
  };
}
