import {
  DeleteCommand,
  type DynamoDBDocumentClient,
  GetCommand,
  PutCommand,
  QueryCommand,
  type QueryCommandInput,
  UpdateCommand,
} from '@aws-sdk/lib-dynamodb';
import type { Grant } from '#contract/common/sharing-schemas.ts';
import { StoredSignals } from '#contract/market-data/stored-signals.ts';
import {
  type NewOwner,
  type OwnedResource,
  type StoredSharing,
  userPrincipal,
} from '#domain/access/access.ts';
import type { ListedSignals, SignalsStore } from '#domain/signals/signals-ports.ts';
import {
  batchGet,
  type Item,
  ownedAs,
  ownerValues,
  parseItem,
  sharedAs,
  sharedValues,
} from './stored-items.ts';
import { unlessConditionFails } from './transactions.ts';

/** Sort key of the record of a file. */
export const SIGNALS_ITEM = 'SIGNALS';
/** Partition of the list of all files. */
const ALL = 'signals#0';

const keyOf = (id: string) => ({ job_id: id, item: SIGNALS_ITEM });
const listOf = (owner: string) => `${userPrincipal(owner)}#signals`;

/** Records of files of signals: items of the Jobs table in two of its lists. */
export class DynamoSignalsStore implements SignalsStore {
  readonly sharing: StoredSharing = {
    find: (id) => this.find(id),
    share: (...args) => this.#share(...args),
    transfer: (id, before, after) => this.#transfer(id, before, after),
  };
  readonly #client: DynamoDBDocumentClient;
  readonly #table: string;

  constructor(client: DynamoDBDocumentClient, table: string) {
    this.#client = client;
    this.#table = table;
  }

  async create(signals: StoredSignals): Promise<StoredSignals> {
    const { signals_id, owner, created_at } = signals;
    const lists = { list: ALL, principal_kind: listOf(owner), position: `${created_at}#${signals_id}` };
    const put = new PutCommand({
      TableName: this.#table,
      Item: { ...keyOf(signals_id), ...lists, ...signals },
      ConditionExpression: 'attribute_not_exists(job_id)',
    });
    if (await unlessConditionFails(this.#client.send(put))) return signals;
    // Between the two calls the record may be removed: then the caller's is as good as any.
    return (await this.#read(signals_id)) ?? signals;
  }

  async find(id: string): Promise<StoredSignals | undefined> {
    const found = await this.#read(id);
    return found?.deleted_at === undefined ? found : undefined;
  }

  async list(owner: string, after: string | undefined, limit: number): Promise<readonly ListedSignals[]> {
    return this.#page({
      IndexName: 'by-principal',
      KeyConditionExpression: `principal_kind = :list${after === undefined ? '' : ' AND #position < :after'}`,
      ExpressionAttributeValues: { ':list': listOf(owner), ...(after !== undefined && { ':after': after }) },
      ...(after !== undefined && { ExpressionAttributeNames: { '#position': 'position' } }),
      ScanIndexForward: false,
      Limit: limit,
    });
  }

  async count(owner: string, max: number): Promise<number> {
    const { Count = 0 } = await this.#client.send(
      new QueryCommand({
        TableName: this.#table,
        IndexName: 'by-principal',
        KeyConditionExpression: 'principal_kind = :list',
        ExpressionAttributeValues: { ':list': listOf(owner) },
        Select: 'COUNT',
        Limit: max,
      }),
    );
    return Count;
  }

  async use(id: string, at: string): Promise<boolean> {
    return this.#set(id, 'last_used_at = :at', { ':at': at });
  }

  async keep(id: string, model: string, at: string): Promise<boolean> {
    return this.#set(id, 'registered_by = :model, registered_at = :at', { ':model': model, ':at': at });
  }

