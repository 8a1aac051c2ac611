import { type DynamoDBDocumentClient, GetCommand, paginateQuery, QueryCommand } from '@aws-sdk/lib-dynamodb';
import type * as z from 'zod';
import type { Grant } from '#contract/common/sharing-schemas.ts';
import { CatalogRow, RegistryEvent, StoredModel, StoredVersion } from '#contract/registry/stored-registry.ts';
import { type NewOwner, type OwnedResource, userPrincipal } from '#domain/access/access.ts';
import type { ChallengeListener } from '#domain/challenges/challenge-store.ts';
import type { Page } from '#domain/ports.ts';
import type { IdempotencyKey, IdempotencyRecord } from '#domain/transitions/apply-transition.ts';
import { comesBefore, isUndefined, UNDEFINED_KEY } from '#domain/transitions/catalog-order.ts';
import type {
  CatalogEntry,
  CatalogFilter,
  CatalogPosition,
  CatalogSort,
  ModelSharing,
  ModelState,
  RegistryStore,
} from '#domain/transitions/registry-store.ts';
import { DynamoApprovalStore } from './approval-store.ts';
import { decodeCursor, encodeCursor, invalidCursor } from './cursor.ts';
import { mergeSorted } from './merge-sorted.ts';
import {
  COUNTS_KEY,
  EVENT_PREFIX,
  idempotencyKey,
  isEventSortKey,
  modelKey,
  partitionOf,
  readItem,
  SORT_ATTRIBUTES,
  VERSION_PREFIX,
  versionKey,
} from './registry-item.ts';
import {
  commitTransition,
  type RegistryTable,
  readIdempotencyRecord,
  saveIdempotencyRecord,
} from './registry-transaction.ts';
import {
  batchGet,
  ownedAs,
  ownerValues,
  projectionOf,
  queryFirst,
  sharedAs,
  sharedValues,
} from './stored-items.ts';
import { type Action, transact } from './transactions.ts';

/** The Registry table. Reads of a model are strongly consistent, the catalog is not. */
export class DynamoRegistryStore implements RegistryStore {
  readonly sharing: DynamoModelSharing;
  readonly approvals: DynamoApprovalStore;
  readonly #store: RegistryTable;
  readonly #client: DynamoDBDocumentClient;
  readonly #table: string;

  /** @param client throws SVC005 when DynamoDB is unavailable */
  constructor(
    client: DynamoDBDocumentClient,
    table: string,
    onChallengeChange: ChallengeListener = async () => {},
  ) {
    this.#store = { client, table, onChallengeChange };
    this.#client = client;
    this.#table = table;
    this.sharing = new DynamoModelSharing(client, table);
    this.approvals = new DynamoApprovalStore(client, table);
  }

