import { ConditionalCheckFailedException } from '@aws-sdk/client-dynamodb';
import { type DynamoDBDocumentClient, GetCommand, PutCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { isTerminal, type JobStatus } from '#contract/backtest.ts';
import { ERROR_SUMMARY_LENGTH } from '#contract/tables.ts';
import type { JobList } from './job-list.ts';
import type { JobSharing, ListedJob } from './job-sharing.ts';
import { type JobChange, updateOf } from './job-update.ts';
import { fromAttributes, type Item, jobKey } from './stored-item.ts';
import { retryOnConflict } from './transactions.ts';

export const UNFINISHED: readonly JobStatus[] = ['pending', 'running'];

/** The changed job, or what was found instead: undefined for an unknown one. */
export type Changed<T> =
  | { readonly job: T; readonly found?: undefined }
  | { readonly job?: undefined; readonly found: T | undefined };

/** The jobs themselves in the Jobs table, whatever their kind. Reads are strongly consistent, a change is one conditional write. */
export class JobRecords<T extends ListedJob> {
  readonly #client: DynamoDBDocumentClient;
  readonly #table: string;
  readonly #sharing: JobSharing;
  readonly #toJob: (item: Item) => T;

  /** `toJob` throws SVC001 for an item that is none. */
  constructor(client: DynamoDBDocumentClient, table: string, sharing: JobSharing, toJob: (item: Item) => T) {
    this.#client = client;
    this.#table = table;
    this.#sharing = sharing;
    this.#toJob = toJob;
  }

  /** Stores a new job as `item`. Answers the stored one when the id exists already. */
  async create(job: T, item: Item): Promise<T> {
    try {
      await this.#client.send(
        new PutCommand({
          TableName: this.#table,
          Item: item,
          ConditionExpression: 'attribute_not_exists(job_id)',
          ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
        }),
      );
      return job;
    } catch (error) {
      const existing = this.foundInstead(error);
      if (!existing) throw error;
      return existing;
    }
  }

  async get(jobId: string): Promise<T | undefined> {
    const { Item } = await this.#client.send(
      new GetCommand({ TableName: this.#table, Key: jobKey(jobId), ConsistentRead: true }),
    );
    return Item && this.#toJob(Item);
  }

  /** A job that has ended by it is settled in its lists. */
  async change(jobId: string, change: JobChange): Promise<Changed<T>> {
    const update = { TableName: this.#table, Key: jobKey(jobId), ...updateOf(jobId, change) };
    try {
      const { Attributes } = await retryOnConflict(() => this.#client.send(new UpdateCommand(update)));
      const job = this.#toJob(Attributes!);
      if (isTerminal(job.status)) await this.#sharing.settle(job);
      return { job };
    } catch (error) {
      return { found: this.foundInstead(error) };
    }
  }

  /** Jobs of `lists` that have not ended. Those that begin to run meanwhile are met once, as they are when read. */
  async *unfinished(lists: readonly JobList<Pick<ListedJob, 'job_id' | 'created_at'>>[]): AsyncIterable<T> {
    const seen = new Set<string>();
    for (const status of UNFINISHED) {
      for (const list of lists) {
        for await (const { job_id } of list.all({ status })) {
          if (seen.has(job_id)) continue;
          seen.add(job_id);
          const job = await this.get(job_id);
          if (job && !isTerminal(job.status)) yield job;
        }
      }
    }
  }

  /** The job that failed a condition, undefined when there is none; any other error is thrown on. */
  foundInstead(error: unknown): T | undefined {
    if (error instanceof ConditionalCheckFailedException) return fromAttributes(this.#toJob, error.Item);
    throw error;
  }
}

/** What a job that failed is given. */
export function failureOf({ code, message }: { code: string; message: string }, at: string) {
  const summary = message.slice(0, ERROR_SUMMARY_LENGTH - 1).toWellFormed();
  return {
    error: message,
    error_code: code,
    // What a list shows of it: its beginning.
    error_summary: message.length <= ERROR_SUMMARY_LENGTH ? message : `${summary}…`,
    finished_at: at,
    updated_at: at,
  };
}
