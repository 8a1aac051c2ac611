/** Rules by which pairs are chosen over time. */
export const UNIVERSE_RULES = ['top_volume'] as const;

/** When the pairs are chosen again, at 00:00 UTC: every day, on Mondays, on the first of a month. */
export const REBALANCES = ['daily', 'weekly', 'monthly'] as const;
export type Rebalance = (typeof REBALANCES)[number];

export const UNIVERSE_LIMITS = {
  /** Pairs at a time. */
  n: { min: 1, max: 100, integer: true },
  lookback_days: { min: 1, max: 365, integer: true },
  min_age_days: { min: 0, max: 3_650, integer: true },
  /** 1: a long loses everything. */
  delisting_haircut: { min: 0, max: 1 },
  /** Pairs to choose from. Their volumes are read one after the other. */
  candidates: { min: 1, max: 500 },
} as const;

export const UNIVERSE_DEFAULTS = {
  lookback_days: 30,
  rebalance: 'weekly',
  min_age_days: 0,
  delisting_haircut: 0.05,
} as const;
