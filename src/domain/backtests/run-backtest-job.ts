import type { JobRun, JobTiming } from '#contract/backtests/backtest.ts';
import type { Digest } from '#contract/values/digest.ts';
import { CodedError } from '#contract/values/errors.ts';
import { type BacktestInput, type BacktestOutcome, runBacktestPausing } from '#engine/backtest.ts';
import { historyFacts, historyStart, startupCandles } from '#engine/run/history.ts';
import type { TradeTable } from '#engine/simulator/trade-table.ts';
import { withCostDays } from '#engine/slippage/cost-days.ts';
import { withUniverseDays } from '#engine/universe/membership.ts';
import { missingCandles, notCollected } from '../data/missing-candles.ts';
import { loadBenchmark } from '../inputs/load-benchmark.ts';
import { type LoadCandlesDeps, loadCandles } from '../inputs/load-candles.ts';
import { loadUniverse, splitUniverse } from '../inputs/load-universe.ts';
import { lookAheadWarnings, sampleBacktest } from '../inputs/search-look-ahead.ts';
import { hasOtherSource, sourceWarnings } from '../inputs/source-change.ts';
import type {
  ClaimedJob,
  Clock,
  CompletedRun,
  FindStrategy,
  JobRunOutcome,
  ResultFiles,
  ResultStore,
  StrategyWithDigest,
  TaskJobs,
} from '../ports.ts';
import { describeCode, runStagingChecks } from '../registry/run-staging-checks.ts';
import { finalFailure } from '../shared/final-failure.ts';
import { isoTime } from '../shared/iso-time.ts';
import { withSignals } from '../signals/place-signals.ts';
import type { ReadSignals } from '../signals/signal-table.ts';
import { countBacktest } from '../trials/count-trials.ts';
import type { OwnerTrials } from '../trials/owner-trials.ts';
import { ComputedColumns } from './computed-columns.ts';
import { equitySparkline } from './equity-sparkline.ts';

export interface RunBacktestJobDeps extends LoadCandlesDeps {
  readonly jobs: TaskJobs;
  /** Without other files in the task of a registered image. */
  readonly results: Pick<ResultStore, 'write'> & Partial<Pick<ResultStore, 'writeFiles'>>;
  /** Absent in the task of a registered image: the platform counts its run. */
  readonly ownerTrials?: OwnerTrials;
  /** Undefined for a strategy that this task does not have. Throws CodedError VAL006 for one that cannot be loaded. */
  readonly findStrategy: FindStrategy;
  /** The container image that this process runs in; null outside of one. */
  readonly image: string | null;
  /** Absent in the task of a registered image, which never runs a file. */
  readonly readSignals?: ReadSignals | undefined;
  readonly encodeTrades: (trades: TradeTable) => Uint8Array;
  readonly digest: Digest;
  readonly clock: Clock;
  /** Called whenever a part of the run is done. */
  readonly onProgress?: () => void;
  /** Lets other work of the process continue, such as writing progress. Throws errors from the strategy's timers and promises. */
  readonly pause: () => Promise<void>;
  /** Processor time of this process so far, ms. */
  readonly processorMs: () => number;
  /** Peak memory of this process so far, MB. */
  readonly peakMemoryMb: () => number;
}

/**
 * Claims a job, runs it and records its end. Every write names the attempt, so a job has one writer regardless of what
 * happens to its tasks. Throws errors that another attempt may survive: storage that is down, a bug.
 *
 * @param task identity of this task: its ARN, or its name in local mode
 */
export async function runBacktestJob(
  deps: RunBacktestJobDeps,
  jobId: string,
  task: string,
): Promise<JobRunOutcome> {
  const claim = await deps.jobs.claim(jobId, task, isoTime(deps.clock.now()));
  if (claim.outcome !== 'claimed') return 'not_mine';
  const { job } = claim;
  const ended = await runClaimed(deps, job).catch(async (error: unknown) => {
    const failure = finalFailure(error);
    if (!failure) throw error;
    const message = [failure.message.replace(/\.$/, ''), ...(await collectionWarnings(deps, job))].join('. ');
    return deps.jobs.fail(jobId, job.attempt, { ...failure, message }, isoTime(deps.clock.now()));
  });
  return ended ? 'recorded' : 'not_mine';
}

