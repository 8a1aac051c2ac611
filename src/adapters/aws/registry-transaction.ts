import {
  ConditionalCheckFailedException,
  type TransactionCanceledException,
  TransactionConflictException,
} from '@aws-sdk/client-dynamodb';
import {
  type DynamoDBDocumentClient,
  PutCommand,
  type TransactWriteCommandInput,
} from '@aws-sdk/lib-dynamodb';
import { unmarshall } from '@aws-sdk/util-dynamodb';
import { type CatalogRow, StoredReply, type StoredVersion } from '#contract/stored-registry.ts';
import type {
  ArchivedProduction,
  IdempotentReply,
  RegistryMove,
  VersionChange,
} from '#domain/registry/registry-store.ts';
import { putChallenge } from './challenge-item.ts';
import {
  CATALOG_ATTRIBUTES,
  COUNTS_KEY,
  catalogAttributes,
  eventKey,
  isInCatalog,
  modelKey,
  readItem,
  replyKey,
  versionKey,
} from './registry-item.ts';

type Action = NonNullable<TransactWriteCommandInput['TransactItems']>[number];

/** What a move may change of a version. The content is in no update: it cannot change. */
const STATE = [
  'stage',
  'validation',
  'staged_at',
  'promoted_at',
  'archived_at',
  'rolled_back',
  'rolled_back_reason',
  'waivers',
  'updated_at',
] as const satisfies readonly (keyof StoredVersion)[];

/** All that a move stores, the model first. One lost condition cancels the whole. */
export function transactionOf(move: RegistryMove, table: string): Action[] {
  const { model, versions, archived, event, challenges, reply } = move;
  return [
    putModel(model, table),
    ...versions.map((change) => putVersion(change, move, table)),
    ...(archived ? [archive(model.after.model_name, archived, table)] : []),
    {
      Put: {
        TableName: table,
        Item: { ...eventKey(event), ...event },
        ConditionExpression: 'attribute_not_exists(pk)',
      },
    },
    ...challenges.flatMap((change) => putChallenge(change, table)),
    ...(reply ? [{ Put: putReply(reply, table) }] : []),
    ...countRows(move, table),
  ];
}

/** A batch read is no snapshot: the model may be newer than the version, which it then has in Production already. */
export function isTorn({ versions, archived }: Pick<RegistryMove, 'versions' | 'archived'>): boolean {
  return versions.some(({ after }) => after.version === archived?.version);
}

/**
 * Whether the transaction that was refused had been made before: a reply was lost, and the move was sent again when the
 * database no longer knew its token.
 */
export function madeThisMove(error: TransactionCanceledException, move: RegistryMove): boolean {
  const found = error.CancellationReasons?.[0]?.Item;
  return found !== undefined && unmarshall(found).last_event_id === move.event.event_id;
}

export function putReply({ body, ...reply }: IdempotentReply, table: string) {
  const stored: StoredReply = { schema_version: 1, ...reply, body: JSON.stringify(body) };
  return {
    TableName: table,
    Item: { ...replyKey(reply), ...stored },
    ConditionExpression: 'attribute_not_exists(pk) OR expires_at <= :now',
    ExpressionAttributeValues: { ':now': reply.stored_at },
  };
}

/** Stores the reply of a call that changed nothing. `lost`: another one is stored under its key. */
export async function keepReply(
  client: DynamoDBDocumentClient,
  reply: IdempotentReply,
  table: string,
): Promise<'done' | 'lost'> {
  try {
    await client.send(new PutCommand(putReply(reply, table)));
    return 'done';
  } catch (error) {
    if (error instanceof ConditionalCheckFailedException || error instanceof TransactionConflictException) {
      return 'lost';
    }
    throw error;
  }
}

export function readReply(item: Record<string, unknown>): IdempotentReply {
  const { schema_version: _, body, ...reply } = readItem(StoredReply, item);
  return { ...reply, body: JSON.parse(body) };
}

