import type { ChallengeWrite } from '#domain/challenges/challenge-store.ts';
import {
  type Action,
  assignmentKey,
  listKey,
  putAsRead,
  putChallenge,
  putNew,
  tradeIdKey,
  tradeKey,
} from './challenge-item.ts';
import { modelKey } from './registry-item.ts';
import { putReply, transactionOf } from './registry-transaction.ts';

/** All that a write stores. One lost condition cancels the whole. */
export function actionsOf(write: ChallengeWrite, table: string): Action[] {
  const { before, after, trades = [], assignments = [], promotion, reply } = write;
  const id = after.challenge_id;
  return [
    ...(promotion
      ? transactionOf({ ...promotion, reply: null }, table)
      : [...putChallenge(write, table), ...modelActions(write, table)]),
    ...trades.flatMap((trade) => {
      const key = tradeKey(id, trade.after.sequence);
      if (trade.before) return [{ Put: { TableName: table, Item: { ...key, ...trade.after } } }];
      const { trade_id, sequence } = trade.after;
      return [putNew(key, trade.after, table), putNew(tradeIdKey(id, trade_id), { sequence }, table)];
    }),
    ...assignments.map(({ before, after }) => {
      const key = assignmentKey(id, after.assignment_key);
      return before ? putAsRead(key, { before, after }, table) : putNew(key, after, table);
    }),
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
