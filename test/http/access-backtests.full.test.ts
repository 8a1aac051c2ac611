import { describe, expect, it } from 'vitest';
import { ulids } from '#adapters/ids.ts';
import { SOME_RESULT, SOME_RESULTS, SOME_TIMING } from '../support/jobs.ts';
import { accessScene, at, idsOf } from './access-backtests-fixture.ts';

const scene = accessScene();

describe('backtest list', () => {
  /** Ten jobs shared in turn with no one, bob, his group and everyone; several at the same time. */
  async function interleaved(experiment_name: string) {
    const ids: Record<'owned' | 'seen' | 'all', string[]> = { owned: [], seen: [], all: [] };
    for (let i = 0; i < 24; i++) {
      const owner = ['ann', 'bob', 'eve'][i % 3]!;
      const created_at = new Date(Date.UTC(2026, 0, 1, 0, 0, i >> 2)).toISOString();
      const id = await scene.fixture.backtest(owner, { experiment_name, created_at });
      const principals = [[], ['user:bob'], ['group:desk', 'user:bob!', 'everyone'], ['everyone']][
        (i >> 1) % 4
      ]!;
      if (owner !== 'bob') await scene.admin.share(at(id), ...principals);
      ids.all.push(id);
      if (owner === 'bob') ids.owned.push(id);
      if (owner === 'bob' || principals.length > 0) ids.seen.push(id);
    }
    const newest = (list: string[]) => list.sort().reverse();
    // IDs are created in chronological order here.
    return { owned: newest(ids.owned), seen: newest(ids.seen), all: newest(ids.all) };
  }

  it('list returns visible jobs completely and in order for any page size', async () => {
    const experiment = `mix-${ulids.ulid()}`;
    const { seen, all } = await interleaved(experiment);
    const member = scene.fixture.person('bob', 'viewer', ['desk']);
    const query = `&experiment_name=${experiment}`;
    for (let limit = 1; limit <= seen.length + 1; limit++)
      expect(await idsOf(member, query, limit)).toEqual(seen);
    for (const limit of [1, 5, 24]) {
      expect((await idsOf(scene.admin, query, limit)).sort()).toEqual(all.toSorted());
      expect((await idsOf(scene.fixture.development, query, limit)).sort()).toEqual(all.toSorted());
    }
    // Pages without a filter are filled from the visible jobs.
    const unfiltered = await idsOf(member, '', 3);
    expect(new Set(unfiltered).size).toBe(unfiltered.length);
    expect(unfiltered.filter((id) => all.includes(id))).toEqual(seen);
    expect((await idsOf(scene.fixture.person('new', 'viewer'), query, 2)).length).toBeLessThan(seen.length);
  });

  it('list fills the longest page', async () => {
    const experiment_name = `long-${ulids.ulid()}`;
    const ids = await Promise.all(
      Array.from({ length: 102 }, () => scene.fixture.backtest('ann', { experiment_name })),
    );
    const query = `&experiment_name=${experiment_name}`;
    expect(await idsOf(scene.ann, query, 100)).toEqual(ids.toSorted().reverse());
    expect(await idsOf(scene.ann, query, 99)).toEqual(ids.toSorted().reverse());
  });
});

it('sharing a running job keeps both writes', async () => {
  const outcome = { result: SOME_RESULT, results: SOME_RESULTS, timing: SOME_TIMING, warnings: [] };
  const time = '2026-05-02T00:00:00.000Z';
  for (let round = 0; round < 6; round++) {
    const owner = `racer-${round}-${ulids.ulid()}`;
    const id = await scene.fixture.backtest(owner, {}, 'running');
    const own = scene.fixture.person(owner);
    const run = async () => {
      for (const progress of [0.2, 0.4, 0.6, 0.8]) {
        expect(await scene.fixture.jobs.setProgress(id, 1, progress, time)).toBe(true);
      }
      return scene.fixture.jobs.complete(id, 1, outcome, time);
    };
    const names = ['ida', 'joe', 'kim'].map((name) => `user:${name}-${round}`);
    const share = async () => {
      for (const name of names) expect((await own.share(at(id), name, 'user:bob')).status).toBe(200);
    };
    const [ended] = await Promise.all([run(), share()]);
    expect(ended).toBe(true);
    const [ida, , kim] = names.map((name) => scene.fixture.person(name.slice('user:'.length)));
    for (const person of [own, kim!, scene.bob])
      expect(await idsOf(person, '&status=completed')).toContain(id);
    expect(await idsOf(ida!)).not.toContain(id);
  }
});
