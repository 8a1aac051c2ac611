import {
  type DynamoDBDocumentClient,
  GetCommand,
  paginateQuery,
  QueryCommand,
  TransactWriteCommand,
} from '@aws-sdk/lib-dynamodb';
import { RegistryEvent, StoredModel, StoredVersion } from '#contract/stored-registry.ts';
import type { ChallengeListener } from '#domain/challenges/challenge-store.ts';
import type { Page } from '#domain/ports.ts';
import type {
  CatalogEntry,
  CatalogFilter,
  CatalogPosition,
  CatalogSort,
  IdempotentReply,
  ModelState,
  RegistryMove,
  RegistryStore,
  ReplyKey,
} from '#domain/registry/registry-store.ts';
import { batchGet } from './batch-get.ts';
import { brokenCursor, decodeCursor, encodeCursor } from './cursor.ts';
import { DynamoModelSharing } from './model-sharing.ts';
import { readCatalog } from './registry-catalog.ts';
import {
  COUNTS_KEY,
  EVENT_PREFIX,
  isEventSortKey,
  modelKey,
  partitionOf,
  readItem,
  replyKey,
  VERSION_PREFIX,
  versionKey,
} from './registry-item.ts';
import { isTorn, keepReply, madeThisMove, readReply, transactionOf } from './registry-transaction.ts';
import { lostTransaction } from './transactions.ts';

/** The Registry table. Reads of a model are strongly consistent, the catalog is not. */
export class DynamoRegistryStore implements RegistryStore {
  readonly sharing: DynamoModelSharing;
  readonly #client: DynamoDBDocumentClient;
  readonly #table: string;
  readonly #tell: ChallengeListener;

  /**
   * @param client one whose failures are SVC005
   * @param tell of challenges that a move ends
   */
  constructor(client: DynamoDBDocumentClient, table: string, tell: ChallengeListener = async () => {}) {
    this.#client = client;
    this.#table = table;
    this.#tell = tell;
    this.sharing = new DynamoModelSharing(client, table);
  }

  async read(model: string, versions: readonly string[], reply?: ReplyKey | null): Promise<ModelState> {
    const keys = [
      modelKey(model),
      ...[...new Set(versions)].map((version) => versionKey(model, version)),
      ...(reply ? [replyKey(reply)] : []),
    ];
    const wanted = keys.map((key) => ({ ...key }));
    const items = await batchGet({ client: this.#client, table: this.#table, keys: wanted, busy: 'SVC005' });
    const state: { model?: StoredModel; reply?: IdempotentReply } = {};
    const found = new Map<string, StoredVersion>();
    for (const item of items) {
      if (item.sk === 'META') state.model = readItem(StoredModel, item);
      else if (String(item.sk).startsWith(VERSION_PREFIX)) {
        const version = readItem(StoredVersion, item);
        found.set(version.version, version);
      } else state.reply = readReply(item);
    }
    return { model: state.model, versions: found, reply: state.reply };
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
        // One more than asked tells whether anything follows. Events are small: a page is one read.
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

  async commit(move: RegistryMove): Promise<'done' | 'lost'> {
    const outcome = await this.#commit(move);
    if (outcome === 'done') await this.#tell(move.challenges);
    return outcome;
  }

  async #commit(move: RegistryMove): Promise<'done' | 'lost'> {
    if (isTorn(move)) return 'lost';
    try {
      await this.#client.send(
        new TransactWriteCommand({
          // The SDK's own repeats are told from a second move by it.
          ClientRequestToken: move.event.event_id,
          TransactItems: transactionOf(move, this.#table),
        }),
      );
      return 'done';
    } catch (error) {
      return madeThisMove(lostTransaction(error, 'SVC005'), move) ? 'done' : 'lost';
    }
  }

  keep(reply: IdempotentReply): Promise<'done' | 'lost'> {
    return keepReply(this.#client, reply, this.#table);
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
