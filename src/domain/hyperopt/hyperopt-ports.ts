import type { CollectionOutcome } from '#contract/backtests/backtest.ts';
import type {
  Direction,
  EndedTrial,
  HyperoptExecutionInput,
  HyperoptJobIn,
  HyperoptOutcome,
  Improvement,
  PermutedTrial,
  StoredHyperoptJob,
  StoredPermutedSearch,
  StoredPermutedTrials,
  StoredTrial,
  TrialCounts,
  TrialIn,
  TrialState,
} from '#contract/hyperopt/hyperopt.ts';
import type { StoredSharing } from '../access/access.ts';
import type { Executions } from '../jobs/execution-ports.ts';
import type { JobLists, ListedJobRow } from '../jobs/job-list-ports.ts';
import type { Page } from '../ports.ts';
import type { TrialInputs } from './trial-inputs.ts';

/** Ports of the hyperopt use cases. Every method may throw CodedError DATA005 when storage is down. */

/** Row of a list of hyperopt jobs. */
export interface HyperoptRow extends ListedJobRow {
  readonly trials: TrialCounts;
  /** Searches on permuted candles that follow the trials; absent without any. */
  readonly permutations?: number | undefined;
  readonly permuted_searches?: number | undefined;
  readonly objective_metric: string;
  readonly direction: Direction;
  readonly improvements: readonly Improvement[];
  /** Null until completed. */
  readonly deflated_sharpe_ratio: number | null;
}

/** Hyperopt jobs. Every transition is one conditional write; a terminal state never changes. */
export interface HyperoptStore extends JobLists<HyperoptRow> {
  /** Owners and grants of the hyperopt jobs. */
  readonly sharing: StoredSharing;
  /** Stores a new job. Returns the stored one when the id exists already. */
  create(job: HyperoptJobIn<'pending'>): Promise<StoredHyperoptJob>;
  get(jobId: string): Promise<StoredHyperoptJob | undefined>;
  /** From pending or running to running, naming the worker's task. Undefined: unknown or terminal. */
  begin(
    jobId: string,
    worker: number,
    task: string,
    at: string,
  ): Promise<HyperoptJobIn<'running'> | undefined>;
  /**
   * Records the code and the candles of the trials and adds warnings, unless a code is recorded already. Returns what is
   * recorded; undefined when the job has ended.
   */
  pinInputs(
    jobId: string,
    inputs: TrialInputs,
    warnings: readonly string[],
  ): Promise<Partial<TrialInputs> | undefined>;
  /** Adds a warning to a running job, once. */
  warn(jobId: string, warning: string): Promise<void>;
  complete(jobId: string, outcome: HyperoptOutcome, at: string): Promise<boolean>;
  /** Only while pending or running. */
  fail(jobId: string, error: { code: string; message: string }, at: string): Promise<boolean>;
  /** The cancelled job, or the job as found when it was not cancelled. */
  cancel(
    jobId: string,
    at: string,
    by?: string,
  ): Promise<{ cancelled: boolean; job: StoredHyperoptJob | undefined }>;
  /** Records where a trial is stalled, null once it continues. Has an effect only while the job runs. */
  setStalled(jobId: string, stalled: string | null): Promise<void>;
  setCollection(jobId: string, outcome: CollectionOutcome): Promise<void>;
  /** Keeps the job, or lets it expire again. `done` false: it is unknown, or has expired. */
  setKept(jobId: string, kept: boolean): Promise<{ done: boolean; job: StoredHyperoptJob | undefined }>;
  /** Records that a version of the model has the job as evidence. False: its trials have expired, or it is unknown. */
  setEvidence(jobId: string, model: string, at: string): Promise<boolean>;
  /** Time at which the oldest pending job was created, ISO 8601; undefined without one. */
  oldestPending(): Promise<string | undefined>;
}

/** Daily returns of a complete trial. */
export interface TrialReturns {
  /** `YYYY-MM-DD`, of the first. */
  readonly firstDay: string;
  readonly returns: Float64Array;
}

/**
 * The trials of a hyperopt job, one item each. A worker begins a trial under an attempt of its own. All its writes to
 * the trial are conditional on that attempt, so a trial has one end, recorded once.
 */
export interface TrialLedger {
  /** Trials from that number on, ascending, at most `limit`; strongly consistent. Default all. */
  read(jobId: string, from: number, limit?: number): Promise<StoredTrial[]>;
  /** By number. Throws VAL006 for a cursor that is broken or was made with another filter. */
  list(
    jobId: string,
    state: TrialState | null,
    limit: number,
    cursor: string | null,
  ): Promise<Page<StoredTrial>>;
  /** Stores a new trial; false when there is one of that number. */
  begin(trial: TrialIn<'running'>): Promise<boolean>;
  /** Takes over a running trial, whose attempt rises; false when it is not `found` any more. */
  beginAgain(found: TrialIn<'running'>, trial: TrialIn<'running'>): Promise<boolean>;
  /** Sets the end of the lease; false when the trial is another attempt's or has ended. */
  renew(trial: TrialIn<'running'>, leaseUntil: number): Promise<boolean>;
  /**
   * Records a trial's end and the job's new counts in one transaction, if the job still has that revision.
   * `conflict`: the trial is another attempt's, or has ended. `job_changed`: the job has changed since; read it again.
   */
  end(
    job: HyperoptJobIn<'running'>,
    trial: EndedTrial,
    counts: TrialCounts,
    returns: TrialReturns | null,
  ): Promise<'recorded' | 'conflict' | 'job_changed'>;
  /** Daily returns of all complete trials by their number; those that took over a result have none of their own. */
  returns(jobId: string): Promise<ReadonlyMap<number, TrialReturns>>;
  returnsOf(jobId: string, number: number): Promise<TrialReturns | undefined>;
  /** Ended searches on permuted candles, by number. */
  permutedSearches(jobId: string): Promise<StoredPermutedSearch[]>;
  /** Records a permuted search and counts it in the job, once: another record of the number stays. `stopped`: the job has ended. */
  endPermutedSearch(search: StoredPermutedSearch): Promise<'recorded' | 'stopped'>;
  /** Recorded trials of a permuted search that has not ended, by number. */
  permutedTrials(jobId: string, search: number): Promise<PermutedTrial[]>;
  /** Records ended trials of a permuted search. `search_ended`: another worker has ended it. `stopped`: the job has ended. */
  recordPermutedTrials(trials: StoredPermutedTrials): Promise<'recorded' | 'search_ended' | 'stopped'>;
  /** Deletes the recorded trials of a permuted search that has ended. */
  deletePermutedTrials(jobId: string, search: number): Promise<void>;
}

/** The hyperopt state machine. */
export type HyperoptExecutions = Executions<HyperoptExecutionInput>;
