import { describe, expect, it } from 'vitest';
import { ulids } from '#adapters/ids.ts';
import { accessScene, at } from './access-backtests-fixture.ts';

const scene = accessScene();

describe('updateBacktest', () => {
  it('changes the given fields in every status, and keeps the others', async () => {
    for (const status of ['pending', 'running', 'completed', 'failed', 'cancelled'] as const) {
      const id = await scene.fixture.backtest('ann', {}, status);
      const before = (await scene.ann.get(at(id))).body;
      expect([before.notes, before.tags, before.pinned]).toEqual(['', [], false]);
      const first = await scene.ann.patch(at(id), { notes: 'stop\ntoo tight 🌊', tags: ['a', 'b', 'a'] });
      const written = { notes: 'stop\ntoo tight 🌊', tags: ['a', 'b'] };
      expect([first.status, first.body]).toEqual([200, { ...before, ...written }]);
      await scene.ann.patch(at(id), { pinned: true, notes: null });
      const after = (await scene.ann.get(at(id))).body;
      expect(after).toEqual({ ...before, ...written, pinned: true });
      expect((await scene.ann.patch(at(id), {})).body).toEqual(after);
      const cleared = { notes: '', tags: [], pinned: false };
      expect((await scene.ann.patch(at(id), cleared)).body).toEqual(before);
    }
  });

  it('keeps the run: a pending job with notes is claimed and completed', async () => {
    const id = await scene.fixture.backtest('ann');
    await scene.ann.patch(at(id), { notes: 'before the run', tags: ['t'], pinned: true });
    await scene.fixture.jobs.claim(id, 'task', '2026-05-02T00:00:00.000Z');
    await scene.ann.patch(at(id), { tags: ['u'] });
    expect((await scene.ann.post(`${at(id)}/cancel`)).body).toMatchObject({
      status: 'cancelled',
      notes: 'before the run',
      tags: ['u'],
      pinned: true,
    });
  });

  it.each([
    ['notes', { notes: 'x'.repeat(2_001) }, 400],
    ['tags', { tags: Array.from({ length: 21 }, (_, i) => `${i}`) }, 400],
    ['tags.1', { tags: ['a', 'x'.repeat(51)] }, 400],
  ])('rejects an invalid %s and changes nothing', async (field, body, status) => {
    const id = await scene.fixture.backtest('ann');
    const rejected = await scene.ann.patch(at(id), { pinned: true, ...body });
    expect([rejected.status, rejected.body.detail.field]).toEqual([status, field]);
    expect((await scene.ann.get(at(id))).body.pinned).toBe(false);
  });

  it('requires the role researcher and a write grant', async () => {
    const id = await scene.fixture.backtest('ann');
    const note = { notes: 'mine now' };
    expect(await scene.bob.patch(at(id), note)).toMatchObject({ status: 403, code: 'AUTH005' });
    await scene.ann.share(at(id), 'user:bob');
    expect((await scene.bob.patch(at(id), note)).code).toBe('AUTH005');
    expect((await scene.fixture.person('ann', 'viewer').patch(at(id), note)).code).toBe('AUTH004');
    expect((await scene.fixture.withoutToken.patch(at(id), note)).code).toBe('AUTH003');
    expect((await scene.ann.get(at(id))).body.notes).toBe('');
    await scene.ann.share(at(id), 'user:bob!');
    expect((await scene.bob.patch(at(id), note)).body.notes).toBe('mine now');
    expect((await scene.ann.patch(at('bt-unknown'), note)).code).toBe('RES001');
  });

  it('list shows notes, tags and pin, finds them by q and filters by pin', async () => {
    const experiment_name = `notes-${ulids.ulid()}`;
    const [first, second] = [
      await scene.fixture.backtest('ann', { experiment_name }),
      await scene.fixture.backtest('ann', { experiment_name }),
    ];
    await scene.ann.patch(at(first), { notes: 'Stop too TIGHT', tags: ['march'], pinned: true });
    const ids = async (query: string) => {
      const { body } = await scene.ann.get(`/api/v1/backtests?experiment_name=${experiment_name}&${query}`);
      return body.items.map(({ job_id }: { job_id: string }) => job_id);
    };
    expect(await ids('q=tight+march')).toEqual([first]);
    expect([await ids('pinned=true'), await ids('pinned=false')]).toEqual([[first], [second]]);
    const { body } = await scene.ann.get(`/api/v1/backtests?experiment_name=${experiment_name}&pinned=1`);
    expect(body.searched).toEqual({ jobs: 2, complete: true });
    expect(body.items[0]).toMatchObject({ notes: 'Stop too TIGHT', tags: ['march'], pinned: true });
  });
});

describe('deleteBacktest', () => {
  it('requires the owner or an admin, with the role researcher', async () => {
    const id = await scene.fixture.backtest('ann', {}, 'completed');
    await scene.ann.share(at(id), 'user:bob!');
    expect(await scene.bob.delete(at(id))).toMatchObject({ status: 403, code: 'AUTH005' });
    expect((await scene.fixture.person('ann', 'viewer').delete(at(id))).code).toBe('AUTH004');
    expect((await scene.fixture.withoutToken.delete(at(id))).code).toBe('AUTH003');
    expect((await scene.ann.delete(at('bt-unknown'))).code).toBe('RES001');
    expect((await scene.bob.get(at(id))).status).toBe(200);
    expect((await scene.admin.delete(at(id))).status).toBe(204);
    // The tombstone is as private as the job was.
    expect((await scene.fixture.person('eve').get(at(id))).code).toBe('AUTH005');
    for (const person of [scene.ann, scene.bob]) expect((await person.get(at(id))).code).toBe('RES006');
  });
});
