import type {
  BacktestResult,
  CollectionOutcome,
  JobIn,
  JobRun,
  JobStatus,
  JobTiming,
  ResolvedBacktestConfig,
  ResultsLocation,
  StoredBacktestJob,
} from '#contract/backtests/backtest.ts';
import type { ColumnsJob } from '#contract/backtests/backtest-columns.ts';
import type { ValidationCheck } from '#contract/common/validation-check.ts';
import type { LookAhead } from '#contract/config/look-ahead.ts';
import type { TrialRecord } from '#contract/jobs/trial-ledger.ts';
import type { ProxyOperationName } from '#contract/market-data/data-proxy.ts';
import type { Calendar } from '#contract/values/calendars.ts';
import type { ErrorCode } from '#contract/values/errors.ts';
import type { Candles } from '#engine/candles.ts';
import type { CandleCurve } from '#engine/report/candle-curve.ts';
import type { TradeTable } from '#engine/simulator/trade-table.ts';
import type { FundingEvents } from '#engine/simulator/types.ts';
import type { StrategyDefinition } from '#engine/strategy.ts';
import type { Timeframe } from '#engine/timeframe.ts';
import type { StoredSharing } from './access/access.ts';
import type { MissingCandles, Sessions } from './data/gaps/sessions.ts';
import type { Annotations, Experiments, JobLists, JobRow } from './jobs/job-list-ports.ts';

/** Ports of the use cases. Every method may throw CodedError DATA005 when storage is down. */

export interface Clock {
  /** Unix milliseconds. */
  now(): number;
}

/** Structured log. Powertools' Logger is one. */
export interface Log {
  warn(message: string, fields: Readonly<Record<string, unknown>>): void;
  error(message: string, fields: Readonly<Record<string, unknown>>): void;
}

export interface Ids {
  /** A ULID: time-ordered, 26 characters of Crockford base 32. */
  ulid(): string;
}

/** A strategy with the digest of the source that defines it. */
export interface StrategyWithDigest {
  readonly definition: StrategyDefinition;
  readonly digest: string;
  /** Evaluates the source again and returns its definition, with no state of a module left from before. */
  readonly load: () => Promise<StrategyDefinition>;
  /** Built-in functions that the source had replaced, as far as loads had to restore them. Absent for built-in strategies. */
  readonly replaced?: () => readonly string[];
}

/**
 * Loads a strategy into a task's process. Undefined for one that the task does not have. Throws CodedError VAL006 for one that
 * cannot be loaded.
 *
 * @param digest of the source with which the job was resolved; where several files define the name, that one is loaded
 */
export type FindStrategy = (name: string, digest?: string) => Promise<StrategyWithDigest | undefined>;

export interface Page<T> {
  readonly items: readonly T[];
  /** Opaque position after the last item, bound to the filter; null at the end. */
  readonly next: string | null;
}

export type ClaimOutcome<Job extends JobRun = JobIn<'running'>> =
  | { readonly outcome: 'claimed'; readonly job: Job }
  /** Already terminal: nothing to do. */
  | { readonly outcome: 'terminal'; readonly status: JobStatus }
  | { readonly outcome: 'unknown' };

/** A job as its task claims it. Owner and session are absent in the task of a registered image, which does not know them. */
export type ClaimedJob = JobRun & Partial<Pick<JobIn<'running'>, 'owner' | 'session'>>;

/** Outcome of a completed run, as its task records it. */
export interface CompletedRun {
  readonly result: BacktestResult;
  readonly results: ResultsLocation;
  readonly timing: JobTiming;
  /** Only with a universe: the configuration with the pairs that were ever in. */
  readonly config?: ResolvedBacktestConfig;
  /** See `equitySparkline`; absent for a validation, which no list shows. */
  readonly sparkline?: readonly number[];
  readonly look_ahead?: LookAhead;
  /** Only for a backtest. */
  readonly trials?: TrialRecord;
  /** Appended to those that the job carries already. */
  readonly warnings: readonly string[];
  /** Only for a validation. */
  readonly checks?: readonly ValidationCheck[];
}

