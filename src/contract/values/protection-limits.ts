const PROTECTION_PERIODS = [
  'lookback_period',
  'lookback_period_candles',
  'stop_duration',
  'stop_duration_candles',
  'unlock_at',
] as const;

/** Settings of each protection, by its method. */
export const PROTECTION_KEYS = {
  CooldownPeriod: PROTECTION_PERIODS,
  StoplossGuard: [...PROTECTION_PERIODS, 'trade_limit', 'only_per_pair', 'only_per_side', 'required_profit'],
  LowProfitPairs: [...PROTECTION_PERIODS, 'trade_limit', 'only_per_side', 'required_profit'],
  MaxDrawdown: [...PROTECTION_PERIODS, 'trade_limit', 'max_allowed_drawdown', 'calculation_mode'],
} as const;

/** Values of protections. */
export const PROTECTION_LIMITS = {
  /** Protections of a run. */
  count: 20,
  minutes: { min: 1, max: 525_600 },
  candles: { min: 1, max: 525_600, integer: true },
  trade_limit: { min: 1, max: 1_000, integer: true },
  required_profit: { min: -1, max: 1_000 },
  max_allowed_drawdown: { min: 0, max: 1 },
} as const;

/** Newest locks of a report. */
export const REPORTED_LOCKS = 1_000;
