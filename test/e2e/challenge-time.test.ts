import { PutCommand } from '@aws-sdk/lib-dynamodb';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { DynamoChallengeStore } from '#adapters/dynamo/challenge-store.ts';
import { createTables } from '#adapters/dynamo/create-tables.ts';
import { NO_TRADES } from '#domain/challenges/challenge-state.ts';
import { startEngine, type TestEngine } from '../support/engine.ts';
import { startTestPlatform, type TestPlatform } from '../support/platform.ts';
import { storedChallenge } from '../support/stored-challenge.ts';

/** Deadlines are applied while the platform runs and when it starts, without a read. */

let engine: TestEngine;
let platform: TestPlatform;
let store: DynamoChallengeStore;

beforeAll(async () => {
  engine = await startEngine();
  await createTables(engine.client, { jobs: 'Jobs', registry: 'Registry', series: 'Series' });
  store = new DynamoChallengeStore(engine.client, 'Registry');
});
afterAll(async () => {
  await platform?.stop();
  await engine?.stop();
});

/** Stored challenge of its own model. */
async function storeChallenge(id: string, endsIn: number): Promise<number> {
  const now = Date.now();
  const at = (ms: number) => new Date(now + ms).toISOString();
  const stage = {
    canary_stage: 'stage_1',
    since: at(-60_000),
    champion: NO_TRADES,
    challenger: NO_TRADES,
  } as const;
  const challenge = storedChallenge({
    challenge_id: id,
    model_name: id,
    stages: [stage],
    ends_at: at(endsIn),
    created_at: at(-60_000),
    updated_at: at(-60_000),
    last_traffic_at: at(-60_000),
  });
  const model = { pk: `MODEL#${id}`, sk: 'META', revision: 1, active_challenge_id: null };
  await engine.client.send(new PutCommand({ TableName: 'Registry', Item: model }));
  expect(await store.commit({ before: null, after: challenge, events: [], modelRevision: 1 })).toBe('done');
  return now + endsIn;
}

it('platform start ends overdue challenges; later ones end at their deadline', async () => {
  await storeChallenge('ch-past', -1000);
  await storeChallenge('ch-far', 3_600_000);
  const time = await storeChallenge('ch-near', 2500);
  platform = await startTestPlatform({ dynamodbEndpoint: engine.endpoint });
  expect(await statusOf('ch-past')).toBe('expired');
  await expect.poll(() => statusOf('ch-near')).toBe('expired');
  expect(Date.now()).toBeGreaterThanOrEqual(time);
  expect(await statusOf('ch-far')).toBe('active');
});

const statusOf = async (id: string) => (await store.read(id))!.status;
