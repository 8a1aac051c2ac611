import { describe, expect, it } from 'vitest';
import { labelVersion, type VersionLabels } from '#domain/registry/label-version.ts';
import type { RegistryStore } from '#domain/transitions/registry-store.ts';
import { fileEngine } from '../support/file-engine.ts';
import { MODEL, type RegistryFixture, registryFixture } from '../support/registry-fixture.ts';
import { Invariants } from '../support/registry-invariants.ts';

const engine = fileEngine();

type Call = 'stage' | 'promote' | 'rollback' | 'stop';

/** Brings version 1 into each state. */
const STATES: Record<string, (fixture: RegistryFixture) => Promise<unknown>> = {
  None: async (fixture) => fixture.register(),
  Staging: async (fixture) => {
    await fixture.register();
    await fixture.stage(1);
  },
  Production: async (fixture) => {
    await fixture.register();
    await fixture.stage(1);
    await fixture.promote(1);
  },
  Archived: async (fixture) => {
    for (const version of ['1', '2']) {
      await fixture.register();
      await fixture.stage(version);
      await fixture.promote(version);
    }
  },
  'an unknown version': async (fixture) => {
    for (let number = 0; number < 2; number++) await fixture.register();
  },
  'an unknown model': async () => undefined,
};

const NO_CHANGE = { success: true };

/** Every state times every call: status, error code and the stages afterwards. */
const TABLE: Record<
  string,
  Record<Call, readonly [status: number, response: string | object, stage?: string]>
> = {
  None: {
    stage: [200, { success: true, previous_stage: 'None', new_stage: 'Staging' }, 'Staging'],
    promote: [409, 'RES005'],
    rollback: [409, 'RES005'],
    stop: [409, 'RES005'],
  },
  Staging: {
    stage: [200, { ...NO_CHANGE, previous_stage: 'Staging', new_stage: 'Staging' }],
    promote: [
      200,
      { success: true, previous_stage: 'Staging', new_stage: 'Production', archived_versions: [] },
      'Production',
    ],
    rollback: [409, 'RES005'],
    stop: [409, 'RES005'],
  },
  Production: {
    stage: [409, 'RES005'],
    promote: [
      200,
      { ...NO_CHANGE, previous_stage: 'Production', new_stage: 'Production', archived_versions: [] },
    ],
    rollback: [200, { ...NO_CHANGE, previous_production: '1', new_production: '1' }],
    stop: [200, { success: true, previous_production: '1', new_production: null }, 'Archived'],
  },
  Archived: {
    stage: [410, 'RES006'],
    promote: [410, 'RES006'],
    rollback: [200, { success: true, previous_production: '2', new_production: '1' }, 'Production'],
    stop: [409, 'RES005'],
  },
  'an unknown version': {
    stage: [404, 'RES003'],
    promote: [404, 'RES003'],
    rollback: [404, 'RES003'],
    stop: [409, 'RES005'],
  },
  'an unknown model': {
    stage: [404, 'RES002'],
    promote: [404, 'RES002'],
    rollback: [404, 'RES002'],
    stop: [404, 'RES002'],
  },
};

const CASES = Object.entries(TABLE).flatMap(([state, calls]) =>
  (Object.keys(calls) as Call[]).map((call) => {
    const [status, response, stage] = calls[call];
    return { call, state, status, response, stage };
  }),
);

it('test table covers every state and every call', () => {
  expect(Object.keys(TABLE)).toEqual(Object.keys(STATES));
  expect(CASES).toHaveLength(24);
});

describe.each(CASES)('$call from $state', ({ call, state, status, response, stage }) => {
  it(`transition returns ${status}`, async () => {
    const fixture = await registryFixture(engine);
    await STATES[state]!(fixture);
    const before = await fixture.items();
    const invariants = new Invariants(fixture);
    await invariants.check();
    const { status: got, body } = await fixture[call](state === 'an unknown version' ? '9' : '1');
    expect(got).toBe(status);
    if (typeof response === 'string') expect(body.detail.code).toBe(response);
    if (response === 'RES002')
      expect(body.detail.field).toBe(call === 'rollback' || call === 'stop' ? 'model_name' : 'name');
    if (typeof response !== 'string') expect(body).toMatchObject(response);
    const after = await fixture.items();
    if (stage === undefined) expect(after).toEqual(before);
    else {
      expect(after.find(({ sk }) => sk === 'VERSION#000001')).toMatchObject({ stage });
      expect(after).toHaveLength(before.length + 1);
      // A repeated call finds the state already reached.
      const again = await fixture[call]('1');
      expect(again.status).toBe(200);
      expect(await fixture.items()).toEqual(after);
    }
    await invariants.check();
  });
});

