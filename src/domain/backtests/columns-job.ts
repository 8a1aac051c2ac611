import {
  COLUMNS_ID_PREFIX,
  isTerminal,
  type JobIn,
  type StoredBacktestJob,
} from '#contract/backtests/backtest.ts';
import type { ColumnsJob, ColumnsOf } from '#contract/backtests/backtest-columns.ts';
import type { BacktestReport } from '#contract/backtests/report.ts';
import { COLUMNS_LIMITS } from '#contract/values/columns-limits.ts';
import { MINUTE_MS } from '#contract/values/durations.ts';
import { CodedError } from '#contract/values/errors.ts';
import { jobListOf } from '#contract/values/tables.ts';
import { ENGINE_VERSION } from '#engine/version.ts';
import type { Strategies } from '../config/strategy-ports.ts';
import type { Ids, JobStore, ResultStore } from '../ports.ts';
import { type ChooseLaneDeps, chooseLane } from '../queue/choose-lane.ts';
import type { DispatchDeps } from '../queue/dispatch.ts';
import { enqueue } from '../queue/enqueue.ts';
import { type BacktestLaneDeps, laneOfBacktest } from '../queue/lanes.ts';
import { isoTime } from '../shared/iso-time.ts';
import { withoutStop } from '../shared/request-stop.ts';
import { expired } from '../shared/unknown-resources.ts';
import { sourceChanged } from './source-changed.ts';

/**
 * The job that runs a completed backtest again, for what the run does not store: its columns and the path of each trade. The
 * backtest names its latest such job, so concurrent calls start one.
 */

export interface ColumnsJobDeps extends DispatchDeps, BacktestLaneDeps, ChooseLaneDeps {
  readonly jobs: JobStore;
  readonly results: ResultStore;
  readonly strategies: Strategies;
  readonly ids: Ids;
}

/** What a call gets: the finished job, or the status of the one that runs. */
export type ColumnsJobState =
  | { readonly status: 'pending' | 'running' }
  | { readonly status: 'completed'; readonly job: JobIn<'completed'> };

/** Computed before anything else of the same owner: a user waits for it. */
const PRIORITY = 10;
/** A call may find another one's job that is not stored yet. */
const ATTEMPTS = 5;
const KEPT_MS = COLUMNS_LIMITS.kept_minutes * MINUTE_MS;

/** True for a job whose columns are not served any more. */
export function isOver(job: StoredBacktestJob, now: number): boolean {
  return isTerminal(job.status) && 'finished_at' in job && now - Date.parse(job.finished_at) >= KEPT_MS;
}

/**
 * The computation for a completed backtest; starts one when there is none, or the last one is over an hour old. A failed one is
 * reported once, and the next call starts another.
 *
 * Throws RES005 for a source or engine that changed since the backtest, and for a computation that failed; RES006; HTTP429; DATA005.
 */
export async function columnsJob(
  deps: ColumnsJobDeps,
  backtest: JobIn<'completed'>,
  correlationId: string,
): Promise<ColumnsJobState> {
  let current = backtest.columns_job;
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const job = current && (await deps.jobs.get(current.job_id));
    if (job && !job.expired_at && !isOver(job, deps.clock.now()))
      return stateOf(deps, backtest, current!, job);
    const isStored = job !== undefined;
    const of = await columnsOf(deps, backtest);
    if (current === undefined || isStored || isOld(current, deps.clock.now())) {
      const now = isoTime(deps.clock.now());
      const next = { job_id: `${COLUMNS_ID_PREFIX}${deps.ids.ulid()}`, requested_at: now };
      const recorded = await deps.jobs.setColumnsJob(backtest.job_id, next, current);
      if (!recorded) throw expired('The backtest', backtest.job_id);
      if (recorded.job_id !== next.job_id) {
        current = recorded;
        continue;
      }
      current = next;
    }
    return stateOf(deps, backtest, current, await store(deps, backtest, { current, of, correlationId }));
  }
  throw new CodedError('DATA005', {
    message: `Write conflict: the computation of the columns changed during ${ATTEMPTS} attempts. Retry the request.`,
  });
}

/** True for a request whose job was not stored, because its process died, so long ago that its ID may have been deleted. */
function isOld({ requested_at }: ColumnsJob, now: number): boolean {
  return now - Date.parse(requested_at) >= KEPT_MS;
}

