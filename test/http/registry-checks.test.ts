import { describe, expect, it } from 'vitest';
import { ulids } from '#adapters/ids.ts';
import { sha256 } from '#adapters/sha256.ts';
import { CodedError } from '#contract/values/errors.ts';
import { recordValidation } from '#domain/registry/record-validation-results.ts';
import type { Principal } from '#runtime/authenticate.ts';
import { fileEngine } from '../support/file-engine.ts';
import { SOME_RESULT } from '../support/jobs.ts';
import { ended, taskChecks } from '../support/policy-fixture.ts';
import {
  BACKTEST,
  type FixtureOptions,
  MODEL,
  type RegistryFixture,
  registryFixture,
  someResults,
} from '../support/registry-fixture.ts';
import { Invariants } from '../support/registry-invariants.ts';

const engine = fileEngine();

const REACHED = { thresholds: { min_sharpe: 1 } };

async function registered(options: FixtureOptions = {}, body: object = REACHED): Promise<RegistryFixture> {
  const fixture = await registryFixture(engine, options);
  await fixture.register({ ...body });
  return fixture;
}

const versionOf = async (fixture: RegistryFixture, version = '1') =>
  (await fixture.get(`/api/v1/models/${MODEL}/versions/${version}`)).body;
const checksOf = (checks: readonly { name: string; status: string }[]) =>
  Object.fromEntries(checks.map(({ name, status }) => [name, status]));

