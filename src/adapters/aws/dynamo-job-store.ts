import { type DynamoDBDocumentClient, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import * as z from 'zod';
import {
  BacktestResult,
  type CollectionOutcome,
  JOB_KINDS,
  JOB_STATUSES,
  type JobIn,
  type JobKind,
  type JobStatus,
  StoredBacktestJob,
} from '#contract/backtest.ts';
import type { ClaimOutcome, JobFilter, JobRow, JobStore, Page } from '#domain/ports.ts';
import type { EndedValidations } from '#domain/transitions/validation.ts';
import { JobList } from './job-list.ts';
import { failureOf, JobRecords, UNFINISHED } from './job-records.ts';
import { JobSharing } from './job-sharing.ts';
import type { JobChange } from './job-update.ts';
import { JOB_ITEM, jobKey, parseItem } from './stored-item.ts';

const ENDED: readonly JobStatus[] = ['completed', 'failed', 'cancelled'];

/** Backtest jobs in the Jobs table. Reads of one job are strongly consistent, lists are not. */
export class DynamoJobStore implements JobStore, EndedValidations {
  readonly sharing: JobSharing;
  readonly #client: DynamoDBDocumentClient;
  readonly #table: string;
  readonly #records: JobRecords<StoredBacktestJob>;
  readonly #backtests: JobList<JobRow>;

  constructor(client: DynamoDBDocumentClient, table: string) {
    this.#client = client;
    this.#table = table;
    this.sharing = new JobSharing(client, table);
    this.#records = new JobRecords(client, table, this.sharing, toJob);
    this.#backtests = this.#listOf('backtest');
  }

  async create(job: JobIn<'pending'>): Promise<StoredBacktestJob> {
    // Validations are in nobody's list.
    if (job.kind === 'backtest') await this.sharing.add(job);
    return this.#records.create(job, toItem(job));
  }

  async get(jobId: string): Promise<StoredBacktestJob | undefined> {
    return this.#records.get(jobId);
  }

  async list(filter: JobFilter, limit: number, cursor: string | null): Promise<Page<JobRow>> {
    return this.#backtests.page(filter, limit, cursor);
  }

  async claim(jobId: string, task: string, at: string): Promise<ClaimOutcome> {
    const { job, found } = await this.#records.change(jobId, {
      status: 'running',
      set: { task, started_at: at, progress: 0, updated_at: at },
      add: ['attempt'],
      from: UNFINISHED,
    });
    if (job) return { outcome: 'claimed', job: job as JobIn<'running'> };
    return found ? { outcome: 'terminal', status: found.status } : { outcome: 'unknown' };
  }

  async setProgress(jobId: string, attempt: number, progress: number, at: string): Promise<boolean> {
    return this.#changes(jobId, { set: { progress, updated_at: at }, from: ['running'], attempt });
  }

  async setStalled(jobId: string, task: string, stalled: string | null): Promise<void> {
    await this.#records.change(jobId, { set: { stalled }, from: ['running'], where: { task } });
  }

  async complete(
    jobId: string,
    attempt: number,
    outcome: Parameters<JobStore['complete']>[2],
    at: string,
  ): Promise<boolean> {
    const { result, results, timing, look_ahead, warnings, checks } = outcome;
    return this.#changes(jobId, {
      status: 'completed',
      set: {
        ...{ result, results, timing, ...(look_ahead && { look_ahead }), ...(checks && { checks }) },
        ...{ progress: 1, finished_at: at, updated_at: at },
      },
      append: { warnings },
      from: ['running'],
      attempt,
    });
  }

  async fail(
    jobId: string,
    attempt: number | null,
    error: { code: string; message: string },
    at: string,
  ): Promise<boolean> {
    return this.#changes(jobId, {
      status: 'failed',
      set: failureOf(error, at),
      from: attempt === null ? UNFINISHED : ['running'],
      attempt: attempt ?? undefined,
    });
  }

  async cancel(
    jobId: string,
    at: string,
  ): Promise<{ cancelled: boolean; job: StoredBacktestJob | undefined }> {
    const { job, found } = await this.#records.change(jobId, {
      status: 'cancelled',
      set: { finished_at: at, updated_at: at },
      from: UNFINISHED,
    });
    return job ? { cancelled: true, job } : { cancelled: false, job: found };
  }

  async setCollection(jobId: string, outcome: CollectionOutcome): Promise<void> {
    await this.#records.change(jobId, {
      set: { collection: outcome, updated_at: outcome.at },
      from: UNFINISHED,
    });
  }

  unfinished(): AsyncIterable<StoredBacktestJob> {
    return this.#records.unfinished(JOB_KINDS.map((kind) => this.#listOf(kind)));
  }

  #listOf(kind: JobKind): JobList<JobRow> {
    return new JobList(this.#client, this.#table, kind, toRow);
  }

  async *endedValidations(): AsyncIterable<StoredBacktestJob> {
    for (const status of ENDED) {
      for await (const { job_id } of this.#listOf('validation').all({ status })) {
        const job = await this.get(job_id);
        if (job) yield job;
      }
    }
  }

  /** Takes it out of the index in which {@link endedValidations} looks. */
  async forgetValidation(jobId: string): Promise<void> {
    await this.#client.send(
      new UpdateCommand({
        TableName: this.#table,
        Key: jobKey(jobId),
        UpdateExpression: 'REMOVE kind_status',
        ConditionExpression: 'attribute_exists(job_id)',
      }),
    );
  }

  /**
   * Whether the change was made. A reply that was lost makes the SDK send the write again: then the state that this
   * very attempt wanted is found there already, which is as good.
   */
  async #changes(jobId: string, change: JobChange): Promise<boolean> {
    const { job, found } = await this.#records.change(jobId, change);
    if (job) return true;
    return (
      change.attempt !== undefined && found?.attempt === change.attempt && found.status === change.status
    );
  }
}

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
function toJob(item: Record<string, unknown>): StoredBacktestJob {
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
function toRow(item: Record<string, unknown>): JobRow {
  const { result, error_summary, ...row } = parseItem(IndexRow, item);
  return { ...row, result: result ?? null, error: error_summary ?? null };
}
