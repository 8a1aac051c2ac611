import { describe, expect, it } from 'vitest';
import type { ValidationCheck } from '#contract/common/validation-check.ts';
import { fileEngine } from '../support/file-engine.ts';
import { FOUND_LOOK_AHEAD } from '../support/jobs.ts';
import { as, byRole, completedBacktest } from '../support/policy-fixture.ts';
import {
  BACKTEST,
  type FixtureOptions,
  MODEL,
  type RegistryFixture,
  registryFixture,
} from '../support/registry-fixture.ts';
import { Invariants } from '../support/registry-invariants.ts';
import { checkOf, historyOf, versionOf } from './release-policy-fixture.ts';

const engine = fileEngine();

const LEAK = 'bt-leak';
const waive = { checks: ['look_ahead'], reason: 'A demonstration of the check' };

/** A registry with a version 1 of a researcher, and a backtest {@link LEAK} in which look-ahead bias was found. */
async function fixtureOf(deps: FixtureOptions['deps'] = {}): Promise<RegistryFixture> {
  const fixture = await registryFixture(engine, { service: byRole, deps });
  await completedBacktest(fixture, LEAK, { look_ahead: FOUND_LOOK_AHEAD });
  await fixture.register({}, as('researcher'));
  return fixture;
}

/** The checks of a staging, of which the one for look-ahead bias has failed. */
function failedStaging(...more: ValidationCheck[]) {
  const found: ValidationCheck = {
    name: 'look_ahead',
    status: 'failed',
    message: 'close[i + 1] was read',
    value: 2,
    threshold: 'certified',
  };
  const outcome = { status: 'failed', checks: [...more, found] } as const;
  return { start: async () => 'va-1', outcome: async () => outcome };
}

