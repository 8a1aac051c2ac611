import { describe, expect, it } from 'vitest';
import { CodedError } from '#contract/values/errors.ts';
import { fileEngine } from '../support/file-engine.ts';
import { MODEL, type RegistryFixture, registryFixture } from '../support/registry-fixture.ts';
import { Invariants } from '../support/registry-invariants.ts';
import { withMethods } from '../support/wrapped-store.ts';

/** Rollbacks without a version: the version before is the default. */

const engine = fileEngine();

/** Registry whose versions 1 to `count` were promoted in turn. */
async function released(
  count: number,
  options: Parameters<typeof registryFixture>[1] = {},
): Promise<RegistryFixture> {
  const fixture = await registryFixture(engine, options);
  for (let version = 1; version <= count; version++) await release(fixture, version);
  return fixture;
}

async function release(fixture: RegistryFixture, version: number) {
  await fixture.register();
  await fixture.stage(version);
  expect((await fixture.promote(version)).status).toBe(200);
}

/** A rollback to the version before. */
const back = (fixture: RegistryFixture, expected_production: unknown, more: Record<string, unknown> = {}) =>
  fixture.rollback(undefined, { expected_production, ...more });

const production = async (fixture: RegistryFixture) =>
  (await fixture.get(`/api/v1/models/${MODEL}/production`)).body.version;

describe('rollback without a version', () => {
  it('returns to the version before, and a repeat is rejected', async () => {
    const fixture = await released(3);
    const first = await back(fixture, '3', { reason: 'losses' });
    expect([first.status, first.body]).toMatchObject([
      200,
      { previous_production: '3', new_production: '2' },
    ]);
    const repeat = await back(fixture, '3', { reason: 'losses' });
    expect([repeat.status, repeat.body.detail]).toMatchObject([
      409,
      { code: 'RES005', field: 'expected_production', context: { current_production: '2' } },
    ]);
    expect(await production(fixture)).toBe('2');
    // Version 3 was rolled back: it is passed over.
    expect((await back(fixture, 2)).body).toMatchObject({ new_production: '1' });
    const none = await back(fixture, '1');
    expect([none.status, none.body.detail]).toMatchObject([
      409,
      { code: 'RES005', field: 'version', context: { current_production: '1', versions: ['2', '3'] } },
    ]);
    await new Invariants(fixture).check();
  });

  it('passes over a version that was ever rolled back, also after it has returned', async () => {
    const fixture = await released(2);
    await fixture.rollback('1');
    await fixture.rollback('2');
    await release(fixture, 3);
    const { body } = await fixture.get(`/api/v1/models/${MODEL}/versions/2`);
    expect(body).toMatchObject({ stage: 'Archived', rolled_back: false });
    // Both were rolled back once.
    const none = await back(fixture, '3');
    expect([none.status, none.body.detail.context.versions]).toEqual([409, ['2', '1']]);
    await release(fixture, 4);
    expect((await back(fixture, '4')).body).toMatchObject({ new_production: '3' });
  });

  it('after a stop returns to the version before the stopped one', async () => {
    const fixture = await released(3);
    await fixture.stop('3');
    const { status, body } = await back(fixture, null);
    expect([status, body]).toMatchObject([200, { previous_production: null, new_production: '2' }]);
    expect((await back(fixture, null)).status).toBe(409);
    await new Invariants(fixture).check();
  });

  it('after a stop of the only version names it, and a named version returns', async () => {
    const fixture = await released(1);
    await fixture.stop('1');
    const { status, body } = await back(fixture, null);
    expect([status, body.detail.context]).toMatchObject([409, { current_production: null, versions: ['1'] }]);
    expect((await fixture.rollback('1')).body).toMatchObject({
      previous_production: null,
      new_production: '1',
    });
    const first = await back(fixture, '1');
    expect([first.status, first.body.detail.context.versions]).toEqual([409, []]);
  });

  it('of a model that was never in Production is rejected', async () => {
    const fixture = await registryFixture(engine);
    expect((await back(fixture, null)).body.detail.code).toBe('RES002');
    await fixture.register();
    const { status, body } = await back(fixture, null);
    expect([status, body.detail]).toMatchObject([409, { code: 'RES005', context: { versions: [] } }]);
  });

  it.each([
    ['nothing', undefined, 'VAL004'],
    ['champion, which is any version', 'champion', 'VAL005'],
    ['another version', '1', 'RES005'],
    ['a megabyte', 'x'.repeat(1_000_000), 'RES005'],
    ['__proto__', '__proto__', 'RES005'],
  ])('that expects %s is rejected', async (_, expected, code) => {
    const fixture = await released(2);
    const { body } = await back(fixture, expected);
    expect([body.detail.code, body.detail.field]).toEqual([code, 'expected_production']);
    expect(JSON.stringify(body).length).toBeLessThan(600);
    expect(await production(fixture)).toBe('2');
  });

  it('requires a reason where rollbacks do', async () => {
    const fixture = await released(2, { deps: { rollbackReasonRequired: true } });
    expect((await back(fixture, '2')).body.detail).toMatchObject({ code: 'VAL004', field: 'reason' });
    expect((await back(fixture, '2', { reason: 'losses' })).status).toBe(200);
  });

  it('whose answer was lost does not roll back again', async () => {
    let isLost = false;
    const fixture = await released(3, {
      wrap: (store) =>
        withMethods(store, {
          commit: async (write) => {
            const outcome = await store.commit(write);
            if (isLost) throw new CodedError('SVC005');
            return outcome;
          },
        }),
    });
    isLost = true;
    expect((await back(fixture, '3')).status).toBe(503);
    isLost = false;
    expect((await back(fixture, '3')).status).toBe(409);
    expect(await production(fixture)).toBe('2');
  });

  it('of concurrent ones exactly one holds', async () => {
    const fixture = await released(3);
    const responses = await Promise.all(Array.from({ length: 5 }, () => back(fixture, '3')));
    expect(responses.map(({ status }) => status).sort()).toEqual([200, 409, 409, 409, 409]);
    expect(await production(fixture)).toBe('2');
    await new Invariants(fixture).check();
  });

  it('repeated with its Idempotency-Key returns the stored response', async () => {
    const fixture = await released(3);
    const call = () => fixture.rollback(undefined, { expected_production: '3' }, { 'Idempotency-Key': 'a' });
    const first = await call();
    const second = await call();
    expect([second.status, second.body]).toEqual([200, first.body]);
    expect(second.headers.get('Idempotent-Replay')).toBe('true');
  });
});
