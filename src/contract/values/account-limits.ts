/** Bounds and defaults of the account's options. */

export const ORDER_TYPES = ['limit', 'market'] as const;

export const MARGIN_MODES = ['isolated', 'cross'] as const;
export type MarginMode = (typeof MARGIN_MODES)[number];

export const ACCOUNT_LIMITS = {
  tradable_balance_ratio: { min: 0, aboveMin: true, max: 1 },
  available_capital: { min: 0, aboveMin: true, max: 1e12 },
  last_stake_amount_min_ratio: { min: 0, max: 1 },
  /** Minutes. */
  unfilled_timeout: { min: 0, aboveMin: true, max: 525_600 },
  ignore_entry_after_candles: { min: 1, max: 1_440, integer: true },
  /** A trade has at most 1,000 orders. */
  max_adjustments: { min: 0, max: 1_000, integer: true },
} as const;

export const ACCOUNT_DEFAULTS = {
  tradable_balance_ratio: 0.99,
  last_stake_amount_min_ratio: 0.5,
  order_type: 'limit',
  margin_mode: 'isolated',
  /** Minutes. */
  unfilled_timeout: 10,
} as const;
