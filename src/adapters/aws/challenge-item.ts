import { createHash } from 'node:crypto';
import type { TransactWriteCommandInput } from '@aws-sdk/lib-dynamodb';
import type { ChallengeEvent, StoredChallenge } from '#contract/stored-challenge.ts';
import { isAwaiting } from '#domain/challenges/challenge-state.ts';
import type { ChallengeChange, ChallengeWrite } from '#domain/challenges/challenge-store.ts';
import { type ItemKey, modelKey, partitionOf } from './registry-item.ts';
import { putReply } from './registry-transaction.ts';

/** How a challenge's items are keyed, and what a write does with them. */

type Action = NonNullable<TransactWriteCommandInput['TransactItems']>[number];

export const TRADE_PREFIX = 'TRADE#';
export const CHALLENGE_PREFIX = 'CHALLENGE#';
export const CHALLENGE_EVENT_PREFIX = 'EVENT#';
/** The one partition of the index of challenges to which time can still do something. */
export const UNFINISHED = 'unfinished';

export function challengePartition(id: string): string {
  return `CHALLENGE#${id}`;
}

export function challengeKey(id: string): ItemKey {
  return { pk: challengePartition(id), sk: 'META' };
}

export function tradeKey(id: string, sequence: number): ItemKey {
  return { pk: challengePartition(id), sk: `${TRADE_PREFIX}${padded(sequence)}` };
}

/** Tells under which sequence number a trade is stored. Hashed: an id may be longer and odder than a key should be. */
export function tradeIdKey(id: string, tradeId: string): ItemKey {
  return { pk: challengePartition(id), sk: `TRADE-ID#${hashOf(tradeId)}` };
}

export function assignmentKey(id: string, key: string): ItemKey {
  return { pk: challengePartition(id), sk: `ASSIGNMENT#${hashOf(key)}` };
}

/** The actions that store a challenge and its events, if it still is as it was read. */
function putChallenge({ before, after, events }: ChallengeChange, table: string): Action[] {
  const condition = before
    ? { ConditionExpression: 'revision = :read', ExpressionAttributeValues: { ':read': before.revision } }
    : { ConditionExpression: 'attribute_not_exists(pk)' };
  const unfinished = after.status === 'active' || isAwaiting(after);
  const indexed = unfinished ? { active_challenge: UNFINISHED } : {};
  return [
    {
      Put: {
        TableName: table,
        Item: { ...challengeKey(after.challenge_id), ...after, ...indexed },
        ...condition,
      },
    },
    ...events.map((event) => putNew(eventKey(event), event, table)),
  ];
}

/** All that a write stores. One lost condition cancels the whole. */
export function actionsOf(write: ChallengeWrite, table: string): Action[] {
  const { before, after, trades = [], assignments = [], reply } = write;
  const id = after.challenge_id;
  return [
    ...putChallenge(write, table),
    ...modelActions(write, table),
    ...trades.flatMap((trade) => {
      const key = tradeKey(id, trade.after.sequence);
      if (trade.before) return [{ Put: { TableName: table, Item: { ...key, ...trade.after } } }];
      const { trade_id, sequence } = trade.after;
      return [putNew(key, trade.after, table), putNew(tradeIdKey(id, trade_id), { sequence }, table)];
    }),
    ...assignments.map((each) => putNew(assignmentKey(id, each.assignment_key), each, table)),
    ...(before === null ? [putNew(listKey(after), { challenge_id: id }, table)] : []),
    ...(reply ? [{ Put: putReply(reply, table) }] : []),
  ];
}

/** The model names its active challenge, in the transaction that begins or ends it. */
function modelActions({ before, after, modelRev }: ChallengeWrite, table: string): Action[] {
  const Key = { ...modelKey(after.model_name) };
  const change = {
    TableName: table,
    Key,
    UpdateExpression: 'SET active_challenge_id = :now, rev = rev + :one',
  };
  if (before === null) {
    const values = { ':now': after.challenge_id, ':one': 1, ':rev': modelRev };
    return [{ Update: { ...change, ConditionExpression: 'rev = :rev', ExpressionAttributeValues: values } }];
  }
  if (before.status !== 'active' || after.status === 'active') return [];
  const values = { ':now': null, ':one': 1, ':id': after.challenge_id };
  const condition = { ConditionExpression: 'active_challenge_id = :id', ExpressionAttributeValues: values };
  return [{ Update: { ...change, ...condition } }];
}

function putNew(key: ItemKey, item: object, table: string): Action {
  return {
    Put: { TableName: table, Item: { ...key, ...item }, ConditionExpression: 'attribute_not_exists(pk)' },
  };
}

function eventKey({ challenge_id, sequence }: ChallengeEvent): ItemKey {
  return { pk: challengePartition(challenge_id), sk: `${CHALLENGE_EVENT_PREFIX}${padded(sequence)}` };
}

function listKey({ model_name, challenge_id }: StoredChallenge): ItemKey {
  return { pk: partitionOf(model_name), sk: `${CHALLENGE_PREFIX}${challenge_id}` };
}

function padded(sequence: number): string {
  return String(sequence).padStart(9, '0');
}

function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
