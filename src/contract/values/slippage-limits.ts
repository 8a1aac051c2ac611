/** Estimators of the bid-ask spread from candles. */
export const SPREAD_ESTIMATORS = ['corwin_schultz', 'edge'] as const;
export type SpreadEstimator = (typeof SPREAD_ESTIMATORS)[number];

/** Values of a slippage model. */
export const SLIPPAGE_MODEL_LIMITS = {
  spread_days: { min: 3, max: 365, integer: true },
  impact: { min: 0, aboveMin: true, max: 10 },
  participation: { min: 0, aboveMin: true, max: 1 },
} as const;

export const SLIPPAGE_MODEL_DEFAULTS = { spread_days: 30 } as const;

/** Days before a fill from which volatility and volume of its impact are measured. */
export const IMPACT_DAYS = 20;
