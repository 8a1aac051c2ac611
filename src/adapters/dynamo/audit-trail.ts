import { isDeepStrictEqual } from 'node:util';
import { ConditionalCheckFailedException } from '@aws-sdk/client-dynamodb';
import { type DynamoDBDocumentClient, PutCommand, QueryCommand } from '@aws-sdk/lib-dynamodb';
import { unmarshall } from '@aws-sdk/util-dynamodb';
import { StoredAuditCall, StoredAuditOutcome } from '#contract/platform/audit.ts';
import { DAY_MS } from '#contract/values/durations.ts';
import { auditPartitionOf, auditPartitions } from '#contract/values/tables.ts';
import { type AuditInterval, type AuditTrail, auditKey } from '#domain/audit/audit-trail.ts';
import { createDocumentClient } from './client.ts';
import { mergeSorted } from './merge-sorted.ts';
import { readItem } from './registry-item.ts';

/** Items that a list reads at once, of all partitions: a call is about 1 KB with its outcome, and a page of a list at most 100 calls. */
const PAGE = 250;
/** Suffix of the outcome's key: a descending query reads the outcome just before its call. */
const OUTCOME = '#OUTCOME';

/**
 * The audit trail in the Registry table. Throws SVC005 when the table is unavailable.
 *
 * @param days for which a new entry is kept; absent: forever
 */
export function openAudit(table: string, endpoint: string | undefined, days?: number): AuditTrail {
  return new DynamoAuditTrail(createDocumentClient({ endpoint, unavailable: 'SVC005' }), table, days);
}

/**
 * Four partitions per day. A partition holds an item per call, by time and ID, followed by an item with the outcome of the call. Each
 * item is written once.
 */
export class DynamoAuditTrail implements AuditTrail {
  readonly #client: DynamoDBDocumentClient;
  readonly #table: string;
  readonly #days: number | undefined;

  constructor(client: DynamoDBDocumentClient, table: string, days?: number) {
    this.#client = client;
    this.#table = table;
    this.#days = days;
  }

  begin(call: StoredAuditCall): Promise<void> {
    return this.#put(call, '', call);
  }

  end(call: StoredAuditCall, outcome: StoredAuditOutcome): Promise<void> {
    return this.#put(call, OUTCOME, outcome);
  }

  calls({ day, ...interval }: AuditInterval): AsyncIterable<StoredAuditCall> {
    const partitions = auditPartitions(day);
    const limit = Math.ceil(PAGE / partitions.length);
    const lists = partitions.map((partition) => this.#callsOf(partition, interval, limit));
    return mergeSorted(lists, (one, other) => auditKey(one) > auditKey(other));
  }

  async *#callsOf(
    partition: string,
    { from, before }: Omit<AuditInterval, 'day'>,
    limit: number,
  ): AsyncGenerator<StoredAuditCall, void> {
    let outcome: { readonly of: string; readonly item: Record<string, unknown> } | undefined;
    let start: Record<string, unknown> | undefined;
    do {
      const { Items = [], LastEvaluatedKey } = await this.#client.send(
        new QueryCommand({
          TableName: this.#table,
          ConsistentRead: true,
          ScanIndexForward: false,
          // A time sorts before all keys that begin with it, and an outcome after its call.
          KeyConditionExpression: 'pk = :partition AND sk BETWEEN :from AND :before',
          ExpressionAttributeValues: { ':partition': partition, ':from': from, ':before': before },
          ExclusiveStartKey: start,
          Limit: limit,
        }),
      );
      for (const item of Items) {
        const key = String(item.sk);
        if (key === before || isExpired(item)) continue;
        if (key.endsWith(OUTCOME)) {
          outcome = { of: key.slice(0, -OUTCOME.length), item };
          continue;
        }
        const call = readItem(StoredAuditCall, item);
        yield outcome?.of === key ? { ...call, outcome: readItem(StoredAuditOutcome, outcome.item) } : call;
      }
      start = LastEvaluatedKey;
    } while (start);
  }

  async #put(
    call: StoredAuditCall,
    suffix: string,
    item: StoredAuditCall | StoredAuditOutcome,
  ): Promise<void> {
    const key = auditKey(call);
    const Item = {
      pk: auditPartitionOf(call.at.slice(0, 10), key),
      sk: `${key}${suffix}`,
      ...item,
      // The outcome expires with its call.
      ...(this.#days !== undefined && {
        expires_at: Math.ceil((Date.parse(call.at) + this.#days * DAY_MS) / 1000),
      }),
    };
    try {
      await this.#client.send(
        new PutCommand({
          TableName: this.#table,
          Item,
          ConditionExpression: 'attribute_not_exists(pk)',
          ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
        }),
      );
    } catch (error) {
      // The response to the first attempt was lost: the SDK's retry finds its own item.
      const found = error instanceof ConditionalCheckFailedException && error.Item && unmarshall(error.Item);
      if (!found || !isDeepStrictEqual(found, Item)) throw error;
    }
  }
}

/** True after the TTL of an item (Unix s): DynamoDB deletes it within days. */
function isExpired({ expires_at: at }: Record<string, unknown>): boolean {
  return typeof at === 'number' && at * 1000 <= Date.now();
}
