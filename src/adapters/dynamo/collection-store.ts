import { ConditionalCheckFailedException } from '@aws-sdk/client-dynamodb';
import { type DynamoDBDocumentClient, GetCommand, PutCommand, QueryCommand } from '@aws-sdk/lib-dynamodb';
import type * as z from 'zod';
import {
  CollectionQueue,
  type CollectionStatus,
  StoredCollection,
} from '#contract/market-data/stored-market-data.ts';
import { CodedError } from '#contract/values/errors.ts';
import { COLLECTION_LIMITS } from '#contract/values/market-data-limits.ts';
import type { CollectionStore } from '#domain/data/collection-queue.ts';
import type { Page } from '#domain/ports.ts';
import { decodeCursor, encodeCursor } from './cursor.ts';
import { batchGet, type Item, parseStored } from './stored-items.ts';
import { transact } from './transactions.ts';

/** Partition of the collections. No exchange has such a name, so lists of series exclude its items. */
const PARTITION = '#collections';
const QUEUE = '#queue';
/** Partition of the list: ids derived from an Idempotency-Key are not in the order of creation. */
const LIST = '#collection-list';
/** Rows of a read of a filtered list. */
const FILTERED_ROWS = 100;
/** An attempt fails when another request changed the queue in the meantime. Up to 20 collections wait. */
const QUEUE_ATTEMPTS = 50;
const EMPTY: CollectionQueue = {
  schema_version: 2,
  revision: 0,
  ids: [],
  lease_owner: null,
  lease_expires_at: 0,
};

/**
 * Collections and their queue, in the Series table, one item each, and a row of the list for each collection. The attribute `stored`
 * holds the whole value, because a collection has a field `exchange` and that is the table's key. Reads are strongly consistent.
 */
export class DynamoCollectionStore implements CollectionStore {
  readonly #client: DynamoDBDocumentClient;
  readonly #table: string;

  constructor(client: DynamoDBDocumentClient, table: string) {
    this.#client = client;
    this.#table = table;
  }

  async create(collection: StoredCollection): Promise<StoredCollection> {
    const { collection_id: id, created_at } = collection;
    const created = { ...collection, revision: 1 };
    const row = { exchange: LIST, series: `${created_at}#${id}`, collection_id: id };
    const done = await transact(
      this.#client,
      [{ Put: this.#putOf(id, created) }, { Put: { TableName: this.#table, Item: row } }],
      'DATA005',
    );
    const stored = done === 'done' ? created : await this.get(id);
    if (stored) return stored;
    throw new CodedError('DATA005', { message: `Write conflict: ${id} was not stored. Retry the request.` });
  }

  async list(
    status: CollectionStatus | undefined,
    limit: number,
    cursor: string | null,
  ): Promise<Page<StoredCollection>> {
    const scope = { list: 'collections', status: status ?? null };
    let [after] = cursor === null ? [] : decodeCursor(cursor, scope, 1);
    const items: StoredCollection[] = [];
    for (let read = 0; read < COLLECTION_LIMITS.read; ) {
      // One row more than needed shows that another page follows.
      const rows = await this.#rows(after, status === undefined ? limit + 1 : FILTERED_ROWS);
      const found = await this.#getMany(rows.items.map((row) => String(row.collection_id)));
      for (const row of rows.items) {
        if (items.length === limit) return { items, next: encodeCursor([after!], scope) };
        after = String(row.series);
        const collection = found.get(String(row.collection_id));
        if (collection && (status === undefined || collection.status === status)) items.push(collection);
      }
      if (rows.isEnd) return { items, next: null };
      read += rows.items.length;
    }
    return { items, next: after === undefined ? null : encodeCursor([after], scope) };
  }

  get(id: string): Promise<StoredCollection | undefined> {
    return this.#get(id, StoredCollection);
  }

  update(collection: StoredCollection): Promise<StoredCollection | undefined> {
    return this.#put(collection.collection_id, collection);
  }

  async changeQueue(change: (queue: CollectionQueue) => CollectionQueue): Promise<CollectionQueue> {
    for (let attempt = 0; attempt < QUEUE_ATTEMPTS; attempt++) {
      const queue = (await this.#get(QUEUE, CollectionQueue)) ?? EMPTY;
      const changed = change(queue);
      if (changed === queue) return queue;
      const written = await this.#put(QUEUE, changed);
      if (written) return written;
    }
    throw new CodedError('DATA005', {
      message: `Write conflict: the collection queue changed during ${QUEUE_ATTEMPTS} attempts. Retry the request.`,
    });
  }

  async #rows(after: string | undefined, limit: number): Promise<{ items: Item[]; isEnd: boolean }> {
    const { Items = [], LastEvaluatedKey } = await this.#client.send(
      new QueryCommand({
        TableName: this.#table,
        ConsistentRead: true,
        ScanIndexForward: false,
        KeyConditionExpression: 'exchange = :list',
        ExpressionAttributeValues: { ':list': LIST },
        Limit: limit,
        ...(after !== undefined && { ExclusiveStartKey: { exchange: LIST, series: after } }),
      }),
    );
    return { items: Items, isEnd: LastEvaluatedKey === undefined };
  }

  async #getMany(ids: readonly string[]): Promise<ReadonlyMap<string, StoredCollection>> {
    const keys = ids.map((id) => this.#key(id));
    const items = await batchGet({ client: this.#client, table: this.#table, keys, busy: 'DATA005' });
    return new Map(items.map((item) => [String(item.series), readStored(StoredCollection, item)]));
  }

  async #get<T>(name: string, schema: z.ZodType<T>): Promise<T | undefined> {
    const { Item } = await this.#client.send(
      new GetCommand({ TableName: this.#table, Key: this.#key(name), ConsistentRead: true }),
    );
    return Item && readStored(schema, Item);
  }

  /** Stores the next revision of an item; undefined if the stored revision differs. Revision 0: not stored yet. */
  async #put<T extends { readonly revision: number }>(name: string, item: T): Promise<T | undefined> {
    const next = { ...item, revision: item.revision + 1 };
    try {
      await this.#client.send(new PutCommand(this.#putOf(name, next)));
      return next;
    } catch (error) {
      if (error instanceof ConditionalCheckFailedException) return undefined;
      throw error;
    }
  }

  /** The write of an item on the revision before its own. */
  #putOf<T extends { readonly revision: number }>(name: string, stored: T) {
    const { revision } = stored;
    return {
      TableName: this.#table,
      Item: { ...this.#key(name), revision, stored },
      ...(revision === 1
        ? { ConditionExpression: 'attribute_not_exists(revision)' }
        : {
            ConditionExpression: 'revision = :before',
            ExpressionAttributeValues: { ':before': revision - 1 },
          }),
    };
  }

  #key(name: string) {
    return { exchange: PARTITION, series: name };
  }
}

function readStored<T>(schema: z.ZodType<T>, item: Item): T {
  return parseStored(schema, item.stored, () => `The stored ${String(item.series)}`);
}
