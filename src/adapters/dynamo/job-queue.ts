import {
  DeleteCommand,
  type DynamoDBDocumentClient,
  paginateQuery,
  QueryCommand,
  type QueryCommandInput,
  UpdateCommand,
} from '@aws-sdk/lib-dynamodb';
import type { LaneName, QueueEntry } from '#contract/jobs/queue.ts';
import type { JobQueue, QueueJob, Slot, WaitingJob, WaitingOwner } from '#domain/queue/queue-ports.ts';
import { jobKey } from './stored-items.ts';
import { retryOnConflict, transact, unlessConditionFails } from './transactions.ts';

const BY_QUEUE = 'by-queue';
/** Digits of a slot's number in its key. */
const DIGITS = 6;
/** Highest priority of a job; the order of the index is ascending, so the key holds what a priority lacks to it. */
const HIGHEST_PRIORITY = 10;

/**
 * The queue in the Jobs table. Waiting jobs are in the sparse index `by-queue`; owners who wait and slots are items of
 * their own: `#owners#<lane>` with the owner, `#slots#<lane>` with the slot's number.
 */
export class DynamoJobQueue implements JobQueue {
  readonly #client: DynamoDBDocumentClient;
  readonly #table: string;

  constructor(client: DynamoDBDocumentClient, table: string) {
    this.#client = client;
    this.#table = table;
  }

