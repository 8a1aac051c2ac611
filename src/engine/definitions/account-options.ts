import type { ResolvedBacktestConfig } from '#contract/backtests/backtest.ts';
import { ACCOUNT_DEFAULTS, ACCOUNT_LIMITS, ORDER_TYPES } from '#contract/values/account-limits.ts';
import type { StrategyDefinition } from '../strategy.ts';

const SIDES: readonly string[] = ['entry', 'exit'];

type Declared = Pick<
  StrategyDefinition,
  'orderTypes' | 'unfilledTimeout' | 'unfilledTimeoutMinutes' | 'ignoreEntryAfterCandles'
>;

export type OrderOptions = Pick<
  ResolvedBacktestConfig,
  'order_types' | 'unfilled_timeout' | 'ignore_entry_after_candles'
>;

/** Options of the orders of a strategy, all of them; `given` are those of a request, which win. */
export function allOrderOptions(declared: Declared, given: GivenOptions = {}) {
  const { order_types, unfilled_timeout, ignore_entry_after_candles: givenCandles } = given;
  const types = { entry: 'limit', exit: 'limit', ...declared.orderTypes, ...order_types } as const;
  const minutes = declared.unfilledTimeoutMinutes ?? ACCOUNT_DEFAULTS.unfilled_timeout;
  const timeout = { entry: minutes, exit: minutes, ...declared.unfilledTimeout, ...unfilled_timeout };
  const candles = givenCandles === undefined ? declared.ignoreEntryAfterCandles : givenCandles;
  return {
    order_types: { entry: types.entry, exit: types.exit },
    unfilled_timeout: { entry: timeout.entry, exit: timeout.exit },
    ignore_entry_after_candles: candles ?? null,
  };
}

/** {@link allOrderOptions} without those that are not declared or have no effect, as a configuration states them. */
export function orderOptions(declared: Declared, given: GivenOptions = {}): OrderOptions {
  const { order_types, unfilled_timeout, ignore_entry_after_candles } = allOrderOptions(declared, given);
  return {
    ...((order_types.entry === 'market' || order_types.exit === 'market') && { order_types }),
    ...((declared.unfilledTimeout || given.unfilled_timeout) && { unfilled_timeout }),
    ...(ignore_entry_after_candles !== null && { ignore_entry_after_candles }),
  };
}

/** Options of a request, checked. */
export interface GivenOptions {
  readonly order_types?: Partial<NonNullable<OrderOptions['order_types']>> | undefined;
  readonly unfilled_timeout?: Partial<NonNullable<OrderOptions['unfilled_timeout']>> | undefined;
  readonly ignore_entry_after_candles?: number | null | undefined;
}

/** Problems of the order options of a definition, whose values may have any type. */
export function orderOptionProblems(definition: Declared): string[] {
  const { orderTypes, unfilledTimeout, ignoreEntryAfterCandles } = definition;
  const { max } = ACCOUNT_LIMITS.unfilled_timeout;
  const { min: least, max: most } = ACCOUNT_LIMITS.ignore_entry_after_candles;
  const isType = (value: unknown) => (ORDER_TYPES as readonly unknown[]).includes(value);
  const isMinutes = (value: unknown) => typeof value === 'number' && value > 0 && value <= max;
  const isCandles =
    ignoreEntryAfterCandles === undefined ||
    (Number.isInteger(ignoreEntryAfterCandles) &&
      ignoreEntryAfterCandles >= least &&
      ignoreEntryAfterCandles <= most);
  return [
    ...bySide('orderTypes', orderTypes, isType, `must be ${ORDER_TYPES.join(' or ')}`),
    ...bySide('unfilledTimeout', unfilledTimeout, isMinutes, `must be minutes above 0, at most ${max}`),
    ...(isCandles ? [] : [`ignoreEntryAfterCandles must be an integer from ${least} to ${most}`]),
  ];
}

function bySide(
  name: string,
  value: object | undefined,
  isValid: (value: unknown) => boolean,
  allowed: string,
): string[] {
  if (value === undefined) return [];
  if (typeof value !== 'object' || value === null) return [`${name} must be an object with entry and exit`];
  return Object.entries(value).flatMap(([side, each]) => {
    if (!SIDES.includes(side)) return [`${name}.${side} is unknown; ${name} has ${SIDES.join(', ')}`];
    return isValid(each) ? [] : [`${name}.${side} ${allowed}`];
  });
}
