import { createHash } from 'node:crypto';
import type { TransactWriteCommandInput } from '@aws-sdk/lib-dynamodb';
import type { ChallengeEvent, StoredChallenge } from '#contract/stored-challenge.ts';
import { isAwaiting } from '#domain/challenges/challenge-state.ts';
import type { ChallengeChange } from '#domain/challenges/challenge-store.ts';
import { type ItemKey, partitionOf } from './registry-item.ts';

/** How a challenge's items are keyed and stored. */

export type Action = NonNullable<TransactWriteCommandInput['TransactItems']>[number];

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
export function putChallenge({ before, after, events }: ChallengeChange, table: string): Action[] {
  const unfinished = after.status === 'active' || isAwaiting(after);
  const item = unfinished ? { ...after, active_challenge: UNFINISHED } : after;
  const key = challengeKey(after.challenge_id);
  return [
    before ? putAsRead(key, { before, after: item }, table) : putNew(key, item, table),
    ...events.map((event) => putNew(eventKey(event), event, table)),
  ];
}

/** Stores an item if it still is as it was read. */
export function putAsRead(
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

function eventKey({ challenge_id, sequence }: ChallengeEvent): ItemKey {
  return { pk: challengePartition(challenge_id), sk: `${CHALLENGE_EVENT_PREFIX}${padded(sequence)}` };
}

/** Of its row in its model's list. */
export function listKey({ model_name, challenge_id }: StoredChallenge): ItemKey {
  return { pk: partitionOf(model_name), sk: `${CHALLENGE_PREFIX}${challenge_id}` };
}

function padded(sequence: number): string {
  return String(sequence).padStart(9, '0');
}

function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