async function runClaimed(deps: RunBacktestJobDeps, job: ClaimedJob): Promise<boolean> {
  const started = deps.clock.now();
  const found = await requireStrategy(deps, job);
  const columns = job.columns_of && new ComputedColumns(deps, job, job.columns_of, found.digest);
  const { input, plan, warnings: loadWarnings } = await loadInput(deps, job, found);
  const { config, strategyDigest } = input;
  const loaded = deps.clock.now();
  const progress = progressWriter(deps, job);
  progress.report(LOADED);
  await deps.pause();
  const options = {
    digest: deps.digest,
    now: () => deps.clock.now(),
    processorMs: deps.processorMs,
    observed: job.kind === 'backtest',
    onProgress: (share: number) => progress.report(LOADED + (COMPUTED - LOADED) * share),
    ...(columns && { reasons: columns.reasons }),
  };
  const pause = async () => {
    await columns?.flush();
    await deps.pause();
  };
  const outcome = await runBacktestPausing(input, options, pause);
  const checks = await stagingChecks(deps, job, found, input, outcome);
  const sampling = deps.processorMs();
  const lookAhead =
    job.kind === 'backtest'
      ? await sampleBacktest(deps, found, { config, pairs: input.pairs, plan, outcome })
      : undefined;
  const lookAheadMs = deps.processorMs() - sampling;
  if (!(await progress.stillMine())) return false;
  // An unhandled error of the strategy fails the run as well.
  await deps.pause();
  const computed = deps.clock.now();
  const results = await (columns
    ? columns.finish(outcome)
    : deps.results.write(job.job_id, job.attempt, resultFiles(deps, outcome)));
  const timing = jobTiming(deps, outcome, { started, loaded, computed, lookAheadMs });
  const warnings = [
    ...(await collectionWarnings(deps, job)),
    ...loadWarnings,
    ...codeWarnings(deps, job, strategyDigest),
    ...(lookAhead ? lookAheadWarnings(lookAhead) : []),
    ...outcome.report.warnings,
  ];
  const completed: CompletedRun = {
    result: { ...outcome.result },
    results,
    timing,
    warnings,
    ...(plan && { config }),
    ...(job.kind === 'backtest' && {
      sparkline: equitySparkline(config.dry_run_wallet, outcome.equity.equity),
    }),
    ...(lookAhead && { look_ahead: lookAhead }),
    ...(checks && { checks }),
  };
  return complete(deps, { ...job, config }, completed, outcome.equity.equity);
}

/** Counts the trials of a run and records its end. */
async function complete(
  { ownerTrials, digest, jobs, clock }: RunBacktestJobDeps,
  job: ClaimedJob,
  completed: CompletedRun,
  equity: readonly number[],
): Promise<boolean> {
  const trials = ownerTrials && (await countBacktest({ ownerTrials, digest }, job, equity));
  const run = { ...completed, ...(trials && { trials }) };
  return jobs.complete(job.job_id, job.attempt, run, isoTime(clock.now()));
}

async function requireStrategy(
  { findStrategy }: RunBacktestJobDeps,
  { config, strategy_digest }: ClaimedJob,
): Promise<StrategyWithDigest> {
  const found = await findStrategy(config.strategy, strategy_digest);
  if (found) return found;
  throw new CodedError('RES002', {
    message: `Strategy ${config.strategy} is missing from the task's strategy files: restore it and submit the backtest again`,
  });
}

/** Reads the data of a run. `plan` is the choice of its pairs; undefined without a universe. */
async function loadInput(deps: RunBacktestJobDeps, job: ClaimedJob, found: StrategyWithDigest) {
  const { definition: strategy, digest: strategyDigest } = found;
  // First: it throws for a source that does not fit the job any more.
  const changed = sourceWarnings(job, found);
  const reads = { facts: historyFacts(strategy), startup: startupCandles(strategy, job.config.params) };
  const collected = {
    collection: job.collection,
    collect: job.execution_input.collect,
    strategy: reads,
  };
  const chosen = await loadUniverse(deps, job.config, reads, deps.pause, (each, read) =>
    loadCandles(deps, each, dataStartOf(job, found), collected, read),
  );
  const { config } = chosen;
  const { pairs: candles, universe } = splitUniverse(chosen);
  const { pairs, warnings: leftOut } = await withSignals(deps.readSignals, config, candles);
  const benchmark = await loadBenchmark(deps, config);
  return {
    input: { strategy, config, pairs, strategyDigest, benchmark, ...(universe && { universe }) },
    plan: universe?.plan,
    warnings: [...changed, ...chosen.warnings, ...leftOut],
  };
}

