import * as z from 'zod';

/**
 * Trials of a user: backtests and trials of hyperopt jobs. The best of many trials on the same candles looks better than it is.
 * Two runs overlap when their date ranges intersect and they share a pair.
 */

const count = (description: string) => z.int().meta({ description });
const ratio = (description: string) => z.number().nullable().meta({ description });

/** Trials of a backtest's owner when it completed. It never changes. */
export const TrialRecord = z
  .object({
    owner: count('Trials of the owner on overlapping candles, of any strategy, this one included'),
    strategy: count('Those of the same strategy'),
    session: z
      .int()
      .nullable()
      .meta({ description: 'Those of the same session, of any strategy; null without a session' }),
    sharpe_ratio_daily: ratio(
      'Mean / sample standard deviation of the daily equity returns, not annualized; null when they do not vary',
    ),
    probabilistic_sharpe_ratio: ratio(
      'Probability of a true Sharpe ratio above 0 if this were the only trial, 0 to 1; null when undefined',
    ),
    expected_max_sharpe_daily: ratio(
      'Expected best daily Sharpe ratio of as many trials without skill as `owner`; null when fewer than two of several trials have a Sharpe ratio',
    ),
    deflated_sharpe_ratio: ratio(
      'Probability that the true Sharpe ratio exceeds `expected_max_sharpe_daily`, 0 to 1; null when undefined. The probabilistic Sharpe ratio for a single trial',
    ),
    strategy_deflated_sharpe_ratio: ratio('Deflated by the trials of `strategy`'),
    session_deflated_sharpe_ratio: ratio('Deflated by the trials of `session`'),
  })
  .meta({ id: 'TrialRecord' });
export type TrialRecord = z.infer<typeof TrialRecord>;

/** Fields of every stored job that counts as a trial. */
export const triedJobFields = {
  /** Session of the owner that the job belongs to; absent without one. */
  session: z.string().optional(),
};

export const SessionName = z.string().nullable().meta({
  description: 'Session of the submission, from its header `Touchstone-Session`; null without one',
});

/** Trials of an owner, or of a session, of one strategy over one range of the same pairs. */
export const StoredTrialGroup = z.object({
  schema_version: z.literal(1),
  /** These three are absent for trials beyond the maximum number of groups. */
  strategy: z.string().optional(),
  /** Separated by spaces. */
  pairs: z.string().optional(),
  /** Unix ms; the end is exclusive. */
  candles: z.object({ start: z.int(), end: z.int() }).optional(),
  trials: z.int(),
  /** Trials that have a Sharpe ratio, and the sums of their daily ratios and of the squares of them. */
  sharpe_count: z.int(),
  sharpe_sum: z.number(),
  sharpe_squares: z.number(),
  /** Raised whenever digests are taken out of `recent`: a string set, which no JSON Schema describes. */
  epoch: z.int(),
});
export type StoredTrialGroup = z.infer<typeof StoredTrialGroup>;
