import { describe, expect, it } from 'vitest';
import { CodedError } from '#contract/values/errors.ts';
import { processDueChallenges } from '#domain/challenges/process-due-challenges.ts';
import { type ChallengeFixture, challengeFixture, HOUR } from '../support/challenge-fixture.ts';
import { fileEngine } from '../support/file-engine.ts';
import { MODEL, registryFixture } from '../support/registry-fixture.ts';
import { Invariants } from '../support/registry-invariants.ts';
import { withMethods } from '../support/wrapped-store.ts';
import { win } from './challenge-calls.ts';

const engine = fileEngine();

const versionOf = async (fixture: ChallengeFixture, version: string) =>
  (await fixture.get(`/api/v1/models/${MODEL}/versions/${version}`)).body;
const lastEvent = async (fixture: ChallengeFixture) =>
  (await fixture.get(`/api/v1/models/${MODEL}/history?limit=1`)).body.items[0];
const production = async (fixture: ChallengeFixture) =>
  (await fixture.get(`/api/v1/models/${MODEL}/production`)).body.version;
const route = async (fixture: ChallengeFixture, key: string) =>
  (await fixture.strategy('GET', `/api/v1/models/${MODEL}/route?key=${key}`)).body;
const assign = async (fixture: ChallengeFixture, id: string, key: string) =>
  (await fixture.post(id, 'assignments', { assignment_key: key })).body;

/** Both responses for a key: they must say the same. */
async function both(fixture: ChallengeFixture, id: string, key: string) {
  const { version, entry_version, should_close } = await route(fixture, key);
  const routed = { version, entry_version, should_close };
  expect(await assign(fixture, id, key)).toMatchObject(routed);
  return routed;
}

/** A key of each variant of a challenge. */
async function keysOf(fixture: ChallengeFixture, id: string) {
  const keys: Record<string, string> = {};
  for (let n = 0; Object.keys(keys).length < 2; n++)
    keys[(await assign(fixture, id, `k-${n}`)).variant] = `k-${n}`;
  return keys as { champion: string; challenger: string };
}

const CLOSED = { version: null, entry_version: null, should_close: true };

describe('stop', () => {
  it('stop archives the version in Production without a successor', async () => {
    const fixture = await challengeFixture(engine);
    const { status, body } = await fixture.stop(undefined, { reason: 'losses' });
    expect([status, body]).toEqual([
      200,
      {
        success: true,
        message: 'Version 1 is stopped: no version is in Production.',
        model_name: MODEL,
        previous_production: '1',
        new_production: null,
        warnings: [],
      },
    ]);
    expect(await versionOf(fixture, '1')).toMatchObject({
      stage: 'Archived',
      stopped: true,
      stopped_reason: 'losses',
      rolled_back: false,
      archived_at: '2026-06-01T00:00:00.000Z',
    });
    expect(await lastEvent(fixture)).toMatchObject({
      action: 'stop',
      version: '1',
      from: 'Production',
      to: 'Archived',
      previous_production: '1',
      production: null,
      archived_versions: [],
      reason: 'losses',
    });
    expect(await production(fixture)).toBeNull();
    await new Invariants(fixture).check();
  });

  it.each([
    [null, 'Version 1 is in Production, not none'],
    ['2', 'Version 1 is in Production, not 2'],
  ])('stop that expects %s in Production is rejected', async (expected, message) => {
    const fixture = await challengeFixture(engine);
    const { status, body } = await fixture.stop(expected);
    expect([status, body.detail]).toMatchObject([
      409,
      { code: 'RES005', message, field: 'expected_production', context: { current_production: '1' } },
    ]);
    expect(await production(fixture)).toBe('1');
  });

  it('repeat that names the stopped version changes nothing; without a name it is rejected', async () => {
    const fixture = await challengeFixture(engine);
    await fixture.stop('1');
    const items = await fixture.items();
    const repeat = await fixture.stop(1, { reason: 'the answer was lost' });
    expect([repeat.status, repeat.body]).toMatchObject([
      200,
      { success: true, previous_production: '1', new_production: null },
    ]);
    for (const expected of [undefined, null, '2', 'champion', '__proto__']) {
      const { status, body } = await fixture.stop(expected);
      expect([expected, status, body.detail.code]).toEqual([expected, 409, 'RES005']);
    }
    expect(await fixture.items()).toEqual(items);
  });

  it('repeat does not stop the version that has entered Production since', async () => {
    const fixture = await challengeFixture(engine);
    await fixture.stop('1');
    await fixture.promote('2', { expected_production: null });
    expect((await fixture.stop('1')).status).toBe(409);
    expect(await production(fixture)).toBe('2');
    await fixture.rollback('1');
    expect(await versionOf(fixture, '1')).toMatchObject({ stopped: false, stopped_reason: null });
    await new Invariants(fixture).check();
  });

  it('of concurrent stops, promotions and rollbacks each applies whole', async () => {
    const fixture = await challengeFixture(engine);
    await fixture.register();
    await fixture.stage('3');
    await fixture.create({ enable_canary: true });
    const invariants = new Invariants(fixture);
    await invariants.check();
    const responses = await Promise.all([
      fixture.stop('1'),
      fixture.stop('1'),
      fixture.promote('2', { expected_production: '1' }),
      fixture.promote('3', { expected_production: null }),
      fixture.rollback('1', { expected_production: null }),
      fixture.stop(undefined),
    ]);
    for (const { status } of responses) expect([200, 409]).toContain(status);
    await invariants.check();
    const { model } = await fixture.store.read(MODEL, []);
    expect(model!.active_challenge_id).toBeNull();
    expect(model!.stopped_version === null).toBe(model!.production_version !== null);
  });

  it('model that an earlier release stored can be stopped', async () => {
    const fixture = await challengeFixture(engine);
    const { PutCommand } = await import('@aws-sdk/lib-dynamodb');
    for (const item of await fixture.items()) {
      const { stopped: _, stopped_reason: __, stopped_version: ___, ...before } = item;
      await engine.client.send(new PutCommand({ TableName: fixture.table, Item: before }));
    }
    expect((await route(fixture, 'a')).should_close).toBe(false);
    expect(await versionOf(fixture, '1')).toMatchObject({ stopped: false, stopped_reason: null });
    expect((await fixture.stop('1')).status).toBe(200);
    expect(await versionOf(fixture, '1')).toMatchObject({ stopped: true });
  });

  it('model that was never in Production has nothing to stop', async () => {
    const fixture = await registryFixture(engine);
    await fixture.register();
    const { status, body } = await fixture.stop(undefined);
    expect([status, body.detail]).toMatchObject([
      409,
      { code: 'RES005', field: 'model_name', context: { stopped_version: null } },
    ]);
    const routed = await fixture.strategy('GET', `/api/v1/models/${MODEL}/route?key=a`);
    expect(routed.body).toMatchObject({ version: null, should_close: false });
  });
});

