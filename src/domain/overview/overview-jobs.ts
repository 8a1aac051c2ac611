import { isTerminal, JOB_STATUSES, type JobStatus } from '#contract/backtests/backtest.ts';
import type { StoredCollection } from '#contract/market-data/stored-market-data.ts';
import type { JobCounts, OverviewJob } from '#contract/platform/overview-api.ts';
import { OVERVIEW_LIMITS as LIMITS } from '#contract/values/job-limits.ts';
import { listNames } from '#contract/values/list-names.ts';
import type { Caller } from '../access/access.ts';
import { type BacktestProgressDeps, withImageProgress } from '../backtests/get-backtest.ts';
import type { CollectionStore } from '../data/collection-queue.ts';
import type { HyperoptRow } from '../hyperopt/hyperopt-ports.ts';
import { allTrials } from '../hyperopt/trial-counts.ts';
import type { ActiveJobs, JobActivity, JobCount, JobRow, ListedJobRow } from '../jobs/job-list-ports.ts';

export interface JobOverviewDeps extends Omit<BacktestProgressDeps, 'jobs'> {
  readonly jobs: ActiveJobs<JobRow>;
  readonly hyperoptJobs: ActiveJobs<HyperoptRow>;
  readonly collections: Pick<CollectionStore, 'list'>;
}

/** Part of the overview about the jobs of one kind. */
interface KindOverview {
  readonly counts: JobCounts;
  readonly moving: readonly OverviewJob[];
  readonly ended: readonly OverviewJob[];
}

/** Ended jobs that are read: of these, the ones that ended last are shown. */
const ENDED_READ = 3 * LIMITS.ended;

/** Throws DATA005. */
export async function overviewOfBacktests(deps: JobOverviewDeps, caller: Caller): Promise<KindOverview> {
  const view = async (row: JobRow): Promise<OverviewJob> => ({
    ...commonView('backtest', row),
    progress: await backtestProgress(deps, row),
    total_profit_pct: row.result?.total_profit_pct ?? null,
    look_ahead: row.look_ahead,
  });
  return readKind(deps.jobs.activity, caller, view);
}

/** Throws DATA005. */
export async function overviewOfHyperopt(deps: JobOverviewDeps, caller: Caller): Promise<KindOverview> {
  const view = async (row: HyperoptRow): Promise<OverviewJob> => ({
    ...commonView('hyperopt', row),
    progress: hyperoptProgress(row),
    best_value: row.trials.best_value,
    look_ahead: row.look_ahead,
  });
  return readKind(deps.hyperoptJobs.activity, caller, view);
}

/** The newest collections; every viewer sees all. Throws DATA005. */
export async function overviewOfCollections({ collections }: JobOverviewDeps): Promise<KindOverview> {
  const { items, next } = await collections.list(undefined, LIMITS.collections, null);
  const relation = next === null ? ('exact' as const) : ('at_least' as const);
  const count = (status: JobStatus): JobCount => ({
    value: items.filter((each) => each.status === status).length,
    relation,
  });
  return {
    counts: countsOf(JOB_STATUSES.map((status) => [status, count(status)])),
    moving: items.filter(({ status }) => !isTerminal(status)).map(collectionView),
    ended: items.filter(({ status }) => isTerminal(status)).map(collectionView),
  };
}

async function readKind<Row extends ListedJobRow>(
  activity: JobActivity<Row>,
  caller: Caller,
  view: (row: Row) => Promise<OverviewJob>,
): Promise<KindOverview> {
  const visibleTo = caller.isAdmin ? undefined : caller;
  const terminal = ['completed', 'failed', 'cancelled'] as const;
  const [unfinished, ended, ...counted] = await Promise.all([
    activity.unfinished(visibleTo, LIMITS.unfinished),
    activity.ended(visibleTo, ENDED_READ),
    ...terminal.map((status) => activity.countEnded(visibleTo, status)),
  ]);
  const relation = unfinished.complete ? ('exact' as const) : ('at_least' as const);
  const open = (status: JobStatus): JobCount => ({
    value: unfinished.rows.filter((row) => row.status === status).length,
    relation,
  });
  return {
    counts: countsOf([
      ['pending', open('pending')],
      ['running', open('running')],
      ...terminal.map((status, index) => [status, counted[index]!] as const),
    ]),
    moving: await Promise.all(unfinished.rows.map(view)),
    ended: await Promise.all(ended.map(view)),
  };
}

function countsOf(counts: readonly (readonly [JobStatus, JobCount])[]): JobCounts {
  return Object.fromEntries(counts) as Record<JobStatus, JobCount>;
}

function commonView(kind: 'backtest' | 'hyperopt', row: ListedJobRow) {
  const { job_id: id, status, strategy: name, experiment_name, created_at } = row;
  const { started_at, finished_at, error, exchange } = row;
  return {
    kind,
    id,
    status,
    name,
    experiment_name,
    exchange,
    created_at,
    started_at,
    finished_at,
    error,
    total_profit_pct: null,
    best_value: null,
    new_candles: null,
  };
}

function collectionView(collection: StoredCollection): OverviewJob {
  const { collection_id: id, status, symbols, exchange, created_at, updated_at, error } = collection;
  return {
    kind: 'collection',
    id,
    status,
    experiment_name: null,
    exchange,
    created_at,
    started_at: null,
    error,
    progress: progressOf(status, collection.progress),
    name: listNames(symbols, { shown: 1 }),
    finished_at: isTerminal(status) ? updated_at : null,
    total_profit_pct: null,
    best_value: null,
    look_ahead: null,
    new_candles: collection.candles,
  };
}

/** Completed share, 0 to 1; null for a failed or cancelled job. */
export async function backtestProgress(
  deps: Pick<JobOverviewDeps, 'imageRunProgress' | 'log'>,
  row: JobRow,
): Promise<number | null> {
  return progressOf(row.status, (await withImageProgress(deps, row)).progress);
}

/** Completed share, 0 to 1; null for a failed or cancelled job. */
export function hyperoptProgress(row: HyperoptRow): number | null {
  const { ended, total } = allTrials(row);
  return progressOf(row.status, ended / total);
}

/** Progress of a job of any kind, 0 to 1; null when it has failed or was cancelled. */
export function progressOf(status: JobStatus, running: number): number | null {
  if (status === 'failed' || status === 'cancelled') return null;
  if (status === 'completed') return 1;
  return status === 'pending' ? 0 : running;
}
