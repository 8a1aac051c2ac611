import {
  DeleteCommand,
  type DynamoDBDocumentClient,
  GetCommand,
  paginateQuery,
  QueryCommand,
  UpdateCommand,
} from '@aws-sdk/lib-dynamodb';
import type { StoredDelivery, StoredWebhook } from '#contract/platform/stored-webhook.ts';
import {
  DELIVERY_PREFIX,
  PENDING_DELIVERY_PREFIX,
  WEBHOOK_COUNT_PARTITION,
  WEBHOOK_PARTITION,
} from '#contract/values/tables.ts';
import type { Clock } from '#domain/ports.ts';
import type {
  DeliveryStore,
  Lease,
  PendingDelivery,
  WebhookHealth,
  WebhookStore,
} from '#domain/webhooks/webhook-ports.ts';
import { type Item, queryFirst } from './stored-items.ts';
import { type Action, transact, unlessConditionFails } from './transactions.ts';

const webhookKey = (id: string) => ({ job_id: WEBHOOK_PARTITION, item: id });
const COUNT_KEY = { job_id: WEBHOOK_COUNT_PARTITION, item: WEBHOOK_COUNT_PARTITION } as const;
const deliveryKey = (webhook: string, id: string) => ({ job_id: `${DELIVERY_PREFIX}${webhook}`, item: id });
const pendingKey = (webhook: string, id: string) => ({
  job_id: `${PENDING_DELIVERY_PREFIX}${webhook}`,
  item: id,
});

/** An item without its keys and attributes of the lane. */
function shapeOf<T>({ job_id, item, lease_owner, lease_expires_at, wake_at, ...stored }: Item): T {
  return stored as T;
}

/** Webhooks: a partition of the Jobs table. */
export class DynamoWebhookStore implements WebhookStore {
  readonly #client: DynamoDBDocumentClient;
  readonly #table: string;

  constructor(client: DynamoDBDocumentClient, table: string) {
    this.#client = client;
    this.#table = table;
  }

  async created(): Promise<number> {
    const { Item } = await this.#client.send(
      new GetCommand({ TableName: this.#table, Key: COUNT_KEY, ConsistentRead: true }),
    );
    return Number(Item?.created ?? 0);
  }

  create(webhook: StoredWebhook, created: number): Promise<'done' | 'conflict'> {
    const Item = { ...webhookKey(webhook.webhook_id), ...webhook };
    const count = {
      TableName: this.#table,
      Key: COUNT_KEY,
      UpdateExpression: 'SET created = :next',
      ConditionExpression: created === 0 ? 'attribute_not_exists(created)' : 'created = :before',
      ExpressionAttributeValues: { ':next': created + 1, ...(created > 0 && { ':before': created }) },
    };
    return transact(this.#client, [{ Update: count }, { Put: { TableName: this.#table, Item } }], 'DATA005');
  }

  async find(id: string): Promise<StoredWebhook | undefined> {
    const item = await this.#read(id);
    return item && shapeOf(item);
  }

  async list(): Promise<readonly StoredWebhook[]> {
    const webhooks: StoredWebhook[] = [];
    const pages = paginateQuery(
      { client: this.#client },
      {
        TableName: this.#table,
        ConsistentRead: true,
        KeyConditionExpression: 'job_id = :webhooks',
        ExpressionAttributeValues: { ':webhooks': WEBHOOK_PARTITION },
      },
    );
    for await (const { Items = [] } of pages)
      webhooks.push(...Items.map((item) => shapeOf<StoredWebhook>(item)));
    return webhooks;
  }

  async change(id: string, revision: number, changed: Partial<StoredWebhook>): Promise<'done' | 'conflict'> {
    const done = await this.#set(id, changed, 'revision = :revision', { ':revision': revision });
    return done ? 'done' : 'conflict';
  }

  async record(id: string, health: Partial<WebhookHealth>): Promise<void> {
    // A user who has paused the webhook in the meantime decides its status.
    const { status, disabled_reason, ...rest } = health;
    await this.#set(id, rest, 'attribute_exists(webhook_id)', {});
    if (status !== undefined)
      await this.#set(id, { status, disabled_reason }, '#status = :active', { ':active': 'active' });
  }

  async remove(id: string): Promise<void> {
    await this.#client.send(new DeleteCommand({ TableName: this.#table, Key: webhookKey(id) }));
  }

  async lease(id: string, owner: string, now: number, until: number): Promise<Lease | 'gone'> {
    const free = 'attribute_not_exists(lease_owner) OR lease_owner = :owner OR lease_expires_at < :now';
    const leased = await this.#set(
      id,
      { lease_owner: owner, lease_expires_at: until },
      `attribute_exists(webhook_id) AND (${free})`,
      { ':owner': owner, ':now': now },
    );
    const item = await this.#read(id);
    if (!item) return 'gone';
    return { webhook: leased ? shapeOf(item) : null, planned: item.wake_at as number | undefined };
  }

  async plan(id: string, at: number): Promise<void> {
    await this.#set(id, { wake_at: at }, 'attribute_exists(webhook_id)', {});
  }

  async release(id: string, owner: string): Promise<void> {
    await unlessConditionFails(
      this.#client.send(
        new UpdateCommand({
          TableName: this.#table,
          Key: webhookKey(id),
          UpdateExpression: 'REMOVE lease_owner, lease_expires_at',
          ConditionExpression: 'lease_owner = :owner',
          ExpressionAttributeValues: { ':owner': owner },
        }),
      ),
    );
  }

  async #read(id: string): Promise<Item | undefined> {
    const Key = webhookKey(id);
    const { Item } = await this.#client.send(
      new GetCommand({ TableName: this.#table, Key, ConsistentRead: true }),
    );
    return Item;
  }

  /** Sets attributes under a condition, which may use `#status`. False: the condition does not hold. */
  #set(id: string, changed: Item, condition: string, values: Item): Promise<boolean> {
    const entries = Object.entries(changed).filter(([, value]) => value !== undefined);
    const names = entries.map(([name]) => name);
    if (condition.includes('#status') && !names.includes('status')) names.push('status');
    return unlessConditionFails(
      this.#client.send(
        new UpdateCommand({
          TableName: this.#table,
          Key: webhookKey(id),
          UpdateExpression: `SET ${entries.map(([name]) => `#${name} = :new_${name}`).join(', ')}`,
          ConditionExpression: condition,
          ExpressionAttributeNames: Object.fromEntries(names.map((name) => [`#${name}`, name])),
          ExpressionAttributeValues: {
            ...values,
            ...Object.fromEntries(entries.map(([name, value]) => [`:new_${name}`, value])),
          },
        }),
      ),
    );
  }
}

