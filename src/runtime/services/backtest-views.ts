import type * as z from 'zod';
import type { StoredBacktestJob } from '#contract/backtest.ts';
import type { BacktestJob, BacktestJobSummary, BacktestSubmission } from '#contract/backtest-api.ts';
import { lookAheadOf } from '#contract/look-ahead.ts';
import type { JobRow } from '#domain/ports.ts';

/** Stored jobs as clients see them. */

export function submissionView(job: StoredBacktestJob): z.input<typeof BacktestSubmission> {
  const { job_id, status, created_at, warnings } = job;
  return { job_id, status, created_at, warnings };
}

export function rowView(row: JobRow): z.input<typeof BacktestJobSummary> {
  const { job_id, status, result, error, created_at, updated_at, strategy, experiment_name, priority } = row;
  return { job_id, status, result, error, created_at, updated_at, strategy, experiment_name, priority };
}

export function jobView(job: StoredBacktestJob): z.input<typeof BacktestJob> {
  const completed = job.status === 'completed' ? job : null;
  const failed = job.status === 'failed' ? job : null;
  return {
    job_id: job.job_id,
    status: job.status,
    result: completed?.result ?? null,
    error: failed?.error ?? null,
    created_at: job.created_at,
    updated_at: job.updated_at,
    strategy: job.config.strategy,
    experiment_name: job.experiment_name,
    priority: job.priority,
    error_code: failed?.error_code ?? null,
    registered: job.registered ?? null,
    found_by: job.found_by ?? null,
    progress: progressOf(job),
    stalled: (job.status === 'running' && job.stalled) || null,
    started_at: ('started_at' in job && job.started_at) || null,
    finished_at: 'finished_at' in job ? job.finished_at : null,
    attempt: job.attempt,
    config: { ...job.config, collect: job.execution_input.collect ?? 'if_stale' },
    warnings: job.warnings,
    collection: job.collection,
    timing: completed?.timing ?? null,
    look_ahead: completed ? lookAheadOf(completed) : null,
  };
}

function progressOf(job: StoredBacktestJob): number | null {
  switch (job.status) {
    case 'pending':
      return 0;
    case 'running':
      return job.progress;
    case 'completed':
      return 1;
    case 'failed':
    case 'cancelled':
      return null;
  }
}
