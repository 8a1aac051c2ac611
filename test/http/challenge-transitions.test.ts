import { describe, expect, it } from 'vitest';
import { processDueChallenges } from '#domain/challenges/process-due-challenges.ts';
import { type ChallengeFixture, challengeFixture, generated, HOUR } from '../support/challenge-fixture.ts';
import { fileEngine } from '../support/file-engine.ts';
import { MODEL, registryFixture } from '../support/registry-fixture.ts';
import { CASES, challengeCalls, hasEffect, STATES, TABLE, win } from './challenge-calls.ts';

const engine = fileEngine();

it('test table covers every state and every call', () => {
  expect(Object.keys(TABLE)).toEqual(Object.keys(STATES));
  expect(CASES).toHaveLength(50);
});

describe('challenge transitions', () => {
  const check = challengeCalls(() => engine);

  it.each(CASES.filter((row) => hasEffect(row) || row[0] === 'hold'))(
    'challenge call %s in the state: %s',
    (...row) => check(row),
  );
});

it('manual decision needs no body; another content type is rejected', async () => {
  const fixture = await challengeFixture(engine);
  const id = (await fixture.create({ enable_canary: true })).body.challenge_id;
  const call = (action: string, init: RequestInit = {}) =>
    fixture.request(`/challenges/${id}/${action}`, { method: 'POST', ...init });
  for (const action of ['advance', 'hold', 'resume']) expect((await call(action)).status).toBe(200);
  expect((await call('promote')).body.detail.code).toBe('RES005');
  const text = { headers: { 'Content-Type': 'text/plain' } };
  expect((await call('hold', { ...text, body: '{}' })).body.detail.code).toBe('HTTP415');
  expect((await call('hold', { body: 'null', headers: { 'Content-Type': 'application/json' } })).status).toBe(
    400,
  );
  const rolledBack = await call('rollback', text);
  expect([rolledBack.status, rolledBack.body.status]).toEqual([200, 'rolled_back']);
  expect((await call('trades')).body.detail[0].type).toBe('missing');
});

describe('challenge promotion', () => {
  it('promotion is the registry transition with its event and ends traffic to the champion', async () => {
    const fixture = await challengeFixture(engine);
    const id = (await fixture.create({ enable_canary: false })).body.challenge_id;
    await win(fixture, id);
    await fixture.post(id, 'promote', { comment: 'better' });
    const { body: history } = await fixture.get(`/api/v1/models/${MODEL}/history?limit=1`);
    expect(history.items[0]).toMatchObject({
      action: 'promote',
      version: '2',
      production: '2',
      archived_versions: ['1'],
      challenge_id: id,
      reason: 'better',
    });
    const { body: events } = await fixture.read(id, '/events?limit=1');
    expect(events.items[0]).toMatchObject({
      action: 'promote',
      actor: 'anonymous',
      outcome: 'challenger_wins',
    });
  });

  it('promotion requires the champion in Production', async () => {
    const fixture = await challengeFixture(engine);
    await fixture.register();
    const id = (await fixture.create({ champion_version: '3', enable_canary: false })).body.challenge_id;
    await win(fixture, id);
    const response = await fixture.post(id, 'promote');
    expect([response.status, response.body.detail.field]).toEqual([409, 'expected_production']);
    await fixture.stage('3');
    await fixture.promote('3');
    expect((await fixture.post(id, 'promote')).body).toMatchObject({
      status: 'completed',
      traffic_split: [0, 1],
    });
  });

  it('promotion is rejected when the challenge ended meanwhile', async () => {
    const fixture = await challengeFixture(engine);
    const id = (await fixture.create({ enable_canary: false })).body.challenge_id;
    await win(fixture, id);
    const responses = await Promise.all([fixture.post(id, 'promote'), fixture.post(id, 'rollback')]);
    const { promoted_at, outcome } = (await fixture.read(id)).body;
    const { production_version } = (await fixture.store.read(MODEL, [])).model!;
    expect(responses.filter(({ status }) => status === 200)).toHaveLength(1);
    expect(production_version).toBe(promoted_at === null ? '1' : '2');
    expect(outcome).toBe(promoted_at === null ? 'champion_kept' : 'challenger_wins');
  });

  it('promotion keeps the four-eyes principle', async () => {
    const registered = await challengeFixture(engine);
    const tables = { jobs: registered.jobsTable, registry: registered.table, series: '' };
    const strict = await registryFixture(engine, {
      tables,
      deps: { fourEyesRequired: true, clock: registered.clock },
    });
    const id = (await registered.create({ enable_canary: false })).body.challenge_id;
    await win(registered, id);
    const { status, body } = await strict.strategy('POST', `/challenges/${id}/promote`, {});
    expect([status, body.detail.code]).toEqual([403, 'AUTH004']);
    expect((await registered.read(id)).body.promoted_at).toBeNull();
  });
});