function putModel({ before, after }: RegistryMove['model'], table: string): Action {
  const condition = before
    ? {
        // Sharing is no move, nor is a challenge: what either has changed since this was read must not be put back.
        ConditionExpression: 'events = :events AND rev = :rev AND shared_with = :shared',
        ExpressionAttributeValues: {
          ':events': before.events,
          ':rev': before.rev,
          ':shared': before.shared_with,
        },
      }
    : { ConditionExpression: 'attribute_not_exists(pk)' };
  return {
    Put: {
      TableName: table,
      Item: { ...modelKey(after.model_name), ...after },
      ...condition,
      ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
    },
  };
}

function putVersion({ before, after }: VersionChange, { model }: RegistryMove, table: string): Action {
  const key = versionKey(after.model_name, after.version);
  const catalog = catalogAttributes(after, model.after);
  if (before === null) {
    return {
      Put: {
        TableName: table,
        Item: { ...key, ...after, ...catalog },
        ConditionExpression: 'attribute_not_exists(pk)',
      },
    };
  }
  const state = Object.fromEntries(STATE.map((name) => [name, after[name]]));
  const change = { set: { ...state, ...catalog }, listed: catalog !== undefined };
  return update(key, { ...change, from: before.stage, validation: before.validation.status }, table);
}

function archive(model: string, { version, at, rolledBack }: ArchivedProduction, table: string): Action {
  const set = {
    stage: 'Archived',
    archived_at: at,
    updated_at: at,
    ...(rolledBack && { rolled_back: true, rolled_back_reason: rolledBack.reason }),
  };
  return update(versionKey(model, version), { from: 'Production', set, listed: false }, table);
}

function update(
  key: Record<string, unknown>,
  change: {
    readonly from: string;
    /** Status of the validation as it was read; undefined: whatever it is. */
    readonly validation?: string;
    readonly set: Record<string, unknown>;
    readonly listed: boolean;
  },
  table: string,
): Action {
  const names = Object.keys(change.set);
  const removed = change.listed ? [] : CATALOG_ATTRIBUTES;
  const assignments = names.map((name) => `#${name} = :${name}`).join(', ');
  return {
    Update: {
      TableName: table,
      Key: key,
      UpdateExpression: `SET ${assignments}${removed.length > 0 ? ` REMOVE ${removed.map((name) => `#${name}`).join(', ')}` : ''}`,
      // Stage and validation may have been read a moment before the model: the model's condition is not enough.
      ConditionExpression: `#stage = :from${change.validation ? ' AND #validation.#status = :validated' : ''}`,
      ExpressionAttributeNames: {
        ...Object.fromEntries([...names, ...removed].map((name) => [`#${name}`, name])),
        ...(change.validation && { '#status': 'status' }),
      },
      ExpressionAttributeValues: {
        ':from': change.from,
        ...(change.validation && { ':validated': change.validation }),
        ...Object.fromEntries(names.map((name) => [`:${name}`, change.set[name]])),
      },
    },
  };
}

/** Keeps the number of rows of each stage of the catalog; none when the move leaves them as they are. */
function countRows({ versions, archived }: RegistryMove, table: string): Action[] {
  const change: Record<CatalogRow['stage'], number> = { Production: archived ? -1 : 0, Staging: 0 };
  for (const { before, after } of versions) {
    const from = before?.stage ?? null;
    if (isInCatalog(from)) change[from]--;
    if (isInCatalog(after.stage)) change[after.stage]++;
  }
  const changed = Object.entries(change).filter(([, by]) => by !== 0);
  if (changed.length === 0) return [];
  return [
    {
      Update: {
        TableName: table,
        Key: { ...COUNTS_KEY },
        UpdateExpression: `ADD ${changed.map(([stage]) => `#${stage} :${stage}`).join(', ')}`,
        ExpressionAttributeNames: Object.fromEntries(changed.map(([stage]) => [`#${stage}`, stage])),
        ExpressionAttributeValues: Object.fromEntries(changed.map(([stage, by]) => [`:${stage}`, by])),
      },
    },
  ];
}
