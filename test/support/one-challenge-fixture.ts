import { afterAll, beforeAll } from 'vitest';
import { type ChallengeFixture, challengeFixture } from './challenge-fixture.ts';
import { startEngine, type TestEngine } from './engine.ts';
import { MODEL } from './registry-fixture.ts';

export let engine: TestEngine;
export let fixture: ChallengeFixture;

/** One fixture for all tests of the calling file. */
export function useOneChallengeFixture(): void {
  beforeAll(async () => {
    engine = await startEngine();
    fixture = await challengeFixture(engine);
  });
  afterAll(() => engine?.stop());
}

/** Creates a challenge, at 50 % by default. Rolls back the one before it. */
export async function started(body: object = {}): Promise<string> {
  const active = (await fixture.store.read(MODEL, [])).model?.active_challenge_id;
  if (active) await fixture.post(active, 'rollback');
  return (await fixture.create({ enable_canary: false, ...body })).body.challenge_id;
}
