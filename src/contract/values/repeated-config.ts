import { ACCOUNT_DEFAULTS, type MarginMode } from './account-limits.ts';
import { BACKTEST_DEFAULTS } from './backtest-limits.ts';
import type { TradingMode } from './trading-modes.ts';

/** Fields of a resolved configuration that a repeated request has to state. `P`: a protection. */
interface Restated<P> {
  readonly protections?: P[] | undefined;
  readonly order_types?: Record<'entry' | 'exit', 'limit' | 'market'> | undefined;
  readonly timeframe_detail?: string | null | undefined;
  readonly ignore_entry_after_candles?: number | null | undefined;
}

/**
 * The same for fields that a version or a hyperopt job would give to a request without them. `S`: a slippage model, `R`: tests of
 * robustness.
 */
interface RestatedOverBase<S, R> {
  readonly trading_mode?: TradingMode | undefined;
  readonly slippage_model?: S | undefined;
  readonly robustness?: R | undefined;
  readonly ml_engine?: object | null | undefined;
  readonly available_capital?: number | null | undefined;
  readonly tradable_balance_ratio?: number | undefined;
  readonly amend_last_stake_amount?: boolean | undefined;
  readonly position_stacking?: boolean | undefined;
  readonly margin_mode?: MarginMode | undefined;
}

/**
 * What a request states that repeats a configuration: a resolved one leaves these out at their defaults, and a request without them
 * gets those of the strategy.
 */
export function statedDefaults<P>(config: Restated<P>) {
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
export function statedOverBase<S extends object, R extends object>(config: RestatedOverBase<S, R>) {
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
export function statedByRepeat<P, S extends object, R extends object>(run: {
  readonly config: Restated<P> & RestatedOverBase<S, R>;
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