describe('promotion over another version', () => {
  it('promotion archives the previous version in the same event', async () => {
    const fixture = await registryFixture(engine);
    await STATES.Archived!(fixture);
    const [first, second] = (await fixture.items()).filter(({ sk }) => sk.startsWith('VERSION#'));
    expect(first).toMatchObject({ stage: 'Archived', rolled_back: false });
    expect(first!.archived_at).toBe(second!.promoted_at);
    const history = (await fixture.get(`/api/v1/models/${MODEL}/history?limit=1`)).body.items;
    expect(history[0]).toMatchObject({
      action: 'promote',
      version: '2',
      from: 'Staging',
      to: 'Production',
      previous_production: '1',
      production: '2',
      archived_versions: ['1'],
      actor: 'anonymous',
    });
  });

  it('promotion returns the archived versions', async () => {
    const fixture = await registryFixture(engine);
    await STATES.Production!(fixture);
    await fixture.register();
    await fixture.stage(2);
    const { body } = await fixture.promote(2, { comment: 'better' });
    expect(body).toMatchObject({ archived_versions: ['1'], previous_production: '1', version: '2' });
  });
});

describe('rollback', () => {
  it('rollback marks the version leaving Production and unmarks the one that returns', async () => {
    const fixture = await registryFixture(engine);
    await STATES.Archived!(fixture);
    await fixture.rollback(1, { reason: 'losses' });
    const versions = async () => (await fixture.items()).filter(({ sk }) => sk.startsWith('VERSION#'));
    expect(await versions()).toMatchObject([
      { stage: 'Production', rolled_back: false, archived_at: null },
      { stage: 'Archived', rolled_back: true, rolled_back_reason: 'losses' },
    ]);
    expect((await fixture.rollback({})).status).toBe(400);
    await fixture.rollback('2');
    expect(await versions()).toMatchObject([
      { stage: 'Archived', rolled_back: true, rolled_back_reason: null },
      { stage: 'Production', rolled_back: false, rolled_back_reason: null },
    ]);
  });
});

describe('aliases and tags', () => {
  const LABELS = { tags: ['desk=fx'], aliases: ['shadow'] };
  const call = {
    actor: { id: 'ann', groups: [], isAdmin: true },
    idempotencyKey: null,
    correlationId: 'c',
  };
  const label = ({ deps }: RegistryFixture, store: RegistryStore, labels: Partial<VersionLabels> = LABELS) =>
    labelVersion(
      { ...deps, registry: store },
      call,
      { model: MODEL, version: '1', field: 'version', operation: 'labelVersion', input: labels },
      () => labels,
    );

  it('a transition that read a version before its tags changed keeps the tags', async () => {
    let labelled: Promise<unknown> | undefined;
    const fixture = await registryFixture(engine, {
      wrap: (store) => {
        // A batch read is no snapshot: here the version is older than the model.
        const read: RegistryStore['read'] = async (...args) => {
          const before = await store.read(...args);
          if (before.versions.size === 0 || labelled) return before;
          labelled = label(fixture, store, { tags: LABELS.tags });
          await labelled;
          return { ...(await store.read(...args)), versions: before.versions };
        };
        return Object.assign(Object.create(store), {
          read,
          sharing: store.sharing,
          commit: store.commit.bind(store),
          endedVersions: store.endedVersions.bind(store),
        });
      },
    });
    await fixture.register();
    expect((await fixture.stage(1)).status).toBe(200);
    const { body } = await fixture.get(`/api/v1/models/${MODEL}/versions/1`);
    expect([body.stage, body.tags]).toEqual(['Staging', LABELS.tags]);
    await new Invariants(fixture).check();
  });

  it('are stored with their event or not at all', async () => {
    const fixture = await registryFixture(engine);
    await fixture.register();
    const before = await fixture.items();
    const dying = Object.assign(Object.create(fixture.store), {
      read: fixture.store.read.bind(fixture.store),
      commit: async () => {
        throw new Error('the process ends');
      },
    });
    await expect(label(fixture, dying)).rejects.toThrow('the process ends');
    expect(await fixture.items()).toEqual(before);
    await label(fixture, fixture.store);
    await label(fixture, fixture.store);
    const after = await fixture.items();
    expect(after).toHaveLength(before.length + 1);
    expect(after.find(({ sk }) => sk === 'META')).toMatchObject({
      aliases: [{ alias: 'shadow', version: '1' }],
      events: 2,
    });
    await fixture.stage('shadow');
    await fixture.promote('shadow', { expected_production: null });
    const { body } = await fixture.get(`/api/v1/models/${MODEL}/versions/champion`);
    expect(body).toMatchObject({ aliases: ['latest', 'champion', 'shadow'], tags: ['desk=fx'] });
    await new Invariants(fixture).check();
  });
});
