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

/**
 * A repeated configuration without the limit of the tradable amount that `given` replaces: a share of the balance and a capital
 * exclude each other.
 */
export function withoutReplacedLimit<
  T extends { readonly tradable_balance_ratio?: unknown; readonly available_capital?: unknown },
>(
  config: T,
  given: { readonly tradable_balance_ratio?: unknown; readonly available_capital?: unknown },
): Omit<T, 'tradable_balance_ratio' | 'available_capital'> & Partial<T> {
  const { tradable_balance_ratio, available_capital, ...rest } = config;
  const isShare = given.tradable_balance_ratio !== undefined && given.available_capital === undefined;
  const isCapital = given.available_capital != null;
  return {
    ...rest,
    ...(!isCapital && tradable_balance_ratio !== undefined && { tradable_balance_ratio }),
    ...(!isShare && available_capital !== undefined && { available_capital }),
  } as Omit<T, 'tradable_balance_ratio' | 'available_capital'> & Partial<T>;
}
