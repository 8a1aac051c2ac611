import type * as z from 'zod';
import type { StoredBacktestJob } from '#contract/backtests/backtest.ts';
import type {
  BacktestJob,
  BacktestJobSummary,
  BacktestSubmission,
} from '#contract/backtests/backtest-api.ts';
import { lookAheadOf } from '#contract/config/look-ahead.ts';
import type { RetentionDays } from '#contract/env/retention.ts';
import type { BacktestLane, JobDurations, QueueState } from '#contract/jobs/queue.ts';
import type { Deflation } from '#contract/jobs/trial-ledger.ts';
import type { Annotations, JobRow } from '#domain/jobs/job-list-ports.ts';
import { listedView } from './job-page-view.ts';
import { retentionOf } from './retention-view.ts';

/** Stored jobs as clients see them. */

export function submissionView(job: StoredBacktestJob): z.input<typeof BacktestSubmission> {
  const { job_id, status, created_at, warnings } = job;
  return { job_id, status, created_at, warnings };
}

export function rowView(
  row: JobRow,
  queue: QueueState | null,
  deflation: Deflation | null,
): z.input<typeof BacktestJobSummary> {
  const { job_id, status, result, error, created_at, updated_at, strategy, experiment_name, priority } = row;
  const times = { created_at, updated_at };
  const place = { queue, lane: laneOf(row) };
  return {
    job_id,
    status,
    result,
    error,
    ...times,
    strategy,
    experiment_name,
    priority,
    ...place,
    ...listedView(row),
    ...annotationsOf(row),
    progress: progressOf(row),
    sparkline: row.sparkline && [...row.sparkline],
    params: row.params ?? {},
    look_ahead: row.look_ahead,
    deflated_sharpe_ratio: deflation?.deflated_sharpe_ratio ?? null,
    deflation,
  };
}

export function jobView(
  job: StoredBacktestJob,
  queue: QueueState | null,
  retention: RetentionDays,
): z.input<typeof BacktestJob> {
  const completed = job.status === 'completed' ? job : null;
  const failed = job.status === 'failed' ? job : null;
  return {
    job_id: job.job_id,
    status: job.status,
    result: completed?.result ?? null,
    error: failed?.error ?? null,
    created_at: job.created_at,
    updated_at: updatedAt(job),
    strategy: job.config.strategy,
    experiment_name: job.experiment_name,
    priority: job.priority,
    queue,
    lane: laneOf(job),
    error_code: failed?.error_code ?? null,
    registered: job.registered ?? null,
    found_by: job.found_by ?? null,
    session: job.session ?? null,
    progress: progressOf({ progress: 0, ...job }),
    stalled: (job.status === 'running' && job.stalled) || null,
    started_at: ('started_at' in job && job.started_at) || null,
    finished_at: 'finished_at' in job ? job.finished_at : null,
    attempt: job.attempt,
    config: { ...job.config, collect: job.execution_input.collect ?? 'if_stale' },
    warnings: job.warnings,
    collection: job.collection,
    timing: completed?.timing ?? null,
    durations: durationsOf(job),
    look_ahead: completed ? lookAheadOf(completed) : null,
    trials: completed?.trial_record ?? null,
    ...annotationsOf(job),
    ...retentionOf(job, retention),
  };
}

/** A job for readers of the model that has a version of it: without what its users noted on it. */
export function evidenceView(view: z.input<typeof BacktestJob>): z.input<typeof BacktestJob> {
  return { ...view, ...annotationsOf({}), session: null };
}

function annotationsOf({ notes = '', tags = [], pinned = false }: Annotations) {
  return { notes, tags: [...tags], pinned };
}

function laneOf({ queue }: Pick<JobRow, 'queue'>): z.input<typeof BacktestLane> {
  return queue.lane === 'fast' ? 'fast' : 'backtest';
}

/** A job that is in the queue again has no slot yet, whatever it had before. */
function durationsOf(job: StoredBacktestJob): z.input<typeof JobDurations> {
  const { created_at, queue } = job;
  const started = 'started_at' in job && queue.left_at !== undefined ? job.started_at : undefined;
  const finished = 'finished_at' in job ? job.finished_at : undefined;
  return {
    queue_ms: between(created_at, queue.left_at),
    start_ms: between(queue.left_at, started),
    run_ms: between(started, finished),
  };
}

/** Time between two timestamps, ms. The clocks of two machines may differ: never negative. */
function between(from: string | undefined, to: string | undefined): number | null {
  if (from === undefined || to === undefined) return null;
  return Math.max(0, Date.parse(to) - Date.parse(from));
}

/** Progress is a change too, which the stored `updated_at` leaves out. */
function updatedAt(job: StoredBacktestJob): string {
  const progress = 'progress_at' in job ? job.progress_at : undefined;
  return progress !== undefined && progress > job.updated_at ? progress : job.updated_at;
}

function progressOf({ status, progress }: Pick<JobRow, 'status' | 'progress'>): number | null {
  switch (status) {
    case 'pending':
      return 0;
    case 'running':
      return progress;
    case 'completed':
      return 1;
    case 'failed':
    case 'cancelled':
      return null;
  }
}
