import { describe, expect, it } from 'vitest';
import type { Principal } from '#runtime/authenticate.ts';
import { fileEngine } from '../support/file-engine.ts';
import { type RegistryFixture, registryFixture } from '../support/registry-fixture.ts';

const engine = fileEngine();

const key = (value: string) => ({ 'Idempotency-Key': value });

async function released(fixture: RegistryFixture): Promise<RegistryFixture> {
  for (const version of ['1', '2']) {
    await fixture.register();
    await fixture.stage(version);
    await fixture.promote(version);
  }
  await fixture.register();
  return fixture;
}

describe('idempotency key', () => {
  it.each([
    ['register', (fixture: RegistryFixture) => fixture.register({}, key('a'))],
    ['stage', (fixture: RegistryFixture) => fixture.stage(3, { comment: 'c' }, key('a'))],
    ['rollback', (fixture: RegistryFixture) => fixture.rollback(1, { reason: 'r' }, key('a'))],
    ['stop', (fixture: RegistryFixture) => fixture.stop(2, {}, key('a'))],
  ])('repeated key returns the stored response of %s, marked as replayed', async (_, call) => {
    const fixture = await released(await registryFixture(engine));
    const first = await call(fixture);
    expect(first.status).toBeLessThan(300);
    expect(first.headers.get('Idempotent-Replay')).toBeNull();
    const after = await fixture.items();
    const second = await call(fixture);
    expect({ status: second.status, body: second.body }).toEqual({ status: first.status, body: first.body });
    expect(second.headers.get('Idempotent-Replay')).toBe('true');
    expect(await fixture.items()).toEqual(after);
  });

  it('repeated key returns the stored response of promote after later changes', async () => {
    const fixture = await released(await registryFixture(engine));
    await fixture.stage(3);
    const first = await fixture.promote(3, {}, key('a'));
    await fixture.rollback(1);
    const second = await fixture.promote(3, {}, key('a'));
    expect(second.body).toEqual(first.body);
    expect((await fixture.promote(3)).status).toBe(410);
  });

  it('repeated key returns the stored response of a call without effect', async () => {
    const fixture = await released(await registryFixture(engine));
    const first = await fixture.promote(2, {}, key('a'));
    expect(first.body.previous_stage).toBe('Production');
    await fixture.rollback(1);
    const second = await fixture.promote(2, {}, key('a'));
    expect({ ...second.body, replay: second.headers.get('Idempotent-Replay') }).toEqual({
      ...first.body,
      replay: 'true',
    });
  });

  it('key with another body, version or operation is a conflict', async () => {
    const fixture = await released(await registryFixture(engine));
    await fixture.stage(3, { comment: 'c' }, key('a'));
    const others = [
      await fixture.stage(3, { comment: 'd' }, key('a')),
      await fixture.stage(2, { comment: 'c' }, key('a')),
      await fixture.promote(3, { comment: 'c' }, key('a')),
      await fixture.register({}, key('a')),
    ];
    for (const { status, body } of others) {
      expect(status).toBe(409);
      expect(body.detail).toMatchObject({ code: 'RES005', field: 'Idempotency-Key' });
    }
  });

  it('key expires after 24 hours', async () => {
    let now = Date.parse('2026-01-01T00:00:00Z');
    const fixture = await registryFixture(engine, { deps: { clock: { now: () => now } } });
    await fixture.register({}, key('a'));
    now += 24 * 3600_000 - 1000;
    expect((await fixture.register({}, key('a'))).body.version).toBe('1');
    now += 1000;
    expect((await fixture.register({}, key('a'))).body.version).toBe('2');
    expect((await fixture.register({}, key('a'))).body.version).toBe('2');
  });

  it('key of a rejected call can be used again', async () => {
    const fixture = await released(await registryFixture(engine));
    expect((await fixture.promote(3, {}, key('a'))).status).toBe(409);
    await fixture.stage(3);
    expect((await fixture.promote(3, {}, key('a'))).status).toBe(200);
  });

  it('concurrent calls with one key make one transition', async () => {
    const fixture = await registryFixture(engine);
    const responses = await Promise.all(Array.from({ length: 20 }, () => fixture.register({}, key('a'))));
    expect(new Set(responses.map(({ body }) => body.version))).toEqual(new Set(['1']));
    expect(responses.filter(({ headers }) => headers.get('Idempotent-Replay') === null)).toHaveLength(1);
    const changes = await Promise.all(
      Array.from({ length: 10 }, () => fixture.stage(1, { validate_only: true }, key('b'))),
    );
    expect(new Set(changes.map(({ body }) => JSON.stringify(body))).size).toBe(1);
  });

  it('key is scoped to its caller', async () => {
    const principal = (id: string): Principal => ({ id, roles: ['admin'], groups: [] });
    const authenticate = async (token: string | null) => principal(token ?? 'x');
    const fixture = await registryFixture(engine, { service: { authenticate } });
    const as = (token: string, value: string) =>
      fixture.register({}, { Authorization: token, ...key(value) });
    expect((await as('a', 'b#c')).body.version).toBe('1');
    expect((await as('a#b', 'c')).body.version).toBe('2');
    expect((await as('a', 'b#c')).body.version).toBe('1');
  });

  it.each(['', 'with space', 'x'.repeat(256)])('malformed key is rejected (%j)', async (value) => {
    const fixture = await registryFixture(engine);
    const { status, body } = await fixture.register({}, key(value));
    expect({ status, code: body.detail.code }).toEqual({ status: 400, code: 'VAL005' });
  });
});
