import { type DynamoDBDocumentClient, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import * as z from 'zod';
import { BacktestResult, type JobIn, StoredBacktestJob } from '#contract/backtest.ts';
import type { ClaimOutcome, JobRow, JobStore } from '#domain/ports.ts';
import type { EndedValidations } from '#domain/transitions/validation.ts';
import {
  ENDED,
  failureOf,
  IndexEntry,
  type JobChange,
  JobRecords,
  rowOf,
  UNFINISHED,
} from './job-records.ts';
import { jobKey, parseItem } from './stored-items.ts';

const IndexRow = IndexEntry.extend({
  priority: z.int(),
  result: BacktestResult.nullable().default(null),
});

/** Backtest jobs in the Jobs table. */
export class DynamoJobStore
  extends JobRecords<StoredBacktestJob, JobRow>
  implements JobStore, EndedValidations
{
  constructor(client: DynamoDBDocumentClient, table: string) {
    super(client, table, {
      kinds: ['backtest', 'validation'],
      lane: 'backtest',
      strategyOf: (job) => job.config.strategy,
      toJob: (item) => parseItem(StoredBacktestJob, item),
      toRow: (item) => rowOf(parseItem(IndexRow, item)),
    });
  }

  async claim(jobId: string, task: string, at: string): Promise<ClaimOutcome> {
    const { job, found } = await this.change(jobId, {
      status: 'running',
      set: { task, started_at: at, progress: 0, updated_at: at },
      add: ['attempt'],
      from: UNFINISHED,
    });
    if (job) return { outcome: 'claimed', job: job as JobIn<'running'> };
    return found ? { outcome: 'terminal', status: found.status } : { outcome: 'unknown' };
  }

  async setProgress(jobId: string, attempt: number, progress: number, at: string): Promise<boolean> {
    // `updated_at` stays: it is in the list indexes, which progress must not write.
    return this.#changes(jobId, { set: { progress, progress_at: at }, from: ['running'], attempt });
  }

  async setStalled(jobId: string, task: string, stalled: string | null): Promise<void> {
    await this.change(jobId, { set: { stalled }, from: ['running'], where: { task } });
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

  async *endedValidations(): AsyncIterable<StoredBacktestJob> {
    for (const status of ENDED) {
      for await (const { job_id } of this.listOf('validation').all({ status })) {
        const job = await this.get(job_id);
        if (job) yield job;
      }
    }
  }

  /** Removes the job from the index that {@link endedValidations} reads. */
  async forgetValidation(jobId: string): Promise<void> {
    await this.client.send(
      new UpdateCommand({
        TableName: this.table,
        Key: jobKey(jobId),
        UpdateExpression: 'REMOVE list_status',
        ConditionExpression: 'attribute_exists(job_id)',
      }),
    );
  }

  /**
   * True when the change was made. If the response is lost, the SDK sends the write again. The condition then fails, but
   * the job has this attempt and status already: that counts as made.
   */
  async #changes(jobId: string, change: JobChange): Promise<boolean> {
    const { job, found } = await this.change(jobId, change);
    if (job) return true;
    return (
      change.attempt !== undefined && found?.attempt === change.attempt && found.status === change.status
    );
  }
}
