import { type DynamoDBDocumentClient, QueryCommand } from '@aws-sdk/lib-dynamodb';
import * as z from 'zod';
import { ANALYSIS_UNITS, CHALLENGE_STATUSES } from '#contract/registry/stored-challenge.ts';
import { CHALLENGE_LIST_KEY } from '#contract/values/tables.ts';
import type { ChallengePosition, ChallengeRow } from '#domain/challenges/challenge-store.ts';
import { mergeSorted } from './merge-sorted.ts';
import { challengePartition, readItem } from './registry-item.ts';

/** Rows per read, of about 150 bytes. */
const ROWS_PER_READ = 100;

const IndexRow = z.object({
  pk: z.string().transform((pk) => pk.slice(challengePartition('').length)),
  created_at: z.string(),
  status: z.enum(CHALLENGE_STATUSES),
});

/** Rows of all challenges after a position, newest first, those of one time by descending ID. */
export async function* readChallengeRows(
  client: DynamoDBDocumentClient,
  table: string,
  after: ChallengePosition | null,
): AsyncGenerator<ChallengeRow, void> {
  const lists = ANALYSIS_UNITS.map((partition) => readPartition(client, table, partition, after));
  const merged = mergeSorted(lists, (one, other) => one.created_at > other.created_at);
  // Rows of one time have any order in the index, so a page could not continue between them.
  let sameTime: ChallengeRow[] = [];
  for await (const row of merged) {
    if (row.created_at !== sameTime[0]?.created_at) {
      yield* following(sameTime, after);
      sameTime = [];
    }
    sameTime.push(row);
  }
  yield* following(sameTime, after);
}

function following(rows: readonly ChallengeRow[], after: ChallengePosition | null): ChallengeRow[] {
  return rows
    .filter(
      ({ created_at, challenge_id }) =>
        !after || created_at < after.created_at || challenge_id < after.challenge_id,
    )
    .sort((one, other) => (one.challenge_id > other.challenge_id ? -1 : 1));
}

async function* readPartition(
  client: DynamoDBDocumentClient,
  table: string,
  partition: string,
  after: ChallengePosition | null,
): AsyncGenerator<ChallengeRow, void> {
  let from: Record<string, unknown> | undefined;
  do {
    const { Items = [], LastEvaluatedKey } = await client.send(
      new QueryCommand({
        TableName: table,
        IndexName: 'challenges',
        ScanIndexForward: false,
        KeyConditionExpression: `#list = :list${after ? ' AND created_at <= :after' : ''}`,
        ExpressionAttributeNames: { '#list': CHALLENGE_LIST_KEY },
        ExpressionAttributeValues: { ':list': partition, ...(after && { ':after': after.created_at }) },
        ExclusiveStartKey: from,
        Limit: ROWS_PER_READ,
      }),
    );
    for (const item of Items) {
      const { pk: challenge_id, created_at, status } = readItem(IndexRow, item);
      yield { challenge_id, created_at, status };
    }
    from = LastEvaluatedKey;
  } while (from);
}