/** @param times clock at the start, after loading and before the results were written, and processor time of the sample, ms */
function jobTiming(
  { clock, processorMs, peakMemoryMb }: RunBacktestJobDeps,
  { timing, candles }: BacktestOutcome,
  times: Readonly<Record<'started' | 'loaded' | 'computed' | 'lookAheadMs', number>>,
): JobTiming {
  const { robustness_ms: robustness, requested_ms: _, ...runTiming } = timing;
  return {
    load_ms: times.loaded - times.started,
    ...runTiming,
    write_ms: clock.now() - times.computed,
    total_ms: clock.now() - times.started,
    candles,
    peak_memory_mb: peakMemoryMb(),
    processor_ms: { total: processorMs(), robustness, look_ahead: times.lookAheadMs },
  };
}

/** Checks of a registered version; undefined for other jobs. */
async function stagingChecks(
  deps: RunBacktestJobDeps,
  { kind, registered }: ClaimedJob,
  { load, replaced }: StrategyWithDigest,
  input: BacktestInput,
  outcome: BacktestOutcome,
) {
  if (kind !== 'validation' || !registered) return undefined;
  const { config, pairs, strategyDigest } = input;
  return runStagingChecks({
    registered,
    image: deps.image,
    config,
    pairs,
    outcome,
    strategyDigest,
    load,
    ...(replaced && { replaced }),
    pause: deps.pause,
    again: () => runBacktestPausing(input, { digest: deps.digest }, deps.pause),
  });
}

/** Time from which candles are read, ms. If the source changed since the submission, it may need earlier candles. */
function dataStartOf(job: JobRun, found: StrategyWithDigest): number {
  const stored = Date.parse(job.execution_input.start);
  if (!hasOtherSource(job, found)) return stored;
  const { params, timeframe, date_range, ml_engine } = job.config;
  const start = Date.parse(date_range.start);
  const from = historyStart(found.definition, params, timeframe, start, ml_engine);
  return Math.min(stored, withUniverseDays(job.config, withCostDays(job.config, from)));
}

/** Progress at which loading and computing end. */
const LOADED = 0.1;
const COMPUTED = 0.95;
const PROGRESS_EVERY_MS = 5_000;

/**
 * Writes progress at most once per {@link PROGRESS_EVERY_MS}; a report leaves this process when the engine next pauses.
 * `stillMine` returns whether the job still belongs to this attempt.
 */
function progressWriter(deps: RunBacktestJobDeps, job: JobRun) {
  // The claim has written a progress of 0.
  let last = Date.parse(job.started_at);
  let latest = 0;
  let writing: Promise<boolean> = Promise.resolve(true);
  const write = () => {
    last = deps.clock.now();
    const progress = latest;
    writing = writing.then((mine) =>
      mine ? deps.jobs.setProgress(job.job_id, job.attempt, progress, isoTime(deps.clock.now())) : false,
    );
    // `stillMine` rejects with the error of a failed write.
    writing.catch(() => undefined);
  };
  return {
    report(share: number): void {
      deps.onProgress?.();
      latest = share;
      if (deps.clock.now() - last >= PROGRESS_EVERY_MS) write();
    },
    stillMine(): Promise<boolean> {
      write();
      return writing;
    },
  };
}

async function collectionWarnings(
  deps: LoadCandlesDeps,
  { config, collection, execution_input }: JobRun,
): Promise<string[]> {
  // A universe says which of its pairs end; candidates that were never in need no candles.
  if (execution_input.collect === 'never' && !config.universe) {
    return notCollected(await missingCandles(deps, config, execution_input));
  }
  return collection?.status === 'failed' ? [`Collecting market data failed: ${collection.message}`] : [];
}

/** Warnings with the registered image and the code that ran, for a run of a registered version. */
function codeWarnings(deps: RunBacktestJobDeps, { registered }: JobRun, digest: string): string[] {
  if (!registered) return [];
  return [describeCode(registered, deps.image, digest === registered.strategy_digest)];
}

function resultFiles(deps: RunBacktestJobDeps, outcome: BacktestOutcome): ResultFiles {
  return {
    result: JSON.stringify(outcome.result),
    equity: JSON.stringify(outcome.equity),
    report: JSON.stringify(outcome.report),
    curve: outcome.curve,
    trades: outcome.table,
    get tradesParquet() {
      return deps.encodeTrades(outcome.table);
    },
  };
}
