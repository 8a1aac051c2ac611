import type { ResolvedBacktestConfig } from '../backtests/backtest.ts';
import { ACCOUNT_DEFAULTS } from './account-limits.ts';
import { BACKTEST_DEFAULTS } from './limits.ts';

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
    protections,
    order_types,
    // Without detail candles it is left out for another reason.
    ...(config.timeframe_detail && {
      ignore_entry_after_candles: config.ignore_entry_after_candles ?? null,
    }),
  };
}

/**
 * What a request states in addition that repeats a run of a registered version, or of the best of a hyperopt job: a request
 * without them gets those of the version or of the job, which the run had replaced by the defaults.
 */
export function statedOverBase(
  config: Pick<
    ResolvedBacktestConfig,
    | 'trading_mode'
    | 'slippage_model'
    | 'robustness'
    | 'ml_engine'
    | 'available_capital'
    | 'tradable_balance_ratio'
    | 'amend_last_stake_amount'
    | 'position_stacking'
    | 'margin_mode'
  >,
) {
  return {
    trading_mode: config.trading_mode ?? BACKTEST_DEFAULTS.trading_mode,
    slippage_model: config.slippage_model ?? {},
    robustness: config.robustness ?? {},
    ...(config.available_capital === undefined && {
      tradable_balance_ratio: config.tradable_balance_ratio ?? ACCOUNT_DEFAULTS.tradable_balance_ratio,
    }),
    amend_last_stake_amount: config.amend_last_stake_amount ?? false,
    position_stacking: config.position_stacking ?? false,
    margin_mode: config.margin_mode ?? ACCOUNT_DEFAULTS.margin_mode,
    // A strategy that trades on predictions has models in every run.
    ...(!config.ml_engine && { ml_engine: { enabled: false } }),
  };
}

/** What a request states that repeats a run, besides its configuration. */
export function statedByRepeat(run: {
  readonly config: Parameters<typeof statedDefaults>[0] & Parameters<typeof statedOverBase>[0];
  readonly registered?: object | null | undefined;
  readonly found_by?: object | null | undefined;
}) {
  return {
    ...statedDefaults(run.config),
    ...((run.registered || run.found_by) && statedOverBase(run.config)),
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
