import { marshall } from '@aws-sdk/util-dynamodb';
import { challengeActions } from '#adapters/dynamo/registry-transaction.ts';
import { sha256 } from '#adapters/sha256.ts';
import { TRADE_FIELDS, type TradeInput } from '#contract/registry/challenge-trade.ts';
import type { StoredChallenge } from '#contract/registry/stored-challenge.ts';
import { applyTrade, readTrade } from '#domain/challenges/apply-trade.ts';
import { begin, type Progress } from '#domain/challenges/challenge-state.ts';

export type Item = Record<string, unknown>;

/**
 * Items that logging `count` trades would store, in DynamoDB JSON: the items of the trades, then the challenge with their
 * totals. The platform's own functions parse, count and key each trade. Only the verdict after each trade is left out.
 */
export function* challengeLog(
  challenge: StoredChallenge,
  count: number,
  tradeOf: (index: number) => TradeInput,
): Generator<Item> {
  const at = new Date().toISOString();
  let progress = begin(challenge);
  for (let index = 0; index < count; index++) {
    const posted = readTrade(tradeOf(index), TRADE_FIELDS, sha256);
    const known = { trade: undefined, assignment: undefined };
    const applied = applyTrade(progress, posted, known, { at, digest: sha256 });
    progress = applied.progress;
    yield* itemsOf(progress, [{ before: null, after: applied.trade }]).slice(1);
  }
  const after = { ...progress.challenge, revision: challenge.revision + 1, updated_at: at };
  yield itemsOf(begin(after), [])[0]!;
}

type Trades = NonNullable<Parameters<typeof challengeActions>[0]['trades']>;

/** Item of the challenge, then the items of the trades. */
function itemsOf({ challenge }: Progress, trades: Trades): Item[] {
  const actions = challengeActions({ before: challenge, after: challenge, events: [], trades }, '');
  const options = { removeUndefinedValues: true, allowImpreciseNumbers: true };
  return actions.map(({ Put }) => marshall(Put!.Item, options));
}
