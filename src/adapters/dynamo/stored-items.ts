import { setTimeout as wait } from 'node:timers/promises';
import {
  BatchGetCommand,
  type DynamoDBDocumentClient,
  QueryCommand,
  type QueryCommandInput,
} from '@aws-sdk/lib-dynamodb';
import { unmarshall } from '@aws-sdk/util-dynamodb';
import type * as z from 'zod';
import { CodedError, type ErrorCode } from '#contract/values/errors.ts';
import type { NewOwner, OwnedResource } from '#domain/access/access.ts';

/** An item of a table, unmarshalled. */
export type Item = Record<string, unknown>;

/** Sort key of a job's own item among the items of the job. */
export const JOB_ITEM = 'JOB';

export function jobKey(jobId: string) {
  return { job_id: jobId, item: JOB_ITEM };
}

/** True for a TTL attribute (Unix s) that has passed: DynamoDB deletes the item within days. */
export function isPast(expiresAt: unknown): boolean {
  return typeof expiresAt === 'number' && expiresAt * 1000 <= Date.now();
}

/** Backoff of 0.05 to 1.6 s between attempts, up to 3.2 s in total. */
const BATCH_ATTEMPTS = 7;
/** Limit of BatchGetItem. */
const MAX_KEYS = 100;

export interface BatchGet {
  readonly client: DynamoDBDocumentClient;
  readonly table: string;
  readonly keys: readonly Item[];
  /** Attributes to read, or paths in them. Default: all. */
  readonly attributes?: readonly string[];
  /** Error code when the table is still throttled after the last attempt. */
  readonly busy: Extract<ErrorCode, 'SVC005' | 'DATA005'>;
}

/** Existing items of `keys`, strongly consistent, in any order. */
export async function batchGet({ keys, ...batch }: BatchGet): Promise<Item[]> {
  const starts = Array.from({ length: Math.ceil(keys.length / MAX_KEYS) }, (_, part) => part * MAX_KEYS);
  const parts = await Promise.all(starts.map((start) => getPart(batch, keys.slice(start, start + MAX_KEYS))));
  return parts.flat();
}

async function getPart(batch: Omit<BatchGet, 'keys'>, wanted: readonly Item[]): Promise<Item[]> {
  const { client, table, attributes, busy } = batch;
  const found: Item[] = [];
  let keys = [...wanted];
  for (let attempt = 0; attempt < BATCH_ATTEMPTS; attempt++) {
    if (attempt > 0) await wait(25 * 2 ** attempt * (0.5 + Math.random() / 2));
    const request = { Keys: keys, ConsistentRead: true, ...(attributes && projectionOf(attributes)) };
    const { Responses, UnprocessedKeys } = await client.send(
      new BatchGetCommand({ RequestItems: { [table]: request } }),
    );
    found.push(...(Responses?.[table] ?? []));
    keys = UnprocessedKeys?.[table]?.Keys ?? [];
    if (keys.length === 0) return found;
  }
  throw new CodedError(busy, {
    message: `The database throttled a read in ${BATCH_ATTEMPTS} attempts. Retry the request later.`,
  });
}

/**
 * The first items of a query, up to a limit; fewer only at the end of what it finds. One read returns up to 1 MB, which some dozen
 * items with long texts have.
 */
export async function queryFirst(
  client: DynamoDBDocumentClient,
  query: Omit<QueryCommandInput, 'Limit'>,
  limit: number,
): Promise<Item[]> {
  const found: Item[] = [];
  let from = query.ExclusiveStartKey;
  do {
    const input = { ...query, Limit: limit - found.length, ExclusiveStartKey: from };
    const { Items = [], LastEvaluatedKey } = await client.send(new QueryCommand(input));
    found.push(...Items);
    from = LastEvaluatedKey;
  } while (from && found.length < limit);
  return found;
}

/** Parameters of a read that returns only these attributes. Dots separate the names of a path. */
export function projectionOf(attributes: readonly string[]) {
  const paths = attributes.map((path) => path.split('.'));
  return {
    ProjectionExpression: paths.map((names) => names.map((name) => `#${name}`).join('.')).join(', '),
    ExpressionAttributeNames: Object.fromEntries(paths.flat().map((name) => [`#${name}`, name])),
  };
}

/** Value of the item that a failed condition returned; undefined if there was no item. */
export function fromAttributes<T>(toValue: (item: Item) => T, item: unknown): T | undefined {
  if (!item) return undefined;
  return toValue(unmarshall(item as Parameters<typeof unmarshall>[0], { wrapNumbers: Number }));
}

/**
 * Value of an item of the Jobs table.
 *
 * @throws CodedError SVC001 that names the item and the field, if the item does not match the schema
 */
export function parseItem<T>(schema: z.ZodType<T>, item: Item): T {
  return parseStored(schema, item, () => `${String(item.item)} of ${String(item.job_id)}`);
}

/**
 * Value of a stored map. Keys that the schema declares are in the schema's order. Keys of records and loose objects are
 * sorted, because DynamoDB returns the keys of a map in any order.
 *
 * @param name of the value, for errors
 * @throws CodedError SVC001 that names the value and the field, if it does not match the schema
 */
export function parseStored<T>(schema: z.ZodType<T>, stored: unknown, name: () => string): T {
  return checkStored(schema, sortKeys(stored), name);
}

/** Like {@link parseStored}, for a value whose keys have a stored order. */
export function checkStored<T>(schema: z.ZodType<T>, stored: unknown, name: () => string): T {
  const parsed = schema.safeParse(stored);
  if (parsed.success) return parsed.data;
  const { path, message } = parsed.error.issues[0]!;
  throw unreadable(name, `${path.join('.') || 'item'}: ${message}`, parsed.error);
}

/** @throws CodedError SVC001 that names the value, if the stored string is not JSON */
export function parseStoredJson(json: unknown, name: () => string): unknown {
  try {
    return JSON.parse(String(json));
  } catch (cause) {
    throw unreadable(name, 'it is not JSON', cause);
  }
}

function unreadable(name: () => string, problem: string, cause: unknown): CodedError {
  return new CodedError('SVC001', { message: `${name()} cannot be read: ${problem}`, cause });
}

function sortKeys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sortKeys);
  if (value === null || typeof value !== 'object' || ArrayBuffer.isView(value)) return value;
  const sorted: Record<string, unknown> = {};
  for (const key of Object.keys(value).sort()) sorted[key] = sortKeys((value as Item)[key]);
  return sorted;
}

/**
 * Condition that an item has these grants, and this owner if one is given: `#owner` is `owner`. An item that was never shared has no
 * attribute for grants.
 */
export function sharedAs(grants: readonly unknown[] = [], owner?: string): string {
  const unshared = grants.length === 0 ? 'attribute_not_exists(shared_with) OR ' : '';
  const owned = owner === undefined ? '' : ' AND #owner = :before';
  return `(${unshared}shared_with = :shared)${owned}`;
}

/** Values of {@link sharedAs}. */
export function sharedValues(grants: readonly unknown[] = [], owner?: string) {
  return { ':shared': grants, ...(owner !== undefined && { ':before': owner }) };
}

/** Condition that an item has the owner and the grants of before a transfer; `#owner` is `owner`. */
export function ownedAs({ owner, shared_with }: OwnedResource): string {
  return sharedAs(shared_with, owner);
}

/** Values of {@link ownedAs}, and of the owner and the grants afterwards: `:owner` and `:grants`. */
export function ownerValues(before: OwnedResource, after: NewOwner) {
  return {
    ...sharedValues(before.shared_with, before.owner),
    ':owner': after.owner,
    ':grants': after.shared_with,
  };
}