/** The job of a task, as the task claims it and records its end. */
export interface TaskJobs {
  claim(jobId: string, task: string, at: string): Promise<ClaimOutcome<ClaimedJob>>;
  setProgress(jobId: string, attempt: number, progress: number, at: string): Promise<boolean>;
  complete(jobId: string, attempt: number, outcome: CompletedRun, at: string): Promise<boolean>;
  fail(
    jobId: string,
    attempt: number,
    error: { code: ErrorCode; message: string },
    at: string,
  ): Promise<boolean>;
}

/**
 * Jobs of the backtest state machine. Every transition is one conditional write; a terminal state never changes. Writes
 * of a task name its `attempt`: they return false, and change nothing, when another attempt has claimed the job since
 * or the job is terminal. Repeating the write that ended the job returns true again.
 */
export interface JobStore extends JobLists<JobRow> {
  /** Owners and grants of the jobs of every kind. */
  readonly sharing: StoredSharing;
  /** Experiments of the jobs of every kind. */
  readonly experiments: Experiments;
  /** Stores a new job. Returns the stored job when the id exists already. */
  create(job: JobIn<'pending'>): Promise<StoredBacktestJob>;
  get(jobId: string): Promise<StoredBacktestJob | undefined>;
  /** From pending or running to running, with a new attempt number. */
  claim(jobId: string, task: string, at: string): Promise<ClaimOutcome>;
  setProgress(jobId: string, attempt: number, progress: number, at: string): Promise<boolean>;
  /** Records where the job's task is stalled, null once it continues. Has no effect when another task has the job. */
  setStalled(jobId: string, task: string, stalled: string | null): Promise<void>;
  complete(jobId: string, attempt: number, outcome: CompletedRun, at: string): Promise<boolean>;
  /** `attempt` null: from outside the task (state machine, repair), only while pending or running. */
  fail(
    jobId: string,
    attempt: number | null,
    error: { code: string; message: string },
    at: string,
  ): Promise<boolean>;
  /** The cancelled job, or the job as found when it was not cancelled. */
  cancel(
    jobId: string,
    at: string,
    by?: string,
  ): Promise<{ cancelled: boolean; job: StoredBacktestJob | undefined }>;
  setCollection(jobId: string, outcome: CollectionOutcome): Promise<void>;
  /** Keeps the job, or lets it expire again. `done` false: it is unknown, or has expired. */
  setKept(jobId: string, kept: boolean): Promise<{ done: boolean; job: StoredBacktestJob | undefined }>;
  /** Changes what users have written on the job. `done` false: it is unknown, or has expired. */
  annotate(
    jobId: string,
    changes: Annotations,
  ): Promise<{ done: boolean; job: StoredBacktestJob | undefined }>;
  /**
   * Marks a job as deleted: it leaves the lists, and its data are to be removed. False: the job has changed since, in status or as
   * evidence, or is deleted already; nothing was changed.
   */
  markDeleted(job: StoredBacktestJob, at: string): Promise<boolean>;
  /** Records that a version of the model has the job as evidence. False: its results have expired, or it is unknown. */
  setEvidence(jobId: string, model: string, at: string): Promise<boolean>;
  /**
   * Records the latest computation of a backtest's columns, if `before` is the one that is recorded (undefined: none), and returns
   * the one that is recorded then; undefined for an unknown or deleted backtest.
   */
  setColumnsJob(
    jobId: string,
    next: ColumnsJob,
    before: ColumnsJob | undefined,
  ): Promise<ColumnsJob | undefined>;
  /** Forgets a computation, if it is the one that is recorded. */
  forgetColumnsJob(jobId: string, job: ColumnsJob): Promise<void>;
  /** Computations of columns that have ended. */
  endedColumnsJobs(): AsyncIterable<StoredBacktestJob>;
  /** Time at which the oldest pending job was created, ISO 8601; undefined without one. */
  oldestPending(): Promise<string | undefined>;
}

export interface StoredObject {
  /** Owned by the caller: a later read returns another array. */
  readonly body: Uint8Array;
  /** sha-256 of the body, hex. */
  readonly etag: string;
  readonly contentType: string;
}

