import { type DynamoDBDocumentClient, GetCommand, paginateQuery } from '@aws-sdk/lib-dynamodb';
import type * as z from 'zod';
import {
  ChallengeEvent,
  StoredAssignment,
  StoredChallenge,
  StoredEvaluation,
  StoredTrade,
  TradeResult,
} from '#contract/registry/stored-challenge.ts';
import type {
  ChallengeListener,
  ChallengeListing,
  ChallengePosition,
  ChallengeQuestion,
  ChallengeRow,
  ChallengeState,
  ChallengeStore,
} from '#domain/challenges/challenge-store.ts';
import type { Page } from '#domain/ports.ts';
import type { IdempotencyRecord } from '#domain/transitions/apply-transition.ts';
import { KeyedLock } from '../keyed-lock.ts';
import { readChallengeRows } from './challenge-rows.ts';
import { decodeCursor, encodeCursor, invalidCursor } from './cursor.ts';
import {
  assignmentKey,
  CHALLENGE_EVENT_PREFIX,
  CHALLENGE_PREFIX,
  challengeKey,
  challengePartition,
  EVALUATION_PREFIX,
  type ItemKey,
  idempotencyKey,
  listKey,
  modelKey,
  partitionOf,
  readItem,
  TRADE_PREFIX,
  tradeIdKey,
  tradeKey,
  UNFINISHED,
} from './registry-item.ts';
import {
  commitTransition,
  type RegistryTable,
  readIdempotencyRecord,
  saveIdempotencyRecord,
} from './registry-transaction.ts';
import { batchGet, projectionOf, queryFirst } from './stored-items.ts';

/** Attributes of a trade's result: a third of its size, and of the time to read thousands. */
const RESULT_ATTRIBUTES = Object.keys(TradeResult.shape);

/** Challenges per read of a filtered list, and maximum per page. */
const FILTERED_PAGE = 100;
const MAX_FILTERED = 900;

/** Challenges in the Registry table. All reads except `unfinished` are strongly consistent. */
export class DynamoChallengeStore implements ChallengeStore {
  readonly #store: RegistryTable;
  readonly #client: DynamoDBDocumentClient;
  readonly #table: string;
  readonly #turns = new KeyedLock();

  /** @param client throws SVC005 when DynamoDB is unavailable */
  constructor(
    client: DynamoDBDocumentClient,
    table: string,
    onChallengeChange: ChallengeListener = async () => {},
  ) {
    this.#store = { client, table, onChallengeChange };
    this.#client = client;
    this.#table = table;
  }

  inTurn<T>(id: string, work: () => Promise<T>): Promise<T> {
    return this.#turns.run(id, work);
  }

