import { describe, expect, it } from 'vitest';
import type { RegistryStore } from '#domain/transitions/registry-store.ts';
import { createRandom } from '#engine/random.ts';
import { fileEngine } from '../../support/file-engine.ts';
import { MODEL, type RegistryFixture, registryFixture } from '../../support/registry-fixture.ts';
import { Invariants } from '../../support/registry-invariants.ts';
import { withMethods } from '../../support/wrapped-store.ts';

const engine = fileEngine();

interface Race {
  readonly fixture: RegistryFixture;
  readonly invariants: Invariants;
  /** Transitions stored and write conflicts since the start of the race. */
  readonly count: { done: number; conflict: number };
}

/**
 * Starts with versions 1 and 2 in Staging. Other calls interleave before each read and commit, in an order given by the
 * seed. The invariants are checked after each commit, before the next.
 */
async function startRace(seed: number): Promise<Race> {
  const random = createRandom(seed);
  const letOthersGo = async () => {
    for (let turns = Math.floor(random() * 8); turns > 0; turns--) {
      await new Promise((resolve) => setImmediate(resolve));
    }
  };
  const race: { invariants?: Invariants } = {};
  const count = { done: 0, conflict: 0 };
  let last: Promise<unknown> = Promise.resolve();
  const wrap = (store: RegistryStore) =>
    withMethods(store, {
      read: async (...args) => {
        await letOthersGo();
        return store.read(...args);
      },
      commit: async (transition) => {
        await letOthersGo();
        const committed = last.then(async () => {
          const outcome = await store.commit(transition);
          count[outcome]++;
          await race.invariants?.check();
          return outcome;
        });
        last = committed;
        return committed;
      },
    });
  const fixture = await registryFixture(engine, { deps: { random, sleep: letOthersGo }, wrap });
  for (const version of ['1', '2']) {
    await fixture.register();
    await fixture.stage(version);
  }
  race.invariants = new Invariants(fixture);
  Object.assign(count, { done: 0, conflict: 0 });
  return { fixture, invariants: race.invariants, count };
}

describe('100 concurrent promotions of two versions', () => {
  it.each([1, 2, 3])('100 concurrent promotions leave one version in Production (order %d)', async (seed) => {
    const { fixture, invariants, count } = await startRace(seed);
    const calls = Array.from({ length: 100 }, (_, index) => fixture.promote(String((index % 2) + 1)));
    const responses = await Promise.all(calls);
    // Each version is promoted once. Late calls find it promoted or archived; some exhaust their retries.
    expect(count.done).toBe(2);
    expect(count.conflict).toBeGreaterThan(0);
    for (const { status, body } of responses) {
      expect([200, 409, 410]).toContain(status);
      if (status === 409) expect(body.detail.context).toHaveProperty('current_production');
    }
    const promoted = responses.filter(({ body }) => body.previous_stage === 'Staging');
    expect(promoted.map(({ body }) => body.archived_versions).sort()).toEqual([[], [expect.any(String)]]);
    await invariants.check();
  });

  it('100 concurrent promotions leave one version in Production without injected delays', async () => {
    const fixture = await registryFixture(engine);
    for (const version of ['1', '2']) {
      await fixture.register();
      await fixture.stage(version);
    }
    await Promise.all(Array.from({ length: 100 }, (_, index) => fixture.promote(String((index % 2) + 1))));
    await new Invariants(fixture).check();
    const stages = (await fixture.get(`/api/v1/models/${MODEL}/versions`)).body.versions;
    expect(stages.map(({ stage }: { stage: string }) => stage).sort()).toEqual(['Archived', 'Production']);
  });

  it('concurrent promotions that expect an empty Production apply once', async () => {
    const { fixture, count } = await startRace(4);
    const calls = Array.from({ length: 40 }, (_, index) =>
      fixture.promote(String((index % 2) + 1), { expected_production: null }),
    );
    const responses = await Promise.all(calls);
    expect(count.done).toBe(1);
    const promoted = responses.filter(({ body }) => body.previous_stage === 'Staging');
    expect(promoted).toHaveLength(1);
    const rejected = responses.filter(({ status }) => status === 409);
    expect(rejected).toHaveLength(20);
    for (const response of rejected) {
      expect(response.body.detail.context.current_production).toBe(promoted[0]!.body.version);
    }
  });
});

it('12 concurrent registrations create 12 versions', async () => {
  const { fixture, invariants, count } = await startRace(5);
  const responses = await Promise.all(Array.from({ length: 12 }, () => fixture.register()));
  expect(responses.map(({ status }) => status)).toEqual(Array(12).fill(201));
  const versions = responses.map(({ body }) => Number(body.version)).sort((a, b) => a - b);
  expect(versions).toEqual(Array.from({ length: 12 }, (_, index) => index + 3));
  expect(count.done).toBe(12);
  expect(count.conflict).toBeGreaterThan(0);
  await invariants.check();
});

it('concurrent promotions and rollbacks leave one version in Production after every transition', async () => {
  const { fixture, invariants, count } = await startRace(5);
  await fixture.promote('1');
  await fixture.promote('2');
  const calls = Array.from({ length: 60 }, (_, index) => fixture.rollback(String((index % 2) + 1)));
  const responses = await Promise.all(calls);
  expect(count.done).toBeGreaterThan(2);
  for (const { status } of responses) expect([200, 409]).toContain(status);
  await invariants.check();
});

it('concurrent registrations get distinct consecutive version numbers', async () => {
  const { fixture, invariants } = await startRace(6);
  const responses = await Promise.all(Array.from({ length: 12 }, () => fixture.register()));
  const given = responses.filter(({ status }) => status === 201).map(({ body }) => Number(body.version));
  expect(given.length).toBeGreaterThan(0);
  expect(given.sort((a, b) => a - b)).toEqual(given.map((_, index) => index + 3));
  await invariants.check();
});

it('history keeps its order when the clock runs backwards', async () => {
  let now = Date.parse('2026-01-01T00:00:00Z');
  const fixture = await registryFixture(engine, { deps: { clock: { now: () => (now -= 60_000) } } });
  for (const version of ['1', '2']) {
    await fixture.register();
    await fixture.stage(version);
    await fixture.promote(version);
  }
  await new Invariants(fixture).check();
});

it('transition is not applied again when the read model is newer than its version', async () => {
  let between: (() => Promise<unknown>) | null = null;
  const wrap = (store: RegistryStore) =>
    withMethods(store, {
      read: async (...args) => {
        const older = await store.read(...args);
        const other = between;
        between = null;
        if (!other) return older;
        await other();
        return { ...(await store.read(...args)), versions: older.versions };
      },
    });
  const fixture = await registryFixture(engine, { wrap });
  for (const version of ['1', '2']) {
    await fixture.register();
    await fixture.stage(version);
    await fixture.promote(version);
  }
  between = () => fixture.rollback(1);
  expect(await fixture.rollback(1)).toMatchObject({ status: 200, body: { previous_production: '1' } });
  await fixture.register();
  await fixture.stage(3);
  between = () => fixture.promote(3);
  expect(await fixture.promote(3)).toMatchObject({ status: 200, body: { previous_stage: 'Production' } });
  await new Invariants(fixture).check();
});
