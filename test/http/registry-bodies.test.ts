import { beforeAll, describe, expect, it } from 'vitest';
import { fileEngine } from '../support/file-engine.ts';
import { type Answer, type RegistryFixture, registryFixture } from '../support/registry-fixture.ts';

const engine = fileEngine();
let fixture: RegistryFixture;
beforeAll(async () => {
  fixture = await registryFixture(engine);
  await fixture.register();
});

const CALLS: Record<string, (version: unknown, more?: Record<string, unknown>) => Promise<Answer>> = {
  stage: (version, more) => fixture.stage(version, more),
  promote: (version, more) => fixture.promote(version, more),
  rollback: (version, more) => fixture.rollback(version, more),
  stop: (version, more) => fixture.stop(version, more),
};

describe.each([
  ['stage', 'model_version', 200],
  ['promote', 'model_version', 409],
  ['rollback', 'target_version', 409],
])('body of %s', (name, synonym, reached) => {
  const call = CALLS[name]!;

  it.each([
    ['a string', '1', {}],
    ['a number', 1, {}],
    ['an alias', 'latest', {}],
    ['its synonym', undefined, { [synonym]: '1' }],
    ['its synonym as a number', undefined, { [synonym]: 1 }],
    ['the field, which precedes its synonym', '1', { [synonym]: '7' }],
    ['its synonym with a null field', null, { [synonym]: '1', comment: null, reason: null, force: null }],
  ])('body accepts the version as %s', async (_, version, more) => {
    const { status, body } = await call(version, { ...more, validate_only: true });
    expect(status).toBe(reached);
    expect(body.version ?? body.detail.context.version).toBe('1');
  });

  it('body with neither version nor synonym is rejected', async () => {
    const { status, body } = await call(undefined);
    if (name === 'rollback') {
      const { code, field } = body.detail;
      expect({ status, code, field }).toEqual({ status: 400, code: 'VAL004', field: 'expected_production' });
      return;
    }
    expect({ status, detail: body.detail }).toEqual({
      status: 400,
      detail: [{ type: 'missing', loc: ['body', 'version'], msg: 'Field required', input: null }],
    });
  });

  it.each([
    [1.5, 'version'],
    [null, 'version'],
    [['1'], 'version'],
  ])('version %j is rejected by its type', async (version, field) => {
    const { status, body } = await call(version);
    expect(status).toBe(400);
    if (name === 'rollback' && version === null) return;
    expect(body.detail.map(({ loc }: { loc: string[] }) => loc)).toContainEqual(['body', field]);
  });

  it.each([
    '',
    '0',
    '01',
    ' 1',
    '1000000000',
    '99999999999999999999',
    '__proto__',
    'Latest',
    'x'.repeat(5000),
  ])('unknown version %j returns RES003', async (version) => {
    const { status, body } = await call(version);
    expect({ status, code: body.detail.code }).toEqual({ status: 404, code: 'RES003' });
    expect(JSON.stringify(body).length).toBeLessThan(500);
  });
});

it.each([
  ['stage', { comment: 'x'.repeat(2001) }, 'comment'],
  ['promote', { comment: 'x'.repeat(2001) }, 'comment'],
  ['promote', { challenge_id: 'x'.repeat(101) }, 'challenge_id'],
  ['rollback', { reason: 'x'.repeat(2001) }, 'reason'],
  ['stop', { reason: 'x'.repeat(2001) }, 'reason'],
])('%s rejects %j as too long', async (name, more, field) => {
  const { status, body } = await CALLS[name]!('1', more);
  expect({ status, code: body.detail.code, field: body.detail.field }).toEqual({
    status: 400,
    code: 'VAL005',
    field,
  });
});

it.each([
  ['stage', { validate_only: 'yes' }, 'bool_type'],
  ['promote', { force: 1 }, 'bool_type'],
  ['promote', { expected_production: true }, 'string_type'],
  ['rollback', { reason: 5 }, 'string_type'],
  ['stop', { reason: ['x'] }, 'string_type'],
  ['stop', { expected_production: 1.5 }, 'string_type'],
])('%s rejects %j by its type', async (name, more, type) => {
  const { status, body } = await CALLS[name]!('1', more);
  expect(status).toBe(400);
  expect(body.detail[0].type).toBe(type);
});

it.each([undefined, null, '', ' \t\u200b'])('stop without a reason is rejected: %j', async (reason) => {
  const { status, body } = await CALLS.stop!('1', { reason });
  expect([status, body.detail.code, body.detail.field]).toEqual([400, 'VAL004', 'reason']);
});

it('response warns of each ignored key and suggests the intended one', async () => {
  const own = await registryFixture(engine);
  const registered = await own.register({ tag: ['a'], thresholds: { min_sharpe: 1 } });
  expect(registered.body.warnings).toEqual(['Unknown key tag was ignored; did you mean tags?']);
  const staged = await own.stage(1, { comments: 'x' });
  expect(staged.body.warnings).toEqual(['Unknown key comments was ignored; did you mean comment?']);
  const promoted = await own.promote(1, { expected_prodution: '7', comment: 'x' });
  expect(promoted.body.warnings).toEqual([
    'Unknown key expected_prodution was ignored; did you mean expected_production?',
  ]);
  expect((await own.rollback(1, { reason: 'x' })).body.warnings).toEqual([]);
});