describe('registration of a run with a found look-ahead bias', () => {
  it('is rejected with the finding, and skip_validation changes nothing', async () => {
    const fixture = await fixtureOf();
    for (const body of [{}, { skip_validation: true }]) {
      const { status, body: answer } = await fixture.register(
        { backtest_run_id: LEAK, ...body },
        as('admin'),
      );
      expect([status, answer.detail.code, answer.detail.field]).toEqual([409, 'RES005', 'backtest_run_id']);
      expect(answer.detail.message).toContain('close of row 5 changes');
      expect(answer.detail.context).toEqual({
        look_ahead: 'found',
        findings: FOUND_LOOK_AHEAD.findings,
      });
    }
    expect((await fixture.get(`/api/v1/models/${MODEL}/versions`)).body.count).toBe(1);
  });

  it('an old sample with findings counts as found', async () => {
    const fixture = await registryFixture(engine, { service: byRole });
    const look_ahead = { ...FOUND_LOOK_AHEAD, state: 'sampled' as const };
    await completedBacktest(fixture, LEAK, { look_ahead });
    expect((await fixture.register({ backtest_run_id: LEAK }, as('researcher'))).status).toBe(409);
  });

  it('an admin waives it with a reason, which version, history and catalog keep', async () => {
    const fixture = await fixtureOf();
    const body = { backtest_run_id: LEAK, waive };
    const denied = await fixture.register(body, as('approver'));
    expect([denied.status, denied.body.detail.code]).toEqual([403, 'AUTH004']);
    const { status, body: reply } = await fixture.register(body, as('admin'));
    expect(status).toBe(201);
    expect(reply.message).toContain('look_ahead is waived.');
    expect(checkOf(reply.validation.checks, 'look_ahead')).toMatchObject({
      status: 'waived',
      value: 'found',
      message: expect.stringContaining('Waived by root: A demonstration of the check'),
    });
    const waivers = [{ action: 'register', actor: 'root', ...waive }];
    expect(await versionOf(fixture, '2')).toMatchObject({ look_ahead: 'found', waivers });
    const [event] = await historyOf(fixture);
    expect(event).toMatchObject({
      action: 'register',
      waiver: waive,
      notes: ['validation skipped', 'waived look_ahead'],
    });
    // A staging without its task has a list of other checks.
    await fixture.stage(2, { skip_validation: true }, as('admin'));
    const { items } = (await fixture.get('/api/v1/catalog/strategies', as('admin'))).body;
    expect(items).toMatchObject([{ stage: 'Staging', look_ahead: 'found', waivers }]);
    await new Invariants(fixture).check();
  });

  it.each([
    [{ checks: ['look_ahead'] }, 'VAL004', 'waive.reason'],
    [{ reason: 'why' }, 'VAL004', 'waive.checks'],
    [{ checks: ['min_trades'], reason: 'why' }, 'VAL005', 'waive.checks.0'],
  ])('waiver %j is rejected with %s', async (body, code, field) => {
    const fixture = await fixtureOf();
    const { status, body: answer } = await fixture.register(
      { backtest_run_id: LEAK, waive: body },
      as('admin'),
    );
    expect([status, answer.detail.code, answer.detail.field]).toEqual([400, code, field]);
  });

  it('a clean run needs no waiver, and none is recorded', async () => {
    const fixture = await fixtureOf();
    const { status, body } = await fixture.register({ backtest_run_id: BACKTEST, waive }, as('admin'));
    expect([status, body.warnings.at(-1)]).toEqual([
      201,
      'waive.checks: look_ahead needed no waiver for this transition, and none was recorded',
    ]);
    expect(await versionOf(fixture, '2')).toMatchObject({ look_ahead: 'not_checked', waivers: [] });
  });

  it('a leak that only the search of its parameters found counts too', async () => {
    const searched = { status: 'completed', outcome: { overfitting: {}, look_ahead: FOUND_LOOK_AHEAD } };
    const hyperoptJobs = { get: async () => searched as never, setEvidence: async () => true };
    const fixture = await registryFixture(engine, { service: byRole, deps: { hyperoptJobs } });
    const found_by = { hyperopt_job_id: 'ho-1', trial: 3, trials: 40 };
    const look_ahead = { ...FOUND_LOOK_AHEAD, state: 'sampled' as const, findings: [] };
    await completedBacktest(fixture, LEAK, { job: { found_by }, look_ahead });
    const { status, body } = await fixture.register({ backtest_run_id: LEAK }, as('researcher'));
    expect([status, body.detail.code]).toEqual([409, 'RES005']);
    expect(body.detail.message).toContain('hyperopt job ho-1');
    expect((await fixture.register({ backtest_run_id: LEAK, waive }, as('admin'))).status).toBe(201);
    // Nor does a clean run of that version, over other dates, lose the leak of the search.
    const again = {
      registered: {
        model_name: MODEL,
        version: '1',
        container_image_uri: 'registry.example/a:1',
        image_digest: null,
        strategy_digest: 'd'.repeat(64),
      },
    };
    await completedBacktest(fixture, 'bt-again', { job: again, look_ahead });
    const repeated = await fixture.register({ backtest_run_id: 'bt-again' }, as('admin'));
    expect([repeated.status, repeated.body.detail?.code]).toEqual([409, 'RES005']);
    expect(repeated.body.detail.message).toContain('hyperopt job ho-1');
    const skipped = { backtest_run_id: 'bt-again', skip_validation: true };
    expect((await fixture.register(skipped, as('admin'))).status).toBe(409);
    expect((await fixture.register({ ...skipped, waive }, as('admin'))).status).toBe(201);
  });
});