  async announce(lane: LaneName, owner: string, at: number): Promise<void> {
    await this.#client.send(
      new UpdateCommand({
        TableName: this.#table,
        Key: ownerKey(lane, owner),
        UpdateExpression: 'SET announced_at = :at ADD waiting :one, announced :one',
        ExpressionAttributeValues: { ':at': at, ':one': 1 },
      }),
    );
  }

  async leave(lane: LaneName, owner: string, turn?: number): Promise<void> {
    await unlessConditionFails(
      this.#client.send(
        new UpdateCommand({
          TableName: this.#table,
          Key: ownerKey(lane, owner),
          UpdateExpression: `${turn === undefined ? '' : 'SET last_turn = :turn '}ADD waiting :minus_one`,
          // An owner who was removed must not come back with a negative number.
          ConditionExpression: 'waiting > :zero',
          ExpressionAttributeValues: {
            ':minus_one': -1,
            ':zero': 0,
            ...(turn !== undefined && { ':turn': turn }),
          },
        }),
      ),
    );
  }

  async owners(lane: LaneName): Promise<readonly WaitingOwner[]> {
    const items = await this.#all({
      KeyConditionExpression: 'job_id = :owners',
      ExpressionAttributeValues: { ':owners': ownersPartition(lane) },
    });
    return items.map(({ item, waiting, announced, announced_at, last_turn }) => ({
      owner: item as string,
      waiting: waiting as number,
      announced: announced as number,
      announced_at: announced_at as number,
      last_turn: (last_turn as number | undefined) ?? 0,
    }));
  }

  async removeOwner(lane: LaneName, { owner, announced, announced_at }: WaitingOwner): Promise<void> {
    await unlessConditionFails(
      this.#client.send(
        new DeleteCommand({
          TableName: this.#table,
          Key: ownerKey(lane, owner),
          // The time too: after a removal the number starts again at 1.
          ConditionExpression: 'announced = :announced AND announced_at = :at',
          ExpressionAttributeValues: { ':announced': announced, ':at': announced_at },
        }),
      ),
    );
  }

  async next(lane: LaneName, owner: string, now: number, limit: number): Promise<readonly WaitingJob[]> {
    const key = queueKey(lane, owner);
    const [ready, due] = await Promise.all([
      this.#waiting(key, 'begins_with(queue_order, :from)', { ':from': READY }, limit),
      this.#waiting(
        key,
        'queue_order BETWEEN :from AND :to',
        { ':from': DEFERRED, ':to': `${DEFERRED}${new Date(now).toISOString()}~` },
        limit,
      ),
    ]);
    if (due.length === 0) return ready;
    const all = [...ready, ...due].sort(
      (a, b) => b.priority - a.priority || (a.created_at < b.created_at ? -1 : 1),
    );
    return all.slice(0, limit);
  }

  async isEmpty(lane: LaneName, owner: string): Promise<boolean> {
    return (await this.order(lane, owner, 1)).length === 0;
  }

  async order(lane: LaneName, owner: string, limit: number): Promise<readonly string[]> {
    const jobs = await this.#waiting(queueKey(lane, owner), undefined, {}, limit);
    return jobs.map(({ job_id }) => job_id);
  }

  async slots(lane: LaneName): Promise<readonly Slot[]> {
    const items = await this.#all({
      KeyConditionExpression: 'job_id = :slots',
      ExpressionAttributeValues: { ':slots': slotsPartition(lane) },
    });
    return items.map(({ item, slot_job, run, owner, since }) => ({
      lane,
      number: Number(item),
      job_id: slot_job as string,
      run: run as number,
      owner: owner as string,
      since: since as number,
    }));
  }

  async take(slot: Slot): Promise<'taken' | 'slot_taken' | 'not_waiting'> {
    const { lane, number, job_id, run, owner, since } = slot;
    const at = new Date(since).toISOString();
    let failed: readonly number[] = [];
    const outcome = await transact(
      this.#client,
      [
        {
          Put: {
            TableName: this.#table,
            Item: { ...slotKey(lane, number), slot_job: job_id, run, owner, since },
            ConditionExpression: 'attribute_not_exists(job_id)',
          },
        },
        {
          Update: {
            TableName: this.#table,
            Key: jobKey(job_id),
            UpdateExpression:
              'SET runs = :run, slot = :slot, #queue.left_at = :at, updated_at = :at REMOVE queue_key, queue_order ADD revision :one',
            ConditionExpression: 'attribute_exists(queue_key) AND runs = :before',
            ExpressionAttributeNames: { '#queue': 'queue' },
            ExpressionAttributeValues: {
              ':run': run,
              ':before': run - 1,
              ':slot': number,
              ':at': at,
              ':one': 1,
            },
          },
        },
      ],
      'DATA005',
      { onConflict: (indexes) => (failed = indexes) },
    );
    if (outcome === 'done') return 'taken';
    return failed.includes(1) ? 'not_waiting' : 'slot_taken';
  }

  async free({ lane, number, job_id, run }: Slot): Promise<boolean> {
    return unlessConditionFails(
      this.#client.send(
        new DeleteCommand({
          TableName: this.#table,
          Key: slotKey(lane, number),
          ConditionExpression: 'slot_job = :job AND run = :run',
          ExpressionAttributeValues: { ':job': job_id, ':run': run },
        }),
      ),
    );
  }

  async requeue(
    lane: LaneName,
    job: QueueJob,
    entry: QueueEntry,
    set: Readonly<Record<string, unknown>> = {},
  ): Promise<boolean> {
    const others = Object.keys(set);
    const update = new UpdateCommand({
      TableName: this.#table,
      Key: jobKey(job.job_id),
      UpdateExpression: `SET #queue = :entry, queue_key = :key, queue_order = :order, updated_at = :at${others
        .map((name) => `, #${name} = :${name}`)
        .join('')} ADD revision :one`,
      ConditionExpression:
        'attribute_not_exists(queue_key) AND runs = :runs AND #status IN (:pending, :running)',
      ExpressionAttributeNames: {
        '#queue': 'queue',
        '#status': 'status',
        ...Object.fromEntries(others.map((name) => [`#${name}`, name])),
      },
      ExpressionAttributeValues: {
        ...Object.fromEntries(others.map((name) => [`:${name}`, set[name]])),
        ':entry': entry,
        ':key': queueKey(lane, job.owner),
        ':order': orderOf(job, entry),
        ':at': entry.since,
        ':runs': job.runs,
        ':one': 1,
        ':pending': 'pending',
        ':running': 'running',
      },
    });
    return unlessConditionFails(retryOnConflict(() => this.#client.send(update)));
  }

  async #all(query: Omit<QueryCommandInput, 'TableName'>): Promise<Record<string, unknown>[]> {
    const items: Record<string, unknown>[] = [];
    const pages = paginateQuery(
      { client: this.#client },
      { TableName: this.#table, ConsistentRead: true, ...query },
    );
    for await (const page of pages) items.push(...(page.Items ?? []));
    return items;
  }

  async #waiting(
    key: string,
    condition: string | undefined,
    values: Readonly<Record<string, string>>,
    limit: number,
  ): Promise<WaitingJob[]> {
    const { Items = [] } = await this.#client.send(
      new QueryCommand({
        TableName: this.#table,
        IndexName: BY_QUEUE,
        KeyConditionExpression: condition ? `queue_key = :key AND ${condition}` : 'queue_key = :key',
        ExpressionAttributeValues: { ':key': key, ...values },
        Limit: limit,
      }),
    );
    return Items.map(({ job_id, priority, created_at, runs }) => ({
      job_id: job_id as string,
      priority: (priority as number | undefined) ?? 0,
      created_at: created_at as string,
      runs: runs as number,
    }));
  }
}

/** Order of jobs that may start at any time; deferred jobs follow, by their next start. */
const READY = '0#';
const DEFERRED = '1#';

function orderOf({ job_id, priority = 0, created_at }: QueueJob, { not_before }: QueueEntry): string {
  if (not_before) return `${DEFERRED}${not_before}#${job_id}`;
  const lacking = String(HIGHEST_PRIORITY - priority).padStart(2, '0');
  return `${READY}${lacking}#${created_at}#${job_id}`;
}

/** Attributes that put a new job into the index of waiting jobs. */
export function queueAttributes(lane: LaneName, job: QueueJob) {
  return { queue_key: queueKey(lane, job.owner), queue_order: orderOf(job, job.queue) };
}

function queueKey(lane: LaneName, owner: string): string {
  return `${lane}#${owner}`;
}

const ownersPartition = (lane: LaneName) => `#owners#${lane}`;
const slotsPartition = (lane: LaneName) => `#slots#${lane}`;

function ownerKey(lane: LaneName, owner: string) {
  return { job_id: ownersPartition(lane), item: owner };
}

function slotKey(lane: LaneName, number: number) {
  return { job_id: slotsPartition(lane), item: String(number).padStart(DIGITS, '0') };
}
