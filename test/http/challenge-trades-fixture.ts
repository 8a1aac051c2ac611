import { afterAll, beforeAll } from 'vitest';
import { type ChallengeFixture, challengeFixture } from '../support/challenge-fixture.ts';
import { startEngine, type TestEngine } from '../support/engine.ts';

/** Stored totals of both variants over all stages. */
export async function totals(fixture: ChallengeFixture, id: string) {
  const { stages } = (await fixture.deps.challenges.read(id))!;
  const sum = (variant: 'champion' | 'challenger') =>
    stages.reduce(
      (all, stage) => ({
        n: all.n + stage[variant].closed,
        sum: all.sum + stage[variant].sum[0],
        squares: all.squares + stage[variant].sum_of_squares[0],
      }),
      { n: 0, sum: 0, squares: 0 },
    );
  return { champion: sum('champion'), challenger: sum('challenger') };
}

/** Challenge fixtures on an engine that the tests of a file share. */
export function challengeFixtures() {
  const scene = {
    engine: undefined as unknown as TestEngine,
    /** Fixture with a new challenge, and its ID. */
    async started(body: object = {}): Promise<readonly [ChallengeFixture, string]> {
      const fixture = await challengeFixture(scene.engine);
      return [fixture, (await fixture.create({ ...body })).body.challenge_id];
    },
  };
  beforeAll(async () => {
    scene.engine = await startEngine();
  });
  afterAll(() => scene.engine?.stop());
  return scene;
}