  async beginDeletion(
    { signals_id, last_used_at, registered_at, shared_with = [] }: StoredSignals,
    at: string,
  ): Promise<boolean> {
    const unregistered =
      registered_at === undefined ? 'attribute_not_exists(registered_at)' : 'registered_at = :registered';
    return unlessConditionFails(
      this.#client.send(
        new UpdateCommand({
          TableName: this.#table,
          Key: keyOf(signals_id),
          UpdateExpression: 'SET deleted_at = :at REMOVE principal_kind',
          ConditionExpression: `attribute_exists(job_id) AND ${unregistered} AND last_used_at = :used AND ${sharedAs(shared_with)}`,
          ExpressionAttributeValues: {
            ':at': at,
            ':used': last_used_at,
            ':shared': shared_with,
            ...(registered_at !== undefined && { ':registered': registered_at }),
          },
        }),
      ),
    );
  }

  async remove(id: string): Promise<void> {
    await this.#client.send(new DeleteCommand({ TableName: this.#table, Key: keyOf(id) }));
  }

  async oldest(after: string, limit: number): Promise<readonly ListedSignals[]> {
    return this.#page({
      IndexName: 'by-list',
      KeyConditionExpression: '#list = :list AND #position > :after',
      ExpressionAttributeNames: { '#list': 'list', '#position': 'position' },
      ExpressionAttributeValues: { ':list': ALL, ':after': after || ' ' },
      Limit: limit,
    });
  }

  /** Rows of an index, read from the table: an index lags behind and has other attributes. */
  async #page(query: Omit<QueryCommandInput, 'TableName'>): Promise<readonly ListedSignals[]> {
    const { Items = [] } = await this.#client.send(new QueryCommand({ TableName: this.#table, ...query }));
    const items = await batchGet({
      client: this.#client,
      table: this.#table,
      keys: Items.map(({ job_id }) => keyOf(String(job_id))),
      busy: 'DATA005',
    });
    const byId = new Map(items.map((item) => [item.job_id, item]));
    return Items.flatMap(({ job_id, position }) => {
      const item = byId.get(job_id);
      return item ? [{ position: String(position), signals: signalsOf(item) }] : [];
    });
  }

  async #read(id: string): Promise<StoredSignals | undefined> {
    const { Item } = await this.#client.send(
      new GetCommand({ TableName: this.#table, Key: keyOf(id), ConsistentRead: true }),
    );
    return Item && signalsOf(Item);
  }

  /** Sets attributes. False: the file is gone, or is being deleted. */
  #set(id: string, assignments: string, values: Readonly<Record<string, string>>): Promise<boolean> {
    return unlessConditionFails(
      this.#client.send(
        new UpdateCommand({
          TableName: this.#table,
          Key: keyOf(id),
          UpdateExpression: `SET ${assignments}`,
          ConditionExpression: 'attribute_exists(job_id) AND attribute_not_exists(deleted_at)',
          ExpressionAttributeValues: values,
        }),
      ),
    );
  }

  async #transfer(id: string, before: OwnedResource, after: NewOwner): Promise<'done' | 'conflict'> {
    const done = await unlessConditionFails(
      this.#client.send(
        new UpdateCommand({
          TableName: this.#table,
          Key: keyOf(id),
          UpdateExpression: 'SET #owner = :owner, shared_with = :grants, principal_kind = :list',
          ConditionExpression: `attribute_not_exists(deleted_at) AND ${ownedAs(before)}`,
          ExpressionAttributeNames: { '#owner': 'owner' },
          ExpressionAttributeValues: { ...ownerValues(before, after), ':list': listOf(after.owner) },
        }),
      ),
    );
    return done ? 'done' : 'conflict';
  }

  async #share(
    id: string,
    before: readonly Grant[],
    after: readonly Grant[],
    owner?: string,
  ): Promise<'done' | 'conflict'> {
    const done = await unlessConditionFails(
      this.#client.send(
        new UpdateCommand({
          TableName: this.#table,
          Key: keyOf(id),
          UpdateExpression: 'SET shared_with = :after',
          ConditionExpression: `attribute_exists(job_id) AND attribute_not_exists(deleted_at) AND ${sharedAs(before, owner)}`,
          ...(owner !== undefined && { ExpressionAttributeNames: { '#owner': 'owner' } }),
          ExpressionAttributeValues: { ...sharedValues(before, owner), ':after': after },
        }),
      ),
    );
    return done ? 'done' : 'conflict';
  }
}

function signalsOf(item: Item): StoredSignals {
  return parseItem(StoredSignals, item);
}
