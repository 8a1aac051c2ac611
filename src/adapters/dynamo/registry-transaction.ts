import {
  ConditionalCheckFailedException,
  type TransactionCanceledException,
  TransactionConflictException,
} from '@aws-sdk/client-dynamodb';
import { type DynamoDBDocumentClient, PutCommand } from '@aws-sdk/lib-dynamodb';
import { unmarshall } from '@aws-sdk/util-dynamodb';
import {
  type CatalogRow,
  StoredIdempotencyRecord,
  type StoredModel,
  type StoredVersion,
} from '#contract/registry/stored-registry.ts';
import { isAwaitingPromotion } from '#domain/challenges/challenge-state.ts';
import type { ChallengeListener, ChallengeWrite } from '#domain/challenges/challenge-store.ts';
import type { IdempotencyRecord } from '#domain/transitions/apply-transition.ts';
import type { ApprovalChange } from '#domain/transitions/approval-store.ts';
import type {
  ArchivedProduction,
  ChallengeChange,
  StageTransition,
  VersionChange,
} from '#domain/transitions/registry-store.ts';
import {
  approvalKey,
  assignmentKey,
  CATALOG_ATTRIBUTES,
  COUNTS_KEY,
  catalogAttributes,
  challengeEventKey,
  challengeKey,
  evaluationKey,
  eventKey,
  type ItemKey,
  idempotencyKey,
  isInCatalog,
  listKey,
  modelKey,
  readItem,
  tradeIdKey,
  tradeKey,
  UNFINISHED,
  versionKey,
} from './registry-item.ts';
import { type Action, transact } from './transactions.ts';

/** Attributes of a version that a transition may change. Its content is immutable. */
const STATE = [
  'stage',
  'validation',
  'staged_at',
  'promoted_at',
  'archived_at',
  'rolled_back',
  'rolled_back_reason',
  'stopped',
  'stopped_reason',
  'waivers',
  'tags',
  'updated_at',
] as const satisfies readonly (keyof StoredVersion)[];

/** Table of registry and challenges, and the listener that is notified of stored changes of challenges. */
export interface RegistryTable {
  /** Throws SVC005 when DynamoDB is unavailable. */
  readonly client: DynamoDBDocumentClient;
  readonly table: string;
  readonly onChallengeChange: ChallengeListener;
}

type Write = (StageTransition | ChallengeWrite) & { readonly idempotencyRecord?: IdempotencyRecord | null };

/** Stores a stage transition, or a write of a challenge with the one that promotes its winner, in one transaction. */
export async function commitTransition(
  { client, table, onChallengeChange }: RegistryTable,
  { idempotencyRecord, ...write }: Write,
): Promise<'done' | 'conflict'> {
  const isStage = 'model' in write;
  const transition = isStage ? write : write.promotion;
  if (transition && hasReadSkew(transition)) return 'conflict';
  const actions = [
    ...(isStage ? stageActions(write, table) : challengeActions(write, table)),
    ...(idempotencyRecord ? [{ Put: putIdempotencyRecord(idempotencyRecord, table) }] : []),
  ];
  const outcome = await transact(client, actions, 'SVC005', {
    isAlreadyApplied: (error) => transition !== undefined && isAlreadyApplied(error, transition),
    // The callers of a model back off between decisions. The token distinguishes the SDK's own repeats from a second one.
    ...(isStage && { attempts: 1, token: write.event.event_id }),
  });
  const changes = isStage ? write.challenges : (write.promotion?.challenges ?? [write]);
  if (outcome === 'done') await onChallengeChange(changes);
  return outcome;
}

/** Actions of a stage transition, the model first. One failed condition cancels all. */
function stageActions(transition: StageTransition, table: string): Action[] {
  const { model, versions, archived, event, challenges, approvals } = transition;
  return [
    putModel(model, table),
    ...versions.map((change) => putVersion(change, transition, table)),
    ...(archived ? [archive(model.after.model_name, archived, table)] : []),
    putNew(eventKey(event), event, table),
    ...challenges.flatMap((change) => putChallenge(change, table)),
    ...approvals.map((change) => endApproval(change, table)),
    ...countRows(transition, table),
  ];
}

