import type { RunningMoments } from '#engine/stats/running-moments.ts';

/** What a trial ran on. */
export interface TrialRun {
  readonly strategy: string;
  /** The market, in contrast to a real one. */
  readonly simulated: boolean;
  /** Base assets of the pairs, sorted. */
  readonly assets: readonly string[];
  /** Requested range without startup candles, Unix ms; the end is exclusive. */
  readonly start: number;
  readonly end: number;
  /** Null without one. */
  readonly session: string | null;
}

/** A result that was tried. */
export interface TrialResult {
  /** Equal for trials with the same daily returns. */
  readonly digest: string;
  /** Per day; null when undefined. */
  readonly sharpe: number | null;
}

export interface Trial extends TrialRun, TrialResult {}

/** Trials that are known as one sum only. */
export interface TrialSum {
  /** Null parts are unknown: they differ, or an earlier version counted the trials. */
  readonly of: { readonly [Part in keyof TrialRun]: TrialRun[Part] | null };
  readonly trials: number;
  /** Sharpe ratios per day of those trials that have one. */
  readonly sharpe: RunningMoments;
}

/** Trials of an owner. A trial of several sessions is in it once for each. */
export interface TrialsOfOwner {
  readonly trials: readonly Trial[];
  readonly sums: readonly TrialSum[];
}

/**
 * Trials of one owner that are kept each, which bounds the read of a completion. Further ones are added to sums. A hyperopt job with
 * more trials than half of it is one sum from the start.
 */
export const MAX_KEPT_TRIALS = 10_000;

/** Trials of users. They outlive their jobs. */
export interface OwnerTrials {
  /**
   * Counts the results of a run that are new in its session, and returns all trials of the owner, these included. Repeats and concurrent
   * calls count once, except beyond {@link MAX_KEPT_TRIALS}. Throws DATA005.
   */
  count(owner: string, run: TrialRun, results: readonly TrialResult[]): Promise<TrialsOfOwner>;
  /**
   * Counts trials of a hyperopt job that runs, whose results can be read before it ends: their number, at least that of the trials that
   * have ended, without Sharpe ratios. A smaller number than before changes nothing. Throws DATA005.
   */
  countRunning(owner: string, run: TrialRun, jobId: string, trials: number): Promise<void>;
  /** Ends what {@link countRunning} counted, after {@link count} has the trials themselves. Throws DATA005. */
  endRunning(owner: string, run: TrialRun, jobId: string): Promise<void>;
  /**
   * Trials of an owner, in lists: those of the last second may be missing.
   *
   * @param sessions names of sessions that trials are to be recognized by; trials of others have none
   */
  read(owner: string, sessions: readonly string[]): Promise<TrialsOfOwner>;
}