/**
 * Deliveries: a partition of the Jobs table for the log of a webhook, and one for those of them that wait. Both change in one
 * transaction, and reads of both are strongly consistent: an index could hide a delivery from the worker that it was added for.
 */
export class DynamoDeliveryStore implements DeliveryStore {
  readonly #client: DynamoDBDocumentClient;
  readonly #table: string;
  readonly #clock: Clock;

  constructor(client: DynamoDBDocumentClient, table: string, clock: Clock) {
    this.#client = client;
    this.#table = table;
    this.#clock = clock;
  }

  async add(delivery: StoredDelivery): Promise<boolean> {
    const actions = this.#write(delivery, { ConditionExpression: 'attribute_not_exists(job_id)' });
    return (await transact(this.#client, actions, 'DATA005')) === 'done';
  }

  async find(webhookId: string, deliveryId: string): Promise<StoredDelivery | undefined> {
    const Key = deliveryKey(webhookId, deliveryId);
    const { Item } = await this.#client.send(
      new GetCommand({ TableName: this.#table, Key, ConsistentRead: true }),
    );
    return Item && !this.#isPast(Item) ? shapeOf(Item) : undefined;
  }

  async list(
    webhookId: string,
    after: string | undefined,
    limit: number,
  ): Promise<readonly StoredDelivery[]> {
    const items = await queryFirst(
      this.#client,
      {
        TableName: this.#table,
        KeyConditionExpression: after === undefined ? 'job_id = :log' : 'job_id = :log AND #item < :after',
        ...(after !== undefined && { ExpressionAttributeNames: { '#item': 'item' } }),
        ExpressionAttributeValues: {
          ':log': `${DELIVERY_PREFIX}${webhookId}`,
          ...(after !== undefined && { ':after': after }),
        },
        ScanIndexForward: false,
      },
      limit,
    );
    return items.filter((item) => !this.#isPast(item)).map((item) => shapeOf(item));
  }

  async pending(webhookId: string, limit: number): Promise<readonly PendingDelivery[]> {
    const { Items = [] } = await this.#client.send(
      new QueryCommand({
        TableName: this.#table,
        ConsistentRead: true,
        KeyConditionExpression: 'job_id = :pending',
        ExpressionAttributeValues: { ':pending': `${PENDING_DELIVERY_PREFIX}${webhookId}` },
        Limit: limit,
      }),
    );
    return Items.filter((item) => !this.#isPast(item)).map(({ item, due }) => ({
      delivery_id: String(item),
      due: Number(due),
    }));
  }

  async save(delivery: StoredDelivery): Promise<boolean> {
    const actions = this.#write(delivery, {
      ConditionExpression: 'revision = :before',
      ExpressionAttributeValues: { ':before': delivery.revision - 1 },
    });
    return (await transact(this.#client, actions, 'DATA005')) === 'done';
  }

  /** DynamoDB deletes expired items within days. */
  #isPast({ expires_at }: Item): boolean {
    return Number(expires_at) * 1_000 <= this.#clock.now();
  }

  #write(
    delivery: StoredDelivery,
    condition: {
      readonly ConditionExpression: string;
      readonly ExpressionAttributeValues?: Record<string, unknown>;
    },
  ): Action[] {
    const { webhook_id, delivery_id, next_attempt_at, expires_at } = delivery;
    const TableName = this.#table;
    const Key = pendingKey(webhook_id, delivery_id);
    const waiting: Action =
      next_attempt_at === null
        ? { Delete: { TableName, Key } }
        : { Put: { TableName, Item: { ...Key, due: Date.parse(next_attempt_at), expires_at } } };
    const Item = { ...deliveryKey(webhook_id, delivery_id), ...delivery };
    return [{ Put: { TableName, Item, ...condition } }, waiting];
  }
}
