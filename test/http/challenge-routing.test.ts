import { describe, expect, it } from 'vitest';
import { type ChallengeFixture, challengeFixture, generated } from '../support/challenge-fixture.ts';
import { fileEngine } from '../support/file-engine.ts';
import { MODEL } from '../support/registry-fixture.ts';

/** `route` and `assignments` name the same version, during and after a challenge. */

const engine = fileEngine();

const route = async (fixture: ChallengeFixture, key: string) =>
  (await fixture.strategy('GET', `/api/v1/models/${MODEL}/route?key=${key}`)).body;
const assign = async (fixture: ChallengeFixture, id: string, key: string) =>
  (await fixture.post(id, 'assignments', { assignment_key: key })).body;

/** A challenge that the challenger has won, with a key of each variant. */
async function won(body: object = {}) {
  const fixture = await challengeFixture(engine);
  const id: string = (await fixture.create({ enable_canary: false, ...body })).body.challenge_id;
  const keys: Record<string, string> = {};
  for (let n = 0; Object.keys(keys).length < 2; n++)
    keys[(await assign(fixture, id, `k-${n}`)).variant] = `k-${n}`;
  await fixture.log(id, 'champion', generated(12345, 100, 0));
  await fixture.log(id, 'challenger', generated(67890, 100, 1));
  return { fixture, id, keys: keys as { champion: string; challenger: string } };
}

/** Both responses for a key: they must say the same. */
async function both(fixture: ChallengeFixture, id: string, key: string) {
  const { version, entry_version, should_close } = await route(fixture, key);
  const routed = { version, entry_version, should_close };
  expect(await assign(fixture, id, key)).toMatchObject(routed);
  return routed;
}

describe('keys after the end of a challenge', () => {
  it('promotion: positions finish with their version, new positions get the new champion', async () => {
    const { fixture, id, keys } = await won({ on_rollback: 'close' });
    await fixture.post(id, 'promote');
    const position = { entry_version: '2', should_close: false };
    expect(await both(fixture, id, keys.champion)).toEqual({ version: '1', ...position });
    expect(await both(fixture, id, keys.challenger)).toEqual({ version: '2', ...position });
    expect(await both(fixture, id, 'new')).toEqual({ version: '2', ...position });
  });

  it('rollback in the registry: positions of the version that it removed close', async () => {
    const { fixture, id, keys } = await won();
    await fixture.post(id, 'promote');
    await fixture.rollback('1');
    const champion = { version: '1', entry_version: '1', should_close: false };
    expect(await both(fixture, id, keys.challenger)).toEqual({
      version: '2',
      entry_version: '1',
      should_close: true,
    });
    expect(await both(fixture, id, keys.champion)).toEqual(champion);
    // It was promoted when the challenge ended, and is not in Production any more.
    expect(await both(fixture, id, 'new')).toEqual(champion);
    expect(await assign(fixture, id, 'new')).toMatchObject({ variant: 'champion', repeated: false });
    await fixture.rollback('2');
    expect(await both(fixture, id, keys.challenger)).toEqual({
      version: '2',
      entry_version: '2',
      should_close: false,
    });
    expect(await both(fixture, id, keys.champion)).toMatchObject({ version: '1', should_close: true });
  });

  it('another version in Production: new keys get it, positions finish', async () => {
    const { fixture, id, keys } = await won();
    await fixture.register();
    await fixture.stage('3');
    await fixture.promote('3');
    const position = { entry_version: '3', should_close: false };
    expect(await both(fixture, id, keys.champion)).toEqual({ version: '1', ...position });
    expect(await both(fixture, id, keys.challenger)).toEqual({ version: '2', ...position });
    expect(await both(fixture, id, 'new')).toEqual({ version: '3', ...position });
    expect(await assign(fixture, id, 'new')).toMatchObject({ variant: null, repeated: false });
  });

  it('a stopped version that enters Production keeps its positions: it also gets the new ones of their keys', async () => {
    const { fixture, id, keys } = await won({ on_rollback: 'close' });
    await fixture.post(id, 'rollback');
    expect(await both(fixture, id, keys.challenger)).toMatchObject({
      entry_version: '1',
      should_close: true,
    });
    await fixture.promote('2');
    expect(await both(fixture, id, keys.challenger)).toMatchObject({
      entry_version: '2',
      should_close: false,
    });
    await fixture.rollback('1');
    expect(await both(fixture, id, keys.challenger)).toMatchObject({
      entry_version: '1',
      should_close: true,
    });
  });

  it('a later challenge that stops the version closes its positions, as its on_rollback says', async () => {
    for (const on_rollback of ['finish', 'close']) {
      const { fixture, id, keys } = await won();
      await fixture.post(id, 'rollback');
      const later = (await fixture.create({ enable_canary: false, on_rollback })).body.challenge_id;
      const decided = await route(fixture, keys.challenger);
      expect(await assign(fixture, id, keys.challenger)).toMatchObject({
        version: '2',
        entry_version: decided.version,
        should_close: false,
      });
      expect((await assign(fixture, id, 'new')).version).toBe((await route(fixture, 'new')).version);
      await fixture.post(later, 'rollback');
      expect(await assign(fixture, id, keys.challenger)).toMatchObject({
        version: '2',
        entry_version: '1',
        should_close: on_rollback === 'close',
      });
    }
  });

  it('without a version in Production a new key has no version', async () => {
    const fixture = await challengeFixture(engine);
    await fixture.backtest('bt-paper', 'macd_momentum');
    for (let version = 1; version <= 2; version++)
      await fixture.register({ backtest_run_id: 'bt-paper' }, {}, 'macd_momentum');
    const versions = { champion_version: '1', challenger_version: '2' };
    const { body } = await fixture.strategy('POST', '/api/v1/models/macd_momentum/challenges', versions);
    await fixture.post(body.challenge_id, 'rollback');
    const routed = await fixture.strategy('GET', '/api/v1/models/macd_momentum/route?key=a');
    expect(routed.body).toMatchObject({ version: null, entry_version: null });
    expect(await assign(fixture, body.challenge_id, 'a')).toMatchObject({
      version: null,
      variant: null,
      entry_version: null,
      should_close: false,
    });
  });
});
