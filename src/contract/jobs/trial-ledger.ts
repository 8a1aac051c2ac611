import * as z from 'zod';
import { TRIAL_SCOPES } from '../values/trial-scopes.ts';

/**
 * Trials of a user: backtests and trials of hyperopt jobs. The best of many trials looks better than it is. A trial counts against a
 * run of the same owner that overlaps: both markets are real or both simulated, a base asset is in both, and at least 5 % of the run's
 * date range is in the trial's. Trials with equal daily returns count once.
 */

const count = (description: string) => z.int().meta({ description });
const ratio = (description: string) => z.number().nullable().meta({ description });

/** A Sharpe ratio deflated by the trials of one scope. */
export const Deflation = z
  .object({
    scope: z.enum(TRIAL_SCOPES).meta({
      description:
        'Whose trials: of the owner, those of the same strategy among them, or those of the same session. The scope with the lowest ratio',
    }),
    trials: count('Trials of the scope that count against the run, the run included'),
    sharpe_variance_daily: ratio(
      'Sample variance of the daily Sharpe ratios of the trials, at most 1 / (days - 1), which is that of ratios without skill; 0 for a single trial, null when undefined',
    ),
    expected_max_sharpe_daily: ratio('Expected best daily Sharpe ratio of as many trials without skill'),
    deflated_sharpe_ratio: ratio(
      'Probability that the true Sharpe ratio exceeds `expected_max_sharpe_daily`, 0 to 1; the probabilistic Sharpe ratio for a single trial',
    ),
    reason: z.string().nullable().meta({ description: 'Why the ratio is null; null otherwise' }),
  })
  .meta({ id: 'Deflation' });
export type Deflation = z.infer<typeof Deflation>;

/** Trials of a backtest's owner when it completed. It never changes. */
export const TrialRecord = z
  .object({
    owner: count('Trials of the owner that count against the run, of any strategy, this one included'),
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
      'Expected best daily Sharpe ratio of as many trials without skill as `owner`; null when undefined',
    ),
    deflated_sharpe_ratio: ratio(
      'Probability that the true Sharpe ratio exceeds `expected_max_sharpe_daily`, 0 to 1; null when undefined. The probabilistic Sharpe ratio for a single trial',
    ),
    strategy_deflated_sharpe_ratio: ratio('Deflated by the trials of `strategy`'),
    session_deflated_sharpe_ratio: ratio('Deflated by the trials of `session`'),
    lowest: Deflation.optional().meta({
      description:
        'The lowest of the three deflated ratios, which texts and the release policy use; null with a reason where that of the owner is undefined. Absent in jobs of earlier versions',
    }),
    returns: z
      .object({
        count: count('Daily returns of the run'),
        digest: z
          .string()
          .meta({ description: 'Digest of the daily returns; equal for all runs that never traded' }),
        skewness: ratio('Null when the returns do not vary'),
        kurtosis: ratio('3 for the normal distribution; null when the returns do not vary'),
      })
      .optional()
      .meta({
        description: 'What lists deflate again, by the trials of now; absent in jobs of earlier versions',
      }),
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

/** Trials that are stored as one sum: their number, those that have a Sharpe ratio, and the sums of these ratios and of their squares. */
const summed = { trials: z.int(), sharpe_count: z.int(), sharpe_sum: z.number(), sharpe_squares: z.number() };

/** Range of dates, Unix ms; the end is exclusive. */
const candles = z.object({ start: z.int(), end: z.int() });

/**
 * Trials of an owner in one item. Version 2 has the trials of one strategy and set of assets, each as an entry of a string set, which no
 * JSON Schema describes, or as one sum. Version 1 has one sum for a strategy, range and set of pairs.
 */
export const StoredTrialGroup = z.discriminatedUnion('schema_version', [
  z.object({
    schema_version: z.literal(2),
    simulated: z.boolean(),
    /** Absent for a sum of several strategies, assets and ranges. Assets are separated by spaces. */
    strategy: z.string().optional(),
    assets: z.string().optional(),
    /** Of the sum of one hyperopt job; absent for others, and without a session. */
    candles: candles.optional(),
    session: z.string().optional(),
    /** Of the sum of a hyperopt job that runs: the job has ended, and its trials are counted elsewhere. */
    ended: z.literal(true).optional(),
    ...z.object(summed).partial().shape,
  }),
  z.object({
    schema_version: z.literal(1),
    /** These three are absent for trials beyond the maximum number of groups that version 1 had. */
    strategy: z.string().optional(),
    /** Separated by spaces. */
    pairs: z.string().optional(),
    candles: candles.optional(),
    ...summed,
  }),
]);
export type StoredTrialGroup = z.infer<typeof StoredTrialGroup>;
