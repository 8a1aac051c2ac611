import { ConditionalCheckFailedException } from '@aws-sdk/client-dynamodb';
import { type DynamoDBDocumentClient, GetCommand, PutCommand } from '@aws-sdk/lib-dynamodb';
import type * as z from 'zod';
import { CodedError } from '#contract/errors.ts';
import { CollectionQueue, StoredCollection } from '#contract/stored-market-data.ts';
import type { CollectionStore } from '#domain/data/collection-queue.ts';
import { parseStored } from './stored-items.ts';

/** Partition of the collections. No exchange has such a name, so lists of series exclude its items. */
const PARTITION = '#collections';
const QUEUE = '#queue';
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
 * Collections and their queue, in the Series table, one item each. The attribute `stored` holds the whole value, because
 * a collection has a field `exchange` and that is the table's key. Reads are strongly consistent.
 */
export class DynamoCollectionStore implements CollectionStore {
  readonly #client: DynamoDBDocumentClient;
  readonly #table: string;

  constructor(client: DynamoDBDocumentClient, table: string) {
    this.#client = client;
    this.#table = table;
  }

  async create(collection: StoredCollection): Promise<StoredCollection> {
    const created = await this.#put(collection.collection_id, { ...collection, revision: 0 });
    return created ?? (await this.get(collection.collection_id))!;
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

  async #get<T>(name: string, schema: z.ZodType<T>): Promise<T | undefined> {
    const { Item } = await this.#client.send(
      new GetCommand({ TableName: this.#table, Key: this.#key(name), ConsistentRead: true }),
    );
    return Item && parseStored(schema, Item.stored, () => `The stored ${name}`);
  }

  /** Stores the next revision of an item; undefined if the stored revision differs. Revision 0: not stored yet. */
  async #put<T extends { readonly revision: number }>(name: string, item: T): Promise<T | undefined> {
    const { revision } = item;
    const next = { ...item, revision: revision + 1 };
    try {
      await this.#client.send(
        new PutCommand({
          TableName: this.#table,
          Item: { ...this.#key(name), revision: next.revision, stored: next },
          ...(revision === 0
            ? { ConditionExpression: 'attribute_not_exists(revision)' }
            : {
                ConditionExpression: 'revision = :revision',
                ExpressionAttributeValues: { ':revision': revision },
              }),
        }),
      );
      return next;
    } catch (error) {
      if (error instanceof ConditionalCheckFailedException) return undefined;
      throw error;
    }
  }

  #key(name: string) {
    return { exchange: PARTITION, series: name };
  }
}
