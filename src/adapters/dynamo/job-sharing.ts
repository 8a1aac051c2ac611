import { ConditionalCheckFailedException } from '@aws-sdk/client-dynamodb';
import { type DynamoDBDocumentClient, GetCommand, PutCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import * as z from 'zod';
import { isTerminal, JOB_STATUSES, type JobStatus } from '#contract/backtests/backtest.ts';
import { Grant } from '#contract/common/sharing-schemas.ts';
import { retainedJobFields } from '#contract/jobs/retention-schemas.ts';
import {
  type NewOwner,
  type OwnedResource,
  type StoredSharing,
  userPrincipal,
} from '#domain/access/access.ts';
import {
  isPast,
  JOB_ITEM,
  ownedAs,
  ownerValues,
  projectionOf,
  sharedAs,
  sharedValues,
} from './stored-items.ts';
import { type Action, transact } from './transactions.ts';

/** Attributes of a job of any kind that determine the lists that it is in, and its position there. */
export const ListedJob = z.object({
  job_id: z.string(),
  kind: z.string(),
  status: z.enum(JOB_STATUSES),
  created_at: z.string(),
  experiment_name: z.string().nullish(),
  owner: z.string(),
  strategy: z.string().optional(),
  shared_with: z.array(Grant).optional(),
  ...z.object(retainedJobFields).pick({ expired_at: true }).shape,
});
export type ListedJob = z.infer<typeof ListedJob>;

/**
 * Owners and grants of the jobs of every kind, and their access items `ACCESS#principal`. An access item puts a job into
 * the list of a principal. It holds a status only once the job has ended; lists read the status from the job.
 */
export class JobSharing implements StoredSharing {
  readonly #client: DynamoDBDocumentClient;
  readonly #table: string;
  readonly #beforeTransfer: (job: ListedJob) => Promise<readonly Action[]>;

  /** @param beforeTransfer called with a job as another owner will have it; it returns actions for the transaction of the transfer */
  constructor(
    client: DynamoDBDocumentClient,
    table: string,
    beforeTransfer: (job: ListedJob) => Promise<readonly Action[]> = async () => [],
  ) {
    this.#client = client;
    this.#table = table;
    this.#beforeTransfer = beforeTransfer;
  }

  async find(jobId: string): Promise<OwnedResource | undefined> {
    return this.#find(jobId);
  }

  /** Puts a new job into its owner's list. Call it before the job is stored: lists skip access items without a job. */
  async add(job: ListedJob): Promise<void> {
    const item = accessItem(job, userPrincipal(job.owner));
    await this.#client.send(new PutCommand({ TableName: this.#table, Item: item }));
  }

  async share(
    jobId: string,
    before: readonly Grant[],
    after: readonly Grant[],
    owner?: string,
  ): Promise<'done' | 'conflict'> {
    const job = await this.#find(jobId);
    if (!job) return 'conflict';
    const kept = new Set(after.map(({ principal }) => principal));
    const removed = before.filter(({ principal }) => !kept.has(principal));
    return transact(
      this.#client,
      [
        {
          Update: {
            TableName: this.#table,
            Key: { job_id: jobId, item: JOB_ITEM },
            UpdateExpression: 'SET shared_with = :after ADD revision :one',
            ConditionExpression: `attribute_exists(job_id) AND attribute_not_exists(expired_at) AND ${sharedAs(before, owner)}`,
            ...(owner !== undefined && { ExpressionAttributeNames: { '#owner': 'owner' } }),
            ExpressionAttributeValues: { ...sharedValues(before, owner), ':after': after, ':one': 1 },
          },
        },
        ...after.map(({ principal }) => ({
          Put: { TableName: this.#table, Item: accessItem(job, principal) },
        })),
        ...removed.map(({ principal }) => ({ Update: this.#unlisted(jobId, principal) })),
      ],
      'DATA005',
    );
  }

  async transfer(
    jobId: string,
    before: OwnedResource,
    after: NewOwner,
  ): Promise<'done' | 'conflict' | 'unfinished'> {
    const job = await this.#find(jobId);
    if (!job || job.owner !== before.owner) return 'conflict';
    if (!isTerminal(job.status)) return 'unfinished';
    const next = { ...job, owner: after.owner };
    const more = await this.#beforeTransfer(next);
    return transact(
      this.#client,
      [
        {
          Update: {
            TableName: this.#table,
            Key: { job_id: jobId, item: JOB_ITEM },
            UpdateExpression: 'SET #owner = :owner, shared_with = :grants ADD revision :one',
            ConditionExpression: `attribute_not_exists(expired_at) AND ${ownedAs(before)}`,
            ExpressionAttributeNames: { '#owner': 'owner' },
            ExpressionAttributeValues: { ...ownerValues(before, after), ':one': 1 },
          },
        },
        ...(before.owner === after.owner
          ? []
          : [{ Update: this.#unlisted(jobId, userPrincipal(before.owner)) }]),
        { Put: { TableName: this.#table, Item: accessItem(next, userPrincipal(after.owner)) } },
        ...more,
      ],
      'DATA005',
    );
  }

  /** Takes a deleted job out of the lists and counts of its principals. Errors are ignored: repair deletes the items. */
  async leave(job: ListedJob): Promise<void> {
    const updates = principalsWith(job).map((principal) => this.#unlisted(job.job_id, principal));
    await Promise.allSettled(updates.map((update) => this.#client.send(new UpdateCommand(update))));
  }

  /** Removes an access item from every index. Not a delete: that permission would cover jobs too. */
  #unlisted(jobId: string, principal: string) {
    return {
      TableName: this.#table,
      Key: { job_id: jobId, item: accessSortKey(principal) },
      UpdateExpression: 'REMOVE principal_kind, principal_kind_status',
    };
  }

  /**
   * Moves the access items of an ended job to the partition of its status. Lists by status also read the partition of
   * open jobs, so errors are ignored and repeats are harmless.
   */
  async settle(job: ListedJob): Promise<void> {
    await Promise.allSettled(principalsWith(job).map((principal) => this.#settleItem(job, principal)));
  }

  async #settleItem(job: ListedJob, principal: string): Promise<void> {
    const item = accessItem(job, principal);
    await this.#client
      .send(
        new UpdateCommand({
          TableName: this.#table,
          Key: { job_id: item.job_id, item: item.item },
          UpdateExpression: 'SET principal_kind_status = :partition',
          // A revoked grant has no principal_kind: its item must not return to the list.
          ConditionExpression: 'attribute_exists(principal_kind)',
          ExpressionAttributeValues: { ':partition': item.principal_kind_status },
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
        ...projectionOf([...Object.keys(ListedJob.shape), 'expires_at']),
      }),
    );
    return Item && !isPast(Item.expires_at) ? ListedJob.parse(Item) : undefined;
  }
}

/** Index partition of a principal's jobs of that kind and status. */
export function statusPartition(principal: string, kind: string, status: JobStatus): string {
  return `${principal}#${kind}#${isTerminal(status) ? status : 'open'}`;
}

/** Sort key of a job in a principal's list, ascending by time. Unique. */
export function listPosition({ created_at, job_id }: Pick<ListedJob, 'created_at' | 'job_id'>): string {
  return `${created_at}#${job_id}`;
}

/** Owner and principals of the grants. */
function principalsWith({ owner, shared_with = [] }: ListedJob): string[] {
  return [userPrincipal(owner), ...shared_with.map(({ principal }) => principal)];
}

function accessSortKey(principal: string): string {
  return `ACCESS#${principal}`;
}

function accessItem(job: ListedJob, principal: string) {
  const { job_id, kind, status, experiment_name = null } = job;
  return {
    job_id,
    item: accessSortKey(principal),
    position: listPosition(job),
    experiment_name,
    principal_kind: `${principal}#${kind}`,
    principal_kind_status: statusPartition(principal, kind, status),
  };
}
