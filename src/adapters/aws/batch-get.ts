import { setTimeout as wait } from 'node:timers/promises';
import { BatchGetCommand, type DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { CodedError, type ErrorCode } from '#contract/errors.ts';

/** Pauses of 0.05 to 1.6 s between them, 3.2 s in all at most. */
const ATTEMPTS = 7;
/** What one request may ask for. */
const MAX_KEYS = 100;

type Item = Record<string, unknown>;

export interface BatchGet {
  readonly client: DynamoDBDocumentClient;
  readonly table: string;
  readonly keys: readonly Item[];
  /** Attributes wanted; default all. */
  readonly attributes?: readonly string[];
  /** Code of a table that stays too busy. */
  readonly busy: Extract<ErrorCode, 'SVC005' | 'DATA005'>;
}

/** The items of those keys that exist, strongly consistent and in no order. */
export async function batchGet({ keys, ...batch }: BatchGet): Promise<Item[]> {
  const starts = Array.from({ length: Math.ceil(keys.length / MAX_KEYS) }, (_, part) => part * MAX_KEYS);
  const parts = await Promise.all(starts.map((start) => getPart(batch, keys.slice(start, start + MAX_KEYS))));
  return parts.flat();
}

async function getPart(batch: Omit<BatchGet, 'keys'>, wanted: readonly Item[]): Promise<Item[]> {
  const { client, table, attributes, busy } = batch;
  const found: Item[] = [];
  let keys = [...wanted];
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    if (attempt > 0) await wait(25 * 2 ** attempt * (0.5 + Math.random() / 2));
    const request = { Keys: keys, ConsistentRead: true, ...(attributes && projectionOf(attributes)) };
    const { Responses, UnprocessedKeys } = await client.send(
      new BatchGetCommand({ RequestItems: { [table]: request } }),
    );
    found.push(...(Responses?.[table] ?? []));
    keys = UnprocessedKeys?.[table]?.Keys ?? [];
    if (keys.length === 0) return found;
  }
  throw new CodedError(busy, { message: 'The database is too busy' });
}

/** The parameters of a read that is to answer some attributes alone. */
export function projectionOf(attributes: readonly string[]) {
  return {
    ProjectionExpression: attributes.map((name) => `#${name}`).join(', '),
    ExpressionAttributeNames: Object.fromEntries(attributes.map((name) => [`#${name}`, name])),
  };
}
