import type { BacktestResult, JobStatus } from '#contract/backtests/backtest.ts';
import type { LookAheadState } from '#contract/config/look-ahead.ts';
import type { QueueEntry } from '#contract/jobs/queue.ts';
import type { TrialRecord } from '#contract/jobs/trial-ledger.ts';
import type { UndefinedMetrics } from '#contract/values/undefined-metrics.ts';
import type { Timeframe } from '#engine/timeframe.ts';
import type { Caller } from '../access/access.ts';

/** Ports of the lists of jobs. */

/** Row of a list of jobs of any kind. */
export interface ListedJobRow {
  readonly job_id: string;
  readonly owner: string;
  readonly queue: QueueEntry;
  readonly status: JobStatus;
  readonly created_at: string;
  readonly updated_at: string;
  readonly strategy: string;
  readonly experiment_name: string | null;
  readonly error: string | null;
  readonly exchange: string;
  readonly pairs: readonly string[];
  readonly timeframe: Timeframe;
  readonly date_range: { readonly start: string; readonly end: string };
  readonly started_at: string | null;
  readonly finished_at: string | null;
  readonly session: string | null;
  /** Null until completed. */
  readonly look_ahead: LookAheadState | null;
  /** Parameters of a backtest, the best ones of a hyperopt job; null until these are known. */
  readonly params: JobParams | null;
  readonly tags: readonly string[];
}

/** Values of parameters by name. */
export type JobParams = Readonly<Record<string, string | number | boolean>>;

/** Row of a list of backtests. */
export interface JobRow extends ListedJobRow {
  readonly priority: number;
  readonly result: BacktestResult | null;
  /** Completed share of a running job as its item has it, 0 to 1. */
  readonly progress: number;
  /** Task of a running job that a registered image runs; null: the progress is in the job's item. */
  readonly imageTask: string | null;
  readonly sparkline: readonly number[] | null;
  /** Null until completed, and for jobs of earlier versions. */
  readonly trial_record: TrialRecord | null;
  readonly notes: string;
  readonly pinned: boolean;
}

/** What users have written on a job; absent fields of a change keep their values. */
export interface Annotations {
  readonly notes?: string;
  readonly tags?: readonly string[];
  readonly pinned?: boolean;
}

export interface JobFilter {
  /** Only jobs visible to this caller; absent: all. */
  readonly visibleTo?: Caller;
  readonly status?: JobStatus;
  readonly experiment_name?: string;
  readonly strategy?: string;
}

/** Filters of a search by what the rows have; absent ones pass every job. */
export interface JobFacts {
  readonly session?: string;
  readonly owner?: string;
  readonly exchange?: string;
  readonly tag?: string;
  readonly look_ahead?: LookAheadState;
  /** Values of parameters as they are written; numbers compare as numbers. */
  readonly params?: Readonly<Record<string, unknown>>;
}

/** Search through the newest jobs that pass a filter. */
export interface JobSearch extends JobFacts {
  /** Only jobs with each of these words, in either case. Absent: all. */
  readonly q?: string;
  /** Only jobs that are pinned, or that are not. Absent: all. */
  readonly pinned?: boolean;
  /** Name of the value to sort by. Absent: newest first. */
  readonly sort?: string;
  readonly sort_order: 'asc' | 'desc';
}

/** Values that rows are sorted by which are not in the rows themselves, by the ID of the job; null: the job has none. */
export type ReadSortValues<Row> = (rows: readonly Row[]) => Promise<ReadonlyMap<string, number | null>>;

/** Page of a list of jobs. */
export interface JobPage<Row> {
  readonly items: readonly Row[];
  /** Opaque position after the last item, bound to filter and search; null at the end. */
  readonly next: string | null;
  /** Jobs that the search covered, and whether these were all that pass the filter; null: no search. */
  readonly searched: { readonly jobs: number; readonly complete: boolean } | null;
  readonly count: JobCount | null;
}

/** Number of jobs; `at_least`: there may be more. */
export interface JobCount {
  readonly value: number;
  readonly relation: 'exact' | 'at_least';
}

/** Lists of the jobs of one kind. */
export interface JobLists<Row> {
  /**
   * Newest first, or as the search says. Throws VAL006 for a cursor that is broken or was made with another filter.
   *
   * @param search absent: all jobs of the filter
   * @param sortValues absent: the rows have what they are sorted by
   */
  list(
    filter: JobFilter,
    limit: number,
    cursor: string | null,
    search?: JobSearch,
    sortValues?: ReadSortValues<Row>,
  ): Promise<JobPage<Row>>;
  /** Counts the jobs of a filter, up to a limit. */
  count(filter: JobFilter): Promise<JobCount>;
}

/** Jobs of one kind that move or have just ended, as far as a caller sees them; undefined: all jobs. */
export interface JobActivity<Row> {
  /** Unfinished jobs, at most `limit`: the running ones first, else the oldest first. `complete`: these are all. */
  unfinished(
    caller: Caller | undefined,
    limit: number,
  ): Promise<{ readonly rows: readonly Row[]; readonly complete: boolean }>;
  /**
   * Jobs submitted after a time or a position, ISO 8601, the oldest first. `next`: position after which more follow; null when
   * these were all.
   */
  submittedAfter(
    caller: Caller | undefined,
    after: string,
    limit: number,
  ): Promise<{ readonly rows: readonly Row[]; readonly next: string | null }>;
  /** Jobs of these IDs. */
  rowsOf(caller: Caller | undefined, ids: readonly string[]): Promise<readonly Row[]>;
  /** Ended jobs, those submitted last first. */
  ended(caller: Caller | undefined, limit: number): Promise<readonly Row[]>;
  /**
   * Counts the ended jobs of a status, up to a limit. It reads an index and no job: in the first second after a revoked grant,
   * an end or a deletion the number is that before it.
   */
  countEnded(caller: Caller | undefined, status: JobStatus): Promise<JobCount>;
}

/** A store of jobs of one kind that reports what moves. */
export interface ActiveJobs<Row> {
  readonly activity: JobActivity<Row>;
}

/** Jobs of one owner that have the same experiment name. */
export interface Experiment {
  readonly name: string;
  /** Backtests and hyperopt jobs. */
  readonly jobs: JobCount;
  /** Pending and running ones among them. */
  readonly unfinished: number;
  /** Completed backtest with the highest profit, without those with a found look-ahead bias; null without one. */
  readonly best: {
    readonly job_id: string;
    readonly exchange: string;
    readonly look_ahead: LookAheadState;
    readonly total_profit_pct: number;
    readonly sharpe_ratio: number;
    readonly max_drawdown_pct: number;
    readonly undefined_metrics?: UndefinedMetrics | undefined;
  } | null;
  /** Newest job. */
  readonly last: { readonly job_id: string; readonly created_at: string };
}

export interface ExperimentPage {
  readonly items: readonly Experiment[];
  /** Opaque position after the last item; null at the end. */
  readonly next: string | null;
}

/** Stored experiments. */
export interface Experiments {
  /** Those of a user, the one with the newest job first. Throws VAL006 for an invalid cursor, DATA005. */
  list(owner: string, limit: number, cursor: string | null): Promise<ExperimentPage>;
}