/** An object written by others is larger than its reader accepts. */
export class ObjectTooLargeError extends Error {}

/** Immutable objects by key. A key is `/`-separated segments of `[A-Za-z0-9._=-]`; anything else is encoded by the caller. */
export interface ObjectStore {
  /** Atomic: a reader sees the whole new body or what was there before. */
  put(key: string, body: Uint8Array, contentType: string): Promise<{ etag: string }>;
  /**
   * As `put`, but only while the stored object's etag is `expected` (null: the key has no object).
   * Returns undefined and changes nothing when the etag differs: read again and decide again.
   */
  putIf(
    key: string,
    body: Uint8Array,
    contentType: string,
    expected: string | null,
  ): Promise<{ etag: string } | undefined>;
  /** Throws ObjectTooLargeError for an object of more than `maxBytes`, without reading it. */
  get(key: string, maxBytes?: number): Promise<StoredObject | undefined>;
  /** Deleting an absent key is not an error. */
  delete(key: string): Promise<void>;
  /** Keys with the prefix, ascending. */
  list(prefix: string): AsyncIterable<string>;
  /** Names of the folders directly in a folder, ascending. Some may have become empty. @param folder with its slash */
  folders(folder: string): Promise<readonly string[]>;
}

/**
 * Files of a finished backtest in object storage: each part as the stored JSON string, the curve, and the trades, whose file is
 * encoded when the property is read, once.
 */
export interface ResultFiles {
  readonly result: string;
  readonly equity: string;
  readonly report: string;
  readonly curve: CandleCurve;
  readonly trades: TradeTable;
  /** The same trades for people and their tools. */
  readonly tradesParquet: Uint8Array;
}

/** Trades of a stored page as columns. */
export interface TradePage {
  /** Row of the first trade in the whole table; its id is one more. */
  readonly first: number;
  readonly table: TradeTable;
}

/** Results of backtests: immutable, written once per attempt, readable when the job names their location. */
export interface ResultStore {
  write(jobId: string, attempt: number, files: ResultFiles): Promise<ResultsLocation>;
  /** Deletes the results of all attempts of a job. Repeats are harmless. */
  remove(jobId: string): Promise<void>;
  /** Parsed JSON. Throws DATA005 when an object that the job names is missing or broken. */
  read(location: ResultsLocation, part: 'result' | 'equity' | 'report'): Promise<unknown>;
  /** Trades of page 1 to `location.trade_pages`. */
  readTrades(location: ResultsLocation, page: number): Promise<readonly unknown[]>;
  /** The same trades as columns. */
  readTradeTable(location: ResultsLocation, page: number): Promise<TradePage>;
  /** The trades as one Parquet file: its key, and its bytes. Reading throws DATA005 when it is missing. */
  tradesFile(location: ResultsLocation): Promise<{ readonly key: string; read(): Promise<Uint8Array> }>;
  /** Undefined for results of a release that stored none. Throws DATA005 for a broken one. */
  readCurve(location: ResultsLocation): Promise<CandleCurve | undefined>;
  /** Stores other files of an attempt, compressed. The digest of the location is that of the first. */
  writeFiles(
    jobId: string,
    attempt: number,
    files: Iterable<readonly [name: string, bytes: Uint8Array]>,
  ): Promise<ResultsLocation>;
  /** One of those files. Throws DATA005 when it is missing or broken. */
  readFile(location: ResultsLocation, name: string): Promise<Uint8Array>;
}

export interface SeriesKey {
  readonly exchange: string;
  /** `BASE/QUOTE:SETTLE`. */
  readonly symbol: string;
  readonly timeframe: Timeframe;
}

/** A gap in a series: [open time of the first missing candle in ms, candles missing]. */
export type Gap = readonly [number, number];

/** What an import states of a series. */
export interface SeriesOrigin {
  /** Files hold candles of it. */
  readonly imported?: true | undefined;
  /** Times at which its market is open, where its candles do not show them. */
  readonly calendar?: Calendar | undefined;
}