describe('staging checks', () => {
  it('staging returns every check of the validation', async () => {
    const fixture = await registered({ deps: { stagingChecks: taskChecks() } });
    const { body } = await fixture.stage(1);
    expect(checksOf(body.validation.checks)).toEqual({
      backtest: 'passed',
      thresholds: 'passed',
      configuration: 'passed',
      image: 'skipped',
      evidence: 'warning',
      market_data: 'passed',
      release_policy: 'skipped',
      smoke_run: 'pending',
      determinism: 'pending',
      look_ahead: 'pending',
    });
    expect(body.validation).toMatchObject({ status: 'pending', job_id: 'va-1' });
  });

  it('staging warns of few trades and of an old backtest', async () => {
    const day = 86_400_000;
    const end = Date.parse('2025-02-01T00:00:00Z');
    const evidence = async (now: number, trades: number) => {
      const fixture = await registryFixture(engine, { deps: { clock: { now: () => now } } });
      await fixture.backtest('bt-many', MODEL, { ...SOME_RESULT, total_trades: trades });
      await fixture.register({ backtest_run_id: 'bt-many' });
      const { body } = await fixture.stage(1, { validate_only: true });
      return body.validation.checks.find(({ name }: { name: string }) => name === 'evidence');
    };
    expect(await evidence(end + 90 * day, 100)).toMatchObject({ status: 'passed' });
    expect(await evidence(end + 91 * day, 100)).toMatchObject({ status: 'warning', value: 91 });
    expect(await evidence(end, 99)).toMatchObject({ status: 'warning', value: 99, threshold: 100 });
  });

  const gone = () => {
    throw new CodedError('DATA005', { message: 'The stored results are missing', context: { key: 'k' } });
  };
  const results = (read: (part: string) => unknown): FixtureOptions => ({
    deps: { results: { ...someResults, read: async (_, part) => read(part) } },
  });
  const reading = (result: () => unknown) =>
    results((part) => (part === 'result' ? result() : someResults.read(undefined as never, 'report')));

  it.each<[string, string, FixtureOptions]>([
    ['missing results', 'backtest', reading(gone)],
    [
      'results that differ from the backtest',
      'backtest',
      reading(() => ({ ...SOME_RESULT, sharpe_ratio: 9 })),
    ],
    [
      'an image that no longer exists',
      'image',
      { deps: { images: { digestOf: async (uri) => (uri.includes('@') ? undefined : 'sha256:1') } } },
    ],
  ])('staging rejects %s', async (_, failing, options) => {
    const fixture = await registered(options);
    const before = await fixture.items();
    const { status, body } = await fixture.stage(1);
    expect({ status, code: body.detail.code, field: body.detail.field }).toEqual({
      status: 409,
      code: 'RES005',
      field: 'version',
    });
    expect(checksOf(body.detail.context.checks)[failing]).toBe('failed');
    expect(body.detail.message).toContain(failing);
    expect(await fixture.items()).toEqual(before);
    // validate_only returns the same checks with status 200.
    const list = await fixture.stage(1, { validate_only: true });
    expect(list.body).toMatchObject({ success: false, new_stage: 'None', validation: { status: 'failed' } });
  });

  it.each([
    ['images are not resolved', null, 'Images are not resolved on this platform'],
    [
      'an image of a foreign registry has no digest',
      { digestOf: async () => null },
      'Its registry is unavailable, and it names no digest',
    ],
  ])('image check is skipped with the reason when %s', async (_, images, message) => {
    const fixture = await registered({ deps: { images } });
    const { checks } = (await fixture.stage(1)).body.validation;
    expect(checks.find(({ name }: any) => name === 'image')).toMatchObject({ status: 'skipped', message });
  });

  it('staging returns 503 DATA005 while storage is unavailable', async () => {
    const down = () => {
      throw new CodedError('DATA005');
    };
    const fixture = await registered(reading(down));
    expect(await fixture.stage(1)).toMatchObject({ status: 503, body: { detail: { code: 'DATA005' } } });
  });

  it('staging warns when candles are stale or data collection is down', async () => {
    const stale = {
      all_fresh: false,
      stale_symbols: ['BTC/USDT:USDT'],
      exchange: 'sim',
      stale_threshold_hours: 24,
      symbols: [],
    };
    const down = () => {
      throw new CodedError('SVC004');
    };
    for (const call of [async () => stale, down]) {
      const fixture = await registered({ deps: { dataProxy: { call } } });
      const { status, body } = await fixture.stage(1);
      expect(status).toBe(200);
      expect(checksOf(body.validation.checks).market_data).toBe('warning');
    }
  });

  it('validate_only changes nothing and starts no task', async () => {
    const stagingChecks = taskChecks();
    const fixture = await registered({ deps: { stagingChecks } });
    const before = await fixture.items();
    const { status, body } = await fixture.stage(1, { validate_only: true });
    expect(status).toBe(200);
    expect(body).toMatchObject({ success: true, previous_stage: 'None', new_stage: 'None' });
    expect(body.validation.status).toBe('passed');
    expect(checksOf(body.validation.checks)).toMatchObject({ smoke_run: 'skipped' });
    expect(await fixture.items()).toEqual(before);
    expect(stagingChecks.started).toEqual([]);
  });

  it('admin stages with skip_validation without a validation task', async () => {
    const stagingChecks = taskChecks();
    const fixture = await registered({ deps: { stagingChecks } });
    const { body } = await fixture.stage(1, { skip_validation: true, comment: 'urgent' });
    expect(body).toMatchObject({ new_stage: 'Staging', validation: { status: 'skipped', job_id: null } });
    expect(body.message).toContain('skipped');
    expect(stagingChecks.started).toEqual([]);
    const { items } = (await fixture.get(`/api/v1/models/${MODEL}/history?limit=1`)).body;
    expect(items[0]).toMatchObject({ notes: ['validation skipped'], reason: 'urgent', action: 'stage' });
  });
});

it('version without thresholds is marked in every message and event', async () => {
  const stagingChecks = taskChecks();
  const fixture = await registered({ deps: { stagingChecks } }, {});
  const staged = await fixture.stage(1);
  expect(staged.body.message).toBe('Version 1 is in Staging (validation pending, thresholds skipped).');
  const { body } = await fixture.promote(1);
  expect(body.message).toBe('Version 1 is in Production (validation pending, thresholds skipped).');
  const { items } = (await fixture.get(`/api/v1/models/${MODEL}/history`)).body;
  expect(items.map(({ notes }: { notes: string[] }) => notes.join(', '))).toEqual([
    'validation pending, thresholds skipped',
    'validation pending, thresholds skipped',
    'validation skipped',
  ]);
});

