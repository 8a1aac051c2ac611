import type { ResolvedBacktestConfig } from '#contract/backtests/backtest.ts';
import type { BacktestConfigRequest } from '#contract/backtests/backtest-api.ts';
import {
  ACCOUNT_DEFAULTS as DEFAULTS,
  ACCOUNT_LIMITS as LIMITS,
  MARGIN_MODES,
  ORDER_TYPES,
} from '#contract/values/account-limits.ts';
import { type GivenOptions, type OrderOptions, orderOptions } from '#engine/definitions/account-options.ts';
import type { DefinitionData } from '#engine/definitions/validate-definition.ts';
import { unknownKeyWarnings } from '../shared/unknown-keys.ts';
import { checkNumber, checkOneOf } from '../shared/validate.ts';

type WalletOptions = Pick<
  ResolvedBacktestConfig,
  | 'tradable_balance_ratio'
  | 'available_capital'
  | 'amend_last_stake_amount'
  | 'last_stake_amount_min_ratio'
  | 'max_adjustments'
  | 'position_stacking'
  | 'margin_mode'
>;

const SPOT = 'spot';
const SIDES = ['entry', 'exit'] as const;

export interface ResolvedAccount {
  /** Absent at their defaults, so that runs without them keep their digest. */
  readonly options: WalletOptions & OrderOptions;
  readonly warnings: readonly string[];
}

/** Options of the account and its orders; those of the request win over the strategy's. Throws VAL005. */
export function resolveAccount(strategy: DefinitionData, input: BacktestConfigRequest): ResolvedAccount {
  const orders = orderOptions(strategy, givenOrders(input));
  const isExpiring = orders.ignore_entry_after_candles !== undefined;
  const { ignore_entry_after_candles: _, ...withoutExpiry } = orders;
  const detailed = input.timeframe_detail != null;
  return {
    options: {
      ...walletOptions(input),
      ...adjustmentLimit(strategy, input),
      ...(detailed ? orders : withoutExpiry),
    },
    warnings: [
      ...unknownKeyWarnings(input.order_types ?? {}, SIDES, 'config.order_types.'),
      ...unknownKeyWarnings(input.unfilled_timeout ?? {}, SIDES, 'config.unfilled_timeout.'),
      ...uselessOptions(input),
      ...(input.max_adjustments !== undefined && !strategy.callbacks.includes('adjustPosition')
        ? ['config.max_adjustments has no effect: the strategy has no callback adjustPosition']
        : []),
      ...(isExpiring && !detailed
        ? [`${expiryName(input)} has no effect without config.timeframe_detail`]
        : []),
    ],
  };
}

function walletOptions(input: BacktestConfigRequest): WalletOptions {
  const ratio = number(input, 'tradable_balance_ratio');
  const capital = number(input, 'available_capital');
  const least = number(input, 'last_stake_amount_min_ratio');
  const margin = checkOneOf(input.margin_mode ?? DEFAULTS.margin_mode, 'config.margin_mode', MARGIN_MODES);
  return {
    ...(capital === undefined &&
      ratio !== undefined &&
      ratio !== DEFAULTS.tradable_balance_ratio && { tradable_balance_ratio: ratio }),
    ...(capital !== undefined && { available_capital: capital }),
    ...(input.amend_last_stake_amount && {
      amend_last_stake_amount: true,
      ...(least !== undefined &&
        least !== DEFAULTS.last_stake_amount_min_ratio && { last_stake_amount_min_ratio: least }),
    }),
    ...(input.position_stacking && { position_stacking: true }),
    ...(margin !== DEFAULTS.margin_mode && input.trading_mode !== SPOT && { margin_mode: margin }),
  };
}

/** The number of additions of the request; absent where it is that of the strategy, or limits nothing. */
function adjustmentLimit(
  { callbacks, maxAdjustments: declared }: DefinitionData,
  { max_adjustments: given }: BacktestConfigRequest,
): WalletOptions {
  if (given === undefined) return {};
  const limit = given === null ? null : checkNumber(given, 'config.max_adjustments', LIMITS.max_adjustments);
  return limit !== (declared ?? null) && callbacks.includes('adjustPosition')
    ? { max_adjustments: limit }
    : {};
}

function number(
  input: BacktestConfigRequest,
  name: 'tradable_balance_ratio' | 'available_capital' | 'last_stake_amount_min_ratio',
): number | undefined {
  const value = input[name];
  return value == null ? undefined : checkNumber(value, `config.${name}`, LIMITS[name]);
}

/** The field that states how late an entry may be: of the request, else of the strategy. */
function expiryName({ ignore_entry_after_candles: given }: BacktestConfigRequest): string {
  return given === undefined
    ? 'ignoreEntryAfterCandles of the strategy'
    : 'config.ignore_entry_after_candles';
}

/** Options that another one makes useless. */
function uselessOptions(input: BacktestConfigRequest): string[] {
  return [
    ...(input.available_capital != null && input.tradable_balance_ratio !== undefined
      ? ['config.tradable_balance_ratio has no effect with config.available_capital']
      : []),
    ...(input.trading_mode === SPOT && input.margin_mode === 'cross'
      ? ['config.margin_mode has no effect in spot']
      : []),
    ...(!input.amend_last_stake_amount && input.last_stake_amount_min_ratio !== undefined
      ? ['config.last_stake_amount_min_ratio has no effect without config.amend_last_stake_amount']
      : []),
  ];
}

function givenOrders(input: BacktestConfigRequest): GivenOptions {
  const { order_types: types, unfilled_timeout: timeout, ignore_entry_after_candles: candles } = input;
  const limit = LIMITS.ignore_entry_after_candles;
  return {
    order_types:
      types && bySide(types, 'order_types', (value, field) => checkOneOf(value, field, ORDER_TYPES)),
    unfilled_timeout:
      timeout &&
      bySide(timeout, 'unfilled_timeout', (value, field) =>
        checkNumber(value, field, LIMITS.unfilled_timeout),
      ),
    ignore_entry_after_candles:
      candles == null ? candles : checkNumber(candles, 'config.ignore_entry_after_candles', limit),
  };
}

/** The values per side that are given, checked. */
function bySide<T, R>(
  values: { readonly entry?: T | undefined; readonly exit?: T | undefined },
  name: string,
  check: (value: T, field: string) => R,
): { entry?: R; exit?: R } {
  const found: { entry?: R; exit?: R } = {};
  for (const side of SIDES) {
    const value = values[side];
    if (value !== undefined) found[side] = check(value, `config.${name}.${side}`);
  }
  return found;
}
