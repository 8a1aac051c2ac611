import { setTimeout as sleep } from 'node:timers/promises';
import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import type { ChallengeListener, ChallengeStore } from '#domain/challenges/challenge-store.ts';
import type { Cursors } from '#domain/shared/cursors.ts';
import { lazy } from '#domain/shared/lazy.ts';
import type { RegistryStore } from '#domain/transitions/registry-store.ts';
import { createDocumentClient } from './client.ts';
import { decodeCursor, encodeCursor } from './cursor.ts';

/**
 * The registry, the cursors of its lists and the dependencies of its retries. Its own client throws SVC005 when DynamoDB
 * is unavailable. `onChallengeChange` is notified of each stored change of a challenge.
 */
export function openRegistry(
  table: string,
  endpoint: string | undefined,
  onChallengeChange?: ChallengeListener,
): {
  readonly registry: RegistryStore;
  readonly challenges: ChallengeStore;
  readonly cursors: Cursors;
  readonly random: () => number;
  readonly sleep: (ms: number) => Promise<unknown>;
} {
  let client: DynamoDBDocumentClient | undefined;
  const shared = () => (client ??= createDocumentClient({ endpoint, unavailable: 'SVC005' }));
  return {
    registry: lazy(async () => {
      const { DynamoRegistryStore } = await import('./registry-store.ts');
      return new DynamoRegistryStore(shared(), table, onChallengeChange);
    }),
    challenges: lazy(async () => {
      const { DynamoChallengeStore } = await import('./challenge-store.ts');
      return new DynamoChallengeStore(shared(), table, onChallengeChange);
    }),
    cursors: { encode: encodeCursor, decode: decodeCursor },
    random: Math.random,
    sleep: (ms) => sleep(ms),
  };
}