/** Metadata of a stored series, sufficient to decide freshness. Times are ISO 8601. */
export interface SeriesInfo extends SeriesKey, SeriesOrigin {
  /** Open time of the first and of the last closed candle. */
  readonly first: string;
  readonly last: string;
  readonly count: number;
  /** Number of gaps between the first and the last candle. */
  readonly gap_count: number;
  /** The longest gaps that are damage, by time; limits: `GAP_LIMITS`. */
  readonly gaps: readonly Gap[];
  /** Candles missing in the longest of the other gaps that are damage; 0 when there are none. */
  readonly longest_omitted_gap: number;
  /** The exchange has no candles between this time and the first candle. Absent: not requested yet. */
  readonly complete_from?: string;
  /** Months (`YYYY-MM`) of which a file was found corrupt; until they are collected again they count as one gap. */
  readonly corrupt?: readonly string[];
  /** Times of the week at which its market is closed. Absent: never, as far as its candles show. */
  readonly sessions?: Sessions;
  /** Candles missing between the first and the last one. Absent: recorded by an earlier version, all are damage. */
  readonly missing?: MissingCandles;
  readonly updated_at: string;
}

/** Content of one month's file of a series; a count of 0 means that it is corrupt. Times are open times, ms. */
export interface SeriesMonth {
  /** `YYYY-MM`, UTC. */
  readonly month: string;
  readonly first: number;
  readonly last: number;
  readonly count: number;
  /** Gaps between first and last. */
  readonly gap_count: number;
  /** The 20 longest gaps, by time. */
  readonly gaps: readonly Gap[];
  /** Candles missing in the longest of the other gaps; 0 without other gaps. */
  readonly longest_omitted_gap: number;
  /** Last refetch of the gaps, Unix ms; absent before the first. */
  readonly gaps_refetched_at?: number | undefined;
  /** Last change of the days that changed since it is recorded, ascending. */
  readonly changes?: readonly DayChanges[] | undefined;
}

/** Days of a month with one last change: [first day, last day, Unix ms, 1 if stored candles were replaced at any time, else 0]. */
export type DayChanges = readonly [number, number, number, number];

/** The last import that changed a series. What it replaced is kept until the next one. */
export interface KeptImport {
  readonly id: string;
  /** ISO 8601. */
  readonly at: string;
  /** Months that had no candle before, with the open times of the first and last imported candle, ms. */
  readonly created: readonly { readonly month: string; readonly first: number; readonly last: number }[];
  /** What was stated of the series before it; absent in records of earlier releases. */
  readonly before?: SeriesOrigin | undefined;
}

/** What is recorded of a series. */
export interface SeriesState extends SeriesOrigin {
  /** By month, ascending; none of a series that is not stored. */
  readonly months: readonly SeriesMonth[];
  readonly complete_from?: string | undefined;
  /** Grows with each change that removes candles. Absent: 0. */
  readonly generation?: number | undefined;
  /** Change of several files that has begun. The next write or change of the series finishes it, and undoes a copy. */
  readonly pending?: 'delete' | 'copy' | 'undo' | undefined;
  readonly kept_import?: KeptImport | undefined;
}

/** The series was deleted, renamed or undone since its state was read. */
export class SeriesReplacedError extends Error {}

