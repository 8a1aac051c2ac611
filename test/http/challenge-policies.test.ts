import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { tickChallenges } from '#domain/challenges/tick-challenges.ts';
import { type ChallengeWorld, challengeWorld, generated, HOUR } from '../support/challenge-world.ts';
import { startEngine, type TestEngine } from '../support/engine.ts';

let engine: TestEngine;
beforeAll(async () => {
  engine = await startEngine();
});
afterAll(() => engine?.stop());

const tick = (world: ChallengeWorld) =>
  tickChallenges(world.deps, (_, error) => {
    throw error;
  });

async function actionsOf(world: ChallengeWorld, id: string) {
  const { body } = await world.read(id, '/events');
  return body.items.map(({ action, actor, reason }: any) => [action, actor, reason]);
}

// Reference 4.4 and 4.5, 3.
describe('a stage that somebody must approve', () => {
  /** At stage_1, its dwell over and its trades closed: the next one is due. */
  async function due(approval_stages: readonly string[]): Promise<readonly [ChallengeWorld, string]> {
    const world = await challengeWorld(engine);
    const { body } = await world.create({ approval_stages });
    expect(body.approval_stages).toEqual(approval_stages);
    const id = body.challenge_id;
    await world.log(id, 'champion', generated(12345, 60, 0));
    await world.log(id, 'challenger', generated(67890, 20, 0));
    expect((await world.read(id)).body).toMatchObject({ canary_stage: 'stage_1', hold: null });
    world.clock.forward(HOUR);
    expect((await tick(world)).changed).toEqual([id]);
    return [world, id];
  }

  it('is entered by an advance alone, the others by themselves', async () => {
    const [world, id] = await due(['stage_3']);
    expect((await world.read(id)).body).toMatchObject({
      canary_stage: 'stage_2',
      next_stage: { canary_stage: 'stage_3', needs_approval: true },
    });
    await world.log(id, 'challenger', generated(67891, 20, 0));
    world.clock.forward(HOUR);
    await tick(world);
    const { body: held } = await world.read(id);
    expect(held).toMatchObject({ canary_stage: 'stage_2', traffic_split: [0.9, 0.1] });
    expect(held.hold).toMatchObject({ reason: 'approval', note: null });
    expect((await tick(world)).changed).toEqual([]);
    const resumed = await world.post(id, 'resume');
    expect([resumed.status, resumed.body.detail.code]).toEqual([409, 'RES005']);
    expect(resumed.body.detail.message).toContain('advance');
    expect((await world.read(id)).body).toEqual(held);
    const advanced = await world.post(id, 'advance', { comment: 'go' });
    expect(advanced.body).toMatchObject({ canary_stage: 'stage_3', hold: null });
    expect((await actionsOf(world, id)).slice(0, 3)).toEqual([
      ['advance', 'anonymous', 'go'],
      ['hold', 'platform', 'approval'],
      ['advance', 'platform', 'dwell and trades'],
    ]);
  });

  it('hides no doubt of its health: that comes first, and the approval is asked for again after it', async () => {
    const [world, id] = await due(['stage_2']);
    expect((await world.read(id)).body.hold.reason).toBe('approval');
    world.clock.forward(24 * HOUR);
    await tick(world);
    expect((await world.read(id)).body.hold.reason).toBe('no_traffic');
    await world.log(id, 'champion', [0.1]);
    expect((await world.read(id)).body).toMatchObject({
      hold: { reason: 'approval' },
      canary_stage: 'stage_1',
    });
    // Who holds it by hand and lets it go on has approved nothing.
    await world.post(id, 'hold');
    await world.post(id, 'resume');
    await tick(world);
    expect((await world.read(id)).body).toMatchObject({
      hold: { reason: 'approval' },
      canary_stage: 'stage_1',
    });
    expect((await world.post(id, 'rollback')).body).toMatchObject({ status: 'rolled_back', hold: null });
  });

  it.each([
    [{ approval_stages: ['stage_1'] }, 'approval_stages.0'],
    [{ approval_stages: ['stage_2', 'stage_5'] }, 'approval_stages.1'],
    [{ approval_stages: ['stage_2', 'stage_2'] }, 'approval_stages'],
    [{ approval_stages: ['stage_2'], enable_canary: false }, 'approval_stages'],
  ])('%j is refused', async (body, field) => {
    const world = await challengeWorld(engine);
    const answer = await world.create(body);
    expect([answer.status, answer.body.detail.code, answer.body.detail.field]).toEqual([
      400,
      'VAL005',
      field,
    ]);
  });
});
