import { describe, expect, it } from 'vitest';
import { as } from '../support/policy-fixture.ts';
import { MODEL } from '../support/registry-fixture.ts';
import { Invariants } from '../support/registry-invariants.ts';
import { checkOf, historyOf, releasePolicyFixtures, statuses, versionOf } from './release-policy-fixture.ts';

const fixtureOf = releasePolicyFixtures();

describe('policy waiver', () => {
  const policy = { minTrades: 30, minSharpe: 2, maxDrawdown: 20 };
  const waive = { checks: ['min_trades', 'min_sharpe'], reason: 'A pilot with little money' };

  it('waiver requires the admin role before any read', async () => {
    const fixture = await fixtureOf(policy);
    for (const role of ['researcher', 'approver'] as const) {
      const bodies = [waive, { checks: ['nonsense'] }, {}];
      for (const body of bodies) {
        const response = await fixture.stage('99', { waive: body }, as(role));
        expect([response.status, response.body.detail.code, response.body.detail.context]).toEqual([
          403,
          'AUTH004',
          { required: 'admin' },
        ]);
      }
    }
    const promoted = await fixture.promote('99', { waive }, as('approver'));
    expect([promoted.status, promoted.body.detail.code]).toEqual([403, 'AUTH004']);
    const registered = await fixture.register({ skip_validation: true }, as('approver'));
    expect([registered.status, registered.body.detail.code]).toEqual([403, 'AUTH004']);
    expect((await fixture.register({ skip_validation: true }, as('admin'))).status).toBe(201);
  });

  it.each([
    [{ checks: ['min_trades'] }, 'VAL004', 'waive.reason'],
    [{ checks: ['min_trades'], reason: '  ' }, 'VAL004', 'waive.reason'],
    [{ reason: 'why' }, 'VAL004', 'waive.checks'],
    [{ checks: [], reason: 'why' }, 'VAL005', 'waive.checks'],
    [{ checks: ['min_trades', 'smoke_run'], reason: 'why' }, 'VAL005', 'waive.checks.1'],
    [{ checks: ['min_trades'], reason: 'x'.repeat(2001) }, 'VAL005', 'waive.reason'],
  ])('waiver %j is rejected with %s', async (body, code, field) => {
    const fixture = await fixtureOf(policy);
    await fixture.register();
    for (const call of [fixture.stage, fixture.promote]) {
      const response = await call(1, { waive: body }, as('admin'));
      expect([response.status, response.body.detail.code, response.body.detail.field]).toEqual([
        400,
        code,
        field,
      ]);
    }
    if (field === 'waive.checks.1') {
      const { detail } = (await fixture.stage(1, { waive: body }, as('admin'))).body;
      expect(detail.context.allowed).toContain('look_ahead');
    }
  });

  it('waiver applies only to the checks it names', async () => {
    const fixture = await fixtureOf({ ...policy, maxDrawdown: 1 });
    await fixture.register();
    const { status, body } = await fixture.stage(1, { waive }, as('admin'));
    expect(status).toBe(409);
    expect(statuses(body.detail.context.checks)).toMatchObject({
      min_trades: 'waived',
      min_sharpe: 'waived',
      max_drawdown: 'failed',
    });
    expect(body.detail.message).not.toContain('min_trades');
  });

  it('waiver applies to one transition and is shown in history, version, list and catalog', async () => {
    const fixture = await fixtureOf(policy);
    await fixture.register();
    const staged = await fixture.stage(1, { waive, comment: 'go' }, as('admin'));
    expect(staged.body).toMatchObject({ new_stage: 'Staging', warnings: [] });
    expect(staged.body.message).toContain('waived min_trades, min_sharpe');
    expect(checkOf(staged.body.validation.checks, 'min_trades')).toMatchObject({
      status: 'waived',
      value: 10,
      threshold: 30,
      message: expect.stringContaining('Waived by root: A pilot with little money'),
    });
    expect((await fixture.promote(1, {}, as('approver'))).status).toBe(409);
    expect((await fixture.promote(1, { force: true }, as('admin'))).status).toBe(409);
    const partly = { ...waive, checks: ['min_trades'] };
    expect((await fixture.promote(1, { waive: partly }, as('admin'))).status).toBe(409);
    const more = { checks: [...waive.checks, 'max_drawdown'], reason: 'Board of 2 May' };
    const promoted = await fixture.promote(1, { waive: more }, as('admin'));
    expect(promoted.status).toBe(200);
    expect(promoted.body.warnings).toEqual([
      'waive.checks: max_drawdown needed no waiver for this transition, and none was recorded',
    ]);
    const [promotion, staging] = await historyOf(fixture);
    expect(promotion).toMatchObject({
      action: 'promote',
      actor: 'root',
      notes: expect.arrayContaining(['waived min_trades, min_sharpe']),
      waiver: { checks: ['min_trades', 'min_sharpe'], reason: 'Board of 2 May' },
    });
    expect(staging).toMatchObject({ action: 'stage', reason: 'go', waiver: waive });
    const waivers = [
      { action: 'stage', checks: waive.checks, reason: waive.reason, actor: 'root' },
      { action: 'promote', checks: waive.checks, reason: 'Board of 2 May', actor: 'root' },
    ];
    const { items } = (await fixture.get('/api/v1/catalog/strategies')).body;
    expect(items).toMatchObject([{ version: '1', stage: 'Production', waivers }]);
    expect(await versionOf(fixture)).toMatchObject({ waivers });
    const { versions } = (await fixture.get(`/api/v1/models/${MODEL}/versions`)).body;
    expect(versions).toMatchObject([{ waivers }]);
    await new Invariants(fixture).check();
  });

  it('waiver is part of the request that an idempotency key replays', async () => {
    const fixture = await fixtureOf(policy);
    await fixture.register();
    const headers = { ...as('admin'), 'Idempotency-Key': 'k' };
    const first = await fixture.stage(1, { waive }, headers);
    const again = await fixture.stage(1, { waive }, headers);
    expect([first.status, again.status, again.headers.get('Idempotent-Replay')]).toEqual([200, 200, 'true']);
    expect(again.body).toEqual(first.body);
    for (const other of [{}, { waive: { ...waive, reason: 'another' } }]) {
      const response = await fixture.stage(1, other, headers);
      expect([response.status, response.body.detail.code]).toEqual([409, 'RES005']);
    }
  });

  it('response warns of unknown keys of a waiver', async () => {
    const fixture = await fixtureOf(policy);
    await fixture.register();
    const { body } = await fixture.stage(1, { waive: { ...waive, check: 'x' } }, as('admin'));
    expect(body.warnings).toEqual(['Unknown key waive.check was ignored; did you mean waive.checks?']);
  });
});