export interface SeriesStore {
  /** One read for every hundred symbols; missing series are absent from the map (key: `symbol#timeframe`). */
  getMany(
    exchange: string,
    series: readonly Omit<SeriesKey, 'exchange'>[],
  ): Promise<ReadonlyMap<string, SeriesInfo>>;
  /** All series of an exchange, ascending by symbol, those of a symbol by timeframe. */
  list(exchange: string): Promise<readonly SeriesInfo[]>;
  /** Series of up to `limit` symbols of an exchange, in the order of `list`. Throws VAL006 for an invalid cursor. */
  listPage(exchange: string, limit: number, cursor: string | null): Promise<Page<SeriesInfo>>;
  /** Months of many series, one read for every hundred (key: `symbol#timeframe`). */
  monthsOfMany(
    exchange: string,
    series: readonly Omit<SeriesKey, 'exchange'>[],
  ): Promise<ReadonlyMap<string, readonly SeriesMonth[]>>;
  /** Months of a series, ascending; empty for an unknown series. */
  months(series: SeriesKey): Promise<readonly SeriesMonth[]>;
  /**
   * Records the current content of the files of some months and returns the whole series. Candles are only ever added,
   * so of two reports on one month the one with more candles is newer, regardless of the order of arrival.
   * Throws SeriesReplacedError, and records nothing, if the series has another generation than the one that is given.
   * @param origin what an import states; absent: it stays
   */
  record(
    series: SeriesKey,
    months: readonly SeriesMonth[],
    at: string,
    generation?: number,
    origin?: SeriesOrigin,
  ): Promise<SeriesInfo>;
  /**
   * Records that all existing candles in `[from, to)` ms are stored. This fixes where the series begins, unless an
   * interval before its first candle was never requested. No effect on an unknown series.
   */
  markComplete(
    series: SeriesKey,
    interval: { readonly from: number; readonly to: number },
    at: string,
  ): Promise<void>;
  /** Records a refetch of the gaps of those months (`YYYY-MM`). */
  markRefetched(series: SeriesKey, months: readonly string[], at: string): Promise<void>;
  /**
   * Records that a month is stored corrupt: the newest recorded month up to it, since funding may reach beyond the
   * candles. Recording the month again clears it. No effect on an unknown series.
   */
  markCorrupt(series: SeriesKey, month: string, at: string): Promise<void>;
}

/** States of series: the record of changes that take more than one write. */
export interface SeriesStates {
  /** Without months for an unknown series. */
  state(series: SeriesKey): Promise<SeriesState>;
  /**
   * Stores the result of `change`, which is called again when another writer was first. Undefined, and nothing stored, when that is
   * undefined.
   */
  change(
    series: SeriesKey,
    at: string,
    change: (state: SeriesState) => SeriesState | undefined,
  ): Promise<SeriesState | undefined>;
  /** As `change`, for two series in one transaction. False: nothing stored. */
  changeBoth(
    series: readonly [SeriesKey, SeriesKey],
    at: string,
    change: (states: readonly [SeriesState, SeriesState]) => readonly [SeriesState, SeriesState] | undefined,
  ): Promise<boolean>;
}

/** Called for each corrupt file, which then counts as missing. If absent, the read throws. */
export type OnCorrupt = (file: string) => void;

/** Every file carries a checksum, and one that does not match it is never used: CorruptFileError (DATA005) names it. */
export interface CandleStore {
  /**
   * Closed candles that open in `[start, end)` ms, ascending, without duplicates; gaps are not filled.
   * @param months of the series, each of which must have a file. Absent: read from the series store
   */
  read(
    series: SeriesKey,
    start: number,
    end: number,
    onCorrupt?: OnCorrupt,
    months?: readonly SeriesMonth[],
  ): Promise<Candles>;
  /**
   * Merges candles into the stored months (a later write wins) and updates the series' info. A corrupt file is replaced.
   */
  write(series: SeriesKey, candles: Candles): Promise<SeriesInfo>;
  /** Funding events in `[start, end]`; empty columns when none are stored. */
  readFunding(
    exchange: string,
    symbol: string,
    start: number,
    end: number,
    onCorrupt?: OnCorrupt,
  ): Promise<FundingEvents>;
  writeFunding(exchange: string, symbol: string, events: FundingEvents): Promise<void>;
}

/** Data collection as the other services reach it: behind its proxy. */
export interface DataProxy {
  /**
   * Returns the result of one operation. Throws SVC004 when data collection is down, SVC002 for an invalid response,
   * and the VAL or DATA code of a rejection or failure.
   */
  call(request: {
    readonly operation: ProxyOperationName;
    readonly params: Readonly<Record<string, unknown>>;
    readonly correlationId: string;
  }): Promise<unknown>;
}

/**
 * - `recorded`: a terminal state of the job was recorded, which may be a failure of the backtest
 * - `not_mine`: the job is unknown, already terminal, or another attempt has claimed it since
 */
export type JobRunOutcome = 'recorded' | 'not_mine';
