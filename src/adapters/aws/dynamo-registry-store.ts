import { type DynamoDBDocumentClient, GetCommand, paginateQuery, QueryCommand } from '@aws-sdk/lib-dynamodb';
import { RegistryEvent, StoredModel, StoredVersion } from '#contract/stored-registry.ts';
import type { ChallengeListener } from '#domain/challenges/challenge-store.ts';
import type { Page } from '#domain/ports.ts';
import type { IdempotencyKey, IdempotencyRecord } from '#domain/transitions/apply-transition.ts';
import type {
  CatalogEntry,
  CatalogFilter,
  CatalogPosition,
  CatalogSort,
  ModelState,
  RegistryStore,
} from '#domain/transitions/registry-store.ts';
import { batchGet } from './batch-get.ts';
import { brokenCursor, decodeCursor, encodeCursor } from './cursor.ts';
import { DynamoModelSharing } from './model-sharing.ts';
import { readCatalog } from './registry-catalog.ts';
import {
  COUNTS_KEY,
  EVENT_PREFIX,
  idempotencyKey,
  isEventSortKey,
  modelKey,
  partitionOf,
  readItem,
  VERSION_PREFIX,
  versionKey,
} from './registry-item.ts';
import {
  commitTransition,
  type RegistryTable,
  readIdempotencyRecord,
  saveIdempotencyRecord,
} from './registry-transaction.ts';

/** The Registry table. Reads of a model are strongly consistent, the catalog is not. */
export class DynamoRegistryStore implements RegistryStore {
  readonly sharing: DynamoModelSharing;
  readonly #store: RegistryTable;
  readonly #client: DynamoDBDocumentClient;
  readonly #table: string;

  /** @param client one whose failures are SVC005 */
  constructor(
    client: DynamoDBDocumentClient,
    table: string,
    onChallengeChange: ChallengeListener = async () => {},
  ) {
    this.#store = { client, table, onChallengeChange };
    this.#client = client;
    this.#table = table;
    this.sharing = new DynamoModelSharing(client, table);
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
    const pages = paginateQuery(
      { client: this.#client },
      { ...this.#itemsOf(model, VERSION_PREFIX), ConsistentRead: true },
    );
    const versions: StoredVersion[] = [];
    for await (const { Items = [] } of pages) {
      versions.push(...Items.map((item) => readItem(StoredVersion, item)));
    }
    return versions;
  }

  async history(model: string, limit: number, cursor: string | null): Promise<Page<RegistryEvent>> {
    const scope = { list: 'history', model };
    const after = cursor === null ? undefined : decodeCursor(cursor, scope, 1)[0]!;
    if (after !== undefined && !isEventSortKey(after)) throw brokenCursor();
    const { Items = [] } = await this.#client.send(
      new QueryCommand({
        ...this.#itemsOf(model, EVENT_PREFIX),
        ConsistentRead: true,
        ExclusiveStartKey: after === undefined ? undefined : { pk: partitionOf(model), sk: after },
        // One item more than the limit shows that another page follows. Events are small: a page is one read.
        Limit: limit + 1,
      }),
    );
    const more = Items.length > limit;
    const shown = Items.slice(0, limit);
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
          // Beyond every sequence number of that time.
          ':last': `${EVENT_PREFIX}${at}#~`,
        },
        Limit: 1,
      }),
    );
    return Items[0] && readItem(RegistryEvent, Items[0]);
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

  /** A query of a model's items of one kind, last first. */
  #itemsOf(model: string, prefix: string) {
    return {
      TableName: this.#table,
      ScanIndexForward: false,
      KeyConditionExpression: 'pk = :model AND begins_with(sk, :prefix)',
      ExpressionAttributeValues: { ':model': partitionOf(model), ':prefix': prefix },
    };
  }
}
