import { unmarshall } from '@aws-sdk/util-dynamodb';
import * as z from 'zod';
import { BacktestResult, JOB_STATUSES, type JobIn, StoredBacktestJob } from '#contract/backtest.ts';
import { CodedError } from '#contract/errors.ts';
import { ERROR_SUMMARY_LENGTH } from '#contract/tables.ts';
import type { JobRow } from '#domain/ports.ts';

/** The sort key of the job itself among its items. */
export const JOB_ITEM = 'JOB';

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

/** The job of the item that a failed condition brought along, undefined when there was none. */
export function toJobFromAttributes(item: unknown): StoredBacktestJob | undefined {
  if (!item) return undefined;
  return toJob(unmarshall(item as Parameters<typeof unmarshall>[0], { wrapNumbers: Number }));
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

/** What a list shows of an error: its beginning. */
export function summariseError(message: string): string {
  if (message.length <= ERROR_SUMMARY_LENGTH) return message;
  return `${message.slice(0, ERROR_SUMMARY_LENGTH - 1).toWellFormed()}…`;
}

function parseItem<T>(schema: z.ZodType<T>, item: Record<string, unknown>): T {
  const parsed = schema.safeParse(item);
  if (parsed.success) return parsed.data;
  const issue = parsed.error.issues[0]!;
  throw new CodedError('SVC001', {
    message: `The stored job ${String(item.job_id)} cannot be read: ${issue.path.join('.') || 'item'}: ${issue.message}`,
    cause: parsed.error,
  });
}