describe('validation', () => {
  it("validation is pending until its task ends and then has the task's result", async () => {
    const stagingChecks = taskChecks();
    const fixture = await registered({ deps: { stagingChecks } });
    await fixture.stage(1);
    expect(await versionOf(fixture)).toMatchObject({ validation_status: 'pending' });
    stagingChecks.end(ended('passed'));
    const shown = await versionOf(fixture);
    expect(shown.validation_status).toBe('passed');
    expect(checksOf(shown.validation.checks)).toMatchObject({ thresholds: 'passed', look_ahead: 'passed' });
    const list = (await fixture.get(`/api/v1/models/${MODEL}/versions`)).body;
    expect(list.versions[0].validation_status).toBe('passed');
  });

  it('validation skipped at registration stays skipped when its task passes', async () => {
    const stagingChecks = taskChecks();
    const fixture = await registered({ deps: { stagingChecks } }, {});
    await fixture.stage(1);
    stagingChecks.end(ended('passed'));
    expect((await versionOf(fixture)).validation_status).toBe('skipped');
    const { status, body } = await fixture.promote(1);
    expect(status).toBe(200);
    expect(body.message).toContain('validation skipped');
  });

  it('validation is recorded once, only from the job of the version', async () => {
    const fixture = await registered({ deps: { stagingChecks: taskChecks() } });
    const invariants = new Invariants(fixture);
    await fixture.stage(1);
    const deps = {
      registry: fixture.store,
      clock: Date,
      ids: ulids,
      digest: sha256,
      random: () => 0,
      sleep: async () => undefined,
    };
    const record = (jobId: string) =>
      recordValidation(deps, {
        model: MODEL,
        version: '1',
        jobId,
        outcome: ended('failed'),
        correlationId: 'c',
      });
    expect(await record('va-other')).toBe(false);
    expect(await record('va-1')).toBe(true);
    await invariants.check();
    const after = await fixture.items();
    expect(await record('va-1')).toBe(false);
    expect(await fixture.items()).toEqual(after);
    expect(after.find(({ sk }) => sk === 'VERSION#000001')).toMatchObject({
      stage: 'Staging',
      validation: { status: 'failed' },
      catalog_row: expect.stringContaining('"validation_status":"failed"'),
    });
    expect((await fixture.promote(1)).status).toBe(409);
  });
});

