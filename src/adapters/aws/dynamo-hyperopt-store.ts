import { type DynamoDBDocumentClient, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import type { CollectionOutcome } from '#contract/backtest.ts';
import {
  type HyperoptJobIn,
  type HyperoptOutcome,
  STUDY_KIND,
  type StoredHyperoptJob,
} from '#contract/hyperopt.ts';
import type { HyperoptRow, HyperoptStore } from '#domain/hyperopt/hyperopt-ports.ts';
import type { JobFilter, Page } from '#domain/ports.ts';
import { toHyperoptItem, toHyperoptJob, toHyperoptRow } from './hyperopt-item.ts';
import { JobList } from './job-list.ts';
import { failureOf, JobRecords, UNFINISHED } from './job-records.ts';
import { JobSharing } from './job-sharing.ts';
import { jobKey } from './stored-item.ts';
import { retryOnConflict } from './transactions.ts';

/** Hyperopt jobs in the Jobs table. Reads of one job are strongly consistent, lists are not. */
export class DynamoHyperoptStore implements HyperoptStore {
  readonly sharing: JobSharing;
  readonly #client: DynamoDBDocumentClient;
  readonly #table: string;
  readonly #records: JobRecords<StoredHyperoptJob>;
  readonly #list: JobList<HyperoptRow>;

  constructor(client: DynamoDBDocumentClient, table: string) {
    this.#client = client;
    this.#table = table;
    this.sharing = new JobSharing(client, table);
    this.#records = new JobRecords(client, table, this.sharing, toHyperoptJob);
    this.#list = new JobList(client, table, STUDY_KIND, toHyperoptRow);
  }

  async create(job: HyperoptJobIn<'pending'>): Promise<StoredHyperoptJob> {
    await this.sharing.add(job);
    return this.#records.create(job, toHyperoptItem(job));
  }

  async get(jobId: string): Promise<StoredHyperoptJob | undefined> {
    return this.#records.get(jobId);
  }

  async list(filter: JobFilter, limit: number, cursor: string | null): Promise<Page<HyperoptRow>> {
    return this.#list.page(filter, limit, cursor);
  }

  async begin(
    jobId: string,
    worker: number,
    task: string,
    at: string,
  ): Promise<HyperoptJobIn<'running'> | undefined> {
    try {
      const update = new UpdateCommand({
        TableName: this.#table,
        Key: jobKey(jobId),
        UpdateExpression:
          'SET #status = :running, kind_status = :kind_status, started_at = if_not_exists(started_at, :at), updated_at = :at, tasks.#worker = :task REMOVE stalled ADD revision :one',
        ConditionExpression: '#status IN (:pending, :running)',
        ExpressionAttributeNames: { '#status': 'status', '#worker': String(worker) },
        ExpressionAttributeValues: {
          ':pending': 'pending',
          ':running': 'running',
          ':kind_status': `${STUDY_KIND}#running`,
          ':at': at,
          ':task': task,
          ':one': 1,
        },
        ReturnValues: 'ALL_NEW',
        ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
      });
      const { Attributes } = await retryOnConflict(() => this.#client.send(update));
      return toHyperoptJob(Attributes!) as HyperoptJobIn<'running'>;
    } catch (error) {
      this.#records.foundInstead(error);
      return undefined;
    }
  }

  async pinCode(jobId: string, digest: string, warnings: readonly string[]): Promise<string | undefined> {
    const update = new UpdateCommand({
      TableName: this.#table,
      Key: jobKey(jobId),
      UpdateExpression:
        'SET code_digest = :digest, warnings = list_append(warnings, :warnings) ADD revision :one',
      ConditionExpression: '#status = :running AND attribute_not_exists(code_digest)',
      ExpressionAttributeNames: { '#status': 'status' },
      ExpressionAttributeValues: {
        ...{ ':digest': digest, ':warnings': [...warnings] },
        ...{ ':one': 1, ':running': 'running' },
      },
      ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
    });
    try {
      await retryOnConflict(() => this.#client.send(update));
      return digest;
    } catch (error) {
      const found = this.#records.foundInstead(error);
      return found?.status === 'running' ? found.code_digest : undefined;
    }
  }

  async complete(jobId: string, outcome: HyperoptOutcome, at: string): Promise<boolean> {
    const { job } = await this.#records.change(jobId, {
      status: 'completed',
      set: { outcome, finished_at: at, updated_at: at },
      from: ['running'],
    });
    return job !== undefined;
  }

  async fail(jobId: string, error: { code: string; message: string }, at: string): Promise<boolean> {
    const { job } = await this.#records.change(jobId, {
      status: 'failed',
      set: failureOf(error, at),
      from: UNFINISHED,
    });
    return job !== undefined;
  }

  async cancel(
    jobId: string,
    at: string,
  ): Promise<{ cancelled: boolean; job: StoredHyperoptJob | undefined }> {
    const { job, found } = await this.#records.change(jobId, {
      status: 'cancelled',
      set: { finished_at: at, updated_at: at },
      from: UNFINISHED,
    });
    return job ? { cancelled: true, job } : { cancelled: false, job: found };
  }

  async setStalled(jobId: string, stalled: string | null): Promise<void> {
    await this.#records.change(jobId, { set: { stalled }, from: ['running'] });
  }

  async setCollection(jobId: string, outcome: CollectionOutcome): Promise<void> {
    await this.#records.change(jobId, {
      set: { collection: outcome, updated_at: outcome.at },
      from: UNFINISHED,
    });
  }

  async startAgain(jobId: string, runs: number, at: string): Promise<StoredHyperoptJob | undefined> {
    const { job } = await this.#records.change(jobId, {
      set: { updated_at: at },
      add: ['runs'],
      from: UNFINISHED,
      where: { runs },
    });
    return job;
  }

  unfinished(): AsyncIterable<StoredHyperoptJob> {
    return this.#records.unfinished([this.#list]);
  }
}