describe('registry transition during a challenge', () => {
  it.each([
    [
      'the challenger is promoted',
      '2',
      { status: 'completed', outcome: 'promoted_manually', traffic_split: [0, 1] },
    ],
    [
      'another version is promoted',
      '3',
      { status: 'rolled_back', reason: 'champion_replaced', traffic_split: [1, 0] },
    ],
  ])('challenge ends in the same transaction: %s', async (_, version, expected) => {
    const fixture = await challengeFixture(engine);
    await fixture.register();
    await fixture.stage('3');
    const id = (await fixture.create()).body.challenge_id;
    expect((await fixture.promote(version)).status).toBe(200);
    expect((await fixture.read(id)).body).toMatchObject(expected);
    const expectedEvent =
      expected.status === 'completed' ? ['promote', 'promoted_manually'] : ['roll_back', 'champion_replaced'];
    const [event] = (await fixture.read(id, '/events?limit=1')).body.items;
    expect([event.action, event.reason, event.actor]).toEqual([...expectedEvent, 'anonymous']);
    expect((await fixture.store.read(MODEL, [])).model).toMatchObject({
      active_challenge_id: null,
      production_version: version,
    });
    expect(
      (await fixture.create({ champion_version: version, challenger_version: 2 + 3 - Number(version) }))
        .status,
    ).toBe(201);
  });

  it('registry rollback ends the challenge as champion_replaced', async () => {
    const fixture = await challengeFixture(engine);
    await fixture.promote('2');
    await fixture.register();
    await fixture.stage('3');
    const id = (await fixture.create({ champion_version: '2', challenger_version: '3' })).body.challenge_id;
    expect((await fixture.rollback('1')).status).toBe(200);
    expect((await fixture.read(id)).body).toMatchObject({
      status: 'rolled_back',
      reason: 'champion_replaced',
    });
  });
});

describe('challenge deadlines and rules', () => {
  const tick = (fixture: ChallengeFixture) =>
    processDueChallenges(fixture.deps, (_, error) => {
      throw error;
    });

  it('challenger advances one stage at a time after dwell and trades', async () => {
    const fixture = await challengeFixture(engine);
    const id = (await fixture.create()).body.challenge_id;
    await fixture.log(id, 'champion', generated(12345, 60, 0));
    await fixture.log(id, 'challenger', generated(67890, 19, 0));
    fixture.clock.forward(2 * HOUR);
    expect((await tick(fixture)).changed).toEqual([]);
    await fixture.log(id, 'challenger', [0.2]);
    expect((await fixture.read(id)).body.canary_stage).toBe('stage_2');
    fixture.clock.forward(2 * HOUR);
    expect((await tick(fixture)).changed).toEqual([]);
    await fixture.log(id, 'challenger', generated(67891, 20, 0));
    const { body } = await fixture.read(id);
    expect(body).toMatchObject({ canary_stage: 'stage_3', traffic_split: [0.75, 0.25] });
    expect((await fixture.read(id, '/trades?limit=1')).body.items[0].canary_stage).toBe('stage_2');
  });

  it('challenge without traffic for a day is held and resumes with the next trade', async () => {
    const fixture = await challengeFixture(engine);
    const id = (await fixture.create()).body.challenge_id;
    fixture.clock.forward(24 * HOUR);
    expect((await tick(fixture)).changed).toEqual([id]);
    expect((await fixture.read(id)).body.hold).toMatchObject({ reason: 'no_traffic' });
    await fixture.post(id, 'assignments', { assignment_key: 'k' });
    expect((await fixture.read(id)).body.hold).toBeNull();
  });

  it('repair ends overdue challenges once, without any read', async () => {
    const fixture = await challengeFixture(engine);
    const { challenge_id: id, ends_at } = (await fixture.create({ max_duration_hours: 3 })).body;
    fixture.clock.forward(50 * HOUR);
    expect((await tick(fixture)).changed).toEqual([id]);
    expect((await tick(fixture)).changed).toEqual([]);
    expect((await fixture.read(id)).body).toMatchObject({ status: 'expired', ended_at: ends_at });
    expect((await fixture.store.read(MODEL, [])).model!.active_challenge_id).toBeNull();
  });

  it('winner that is not promoted within 7 days lapses', async () => {
    const fixture = await challengeFixture(engine);
    const id = (await fixture.create({ enable_canary: false })).body.challenge_id;
    await win(fixture, id);
    fixture.clock.forward(7 * 24 * HOUR - 1);
    expect((await tick(fixture)).changed).toEqual([]);
    fixture.clock.forward(1);
    expect((await tick(fixture)).changed).toEqual([id]);
    expect((await fixture.evaluate(id)).recommendation).toBe('KEEP_CHAMPION');
    expect((await fixture.read(id)).body).toMatchObject({ outcome: 'champion_kept', traffic_split: [1, 0] });
  });

  it('challenge rolls back when the challenger exceeds the maximum drawdown', async () => {
    const fixture = await challengeFixture(engine);
    const id = (await fixture.create({ max_drawdown_pct: 5 })).body.challenge_id;
    await fixture.log(id, 'challenger', [4, -3, -2]);
    expect((await fixture.read(id)).body.status).toBe('active');
    await fixture.log(id, 'challenger', [-0.5]);
    expect((await fixture.read(id)).body).toMatchObject({ status: 'rolled_back', reason: 'max_drawdown' });
  });

  it('open losers of one variant hold the challenge until they are closed', async () => {
    const fixture = await challengeFixture(engine);
    const id = (await fixture.create()).body.challenge_id;
    await fixture.log(id, 'champion', generated(1, 20, 0));
    const still = Array.from({ length: 10 }, (_, n) => ({ trade_id: `open-${n}`, variant: 'challenger' }));
    await fixture.post(id, 'trades', { trades: still.map((trade) => ({ ...trade, status: 'open' })) });
    await fixture.log(id, 'challenger', generated(2, 10, 0));
    expect((await fixture.read(id)).body.hold).toMatchObject({ reason: 'open_trades' });
    expect((await fixture.evaluate(id)).open_trades).toEqual({ champion: 0, challenger: 10 });
    await fixture.post(id, 'trades', { trades: still.map((trade) => ({ ...trade, profit_pct: 0.1 })) });
    expect((await fixture.read(id)).body.hold).toBeNull();
    expect((await fixture.evaluate(id)).open_trades).toEqual({ champion: 0, challenger: 0 });
  });
});
