import type { NumberBounds } from './bounds.ts';

/** Start of the IDs of challenges. */
export const CHALLENGE_ID_PREFIX = 'ch-';

export const CHALLENGE_LIMITS = {
  min_trades: { min: 1, max: 1_000_000, integer: true },
  max_duration_hours: { min: 1, max: 8760, integer: true },
  max_drawdown_pct: { min: 0, aboveMin: true, max: 1_000_000 },
  max_errors: { min: 1, max: 1_000_000, integer: true },
} as const satisfies Readonly<Record<string, NumberBounds>>;

export const CHALLENGE_DEFAULTS = {
  min_trades: 100,
  max_duration_hours: 168,
  enable_canary: true,
  analysis_unit: 'trade',
  on_rollback: 'finish',
  auto_promote: false,
} as const;

export const TRADE_SIDES = ['long', 'short'] as const;
export const TRADE_MODES = ['live', 'paper'] as const;

/** Bounds of a trade that is posted to a challenge. */
export const TRADE_LIMITS = {
  /** The minimum is a loss of the whole position: -100 times the leverage. */
  profit_pct: { min: -100, max: 1e6 },
  leverage: { min: 0, aboveMin: true, max: 1000 },
  /** Amounts in quote currency. */
  amount: { min: -1e15, max: 1e15 },
  /** Trades of one request. */
  trades: 100,
  /** Seconds that the clock of a trader may be ahead. */
  ahead_seconds: 60,
  /** Characters. */
  trade_id: 128,
  exit_reason: 200,
  exchange: 40,
  error_message: 500,
  time: 40,
} as const;

/** Requirements for the decision PROMOTE of a comparison. */
export const COMPARISON_MINIMUMS = {
  /** Improvement of the Sharpe ratio, percent. */
  sharpe_improvement_pct: 10,
  /** Trades of the challenger. */
  trades: 100,
  confidence: 0.8,
} as const;

/** Evaluations of a challenge on a page: a challenge of 100,000 trades has less than 1,000. */
export const EVALUATION_PAGE_LIMITS = { min: 1, max: 1_000, default: 1_000 } as const;

/** In place of a number of assignments of each variant of a challenge: as many as the closed trades that it needs. */
export const MIN_TRADES = 'min_trades';
