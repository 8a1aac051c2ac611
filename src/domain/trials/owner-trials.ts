import type { RunningMoments } from '#engine/stats/running-moments.ts';

/** What a trial ran on. Times are Unix ms; the end is exclusive. */
export interface TrialCandles {
  readonly strategy: string;
  readonly start: number;
  readonly end: number;
  readonly pairs: readonly string[];
}

/** Trials of one strategy over one range of the same pairs. */
export interface TrialGroup {
  /** null: of further strategies, ranges and pairs beyond {@link MAX_TRIAL_GROUPS}. */
  readonly of: TrialCandles | null;
  readonly trials: number;
  /** Sharpe ratios per day of those trials that have one. */
  readonly sharpe: RunningMoments;
}

/** A backtest, or all trials of a hyperopt job. */
export interface NewTrials extends Omit<TrialGroup, 'of'> {
  readonly of: TrialCandles;
  /** Equal for runs with the same inputs. */
  readonly digest: string;
}

/** Owner of trials, or one of the owner's sessions. */
export interface TrialScope {
  readonly owner: string;
  /** null: all trials of the owner. */
  readonly session: string | null;
}

/**
 * Groups of one scope, which bounds the read of a completion. Trials of further groups are in one group without candles, which
 * overlaps with every run.
 */
export const MAX_TRIAL_GROUPS = 1_000;

/** Trials of users. They outlive their jobs. */
export interface OwnerTrials {
  /**
   * Counts new trials in a scope, unless trials with the same digest are counted there. Returns all groups of the scope, these
   * trials included. Repeats and concurrent calls count once. Throws DATA005.
   */
  count(scope: TrialScope, trials: NewTrials): Promise<readonly TrialGroup[]>;
}
