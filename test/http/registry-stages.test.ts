import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startEngine, type TestEngine } from '../support/engine.ts';
import { Invariants } from '../support/registry-invariants.ts';
import { MODEL, type RegistryWorld, registryWorld } from '../support/registry-world.ts';

let engine: TestEngine;
beforeAll(async () => {
  engine = await startEngine();
});
afterAll(() => engine?.stop());

type Call = 'stage' | 'promote' | 'rollback';

/** Brings version 1 into each state. */
const STATES: Record<string, (world: RegistryWorld) => Promise<unknown>> = {
  None: async (world) => world.register(),
  Staging: async (world) => {
    await world.register();
    await world.stage(1);
  },
  Production: async (world) => {
    await world.register();
    await world.stage(1);
    await world.promote(1);
  },
  Archived: async (world) => {
    for (const version of ['1', '2']) {
      await world.register();
      await world.stage(version);
      await world.promote(version);
    }
  },
  'an unknown version': async (world) => {
    for (let number = 0; number < 2; number++) await world.register();
  },
  'an unknown model': async () => undefined,
};

const NO_CHANGE = { success: true };

/** Every state times every call: status, code of a refusal, and the stages after it. */
const TABLE: Record<
  string,
  Record<Call, readonly [status: number, answer: string | object, stage?: string]>
> = {
  None: {
    stage: [200, { success: true, previous_stage: 'None', new_stage: 'Staging' }, 'Staging'],
    promote: [409, 'RES005'],
    rollback: [409, 'RES005'],
  },
  Staging: {
    stage: [200, { ...NO_CHANGE, previous_stage: 'Staging', new_stage: 'Staging' }],
    promote: [
      200,
      { success: true, previous_stage: 'Staging', new_stage: 'Production', archived_versions: [] },
      'Production',
    ],
    rollback: [409, 'RES005'],
  },
  Production: {
    stage: [409, 'RES005'],
    promote: [
      200,
      { ...NO_CHANGE, previous_stage: 'Production', new_stage: 'Production', archived_versions: [] },
    ],
    rollback: [200, { ...NO_CHANGE, previous_production: '1', new_production: '1' }],
  },
  Archived: {
    stage: [410, 'RES006'],
    promote: [410, 'RES006'],
    rollback: [200, { success: true, previous_production: '2', new_production: '1' }, 'Production'],
  },
  'an unknown version': { stage: [404, 'RES003'], promote: [404, 'RES003'], rollback: [404, 'RES003'] },
  'an unknown model': { stage: [404, 'RES002'], promote: [404, 'RES002'], rollback: [404, 'RES002'] },
};

const CASES = Object.entries(TABLE).flatMap(([state, calls]) =>
  (Object.keys(calls) as Call[]).map((call) => {
    const [status, answer, stage] = calls[call];
    return { call, state, status, answer, stage };
  }),
);

it('the table names every state and every call', () => {
  expect(Object.keys(TABLE)).toEqual(Object.keys(STATES));
  expect(CASES).toHaveLength(18);
});

describe.each(CASES)('$call from $state', ({ call, state, status, answer, stage }) => {
  it(`is ${status}`, async () => {
    const world = await registryWorld(engine);
    await STATES[state]!(world);
    const before = await world.items();
    const invariants = new Invariants(world);
    await invariants.check();
    const { status: got, body } = await world[call](state === 'an unknown version' ? '9' : '1');
    expect(got).toBe(status);
    if (typeof answer === 'string') expect(body.detail.code).toBe(answer);
    if (answer === 'RES002') expect(body.detail.field).toBe(call === 'rollback' ? 'model_name' : 'name');
    if (typeof answer !== 'string') expect(body).toMatchObject(answer);
    const after = await world.items();
    if (stage === undefined) expect(after).toEqual(before);
    else {
      expect(after.find(({ sk }) => sk === 'VERSION#000001')).toMatchObject({ stage });
      expect(after).toHaveLength(before.length + 1);
      // The same again finds the state already there.
      const again = await world[call]('1');
      expect(again.status).toBe(200);
      expect(await world.items()).toEqual(after);
    }
    await invariants.check();
  });
});

describe('a promotion over another version', () => {
  it('archives it in the same step and names it', async () => {
    const world = await registryWorld(engine);
    await STATES.Archived!(world);
    const [first, second] = (await world.items()).filter(({ sk }) => sk.startsWith('VERSION#'));
    expect(first).toMatchObject({ stage: 'Archived', rolled_back: false });
    expect(first!.archived_at).toBe(second!.promoted_at);
    const history = (await world.get(`/api/v1/models/${MODEL}/history?limit=1`)).body.items;
    expect(history[0]).toMatchObject({
      ...{ action: 'promote', version: '2', from: 'Staging', to: 'Production' },
      ...{ previous_production: '1', production: '2', archived_versions: ['1'], actor: 'anonymous' },
    });
  });

  it('answers what it archived', async () => {
    const world = await registryWorld(engine);
    await STATES.Production!(world);
    await world.register();
    await world.stage(2);
    const { body } = await world.promote(2, { comment: 'better' });
    expect(body).toMatchObject({ archived_versions: ['1'], previous_production: '1', version: '2' });
  });
});

describe('a rollback', () => {
  it('marks what it takes out of Production, and unmarks what it brings back', async () => {
    const world = await registryWorld(engine);
    await STATES.Archived!(world);
    await world.rollback(1, { reason: 'losses' });
    const versions = async () => (await world.items()).filter(({ sk }) => sk.startsWith('VERSION#'));
    expect(await versions()).toMatchObject([
      { stage: 'Production', rolled_back: false, archived_at: null },
      { stage: 'Archived', rolled_back: true, rolled_back_reason: 'losses' },
    ]);
    expect((await world.rollback({})).status).toBe(400);
    await world.rollback('2');
    expect(await versions()).toMatchObject([
      { stage: 'Archived', rolled_back: true, rolled_back_reason: null },
      { stage: 'Production', rolled_back: false, rolled_back_reason: null },
    ]);
  });
});