/** BatchGetItem is not a snapshot: the model item may already list the version as Production. */
function hasReadSkew({ versions, archived }: Pick<StageTransition, 'versions' | 'archived'>): boolean {
  return versions.some(({ after }) => after.version === archived?.version);
}

/**
 * True when the cancelled transaction was applied before: its response was lost, and the SDK sent it again after its
 * idempotency token had expired.
 */
function isAlreadyApplied(error: TransactionCanceledException, transition: StageTransition): boolean {
  const found = error.CancellationReasons?.[0]?.Item;
  return found !== undefined && unmarshall(found).last_event_id === transition.event.event_id;
}

/** Ends a request for approval, if it is open. */
export function endApproval({ approval_id, set }: ApprovalChange, table: string) {
  const names = Object.keys(set) as (keyof typeof set)[];
  return {
    Update: {
      TableName: table,
      Key: { ...approvalKey(approval_id) },
      UpdateExpression: `SET ${names.map((name) => `#${name} = :${name}`).join(', ')}`,
      ConditionExpression: '#status = :requested',
      ExpressionAttributeNames: Object.fromEntries(names.map((name) => [`#${name}`, name])),
      ExpressionAttributeValues: {
        ':requested': 'requested',
        ...Object.fromEntries(names.map((name) => [`:${name}`, set[name]])),
      },
    },
  };
}

/** Condition that the open requests of a model are those that were read. Models of earlier releases have no list. */
export function openApprovalsAs(read: StoredModel['open_approvals']) {
  const same = 'open_approvals = :approvals';
  return {
    condition: read.length === 0 ? `(attribute_not_exists(open_approvals) OR ${same})` : same,
    values: { ':approvals': read },
  };
}

export function putIdempotencyRecord({ body, ...record }: IdempotencyRecord, table: string) {
  const stored: StoredIdempotencyRecord = { schema_version: 1, ...record, body: JSON.stringify(body) };
  return {
    TableName: table,
    Item: { ...idempotencyKey(record), ...stored },
    ConditionExpression: 'attribute_not_exists(pk) OR expires_at <= :now',
    ExpressionAttributeValues: { ':now': record.stored_at },
  };
}

/** Stores the record of a call that changed nothing. `conflict`: another one is stored under its key. */
export async function saveIdempotencyRecord(
  { client, table }: Pick<RegistryTable, 'client' | 'table'>,
  record: IdempotencyRecord,
): Promise<'done' | 'conflict'> {
  try {
    await client.send(new PutCommand(putIdempotencyRecord(record, table)));
    return 'done';
  } catch (error) {
    if (error instanceof ConditionalCheckFailedException || error instanceof TransactionConflictException) {
      return 'conflict';
    }
    throw error;
  }
}

export function readIdempotencyRecord(item: Record<string, unknown>): IdempotencyRecord {
  const { schema_version: _, body, ...record } = readItem(StoredIdempotencyRecord, item);
  return { ...record, body: JSON.parse(body) };
}

