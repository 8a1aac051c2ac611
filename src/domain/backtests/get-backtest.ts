import type { JobIn, StoredBacktestJob } from '#contract/backtests/backtest.ts';
import type { BacktestListQuery, BacktestReportQuery, EquityData } from '#contract/backtests/backtest-api.ts';
import type { BacktestReport, TradesPage } from '#contract/backtests/report.ts';
import { CodedError } from '#contract/values/errors.ts';
import type { Caller } from '../access/access.ts';
import type { ReadProgress } from '../image-runs/image-run-ports.ts';
import type { JobPage, JobRow, ReadSortValues } from '../jobs/job-list-ports.ts';
import { listJobs } from '../jobs/list-jobs.ts';
import type { JobStore, Log, ResultStore } from '../ports.ts';
import { expired, unknownBacktest } from '../shared/unknown-resources.ts';

/** The job; throws RES001 for an unknown id, RES006 for an expired job. */
export async function getBacktest(
  deps: { readonly jobs: JobStore },
  jobId: string,
): Promise<StoredBacktestJob> {
  const job = await deps.jobs.get(jobId);
  if (!job) throw unknownBacktest(jobId);
  if (job.expired_at) throw expired('The backtest', jobId);
  return job;
}

export interface BacktestProgressDeps {
  readonly jobs: JobStore;
  /** Undefined where no images run. */
  readonly imageRunProgress?: ReadProgress;
  readonly log: Log;
}

/**
 * The job with its current progress: a registered image writes it to its own prefix, since it cannot write the job.
 * Throws RES001 for an unknown id, RES006 for an expired job.
 */
export async function getBacktestProgress(
  deps: BacktestProgressDeps,
  jobId: string,
): Promise<StoredBacktestJob> {
  const job = await getBacktest(deps, jobId);
  if (job.status !== 'running' || job.execution_input.image === null) return job;
  return { ...job, progress: await readImageProgress(deps, jobId, job.task, job.progress) };
}

/** Progress of the task of a registered image; the stored one if it cannot be read. */
async function readImageProgress(
  { imageRunProgress, log }: Omit<BacktestProgressDeps, 'jobs'>,
  jobId: string,
  task: string,
  stored: number,
): Promise<number> {
  try {
    return (await imageRunProgress?.(task)) ?? stored;
  } catch (error) {
    // The job is known: only its progress is as of the start.
    log.warn('failed to read the progress of an image', { job_id: jobId, error });
    return stored;
  }
}

/** Status of RES005 in the rows of the report and of the equity, which clients expect. */
const NOT_COMPLETED = 400;

/**
 * The job if it is completed and its results are stored. Throws RES001, RES006, or RES005 with the job's status.
 *
 * @param notCompleted HTTP status of RES005; default: that of the catalogue
 */
export async function getCompletedBacktest(
  deps: { readonly jobs: JobStore },
  jobId: string,
  notCompleted?: number,
): Promise<JobIn<'completed'>> {
  const job = await getBacktest(deps, jobId);
  if (job.results_expired) throw expired('The results of the backtest', jobId);
  if (job.status === 'completed') return job;
  throw new CodedError('RES005', {
    ...(notCompleted !== undefined && { status: notCompleted }),
    message: `The backtest is ${job.status}, not completed`,
    field: 'job_id',
    context: { job_id: jobId, status: job.status },
  });
}

/** Equity data of a completed backtest, as stored. Throws RES001, RES005 (status 400), DATA005. */
export async function getBacktestEquity(
  deps: { readonly jobs: JobStore; readonly results: ResultStore },
  jobId: string,
): Promise<EquityData> {
  const job = await getCompletedBacktest(deps, jobId, NOT_COMPLETED);
  // The task wrote it in the shape of its schema, and its digest in the job is verified.
  return (await deps.results.read(job.results, 'equity')) as EquityData;
}

/** The stored report with every warning of its job, one page of its trades, and the job that made them. */
interface ReportPage {
  readonly job: JobIn<'completed'>;
  readonly report: BacktestReport;
  readonly trades: TradesPage;
}

/** Throws VAL005 for a page beyond the last. The first page always exists. */
export function checkPage(page: number, pages: number): void {
  const max = Math.max(1, pages);
  if (page <= max) return;
  throw new CodedError('VAL005', {
    message: `page must be at most ${max}`,
    field: 'page',
    context: { value: page, min: 1, max },
  });
}

/**
 * The full analysis of a completed backtest with one page of its trades (1,000 each, in the order of closing), or with none.
 * Throws RES001, RES005 (status 400), VAL005 for a page beyond the last, DATA005.
 */
export async function getBacktestReport(
  deps: { readonly jobs: JobStore; readonly results: ResultStore },
  jobId: string,
  { page, trades: withTrades }: BacktestReportQuery,
): Promise<ReportPage> {
  const job = await getCompletedBacktest(deps, jobId, NOT_COMPLETED);
  const pages = job.results.trade_pages;
  checkPage(page, pages);
  const [report, items] = await Promise.all([
    deps.results.read(job.results, 'report'),
    pages === 0 || !withTrades ? [] : deps.results.readTrades(job.results, page),
  ]);
  return {
    job,
    // Warnings about ignored fields and collection belong to one run; the stored report is the same for all runs.
    report: { ...(report as BacktestReport), warnings: job.warnings },
    trades: { items: items as TradesPage['items'], page, pages, total: job.result.total_trades },
  };
}

/**
 * Jobs visible to the caller, to an admin all, with their current progress. Throws VAL006 for a broken or foreign cursor.
 */
export async function listBacktests(
  deps: BacktestProgressDeps,
  query: BacktestListQuery & { readonly caller: Caller },
  sortValues?: ReadSortValues<JobRow>,
): Promise<JobPage<JobRow>> {
  const page = await listJobs(deps.jobs, query, sortValues);
  const items = await Promise.all(page.items.map((row) => withImageProgress(deps, row)));
  return { ...page, items };
}

/** The row with the current progress of a registered image. */
export async function withImageProgress(
  deps: Omit<BacktestProgressDeps, 'jobs'>,
  row: JobRow,
): Promise<JobRow> {
  if (row.imageTask === null) return row;
  return { ...row, progress: await readImageProgress(deps, row.job_id, row.imageTask, row.progress) };
}
