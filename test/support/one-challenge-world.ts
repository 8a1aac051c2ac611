import { afterAll, beforeAll } from 'vitest';
import { type ChallengeWorld, challengeWorld } from './challenge-world.ts';
import { startEngine, type TestEngine } from './engine.ts';
import { MODEL } from './registry-world.ts';

export let engine: TestEngine;
export let world: ChallengeWorld;

/** One world for all tests of the calling file. */
export function useOneChallengeWorld(): void {
  beforeAll(async () => {
    engine = await startEngine();
    world = await challengeWorld(engine);
  });
  afterAll(() => engine?.stop());
}

/** A new challenge, at 50 % unless told otherwise; the one before it is rolled back. */
export async function started(body: object = {}): Promise<string> {
  const active = (await world.store.read(MODEL, [])).model?.active_challenge_id;
  if (active) await world.post(active, 'rollback');
  return (await world.create({ enable_canary: false, ...body })).body.challenge_id;
}