  async read(model: string, versions: readonly string[], key?: IdempotencyKey | null): Promise<ModelState> {
    const keys = [
      modelKey(model),
      ...[...new Set(versions)].map((version) => versionKey(model, version)),
      ...(key ? [idempotencyKey(key)] : []),
    ];
    const wanted = keys.map((each) => ({ ...each }));
    const items = await batchGet({ client: this.#client, table: this.#table, keys: wanted, busy: 'SVC005' });
    const state: { model?: StoredModel; idempotencyRecord?: IdempotencyRecord } = {};
    const found = new Map<string, StoredVersion>();
    for (const item of items) {
      if (item.sk === 'META') state.model = readItem(StoredModel, item);
      else if (String(item.sk).startsWith(VERSION_PREFIX)) {
        const version = readItem(StoredVersion, item);
        found.set(version.version, version);
      } else state.idempotencyRecord = readIdempotencyRecord(item);
    }
    return { model: state.model, versions: found, idempotencyRecord: state.idempotencyRecord };
  }

  async versions(model: string): Promise<readonly StoredVersion[]> {
    const versions: StoredVersion[] = [];
    for await (const version of this.versionsBelow(model, null)) versions.push(version);
    return versions;
  }

  async hasRun(model: string, jobId: string): Promise<boolean> {
    const query = this.#itemsOf(model, VERSION_PREFIX);
    const pages = paginateQuery(
      { client: this.#client },
      {
        ...query,
        ConsistentRead: true,
        FilterExpression: 'backtest_run_id = :run',
        ProjectionExpression: 'sk',
        ExpressionAttributeValues: { ...query.ExpressionAttributeValues, ':run': jobId },
      },
    );
    for await (const { Items = [] } of pages) if (Items.length > 0) return true;
    return false;
  }

  async *versionsBelow(model: string, version: string | null, size?: number): AsyncGenerator<StoredVersion> {
    const pages = paginateQuery(
      { client: this.#client, ...(size !== undefined && { pageSize: size }) },
      {
        ...this.#itemsOf(model, VERSION_PREFIX),
        ConsistentRead: true,
        ExclusiveStartKey: version === null ? undefined : { ...versionKey(model, version) },
      },
    );
    for await (const { Items = [] } of pages) {
      for (const item of Items) yield readItem(StoredVersion, item);
    }
  }

  async endedVersions(model: string): Promise<readonly EndedVersion[]> {
    const query = this.#itemsOf(model, VERSION_PREFIX);
    const pages = paginateQuery(
      { client: this.#client },
      {
        ...query,
        ConsistentRead: true,
        ...projectionOf(Object.keys(EndedVersion.shape)),
        FilterExpression: '#rolled_back = :true OR #stopped = :true',
        ExpressionAttributeValues: { ...query.ExpressionAttributeValues, ':true': true },
      },
    );
    const ended: EndedVersion[] = [];
    for await (const { Items = [] } of pages) {
      for (const item of Items) ended.push(readItem(EndedVersion, item));
    }
    return ended;
  }

  async endedVersionsOf(models: readonly string[]): Promise<ReadonlyMap<string, readonly EndedVersion[]>> {
    const keys = [...new Set(models)].map((model) => ({ ...modelKey(model) }));
    const attributes = ['model_name', 'has_ended_versions'];
    const found = await batchGet({
      client: this.#client,
      table: this.#table,
      keys,
      attributes,
      busy: 'SVC005',
    });
    const ended = found.filter(({ has_ended_versions }) => has_ended_versions !== false);
    const named = ended.map(({ model_name }) => String(model_name));
    return new Map(
      await Promise.all(named.map(async (model) => [model, await this.endedVersions(model)] as const)),
    );
  }

  async history(model: string, limit: number, cursor: string | null): Promise<Page<RegistryEvent>> {
    const scope = { list: 'history', model };
    const after = cursor === null ? undefined : decodeCursor(cursor, scope, 1)[0]!;
    if (after !== undefined && !isEventSortKey(after)) throw invalidCursor();
    const items = await queryFirst(
      this.#client,
      {
        ...this.#itemsOf(model, EVENT_PREFIX),
        ConsistentRead: true,
        ExclusiveStartKey: after === undefined ? undefined : { pk: partitionOf(model), sk: after },
      },
      // One item more than the limit shows that another page follows.
      limit + 1,
    );
    const more = items.length > limit;
    const shown = items.slice(0, limit);
    return {
      items: shown.map((item) => readItem(RegistryEvent, item)),
      next: more ? encodeCursor([String(shown.at(-1)!.sk)], scope) : null,
    };
  }

  async eventAt(model: string, at: string): Promise<RegistryEvent | undefined> {
    const { Items = [] } = await this.#client.send(
      new QueryCommand({
        TableName: this.#table,
        ConsistentRead: true,
        ScanIndexForward: false,
        KeyConditionExpression: 'pk = :model AND sk BETWEEN :first AND :last',
        ExpressionAttributeValues: {
          ':model': partitionOf(model),
          ':first': EVENT_PREFIX,
          // Sorts after every sequence number of that time.
          ':last': `${EVENT_PREFIX}${at}#~`,
        },
        Limit: 1,
      }),
    );
    return Items[0] && readItem(RegistryEvent, Items[0]);
  }

  async *productionChanges(model: string, until: string | null): AsyncGenerator<RegistryEvent> {
    const pages = paginateQuery(
      { client: this.#client },
      {
        ...this.#itemsOf(model, EVENT_PREFIX),
        ConsistentRead: true,
        // Sorts after every sequence number of that time.
        ...(until !== null && {
          ExclusiveStartKey: { pk: partitionOf(model), sk: `${EVENT_PREFIX}${until}#~` },
        }),
      },
    );
    for await (const { Items = [] } of pages) {
      for (const item of Items) {
        const event = readItem(RegistryEvent, item);
        if (event.production !== event.previous_production) yield event;
      }
    }
  }

  commit(write: Parameters<RegistryStore['commit']>[0]): Promise<'done' | 'conflict'> {
    return commitTransition(this.#store, write);
  }

  saveIdempotencyRecord(record: IdempotencyRecord): Promise<'done' | 'conflict'> {
    return saveIdempotencyRecord(this.#store, record);
  }

  catalog(
    filter: CatalogFilter,
    sort: CatalogSort,
    after: CatalogPosition | null,
  ): AsyncIterable<CatalogEntry> {
    const stages = filter.stage ? [filter.stage] : (['Production', 'Staging'] as const);
    return readCatalog({ client: this.#client, table: this.#table, sort, after }, stages);
  }

  async catalogCount({ stage }: CatalogFilter): Promise<number> {
    const { Item = {} } = await this.#client.send(
      new GetCommand({ TableName: this.#table, Key: COUNTS_KEY, ConsistentRead: true }),
    );
    const { Production = 0, Staging = 0 } = Item as Partial<Record<'Production' | 'Staging', number>>;
    if (!stage) return Production + Staging;
    return stage === 'Production' ? Production : Staging;
  }

  /** Query of a model's items of one kind, descending. */
  #itemsOf(model: string, prefix: string) {
    return {
      TableName: this.#table,
      ScanIndexForward: false,
      KeyConditionExpression: 'pk = :model AND begins_with(sk, :prefix)',
      ExpressionAttributeValues: { ':model': partitionOf(model), ':prefix': prefix },
    };
  }
}

/** Part of a version that {@link DynamoRegistryStore.endedVersions} reads. */
const EndedVersion = StoredVersion.pick({
  version: true,
  backtest_run_id: true,
  rolled_back: true,
  rolled_back_reason: true,
  stopped: true,
  stopped_reason: true,
});
type EndedVersion = z.infer<typeof EndedVersion>;

const SharedModel = StoredModel.pick({ model_name: true, owner: true, shared_with: true });
const SHARING_ATTRIBUTES = ['pk', 'sk', ...Object.keys(SharedModel.shape)];

/** Owners and grants of models. An item `ACCESS#principal` / `MODEL#name` per grant lists the models of a principal. */
class DynamoModelSharing implements ModelSharing {
  readonly #client: DynamoDBDocumentClient;
  readonly #table: string;

  constructor(client: DynamoDBDocumentClient, table: string) {
    this.#client = client;
    this.#table = table;
  }

  async find(model: string): Promise<OwnedResource | undefined> {
    const { Item } = await this.#client.send(
      new GetCommand({ TableName: this.#table, Key: { ...modelKey(model) }, ConsistentRead: true }),
    );
    return Item && readItem(StoredModel, Item);
  }

  async findMany(models: readonly string[]): Promise<ReadonlyMap<string, OwnedResource>> {
    const keys = [...new Set(models)].map((model) => ({ ...modelKey(model) }));
    const read = { client: this.#client, table: this.#table, keys, attributes: SHARING_ATTRIBUTES };
    const items = await batchGet({ ...read, busy: 'SVC005' });
    return new Map(items.map((item) => [String(item.model_name), readItem(SharedModel, item)]));
  }

  async sharedWith(principals: readonly string[]): Promise<ReadonlySet<string>> {
    const found = await Promise.all(principals.map((principal) => this.#sharedWith(principal)));
    return new Set(found.flat());
  }

  async share(
    model: string,
    before: readonly Grant[],
    after: readonly Grant[],
    owner?: string,
  ): Promise<'done' | 'conflict'> {
    const kept = new Set(after.map(({ principal }) => principal));
    const removed = before.filter(({ principal }) => !kept.has(principal));
    return transact(
      this.#client,
      [
        {
          Update: {
            TableName: this.#table,
            Key: { ...modelKey(model) },
            UpdateExpression: 'SET shared_with = :after',
            // A stage transition writes the whole model item, with the same condition.
            ConditionExpression: sharedAs(before, owner),
            ...(owner !== undefined && { ExpressionAttributeNames: { '#owner': 'owner' } }),
            ExpressionAttributeValues: { ...sharedValues(before, owner), ':after': after },
          },
        },
        ...after.map(({ principal }) => ({
          Put: { TableName: this.#table, Item: { ...accessKey(principal, model), model_name: model } },
        })),
        // Removes the model's name. Not a delete: that permission would cover models too.
        ...removed.map(({ principal }) => ({
          Put: { TableName: this.#table, Item: accessKey(principal, model) },
        })),
      ],
      'SVC005',
    );
  }

  async transfer(model: string, before: OwnedResource, after: NewOwner): Promise<'done' | 'conflict'> {
    const saved = await transact(
      this.#client,
      [
        {
          Update: {
            TableName: this.#table,
            Key: { ...modelKey(model) },
            UpdateExpression: 'SET #owner = :owner, shared_with = :grants',
            ConditionExpression: ownedAs(before),
            ExpressionAttributeNames: { '#owner': 'owner' },
            ExpressionAttributeValues: ownerValues(before, after),
          },
        },
        // The owner needs no grant.
        { Put: { TableName: this.#table, Item: accessKey(userPrincipal(after.owner), model) } },
        // Whatever ends this process, repair gives the rows of the catalog the owner.
        { Put: { TableName: this.#table, Item: { ...transferKey(model), model_name: model } } },
      ],
      'SVC005',
    );
    return saved === 'done' ? this.#finishTransfer(model) : saved;
  }

  async finishTransfers(): Promise<void> {
    const pages = paginateQuery(
      { client: this.#client },
      {
        TableName: this.#table,
        ConsistentRead: true,
        KeyConditionExpression: 'pk = :partition AND begins_with(sk, :prefix)',
        FilterExpression: 'attribute_exists(model_name)',
        ExpressionAttributeValues: { ':partition': TRANSFERS.pk, ':prefix': TRANSFERS.sk },
      },
    );
    for await (const { Items = [] } of pages) {
      for (const { model_name } of Items) await this.#finishTransfer(String(model_name));
    }
  }

  /**
   * Gives the rows of the catalog the owner of the model, and removes the mark of its transfer. Each write requires that owner, so a
   * transfer that finishes late does not undo a later one. After a conflict the caller repeats all of it.
   */
  async #finishTransfer(model: string): Promise<'done' | 'conflict'> {
    const owner = (await this.find(model))?.owner;
    if (owner === undefined) return 'conflict';
    const stale = await this.#rowsOfOthers(model, owner);
    for (let at = 0; at < stale.length; at += ROWS_PER_TRANSACTION) {
      const updates = stale.slice(at, at + ROWS_PER_TRANSACTION).map(({ pk, sk, catalog_row: row }) => ({
        Update: {
          TableName: this.#table,
          Key: { pk, sk },
          UpdateExpression: 'SET catalog_row = :after',
          ConditionExpression: 'catalog_row = :before',
          ExpressionAttributeValues: {
            ':before': row,
            ':after': JSON.stringify({ ...(JSON.parse(String(row)) as CatalogRow), owner }),
          },
        },
      }));
      if ((await this.#writeFor(model, owner, updates)) === 'conflict') return 'conflict';
    }
    // Removes the model's name: no service may delete items of this table.
    return this.#writeFor(model, owner, [{ Put: { TableName: this.#table, Item: transferKey(model) } }]);
  }

  /** Writes all or nothing while the model has that owner. */
  #writeFor(model: string, owner: string, actions: readonly Action[]): Promise<'done' | 'conflict'> {
    const unchanged = {
      TableName: this.#table,
      Key: { ...modelKey(model) },
      // Not a condition check, which is a permission of its own.
      UpdateExpression: 'SET #owner = :owner',
      ConditionExpression: '#owner = :owner',
      ExpressionAttributeNames: { '#owner': 'owner' },
      ExpressionAttributeValues: { ':owner': owner },
    };
    return transact(this.#client, [{ Update: unchanged }, ...actions], 'SVC005');
  }

  /** Rows of the catalog of a model that name another owner. */
  async #rowsOfOthers(model: string, owner: string): Promise<Record<string, unknown>[]> {
    const pages = paginateQuery(
      { client: this.#client },
      {
        TableName: this.#table,
        ConsistentRead: true,
        KeyConditionExpression: 'pk = :model AND begins_with(sk, :prefix)',
        FilterExpression: 'attribute_exists(catalog_row)',
        ProjectionExpression: 'pk, sk, catalog_row',
        ExpressionAttributeValues: { ':model': partitionOf(model), ':prefix': VERSION_PREFIX },
      },
    );
    const items: Record<string, unknown>[] = [];
    for await (const { Items = [] } of pages) items.push(...Items);
    return items.filter(({ catalog_row: row }) => (JSON.parse(String(row)) as CatalogRow).owner !== owner);
  }

  async #sharedWith(principal: string): Promise<string[]> {
    const pages = paginateQuery(
      { client: this.#client },
      {
        TableName: this.#table,
        ConsistentRead: true,
        KeyConditionExpression: 'pk = :principal',
        ExpressionAttributeValues: { ':principal': `ACCESS#${principal}` },
      },
    );
    const models: string[] = [];
    for await (const { Items = [] } of pages) {
      for (const { model_name } of Items) if (model_name) models.push(String(model_name));
    }
    return models;
  }
}

function accessKey(principal: string, model: string) {
  return { pk: `ACCESS#${principal}`, sk: `MODEL#${model}` };
}

/** Start of the keys of marks of transfers whose catalog rows may have the owner before. */
const TRANSFERS = { pk: COUNTS_KEY.pk, sk: 'TRANSFER#' } as const;
/** Rows of up to some KB, of at most 4 MB and 100 items in a transaction. */
const ROWS_PER_TRANSACTION = 50;

function transferKey(model: string) {
  return { pk: TRANSFERS.pk, sk: `${TRANSFERS.sk}${model}` };
}

/** Rows of the first read of a stage: enough for a page of 100 near the start. Later reads are of 1 MB. */
const FIRST_READ = 150;

interface CatalogQuery {
  readonly client: DynamoDBDocumentClient;
  readonly table: string;
  readonly sort: CatalogSort;
  /** Continues after this row; null: from the start. */
  readonly after: CatalogPosition | null;
}

/** Rows of several stages in one order. Each stage is a partition of the index; the reads are merged. */
function readCatalog(
  query: CatalogQuery,
  stages: readonly CatalogRow['stage'][],
): AsyncIterable<CatalogEntry> {
  const sources = stages.map((stage) => readStage(query, stage));
  return mergeSorted(sources, (a, b) => comesBefore(a.position, b.position, query.sort.order));
}

/** Part of an index that is read in one direction: the keys beyond a key, null for all. */
interface IndexPart {
  readonly order: CatalogSort['order'];
  readonly after: string | null;
}

/** Parts of an index in the order of the catalog, after a position. Descending, the undefined values at its end come last. */
function partsOf({ field, order }: CatalogSort, after: CatalogPosition | null): IndexPart[] {
  const key = after?.[0] ?? null;
  if (order === 'asc' || field === 'name') return [{ order, after: key }];
  if (after && isUndefined(after)) return [{ order: 'asc', after: key }];
  return [
    { order, after: key ?? UNDEFINED_KEY },
    { order: 'asc', after: UNDEFINED_KEY },
  ];
}

async function* readStage(
  query: CatalogQuery,
  stage: CatalogRow['stage'],
): AsyncGenerator<CatalogEntry, void> {
  for (const part of partsOf(query.sort, query.after)) yield* readPart(query, stage, part);
}

async function* readPart(
  { client, table, sort }: CatalogQuery,
  stage: CatalogRow['stage'],
  { order, after }: IndexPart,
): AsyncGenerator<CatalogEntry, void> {
  const attribute = SORT_ATTRIBUTES[sort.field];
  const beyond = order === 'asc' ? '>' : '<';
  let limit: number | undefined = FIRST_READ;
  let from: Record<string, unknown> | undefined;
  do {
    const { Items = [], LastEvaluatedKey } = await client.send(
      new QueryCommand({
        TableName: table,
        IndexName: `catalog-by-${sort.field}`,
        ScanIndexForward: order === 'asc',
        KeyConditionExpression: after ? `#catalog = :stage AND #sort ${beyond} :after` : '#catalog = :stage',
        ExpressionAttributeNames: { '#catalog': 'catalog', ...(after && { '#sort': attribute }) },
        ExpressionAttributeValues: { ':stage': stage, ...(after && { ':after': after }) },
        ExclusiveStartKey: from,
        Limit: limit,
      }),
    );
    for (const item of Items) {
      const row = readItem(CatalogRow, JSON.parse(String(item.catalog_row)));
      yield { row, position: [String(item[attribute]), row.model_name, row.version] };
    }
    from = LastEvaluatedKey;
    limit = undefined;
  } while (from);
}
