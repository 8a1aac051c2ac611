import { describe, expect, it } from 'vitest';
import type { ChallengeStore } from '#domain/challenges/challenge-store.ts';
import { processDueChallenge, processDueChallenges } from '#domain/challenges/process-due-challenges.ts';
import type { ChallengeDeps } from '#domain/challenges/write-challenge.ts';
import { createRandom } from '#engine/random.ts';
import { challengeFixture, HOUR } from '../support/challenge-fixture.ts';
import { fileEngine } from '../support/file-engine.ts';
import { storedChallenge } from '../support/stored-challenge.ts';
import { withWrites } from '../support/wrapped-store.ts';

const engine = fileEngine();

function fail(_: string, error: unknown): never {
  throw error;
}

describe('repair run over all challenges', () => {
  /** Store of expired challenges: `find` loads them, `unfinished` lists them. */
  function storeOf(count: number, find: (id: string) => Promise<void> = async () => undefined) {
    const ids = Array.from({ length: count }, (_, n) => `ch-${n}`);
    const stored: string[] = [];
    const store: Partial<ChallengeStore> = {
      async *unfinished() {
        yield* ids;
      },
      inTurn: (_, work) => work(),
      find: async (id) => {
        await find(id);
        const challenge = storedChallenge({ challenge_id: id });
        return { challenge, trades: new Map(), assignments: new Map(), idempotencyRecord: undefined };
      },
      commit: async ({ after }) => {
        stored.push(after.challenge_id);
        return 'done';
      },
    };
    return { stored, store: store as ChallengeStore };
  }

  let now = Date.parse('2026-06-01T00:00:00.000Z');
  const deps = (challenges: ChallengeStore, random = () => 0) =>
    ({ challenges, clock: { now: () => now }, random }) as unknown as ChallengeDeps;

  it('repair run processes other challenges while one is slow and reports failures', async () => {
    let release: () => void = () => undefined;
    const slow = new Promise<void>((resolve) => {
      release = resolve;
    });
    const { store, stored } = storeOf(50, async (id) => {
      if (id === 'ch-0') await slow;
      if (id === 'ch-1') throw new Error('broken');
      if (id === 'ch-49') release();
    });
    const failed: string[] = [];
    const report = await processDueChallenges(deps(store), (id) => failed.push(id));
    expect(stored).toHaveLength(49);
    expect(stored.at(-1)).toBe('ch-0');
    expect(report).toMatchObject({ failed: ['ch-1'], left: 0 });
    expect([failed, report.changed.length]).toEqual([['ch-1'], 49]);
  });

  it('repair run ends within its time limit and starts the next run elsewhere', async () => {
    const slowly = async () => {
      now += 1000;
    };
    const reached = new Set<string>();
    const random = createRandom(7);
    for (let pass = 0; pass < 25; pass++) {
      const { store, stored } = storeOf(400, slowly);
      const began = now;
      const { left } = await processDueChallenges(deps(store, random), fail);
      expect(now - began).toBeLessThan(135_000);
      expect(stored.length + left).toBe(400);
      for (const id of stored) reached.add(id);
    }
    expect(reached.size).toBe(400);
  });

  it('repair run skips ended challenges in the index; the timer ends those not yet indexed', async () => {
    const fixture = await challengeFixture(engine);
    const { challenge_id: ended } = (await fixture.create()).body;
    await fixture.post(ended, 'rollback');
    const { challenge_id: fresh } = (await fixture.create({ max_duration_hours: 1 })).body;
    const store = fixture.deps.challenges as ChallengeStore;
    const behind = withWrites(store, {
      unfinished: async function* () {
        yield ended;
      },
    });
    fixture.clock.forward(HOUR);
    const before = (await fixture.read(ended)).body;
    expect(await processDueChallenges({ ...fixture.deps, challenges: behind }, fail)).toEqual({
      changed: [],
      failed: [],
      left: 0,
    });
    expect((await fixture.read(ended)).body).toEqual(before);
    expect(await processDueChallenge(fixture.deps, fresh)).toBe(true);
  });
});
