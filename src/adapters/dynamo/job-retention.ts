import {
  DeleteCommand,
  type DynamoDBDocumentClient,
  GetCommand,
  PutCommand,
  paginateQuery,
  QueryCommand,
  UpdateCommand,
} from '@aws-sdk/lib-dynamodb';
import * as z from 'zod';
import { JOB_STATUSES } from '#contract/backtests/backtest.ts';
import { Grant } from '#contract/common/sharing-schemas.ts';
import { retainedJobFields } from '#contract/jobs/retention-schemas.ts';
import type {
  Checkpoint,
  DeletedJob,
  ExpiringJob,
  ExpiringPage,
  ExpiringPart,
  JobRetention,
} from '#domain/retention/expire-jobs.ts';
import { MEMBER_PREFIX } from './experiments.ts';
import { ENDED } from './job-records.ts';
import { batchGet, JOB_ITEM, jobKey, parseItem } from './stored-items.ts';
import { retryOnConflict, unlessConditionFails } from './transactions.ts';

/** Jobs that a run visits in one list. */
const PAGE = 200;
const CONCURRENT_DELETES = 25;
/** Partition of the checkpoints. */
const CHECKPOINTS = '#retention';
/** Partition of the jobs that users have deleted, by the time of the deletion. */
const DELETED = '#deleted';

const StoredExpiringJob = z.object({
  job_id: z.string(),
  kind: z.string(),
  strategy: z.string(),
  status: z.enum(JOB_STATUSES),
  finished_at: z.string().optional(),
  shared_with: z.array(Grant).optional(),
  ...retainedJobFields,
});

/** The position is not named `position`: that is a key of the list indexes, which this item is not in. */
const StoredCheckpoint = z.object({ reached: z.string(), month: z.string(), failures: z.int() });

const StoredDeletedJob = z.object({ deleted_job: z.string(), at: z.string() });

/** Entry of a job whose data are to be removed. */
export function deletedItem({ job_id, at }: DeletedJob) {
  return { job_id: DELETED, item: `${at}#${job_id}`, deleted_job: job_id, at };
}

const DETAILS = ['TRIAL#', 'RETURNS#', 'PERMUTED#', 'PERMUTED_TRIALS#'];

/** Items of a job that belong to the part, by the prefix of their sort keys. */
const PREFIXES: Readonly<Record<ExpiringPart, readonly string[]>> = {
  details: DETAILS,
  job: [...DETAILS, 'ACCESS#', MEMBER_PREFIX],
};

/** Expiry of jobs in the Jobs table. */
export class DynamoJobRetention implements JobRetention {
  readonly #client: DynamoDBDocumentClient;
  readonly #table: string;

  constructor(client: DynamoDBDocumentClient, table: string) {
    this.#client = client;
    this.#table = table;
  }

  async checkpoint(name: string): Promise<Checkpoint | undefined> {
    const Key = { job_id: CHECKPOINTS, item: name };
    const { Item } = await this.#client.send(new GetCommand({ TableName: this.#table, Key }));
    if (!Item) return undefined;
    const { reached, ...checkpoint } = parseItem(StoredCheckpoint, Item);
    return { position: reached, ...checkpoint };
  }

  async saveCheckpoint(name: string, { position, ...checkpoint }: Checkpoint): Promise<void> {
    const Item = { job_id: CHECKPOINTS, item: name, reached: position, ...checkpoint };
    await this.#client.send(new PutCommand({ TableName: this.#table, Item }));
  }

