import { ConditionalCheckFailedException } from '@aws-sdk/client-dynamodb';
import { type DynamoDBDocumentClient, GetCommand, PutCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import {
  type CollectionOutcome,
  isTerminal,
  JOB_KINDS,
  type JobIn,
  type JobKind,
  type JobStatus,
  type StoredBacktestJob,
} from '#contract/backtest.ts';
import type { ClaimOutcome, JobFilter, JobRow, JobStore, Page } from '#domain/ports.ts';
import type { EndedValidations } from '#domain/registry/staging-checks.ts';
import { JOB_ITEM, summariseError, toItem, toJob, toJobFromAttributes, toRow } from './job-item.ts';
import { JobList } from './job-list.ts';
import { JobSharing } from './job-sharing.ts';
import { type JobChange, updateOf } from './job-update.ts';
import { whenFree } from './transactions.ts';

const UNFINISHED: readonly JobStatus[] = ['pending', 'running'];
const ENDED: readonly JobStatus[] = ['completed', 'failed', 'cancelled'];
type Outcome =
  | { readonly job: StoredBacktestJob; readonly found?: undefined }
  | { readonly job?: undefined; readonly found: StoredBacktestJob | undefined };

/** Backtest jobs in the Jobs table. Reads of one job are strongly consistent, lists are not. */
export class DynamoJobStore implements JobStore, EndedValidations {
  readonly sharing: JobSharing;
  readonly #client: DynamoDBDocumentClient;
  readonly #table: string;
  readonly #backtests: JobList<JobRow>;

  constructor(client: DynamoDBDocumentClient, table: string) {
    this.#client = client;
    this.#table = table;
    this.sharing = new JobSharing(client, table);
    this.#backtests = this.#listOf('backtest');
  }

  async create(job: JobIn<'pending'>): Promise<StoredBacktestJob> {
    // Validations are in nobody's list.
    if (job.kind === 'backtest') await this.sharing.add(job);
    try {
      await this.#client.send(
        new PutCommand({
          TableName: this.#table,
          Item: toItem(job),
          ConditionExpression: 'attribute_not_exists(job_id)',
          ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
        }),
      );
      return job;
    } catch (error) {
      const existing = foundInstead(error);
      if (!existing) throw error;
      return existing;
    }
  }

  async get(jobId: string): Promise<StoredBacktestJob | undefined> {
    const { Item } = await this.#client.send(
      new GetCommand({ TableName: this.#table, Key: keyOf(jobId), ConsistentRead: true }),
    );
    return Item && toJob(Item);
  }

  async list(filter: JobFilter, limit: number, cursor: string | null): Promise<Page<JobRow>> {
    return this.#backtests.page(filter, limit, cursor);
  }

  async claim(jobId: string, task: string, at: string): Promise<ClaimOutcome> {
    const { job, found } = await this.#change(jobId, {
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

  async complete(
    jobId: string,
    attempt: number,
    outcome: Parameters<JobStore['complete']>[2],
    at: string,
  ): Promise<boolean> {
    const { result, results, timing, warnings, checks } = outcome;
    return this.#changes(jobId, {
      status: 'completed',
      set: {
        ...{ result, results, timing, ...(checks && { checks }) },
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
      set: {
        error: error.message,
        error_code: error.code,
        error_summary: summariseError(error.message),
        finished_at: at,
        updated_at: at,
      },
      from: attempt === null ? UNFINISHED : ['running'],
      attempt: attempt ?? undefined,
    });
  }

  async cancel(
    jobId: string,
    at: string,
  ): Promise<{ cancelled: boolean; job: StoredBacktestJob | undefined }> {
    const { job, found } = await this.#change(jobId, {
      status: 'cancelled',
      set: { finished_at: at, updated_at: at },
      from: UNFINISHED,
    });
    return job ? { cancelled: true, job } : { cancelled: false, job: found };
  }

  async setCollection(jobId: string, outcome: CollectionOutcome): Promise<void> {
    await this.#change(jobId, { set: { collection: outcome, updated_at: outcome.at }, from: UNFINISHED });
  }

  /** Jobs that become running while this goes through the pending ones are met once, as they are when read. */
  async *unfinished(): AsyncIterable<StoredBacktestJob> {
    const seen = new Set<string>();
    for (const status of UNFINISHED) {
      for (const kind of JOB_KINDS) {
        for await (const { job_id } of this.#listOf(kind).all({ status })) {
          if (seen.has(job_id)) continue;
          seen.add(job_id);
          const job = await this.get(job_id);
          if (job && !isTerminal(job.status)) yield job;
        }
      }
    }
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
        Key: keyOf(jobId),
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
    const { job, found } = await this.#change(jobId, change);
    if (job) return true;
    return (
      change.attempt !== undefined && found?.attempt === change.attempt && found.status === change.status
    );
  }

  /** One conditional write: the changed job, or what was found instead. */
  async #change(jobId: string, change: JobChange): Promise<Outcome> {
    const update = { TableName: this.#table, Key: keyOf(jobId), ...updateOf(jobId, change) };
    try {
      const { Attributes } = await whenFree(() => this.#client.send(new UpdateCommand(update)));
      const job = toJob(Attributes!);
      if (isTerminal(job.status)) await this.sharing.settle(job);
      return { job };
    } catch (error) {
      return { found: foundInstead(error) };
    }
  }
}

function keyOf(jobId: string) {
  return { job_id: jobId, item: JOB_ITEM };
}

/** The job that failed a condition, undefined when there is none; any other error is thrown on. */
function foundInstead(error: unknown): StoredBacktestJob | undefined {
  if (error instanceof ConditionalCheckFailedException) return toJobFromAttributes(error.Item);
  throw error;
}