describe('stop during a challenge', () => {
  it.each([
    ['a canary', { enable_canary: true }],
    ['a challenge without canary', { enable_canary: false }],
    ['a challenge that promotes its winner', { enable_canary: false, auto_promote: true }],
  ])('%s ends as rolled back, in the transaction of the stop', async (_, policy) => {
    const fixture = await challengeFixture(engine);
    const id = (await fixture.create(policy)).body.challenge_id;
    await fixture.stop('1');
    expect((await fixture.read(id)).body).toMatchObject({
      status: 'rolled_back',
      outcome: null,
      reason: 'champion_stopped',
      traffic_split: [1, 0],
    });
    const [event] = (await fixture.read(id, '/events?limit=1')).body.items;
    expect(event).toMatchObject({ action: 'roll_back', reason: 'champion_stopped', actor: 'anonymous' });
    expect((await fixture.store.read(MODEL, [])).model).toMatchObject({ active_challenge_id: null });
    await win(fixture, id);
    await processDueChallenges(fixture.deps, () => undefined);
    expect(await production(fixture)).toBeNull();
  });

  it('challenge whose time limit has passed ends by its verdict', async () => {
    const fixture = await challengeFixture(engine);
    const id = (await fixture.create({ max_duration_hours: 24 })).body.challenge_id;
    fixture.clock.forward(25 * HOUR);
    await fixture.stop('1');
    expect((await fixture.read(id)).body).toMatchObject({ status: 'expired', reason: null });
  });

  it('stop that conflicts with a trade of the challenge ends the challenge with that trade', async () => {
    let id = '';
    let isFirst = true;
    const fixture: ChallengeFixture = await challengeFixture(engine, {
      wrap: (store) =>
        withMethods(store, {
          commit: async (write) => {
            const isStop = 'event' in write && write.event.action === 'stop';
            if (isStop && isFirst) {
              isFirst = false;
              await fixture.log(id, 'champion', [1]);
            }
            return store.commit(write);
          },
        }),
    });
    id = (await fixture.create({ enable_canary: false })).body.challenge_id;
    expect((await fixture.stop('1')).status).toBe(200);
    expect(isFirst).toBe(false);
    const { body } = await fixture.read(id);
    expect(body).toMatchObject({ status: 'rolled_back', reason: 'champion_stopped', champion_trades: 1 });
  });
});