  async read(id: string): Promise<StoredChallenge | undefined> {
    const { Item } = await this.#client.send(
      new GetCommand({ TableName: this.#table, Key: { ...challengeKey(id) }, ConsistentRead: true }),
    );
    return Item && readItem(StoredChallenge, Item);
  }

  async find(id: string, question: ChallengeQuestion): Promise<ChallengeState> {
    const { trades = [], assignmentKeys = [], idempotencyKey: key } = question;
    const ids = [...new Set(trades)].map((trade) => tradeIdKey(id, trade));
    const keys = [...new Set(assignmentKeys)].map((each) => assignmentKey(id, each));
    const items = await this.#get([challengeKey(id), ...ids, ...keys, ...(key ? [idempotencyKey(key)] : [])]);
    const ofKind = (prefix: string) => items.filter(({ sk }) => String(sk).startsWith(prefix));
    const known = ofKind('TRADE-ID#').map(({ sequence }) => tradeKey(id, Number(sequence)));
    const stored = (await this.#get(known)).map((item) => readItem(StoredTrade, item));
    const more = await this.#get(keysOf(stored, assignmentKeys).map((each) => assignmentKey(id, each)));
    const assignments = [...ofKind('ASSIGNMENT#'), ...more].map((item) => readItem(StoredAssignment, item));
    const [challenge] = ofKind('META');
    const [record] = ofKind('KEY#');
    return {
      challenge: challenge && readItem(StoredChallenge, challenge),
      trades: new Map(stored.map((trade) => [trade.trade_id, trade])),
      assignments: new Map(assignments.map((assignment) => [assignment.assignment_key, assignment])),
      idempotencyRecord: record && readIdempotencyRecord(record),
    };
  }

  async activeOf(models: readonly string[]): Promise<ReadonlyMap<string, StoredChallenge>> {
    const keys = [...new Set(models)].map(modelKey);
    const found = await this.#get(keys, { attributes: ['active_challenge_id'] });
    const ids = found.map(({ active_challenge_id: id }) => id).filter((id) => typeof id === 'string');
    return new Map((await this.readMany(ids)).map((challenge) => [challenge.model_name, challenge]));
  }

  async latest(model: string): Promise<StoredChallenge | undefined> {
    const [newest] = await this.#query(partitionOf(model), CHALLENGE_PREFIX, { limit: 1 });
    return newest && this.read(String(newest.challenge_id));
  }

  async list(model: string, { limit, cursor, passes }: ChallengeListing): Promise<Page<StoredChallenge>> {
    const scope = { list: 'challenges', model };
    const pageAfter = (challenge: StoredChallenge) => encodeCursor([listKey(challenge).sk], scope);
    const items: StoredChallenge[] = [];
    let from = cursor;
    for (let scanned = 0; ; scanned += FILTERED_PAGE) {
      const range = { scope, limit: passes ? FILTERED_PAGE : limit, cursor: from };
      const page = await this.#page(partitionOf(model), CHALLENGE_PREFIX, range);
      const read = await this.readMany(page.items.map(({ challenge_id }) => String(challenge_id)));
      for (const challenge of read) {
        if (passes && !passes(challenge)) continue;
        if (items.length === limit) return { items, next: pageAfter(items.at(-1)!) };
        items.push(challenge);
      }
      if (!passes || page.next === null || scanned >= MAX_FILTERED) return { items, next: page.next };
      from = page.next;
    }
  }

  async readMany(ids: readonly string[]): Promise<StoredChallenge[]> {
    const items = await this.#get(ids.map(challengeKey));
    const challenges = new Map(items.map((item) => [item.challenge_id, readItem(StoredChallenge, item)]));
    return ids.map((id) => challenges.get(id)).filter((challenge) => challenge !== undefined);
  }

  rows(after: ChallengePosition | null): AsyncIterable<ChallengeRow> {
    return readChallengeRows(this.#client, this.#table, after);
  }

  trades(id: string, limit: number, cursor: string | null): Promise<Page<StoredTrade>> {
    return this.#pageOf(StoredTrade, id, TRADE_PREFIX, { limit, cursor });
  }

  events(id: string, limit: number, cursor: string | null): Promise<Page<ChallengeEvent>> {
    return this.#pageOf(ChallengeEvent, id, CHALLENGE_EVENT_PREFIX, { limit, cursor });
  }

  evaluations(id: string, limit: number, cursor: string | null): Promise<Page<StoredEvaluation>> {
    return this.#pageOf(StoredEvaluation, id, EVALUATION_PREFIX, { limit, cursor, forward: true });
  }

  async lastTrades(id: string, limit: number): Promise<readonly TradeResult[]> {
    const range = { limit, attributes: RESULT_ATTRIBUTES };
    const items = await this.#query(challengePartition(id), TRADE_PREFIX, range);
    return items.map((item) => readItem(TradeResult, item));
  }

  async *unfinished(): AsyncIterable<string> {
    const pages = paginateQuery(
      { client: this.#client },
      {
        TableName: this.#table,
        IndexName: 'active-challenges',
        KeyConditionExpression: 'active_challenge = :unfinished',
        ExpressionAttributeValues: { ':unfinished': UNFINISHED },
      },
    );
    const prefix = challengePartition('').length;
    for await (const { Items = [] } of pages) for (const { pk } of Items) yield String(pk).slice(prefix);
  }

  commit(write: Parameters<ChallengeStore['commit']>[0]): Promise<'done' | 'conflict'> {
    return commitTransition(this.#store, write);
  }

  saveIdempotencyRecord(record: IdempotencyRecord): Promise<'done' | 'conflict'> {
    return saveIdempotencyRecord(this.#store, record);
  }

  #get(
    keys: readonly ItemKey[],
    more: { readonly attributes?: readonly string[] } = {},
  ): Promise<Record<string, unknown>[]> {
    const wanted = keys.map((key) => ({ ...key }));
    return batchGet({ client: this.#client, table: this.#table, keys: wanted, busy: 'SVC005', ...more });
  }

  async #pageOf<T>(
    schema: z.ZodType<T>,
    id: string,
    prefix: string,
    range: { readonly limit: number; readonly cursor: string | null; readonly forward?: boolean },
  ): Promise<Page<T>> {
    const scope = { list: prefix, challenge: id };
    const page = await this.#page(challengePartition(id), prefix, { scope, ...range });
    return { items: page.items.map((item) => readItem(schema, item)), next: page.next };
  }

  async #page(
    partition: string,
    prefix: string,
    range: {
      readonly scope: Record<string, string>;
      readonly limit: number;
      readonly cursor: string | null;
      readonly forward?: boolean;
    },
  ): Promise<Page<Record<string, unknown>>> {
    const { scope, limit, cursor, forward } = range;
    const after = cursor === null ? undefined : decodeCursor(cursor, scope, 1)[0]!;
    if (after !== undefined && !after.startsWith(prefix)) throw invalidCursor();
    // One item more than the limit shows that another page follows.
    const found = await this.#query(partition, prefix, { limit: limit + 1, after, forward });
    const items = found.slice(0, limit);
    const next = found.length > limit ? encodeCursor([String(items.at(-1)!.sk)], scope) : null;
    return { items, next };
  }

  /** Items of a partition whose sort key begins with `prefix`; descending unless `forward`. */
  #query(
    pk: string,
    prefix: string,
    range: {
      limit: number;
      after?: string | undefined;
      attributes?: readonly string[];
      forward?: boolean | undefined;
    },
  ) {
    const { limit, after, attributes, forward = false } = range;
    const query = {
      TableName: this.#table,
      ConsistentRead: true,
      ScanIndexForward: forward,
      KeyConditionExpression: 'pk = :pk AND begins_with(sk, :prefix)',
      ExpressionAttributeValues: { ':pk': pk, ':prefix': prefix },
      ExclusiveStartKey: after === undefined ? undefined : { pk, sk: after },
      ...(attributes && projectionOf(attributes)),
    };
    return queryFirst(this.#client, query, limit);
  }
}

/** Assignment keys of the trades that are not in `known`. */
function keysOf(trades: readonly StoredTrade[], known: readonly string[]): string[] {
  const keys = trades.map(({ assignment_key }) => assignment_key).filter((key) => key !== null);
  return [...new Set(keys)].filter((key) => !known.includes(key));
}
