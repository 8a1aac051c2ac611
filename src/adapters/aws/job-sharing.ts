import { ConditionalCheckFailedException } from '@aws-sdk/client-dynamodb';
import { type DynamoDBDocumentClient, GetCommand, PutCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import * as z from 'zod';
import { isTerminal, JOB_STATUSES, type JobStatus } from '#contract/backtest.ts';
import { Grant } from '#contract/sharing.ts';
import { type OwnedResource, type StoredSharing, userPrincipal } from '#domain/access.ts';
import { JOB_ITEM } from './stored-item.ts';
import { transact } from './transactions.ts';

/** What a job of any kind has that decides in whose lists it is, and where. */
export const ListedJob = z.object({
  job_id: z.string(),
  kind: z.string(),
  status: z.enum(JOB_STATUSES),
  created_at: z.string(),
  experiment_name: z.string().nullish(),
  owner: z.string(),
  shared_with: z.array(Grant).optional(),
});
export type ListedJob = z.infer<typeof ListedJob>;

const ATTRIBUTES = Object.keys(ListedJob.shape);

/**
 * Whose the jobs of the Jobs table are, of every kind, and the rows `ACCESS#principal` by which a principal's list finds them.
 * A row says of the status only whether the job was seen to end; the truth is in the job, which a list reads.
 */
export class JobSharing implements StoredSharing {
  readonly #client: DynamoDBDocumentClient;
  readonly #table: string;

  constructor(client: DynamoDBDocumentClient, table: string) {
    this.#client = client;
    this.#table = table;
  }

  async find(jobId: string): Promise<OwnedResource | undefined> {
    return this.#find(jobId);
  }

  /** Puts a new job into its owner's list. To be called before the job is stored: a row without its job is passed over. */
  async add(job: ListedJob): Promise<void> {
    const row = rowOf(job, userPrincipal(job.owner));
    await this.#client.send(new PutCommand({ TableName: this.#table, Item: row }));
  }

  async share(
    jobId: string,
    before: readonly Grant[],
    after: readonly Grant[],
  ): Promise<'done' | 'conflict'> {
    const job = await this.#find(jobId);
    if (!job) return 'conflict';
    const kept = new Set(after.map(({ principal }) => principal));
    const removed = before.filter(({ principal }) => !kept.has(principal));
    const unshared = before.length === 0 ? 'attribute_not_exists(shared_with) OR ' : '';
    return transact(
      this.#client,
      [
        {
          Update: {
            TableName: this.#table,
            Key: { job_id: jobId, item: JOB_ITEM },
            UpdateExpression: 'SET shared_with = :after ADD revision :one',
            ConditionExpression: `attribute_exists(job_id) AND (${unshared}shared_with = :before)`,
            ExpressionAttributeValues: { ':before': before, ':after': after, ':one': 1 },
          },
        },
        ...after.map(({ principal }) => ({
          Put: { TableName: this.#table, Item: rowOf(job, principal) },
        })),
        // Out of every list. Not deleted: who may delete rows may delete jobs.
        ...removed.map(({ principal }) => ({
          Update: {
            TableName: this.#table,
            Key: { job_id: jobId, item: accessItem(principal) },
            UpdateExpression: 'REMOVE principal_kind, principal_kind_status',
          },
        })),
      ],
      'DATA005',
    );
  }

  /**
   * Moves the rows of a job that has ended to where lists by status look first. Without it they are found as well, among
   * those that have not ended: so it may fail, and repeating it does no harm.
   */
  async settle(job: ListedJob): Promise<void> {
    const principals = [
      userPrincipal(job.owner),
      ...(job.shared_with ?? []).map(({ principal }) => principal),
    ];
    await Promise.allSettled(principals.map((principal) => this.#settleRow(job, principal)));
  }

  async #settleRow(job: ListedJob, principal: string): Promise<void> {
    const row = rowOf(job, principal);
    await this.#client
      .send(
        new UpdateCommand({
          TableName: this.#table,
          Key: { job_id: row.job_id, item: row.item },
          UpdateExpression: 'SET principal_kind_status = :place',
          // Shared no more: the row must not come back.
          ConditionExpression: 'attribute_exists(principal_kind)',
          ExpressionAttributeValues: { ':place': row.principal_kind_status },
        }),
      )
      .catch((error: unknown) => {
        if (!(error instanceof ConditionalCheckFailedException)) throw error;
      });
  }

  async #find(jobId: string): Promise<ListedJob | undefined> {
    const { Item } = await this.#client.send(
      new GetCommand({
        TableName: this.#table,
        Key: { job_id: jobId, item: JOB_ITEM },
        ConsistentRead: true,
        ProjectionExpression: ATTRIBUTES.map((name) => `#${name}`).join(', '),
        ExpressionAttributeNames: Object.fromEntries(ATTRIBUTES.map((name) => [`#${name}`, name])),
      }),
    );
    return Item && ListedJob.parse(Item);
  }
}

/** The part of a principal's list in which a job of that kind and status is. */
export function listPlace(principal: string, kind: string, status: JobStatus): string {
  return `${principal}#${kind}#${isTerminal(status) ? status : 'open'}`;
}

/** What a principal's list is sorted by, newest last: no two jobs have the same. */
export function listPosition({ created_at, job_id }: Pick<ListedJob, 'created_at' | 'job_id'>): string {
  return `${created_at}#${job_id}`;
}

function accessItem(principal: string): string {
  return `ACCESS#${principal}`;
}

function rowOf(job: ListedJob, principal: string) {
  const { job_id, kind, status, experiment_name = null } = job;
  return {
    job_id,
    item: accessItem(principal),
    created_at: listPosition(job),
    experiment_name,
    principal_kind: `${principal}#${kind}`,
    principal_kind_status: listPlace(principal, kind, status),
  };
}