describe('winner that waits while the model is stopped', () => {
  const won = async (policy: object = {}) => {
    const fixture = await challengeFixture(engine);
    const id: string = (await fixture.create({ enable_canary: false, ...policy })).body.challenge_id;
    const keys = await keysOf(fixture, id);
    await win(fixture, id);
    await fixture.stop('1');
    return { fixture, id, keys };
  };

  it('can be promoted without a champion', async () => {
    const { fixture, id, keys } = await won();
    expect((await fixture.read(id)).body).toMatchObject({ outcome: 'challenger_wins', promoted_at: null });
    const promoted = await fixture.post(id, 'promote');
    expect([promoted.status, promoted.body.traffic_split]).toEqual([200, [0, 1]]);
    expect(await production(fixture)).toBe('2');
    expect(await both(fixture, id, keys.champion)).toEqual({
      version: '1',
      entry_version: '2',
      should_close: true,
    });
    expect(await both(fixture, id, keys.challenger)).toMatchObject({ version: '2', should_close: false });
  });

  it('lapses after 7 days', async () => {
    const { fixture, id } = await won();
    fixture.clock.forward(7 * 24 * HOUR);
    const { status, body } = await fixture.post(id, 'promote');
    expect([status, body.detail.code]).toEqual([409, 'RES005']);
    expect((await fixture.read(id)).body.outcome).toBe('champion_kept');
  });

  it('assigns no key and closes all', async () => {
    const { fixture, id, keys } = await won();
    for (const key of [keys.champion, keys.challenger, 'new']) {
      expect(await both(fixture, id, key)).toEqual(CLOSED);
    }
    expect(await assign(fixture, id, 'new')).toMatchObject({ variant: null, repeated: false });
    expect(await assign(fixture, id, keys.challenger)).toMatchObject({
      variant: 'challenger',
      repeated: true,
    });
  });

  it('is not promoted automatically: a stop is a decision of a user', async () => {
    let isDown = false;
    const fixture: ChallengeFixture = await challengeFixture(engine, {
      wrap: (store) =>
        withMethods(store, {
          read: async (...args) => {
            if (isDown) throw new CodedError('SVC005');
            return store.read(...args);
          },
        }),
    });
    const id = (await fixture.create({ enable_canary: false, auto_promote: true })).body.challenge_id;
    isDown = true;
    await win(fixture, id);
    isDown = false;
    expect((await fixture.read(id)).body).toMatchObject({
      outcome: 'challenger_wins',
      promotion_rejected: null,
    });
    await fixture.stop('1');
    await processDueChallenges(fixture.deps, () => undefined);
    expect(await production(fixture)).toBeNull();
    expect((await fixture.read(id)).body.promotion_rejected).toMatchObject({ code: 'RES005' });
    expect((await fixture.post(id, 'promote')).status).toBe(200);
  });
});

describe('routes of a stopped model', () => {
  it('every key closes until a version enters Production; keys of the stopped version close afterwards', async () => {
    const fixture = await challengeFixture(engine);
    const id = (await fixture.create({ enable_canary: false })).body.challenge_id;
    const keys = await keysOf(fixture, id);
    await fixture.stop('1');
    for (const key of [keys.champion, keys.challenger, 'new']) {
      expect(await both(fixture, id, key)).toEqual(CLOSED);
    }
    await fixture.register();
    await fixture.stage('3');
    await fixture.promote('3');
    const entry_version = '3';
    expect(await both(fixture, id, keys.champion)).toEqual({
      version: '1',
      entry_version,
      should_close: true,
    });
    expect(await both(fixture, id, keys.challenger)).toEqual({
      version: '2',
      entry_version,
      should_close: false,
    });
    expect(await both(fixture, id, 'new')).toEqual({ version: '3', entry_version, should_close: false });
    await fixture.rollback('1');
    expect(await both(fixture, id, keys.champion)).toMatchObject({ version: '1', should_close: false });
  });

  it('keys of a challenge that is created meanwhile close too', async () => {
    const fixture = await challengeFixture(engine);
    await fixture.register();
    await fixture.stage('3');
    await fixture.stop('1');
    const versions = { champion_version: '2', challenger_version: '3' };
    const id = (await fixture.create({ enable_canary: false, ...versions })).body.challenge_id;
    expect(await both(fixture, id, 'a')).toEqual(CLOSED);
    await fixture.promote('2');
    expect(await both(fixture, id, 'a')).toEqual({ version: '2', entry_version: '2', should_close: false });
  });

  it('keys without a challenge close until a version enters Production', async () => {
    const fixture = await challengeFixture(engine);
    await fixture.stop('1');
    expect(await route(fixture, 'a')).toEqual({ model_name: MODEL, key: 'a', ...CLOSED, ...NO_CHALLENGE });
    await fixture.promote('2');
    expect(await route(fixture, 'a')).toMatchObject({ version: '2', should_close: false });
  });
});

const NO_CHALLENGE = {
  challenge_id: null,
  variant: null,
  canary_stage: null,
  bucket: null,
  traffic_split: null,
};