async function stateOf(
  deps: ColumnsJobDeps,
  backtest: JobIn<'completed'>,
  current: ColumnsJob,
  job: StoredBacktestJob,
): Promise<ColumnsJobState> {
  if (job.status === 'pending' || job.status === 'running') return { status: job.status };
  if (job.status === 'completed') {
    await checkSource(deps, backtest, job.columns_of!);
    return { status: 'completed', job };
  }
  await deps.jobs.forgetColumnsJob(backtest.job_id, current);
  const reason = job.status === 'failed' ? `${job.error_code}: ${job.error}` : 'it was cancelled';
  throw new CodedError('RES005', {
    message: `The columns could not be computed: ${reason.replace(/\.$/, '')}. The next call computes them again.`,
    field: 'job_id',
    context: {
      job_id: backtest.job_id,
      status: job.status,
      ...(job.status === 'failed' && { error_code: job.error_code, error: job.error }),
    },
  });
}

/** Facts of the backtest. Throws RES005 for another source or engine. */
async function columnsOf(
  deps: Pick<ColumnsJobDeps, 'results' | 'strategies'>,
  backtest: JobIn<'completed'>,
): Promise<ColumnsOf> {
  const report = (await deps.results.read(backtest.results, 'report')) as BacktestReport;
  const { engine_version, strategy_digest } = report.provenance;
  const of = {
    job_id: backtest.job_id,
    read_at: backtest.started_at,
    engine_version,
    strategy_digest,
    pairs: report.data.map(({ pair, digest }) => ({ pair, digest })),
    informative: (report.informative ?? []).map(({ pair, timeframe, digest }) => ({
      pair,
      timeframe,
      digest,
    })),
  };
  await checkSource(deps, backtest, of);
  return of;
}

async function checkSource(
  { strategies }: Pick<ColumnsJobDeps, 'strategies'>,
  { config }: JobIn<'completed'>,
  of: ColumnsOf,
): Promise<void> {
  const known = await strategies.find(config.strategy);
  const now = { engine_version: ENGINE_VERSION, strategy_digest: known?.digest ?? null };
  const changed = sourceChanged(of, now);
  if (changed) throw changed;
}

async function store(
  deps: ColumnsJobDeps,
  backtest: JobIn<'completed'>,
  request: { readonly current: ColumnsJob; readonly of: ColumnsOf; readonly correlationId: string },
): Promise<StoredBacktestJob> {
  const job = await newJob(deps, backtest, request);
  return withoutStop(() =>
    enqueue<StoredBacktestJob>(deps, laneOfBacktest(deps, job), job, () => deps.jobs.create(job)),
  );
}

/** Of registered images too it runs the platform's own code, which has the same digest as that of the image. */
async function newJob(
  deps: ColumnsJobDeps,
  { owner, config: { robustness: _, ...config }, execution_input: read, strategy_digest }: JobIn<'completed'>,
  { current, of, correlationId }: Parameters<typeof store>[2],
): Promise<JobIn<'pending'>> {
  const { job_id, requested_at: at } = current;
  const { informative_stale: __, ...input } = read;
  const lane = await chooseLane(deps, {
    config,
    dataStart: input.start,
    informative: input.informative,
    isRegistered: false,
    strategyDigest: of.strategy_digest,
  });
  return {
    schema_version: 2,
    kind: 'columns',
    status: 'pending',
    job_id,
    owner,
    revision: 1,
    created_at: at,
    updated_at: at,
    experiment_name: null,
    priority: PRIORITY,
    // The pairs of a universe are chosen again, from the same candidates.
    config: config.universe ? { ...config, pairs: config.universe.candidates } : config,
    ...(strategy_digest !== undefined && { strategy_digest: of.strategy_digest }),
    warnings: [],
    execution_input: {
      ...input,
      job_id,
      kind: 'columns',
      list: jobListOf('columns', job_id),
      image: null,
      correlation_id: correlationId,
      on_demand: true,
      collect: 'never',
    },
    request_digest: job_id,
    attempt: 0,
    runs: 0,
    queue: { lane, since: at, deferrals: 0 },
    collection: null,
    columns_of: of,
  };
}