describe('version with a waived look-ahead bias', () => {
  const releasePolicy = { lookAheadCertificate: true };

  it('passes the checks of its staging and the certificate of the policy as waived', async () => {
    const fixture = await fixtureOf({ releasePolicy, stagingChecks: failedStaging() });
    await fixture.register({ backtest_run_id: LEAK, waive }, as('admin'));
    expect((await fixture.stage(2, {}, as('researcher'))).status).toBe(200);
    const version = await versionOf(fixture, '2');
    expect(version).toMatchObject({ look_ahead: 'found', validation_status: 'passed' });
    expect(checkOf(version.validation.checks, 'look_ahead')).toMatchObject({
      status: 'waived',
      value: 2,
      message: 'close[i + 1] was read. Waived by root: A demonstration of the check',
    });
    expect((await fixture.promote(2, {}, as('approver'))).status).toBe(200);
  });

  it('fails its staging for another check', async () => {
    const smoke: ValidationCheck = {
      name: 'smoke_run',
      status: 'failed',
      message: 'It crashed',
      value: null,
      threshold: null,
    };
    const fixture = await fixtureOf({ stagingChecks: failedStaging(smoke) });
    await fixture.register({ backtest_run_id: LEAK, waive }, as('admin'));
    await fixture.stage(2, {}, as('researcher'));
    expect((await fixture.promote(2, {}, as('approver'))).status).toBe(409);
  });

  it('without a waiver a leak that the staging finds is found and fails it', async () => {
    const fixture = await fixtureOf({ stagingChecks: failedStaging() });
    await fixture.register({ backtest_run_id: BACKTEST }, as('researcher'));
    await fixture.stage(2, {}, as('researcher'));
    expect(await versionOf(fixture, '2')).toMatchObject({ look_ahead: 'found', validation_status: 'failed' });
    expect((await fixture.promote(2, {}, as('approver'))).status).toBe(409);
  });
});

describe('version with a found look-ahead bias among others', () => {
  /** Version 1 is clean, version 2 has a leak and better metrics. Both are staged. */
  async function bothStaged() {
    const fixture = await registryFixture(engine, { service: byRole });
    const better = { sharpe_ratio: 9, max_drawdown_pct: 0.5 };
    await completedBacktest(fixture, LEAK, { look_ahead: FOUND_LOOK_AHEAD, result: better });
    await fixture.register({}, as('researcher'));
    await fixture.register({ backtest_run_id: LEAK, waive }, as('admin'));
    for (const version of [1, 2]) await fixture.stage(version, { skip_validation: true }, as('admin'));
    return fixture;
  }

  it('comes last in the catalog by every metric, in both orders and over pages', async () => {
    const fixture = await bothStaged();
    const versions = async (query: string) => {
      const found: string[] = [];
      for (let cursor = ''; ; ) {
        const { body } = await fixture.get(
          `/api/v1/catalog/strategies?limit=1&${query}${cursor}`,
          as('admin'),
        );
        found.push(...body.items.map(({ version }: { version: string }) => version));
        if (body.next_cursor === null) return found;
        cursor = `&cursor=${body.next_cursor}`;
      }
    };
    for (const filter of ['', '&search=btc']) {
      for (const sort of ['sharpe', 'drawdown'])
        for (const order of ['asc', 'desc'])
          expect(await versions(`sort_field=${sort}&sort_order=${order}${filter}`)).toEqual(['1', '2']);
      expect(await versions(`sort_field=name&sort_order=desc${filter}`)).toEqual(['2', '1']);
    }
  });

  it('is rejected as a challenger, and is no standard as a champion', async () => {
    const fixture = await bothStaged();
    const compare = async (a: number, b: number) =>
      (
        await fixture.get(
          `/api/v1/catalog/strategies/${MODEL}/compare?version_a=${a}&version_b=${b}`,
          as('admin'),
        )
      ).body;
    const [challenger, champion] = [await compare(1, 2), await compare(2, 1)];
    expect(challenger).toMatchObject({
      decision: 'REJECT',
      exchange: { a: 'sim', b: 'sim' },
      look_ahead: { a: 'not_checked', b: 'found' },
    });
    expect(challenger.recommendation).toContain('look-ahead bias was found in it');
    expect(champion.decision).toBe('INCONCLUSIVE');
    expect(champion.recommendation).toContain('look-ahead bias was found in the champion');
  });
});