  async oldest(list: string, after: string, before: string): Promise<ExpiringPage> {
    // The character after a position sorts before any other that may continue it.
    const from = `${after}!`;
    if (from >= before) return { jobs: [], unreadable: [], end: undefined };
    const { Items = [] } = await this.#client.send(
      new QueryCommand({
        TableName: this.#table,
        IndexName: 'by-list',
        KeyConditionExpression: '#list = :list AND #position BETWEEN :from AND :before',
        ExpressionAttributeNames: { '#list': 'list', '#position': 'position' },
        ExpressionAttributeValues: { ':list': list, ':from': from, ':before': before },
        Limit: PAGE,
      }),
    );
    const items = await batchGet({
      client: this.#client,
      table: this.#table,
      keys: Items.map(({ job_id }) => ({ job_id, item: JOB_ITEM })),
      attributes: [...Object.keys(StoredExpiringJob.shape), 'item'],
      busy: 'DATA005',
    });
    const jobs: ExpiringJob[] = [];
    const unreadable: { job_id: string; error: unknown }[] = [];
    for (const item of items) {
      try {
        jobs.push(parseItem(StoredExpiringJob, item));
      } catch (error) {
        unreadable.push({ job_id: String(item.job_id), error });
      }
    }
    return { jobs, unreadable, end: Items.at(-1)?.position as string | undefined };
  }

  async begin(jobId: string, part: ExpiringPart, at: string): Promise<boolean> {
    const ended = Object.fromEntries(ENDED.map((status) => [`:${status}`, status]));
    return this.#update(jobId, {
      UpdateExpression:
        part === 'job'
          ? 'SET expired_at = :at ADD revision :one'
          : 'SET results_expired = :deleting ADD revision :one',
      ConditionExpression: [
        `#status IN (${Object.keys(ended).join(', ')})`,
        '(attribute_not_exists(kept) OR kept = :false)',
        'attribute_not_exists(evidence_of)',
        '(attribute_not_exists(shared_with) OR shared_with = :none)',
        'attribute_not_exists(expired_at)',
        ...(part === 'details' ? ['attribute_not_exists(results_expired)'] : []),
      ].join(' AND '),
      ExpressionAttributeNames: { '#status': 'status' },
      ExpressionAttributeValues: {
        ...ended,
        ':false': false,
        ':none': [],
        ':one': 1,
        ...(part === 'job' ? { ':at': at } : { ':deleting': 'deleting' }),
      },
    });
  }

  async deleteItems(jobId: string, part: ExpiringPart): Promise<void> {
    for (const prefix of PREFIXES[part]) {
      const pages = paginateQuery(
        { client: this.#client },
        {
          TableName: this.#table,
          KeyConditionExpression: 'job_id = :job AND begins_with(#item, :prefix)',
          ExpressionAttributeNames: { '#item': 'item' },
          ExpressionAttributeValues: { ':job': jobId, ':prefix': prefix },
          ProjectionExpression: 'job_id, #item',
        },
      );
      for await (const { Items = [] } of pages) {
        for (let from = 0; from < Items.length; from += CONCURRENT_DELETES) {
          const deletes = Items.slice(from, from + CONCURRENT_DELETES).map(({ job_id, item }) =>
            this.#client.send(new DeleteCommand({ TableName: this.#table, Key: { job_id, item } })),
          );
          await Promise.all(deletes);
        }
      }
    }
  }

  async finish(jobId: string, part: ExpiringPart, deleteAt: number): Promise<void> {
    await this.#update(
      jobId,
      part === 'job'
        ? {
            // The item stays for reads, outside of every list.
            UpdateExpression: 'SET expires_at = :at REMOVE #list, list_status, #position',
            ConditionExpression: 'attribute_exists(expired_at)',
            ExpressionAttributeNames: { '#list': 'list', '#position': 'position' },
            ExpressionAttributeValues: { ':at': deleteAt },
          }
        : {
            UpdateExpression: 'SET results_expired = :deleted',
            ConditionExpression: 'results_expired = :deleting',
            ExpressionAttributeValues: { ':deleted': 'deleted', ':deleting': 'deleting' },
          },
    );
  }

  async deleted(before: string, limit: number): Promise<DeletedJob[]> {
    const { Items = [] } = await this.#client.send(
      new QueryCommand({
        TableName: this.#table,
        ConsistentRead: true,
        KeyConditionExpression: 'job_id = :deleted AND #item < :before',
        ExpressionAttributeNames: { '#item': 'item' },
        ExpressionAttributeValues: { ':deleted': DELETED, ':before': before },
        Limit: limit,
      }),
    );
    return Items.map((item) => parseItem(StoredDeletedJob, item)).map(({ deleted_job, at }) => ({
      job_id: deleted_job,
      at,
    }));
  }

  async forgetDeleted(job: DeletedJob): Promise<void> {
    const { job_id, item } = deletedItem(job);
    await this.#client.send(new DeleteCommand({ TableName: this.#table, Key: { job_id, item } }));
  }

  async setEvidence(jobId: string, model: string, at: string): Promise<void> {
    await this.#update(jobId, {
      UpdateExpression: 'SET evidence_of = :evidence',
      ConditionExpression: 'attribute_exists(job_id)',
      ExpressionAttributeValues: { ':evidence': { model, at } },
    });
  }

  async clearEvidence(jobId: string, at: string): Promise<void> {
    await this.#update(jobId, {
      UpdateExpression: 'REMOVE evidence_of',
      ConditionExpression: 'evidence_of.#at = :at',
      ExpressionAttributeNames: { '#at': 'at' },
      ExpressionAttributeValues: { ':at': at },
    });
  }

  /** False when the condition failed. */
  async #update(
    jobId: string,
    update: {
      readonly UpdateExpression: string;
      readonly ConditionExpression: string;
      readonly ExpressionAttributeNames?: Record<string, string>;
      readonly ExpressionAttributeValues: Record<string, unknown>;
    },
  ): Promise<boolean> {
    const command = new UpdateCommand({ TableName: this.#table, Key: jobKey(jobId), ...update });
    return unlessConditionFails(retryOnConflict(() => this.#client.send(command)));
  }
}