describe('promotion checks', () => {
  /** Response to a promotion of a version with this validation status. */
  async function promoted(
    validation: 'passed' | 'failed' | 'pending' | 'skipped',
    required: boolean,
    more: Record<string, unknown> = {},
  ) {
    const stagingChecks = taskChecks();
    const deps = { stagingChecks, stagingDryRunRequired: required };
    const fixture = await registered({ deps }, validation === 'skipped' ? {} : REACHED);
    await fixture.stage(1);
    if (validation !== 'pending') stagingChecks.end(ended(validation === 'failed' ? 'failed' : 'passed'));
    const response = await fixture.promote(1, more);
    await new Invariants(fixture).check();
    return { ...response, stage: (await versionOf(fixture)).stage };
  }

  it.each([
    ['passed', false, 200],
    ['failed', false, 409],
    ['pending', false, 200],
    ['skipped', false, 200],
    ['passed', true, 200],
    ['failed', true, 409],
    ['pending', true, 409],
    ['skipped', true, 409],
  ] as const)(
    'promotion with validation %s, required %s, returns %d',
    async (validation, required, status) => {
      const response = await promoted(validation, required);
      expect(response.status).toBe(status);
      expect(response.stage).toBe(status === 200 ? 'Production' : 'Staging');
      if (status === 409) {
        expect(response.body.detail).toMatchObject({ code: 'RES005', context: { validation: {} } });
      } else if (validation !== 'passed') expect(response.body.message).toContain(`validation ${validation}`);
      expect((await promoted(validation, required, { force: true })).status).toBe(200);
    },
  );

  it('forced promotion is recorded in the history and never skips the stage', async () => {
    const fixture = await registered();
    const early = await fixture.promote(1, { force: true });
    expect(early).toMatchObject({ status: 409, body: { detail: { context: { stage: 'None' } } } });
    await fixture.stage(1);
    await fixture.promote(1, { force: true, comment: 'why', challenge_id: 'ch-1' });
    const { items } = (await fixture.get(`/api/v1/models/${MODEL}/history?limit=1`)).body;
    expect(items[0]).toMatchObject({ reason: 'why', challenge_id: 'ch-1' });
    expect(items[0].notes).toContain('forced');
  });

  it('promotion checks the expected Production version', async () => {
    const fixture = await registered();
    await fixture.stage(1);
    const wrong = await fixture.promote(1, { expected_production: '7' });
    expect(wrong).toMatchObject({ status: 409, body: { detail: { code: 'RES005' } } });
    expect(wrong.body.detail.context).toEqual({ expected_production: '7', current_production: null });
    expect((await fixture.promote(1, { expected_production: null })).status).toBe(200);
    // A repeated promotion succeeds regardless of expected_production.
    expect((await fixture.promote(1, { expected_production: null })).status).toBe(200);
    await fixture.register();
    await fixture.stage(2);
    expect((await fixture.promote(2, { expected_production: null })).status).toBe(409);
    expect((await fixture.promote(2, { expected_production: 1 })).status).toBe(200);
    expect((await fixture.rollback(1, { expected_production: '1' })).status).toBe(409);
    expect((await fixture.rollback(1, { expected_production: '2' })).status).toBe(200);
  });

  it('expected_production accepts an alias', async () => {
    const fixture = await registered();
    await fixture.stage(1);
    expect((await fixture.promote(1, { expected_production: 'champion' })).status).toBe(409);
    expect((await fixture.promote(1)).status).toBe(200);
    await fixture.register();
    await fixture.stage(2);
    expect((await fixture.promote(2, { expected_production: 'latest' })).status).toBe(409);
    expect((await fixture.promote(2, { expected_production: 'champion' })).status).toBe(200);
    expect((await fixture.rollback(1, { expected_production: 'latest' })).status).toBe(200);
  });

  it('promotion requires a second person with four eyes; rollback does not', async () => {
    const authenticate = async (token: string | null): Promise<Principal> => ({
      id: token ?? 'anonymous',
      roles: ['approver'],
      groups: [],
    });
    const fixture = await registered({ deps: { fourEyesRequired: true }, service: { authenticate } });
    await fixture.stage(1);
    const shared = { principal: 'user:other', level: 'write' } as const;
    await fixture.store.sharing.share(MODEL, [], [shared]);
    await fixture.jobs.sharing.share(BACKTEST, [], [shared]);
    const own = await fixture.promote(1);
    expect(own).toMatchObject({ status: 403, body: { detail: { code: 'AUTH004' } } });
    expect(own.body.detail.context.rule).toBe('four_eyes');
    expect((await fixture.promote(1, {}, { Authorization: 'other' })).status).toBe(200);
    await fixture.register({}, { Authorization: 'other' });
    await fixture.stage(2);
    expect((await fixture.promote(2)).status).toBe(200);
    expect((await fixture.rollback(1)).status).toBe(200);
  });
});

it('rollback requires a reason when configured', async () => {
  const fixture = await registered({ deps: { rollbackReasonRequired: true } });
  for (const reason of [undefined, '  ', '\u3164\u200b']) {
    const { status, body } = await fixture.rollback(1, { reason });
    expect({ status, code: body.detail.code, field: body.detail.field }).toEqual({
      status: 400,
      code: 'VAL004',
      field: 'reason',
    });
  }
  expect((await fixture.rollback(1, { reason: 'why' })).status).toBe(409);
});

describe('registry roles', () => {
  const as = (role: Principal['roles'][number]): FixtureOptions => ({
    service: { authenticate: async () => ({ id: 'anonymous', roles: [role], groups: [] }) },
  });

  it.each([
    ['viewer', 403, 403, 403, 403],
    ['researcher', 201, 200, 403, 403],
    ['approver', 201, 200, 200, 200],
  ] as const)('role %s may call only its operations', async (role, register, stage, promote, rollback) => {
    const fixture = await registryFixture(engine, as(role));
    expect((await fixture.register()).status).toBe(register);
    expect((await fixture.stage(1)).status).toBe(stage);
    expect((await fixture.promote(1)).status).toBe(promote);
    const response = await fixture.rollback(1);
    expect(response.status).toBe(rollback);
    if (rollback === 403) expect(response.body.detail.code).toBe('AUTH004');
  });

  it('skip_validation and force require an admin before any read', async () => {
    const fixture = await registryFixture(engine, as('approver'));
    for (const response of [
      await fixture.stage(1, { skip_validation: true }),
      await fixture.promote(1, { force: true }),
    ]) {
      expect(response).toMatchObject({ status: 403, body: { detail: { code: 'AUTH004' } } });
      expect(response.body.detail.context).toEqual({ required: 'admin' });
    }
  });
});