function putModel({ before, after }: StageTransition['model'], table: string): Action {
  const unchanged = openApprovalsAs(before?.open_approvals ?? []);
  const condition = before
    ? {
        // Requests for approval, sharing, transfers and challenges change the model without an event; the write must not overwrite their changes.
        ConditionExpression: `events = :events AND revision = :revision AND #owner = :owner AND shared_with = :shared AND ${unchanged.condition}`,
        ExpressionAttributeNames: { '#owner': 'owner' },
        ExpressionAttributeValues: {
          ':owner': before.owner,
          ':events': before.events,
          ':revision': before.revision,
          ':shared': before.shared_with,
          ...unchanged.values,
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

function putVersion({ before, after }: VersionChange, { model }: StageTransition, table: string): Action {
  const key = versionKey(after.model_name, after.version);
  const catalog = catalogAttributes(after, model.after);
  if (before === null) return putNew(key, { ...after, ...catalog }, table);
  const state = Object.fromEntries(STATE.map((name) => [name, after[name]]));
  const change = { set: { ...state, ...catalog }, listed: catalog !== undefined };
  return update(key, { ...change, from: before.stage, read: before }, table);
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
    /** The version as it was read; undefined: only its stage is compared. */
    readonly read?: Pick<StoredVersion, 'validation' | 'tags'>;
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
      // The version may have been read before the model, so the model's condition does not cover it.
      ConditionExpression: `#stage = :from${change.read ? ' AND #validation.#status = :validated AND #tags = :tagged' : ''}`,
      ExpressionAttributeNames: {
        ...Object.fromEntries([...names, ...removed].map((name) => [`#${name}`, name])),
        ...(change.read && { '#status': 'status' }),
      },
      ExpressionAttributeValues: {
        ':from': change.from,
        ...(change.read && { ':validated': change.read.validation.status, ':tagged': change.read.tags }),
        ...Object.fromEntries(names.map((name) => [`:${name}`, change.set[name]])),
      },
    },
  };
}

/** Updates the number of catalog rows per stage; no action if the transition does not change them. */
function countRows({ versions, archived }: StageTransition, table: string): Action[] {
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

/** Actions of a write of a challenge, with the stage transition that promotes its winner. */
export function challengeActions(write: ChallengeWrite, table: string): Action[] {
  const { before, after, trades = [], assignments = [], promotion } = write;
  const id = after.challenge_id;
  return [
    ...(promotion
      ? stageActions(promotion, table)
      : [...putChallenge(write, table), ...modelActions(write, table)]),
    ...trades.flatMap((trade) => {
      const key = tradeKey(id, trade.after.sequence);
      if (trade.before) return [{ Put: { TableName: table, Item: { ...key, ...trade.after } } }];
      const { trade_id, sequence } = trade.after;
      return [putNew(key, trade.after, table), putNew(tradeIdKey(id, trade_id), { sequence }, table)];
    }),
    ...assignments.map(({ before, after }) => {
      const key = assignmentKey(id, after.assignment_key);
      return before ? putUnchanged(key, { before, after }, table) : putNew(key, after, table);
    }),
    ...(before === null ? [putNew(listKey(after), { challenge_id: id }, table)] : []),
  ];
}

/** Sets or clears the model's active challenge, in the transaction that starts or ends the challenge. */
function modelActions({ before, after, modelRevision }: ChallengeWrite, table: string): Action[] {
  const Key = { ...modelKey(after.model_name) };
  const change = {
    TableName: table,
    Key,
    UpdateExpression: 'SET active_challenge_id = :now, revision = revision + :one',
  };
  if (before === null) {
    const values = { ':now': after.challenge_id, ':one': 1, ':revision': modelRevision };
    return [
      {
        Update: { ...change, ConditionExpression: 'revision = :revision', ExpressionAttributeValues: values },
      },
    ];
  }
  if (before.status !== 'active' || after.status === 'active') return [];
  const values = { ':now': null, ':one': 1, ':id': after.challenge_id };
  const condition = { ConditionExpression: 'active_challenge_id = :id', ExpressionAttributeValues: values };
  return [{ Update: { ...change, ...condition } }];
}

/** Actions that store a challenge, its events and its evaluation, if the challenge is unchanged since the read. */
function putChallenge({ before, after, events, evaluation }: ChallengeChange, table: string): Action[] {
  const unfinished = after.status === 'active' || isAwaitingPromotion(after);
  const item = unfinished ? { ...after, active_challenge: UNFINISHED } : after;
  const key = challengeKey(after.challenge_id);
  return [
    before ? putUnchanged(key, { before, after: item }, table) : putNew(key, item, table),
    ...events.map((event) => putNew(challengeEventKey(event), event, table)),
    ...(evaluation ? [putNew(evaluationKey(evaluation), evaluation, table)] : []),
  ];
}

/** Stores an item if it is unchanged since the read. */
function putUnchanged(
  key: ItemKey,
  { before, after }: { readonly before: { readonly revision: number }; readonly after: object },
  table: string,
): Action {
  return {
    Put: {
      TableName: table,
      Item: { ...key, ...after },
      ConditionExpression: 'revision = :read',
      ExpressionAttributeValues: { ':read': before.revision },
    },
  };
}

/** Stores an item that must not exist yet. */
export function putNew(key: ItemKey, item: object, table: string): Action {
  return {
    Put: { TableName: table, Item: { ...key, ...item }, ConditionExpression: 'attribute_not_exists(pk)' },
  };
}
