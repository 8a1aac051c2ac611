import * as z from 'zod';
import { BacktestResult, JOB_STATUSES, type JobIn, StoredBacktestJob } from '#contract/backtest.ts';
import type { JobRow } from '#domain/ports.ts';
import { JOB_ITEM, parseItem } from './stored-item.ts';

/** The item of a new job: its fields flat, and what the list indexes need. */
export function toItem(job: JobIn<'pending'>): Record<string, unknown> {
  return {
    ...job,
    item: JOB_ITEM,
    kind_status: `${job.kind}#${job.status}`,
    strategy: job.config.strategy,
  };
}

/** The job of an item; throws SVC001 naming the job and the field when the item is not one. */
export function toJob(item: Record<string, unknown>): StoredBacktestJob {
  return parseItem(StoredBacktestJob, item);
}

const IndexRow = z.object({
  job_id: z.string(),
  status: z.enum(JOB_STATUSES),
  created_at: z.string(),
  updated_at: z.string(),
  strategy: z.string(),
  experiment_name: z.string().nullable(),
  priority: z.int(),
  result: BacktestResult.optional(),
  error_summary: z.string().optional(),
});

/** The list row of an index entry. */
export function toRow(item: Record<string, unknown>): JobRow {
  const { result, error_summary, ...row } = parseItem(IndexRow, item);
  return { ...row, result: result ?? null, error: error_summary ?? null };
}
