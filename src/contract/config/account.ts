import * as z from 'zod';
import { ACCOUNT_DEFAULTS, ACCOUNT_LIMITS, MARGIN_MODES, ORDER_TYPES } from '../values/account-limits.ts';
import { bounds } from '../values/bounds.ts';

/** Options of the account and its orders, in requests and in resolved configurations. */

const OrderType = z.enum(ORDER_TYPES);

export const OrderTypes = z
  .object({ entry: OrderType, exit: OrderType })
  .meta({ description: 'A market order fills at the open: its price callback is not called' });
export type OrderTypes = z.infer<typeof OrderTypes>;

export const UnfilledTimeout = z
  .object({ entry: z.number(), exit: z.number() })
  .meta({ description: 'Age at which an unfilled order is cancelled, minutes' });
export type UnfilledTimeout = z.infer<typeof UnfilledTimeout>;

const orderType = z
  .string()
  .optional()
  .meta({ enum: [...ORDER_TYPES] });
const minutes = z.number().optional().meta(bounds(ACCOUNT_LIMITS.unfilled_timeout));

/** Options of a request. The same fields in every request. */
export const ACCOUNT_OPTIONS = {
  tradable_balance_ratio: z
    .number()
    .optional()
    .meta({
      description: 'Share of the balance that may be traded',
      default: ACCOUNT_DEFAULTS.tradable_balance_ratio,
      ...bounds(ACCOUNT_LIMITS.tradable_balance_ratio),
    }),
  available_capital: z
    .number()
    .nullable()
    .optional()
    .meta({
      description:
        'Quote currency that may be traded, and the profit of closed trades with it; it replaces tradable_balance_ratio. Default: null, the share of the balance',
      ...bounds(ACCOUNT_LIMITS.available_capital),
    }),
  amend_last_stake_amount: z.boolean().optional().meta({
    description: 'Lower the last stake to what is left, where that is enough',
    default: false,
  }),
  last_stake_amount_min_ratio: z
    .number()
    .optional()
    .meta({
      description: 'Least share of the stake that such a trade gets',
      default: ACCOUNT_DEFAULTS.last_stake_amount_min_ratio,
      ...bounds(ACCOUNT_LIMITS.last_stake_amount_min_ratio),
    }),
  order_types: z.looseObject({ entry: orderType, exit: orderType }).optional().meta({
    description:
      'A market order fills at the open: its price callback is not called. Default: those of the strategy, else limit',
  }),
  unfilled_timeout: z
    .looseObject({ entry: minutes, exit: minutes })
    .optional()
    .meta({
      description: `Age at which an unfilled order is cancelled, minutes. Default: that of the strategy, else ${ACCOUNT_DEFAULTS.unfilled_timeout}`,
    }),
  ignore_entry_after_candles: z
    .int()
    .nullable()
    .optional()
    .meta({
      description:
        'Detail candles of a candle in which its entry signal acts, from the first on; it needs timeframe_detail. null: in all of them. Default: that of the strategy, else null',
      ...bounds(ACCOUNT_LIMITS.ignore_entry_after_candles),
    }),
  max_adjustments: z
    .int()
    .nullable()
    .optional()
    .meta({
      description:
        'Largest number of additions to a position by `adjustPosition`; 0: none. null: no limit. Default: that of the strategy',
      ...bounds(ACCOUNT_LIMITS.max_adjustments),
    }),
  position_stacking: z.boolean().optional().meta({
    description: 'A pair may have several trades at a time, up to max_open_trades of all pairs',
    default: false,
  }),
  margin_mode: z
    .string()
    .optional()
    .meta({
      description:
        '`isolated`: the stake is the margin of a position. `cross`: the account is, less what other positions must keep',
      default: ACCOUNT_DEFAULTS.margin_mode,
      enum: [...MARGIN_MODES],
    }),
};

/** Options of a resolved configuration, absent at their defaults. */
export const RESOLVED_ACCOUNT_OPTIONS = {
  tradable_balance_ratio: z
    .number()
    .optional()
    .meta({ description: `Absent: ${ACCOUNT_DEFAULTS.tradable_balance_ratio}` }),
  available_capital: z
    .number()
    .optional()
    .meta({ description: 'Quote currency that may be traded; absent: tradable_balance_ratio decides' }),
  amend_last_stake_amount: z.boolean().optional().meta({ description: 'Absent: false' }),
  last_stake_amount_min_ratio: z
    .number()
    .optional()
    .meta({ description: `Absent: ${ACCOUNT_DEFAULTS.last_stake_amount_min_ratio}` }),
  order_types: OrderTypes.optional().meta({ description: 'Absent: limit orders' }),
  unfilled_timeout: UnfilledTimeout.optional().meta({
    description: 'Minutes per side; absent: the one of the strategy for both',
  }),
  ignore_entry_after_candles: z
    .int()
    .optional()
    .meta({ description: 'Detail candles in which an entry signal acts; absent: all' }),
  max_adjustments: z
    .int()
    .nullable()
    .optional()
    .meta({ description: 'Largest number of additions; null: no limit; absent: that of the strategy' }),
  position_stacking: z.boolean().optional().meta({ description: 'Absent: one trade per pair' }),
  margin_mode: z.enum(MARGIN_MODES).optional().meta({ description: 'Absent: isolated' }),
};
