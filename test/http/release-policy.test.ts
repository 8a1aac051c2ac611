import { describe, expect, it } from 'vitest';
import type { StoredHyperoptJob } from '#contract/hyperopt/hyperopt.ts';
import type { TrialRecord } from '#contract/jobs/trial-ledger.ts';
import type { ReleasePolicy } from '#contract/registry/release-policy.ts';
import type { ResultStore } from '#domain/ports.ts';
import { SOME_RESULT } from '../support/jobs.ts';
import { as, completedBacktest, ended, taskChecks } from '../support/policy-fixture.ts';
import {
  type FixtureOptions,
  MODEL,
  type RegistryFixture,
  SOME_REPORT,
} from '../support/registry-fixture.ts';
import { Invariants } from '../support/registry-invariants.ts';
import {
  checkOf,
  clockAt,
  END,
  historyOf,
  releasePolicyFixtures,
  statuses,
  versionOf,
} from './release-policy-fixture.ts';

const fixtureOf = releasePolicyFixtures();
const DAY = 86_400_000;

const reading = (report: object, result: object = SOME_RESULT) =>
  ({
    read: async (_: unknown, part: string) => (part === 'report' ? report : result),
  }) as unknown as ResultStore;

/** Fixture with a version staged before the policy existed. */
async function stagedBefore(policy: Partial<ReleasePolicy>, options: FixtureOptions = {}) {
  const before = await fixtureOf({}, options);
  await before.register();
  await before.stage(1);
  const tables = { jobs: before.jobsTable, registry: before.table, series: '' };
  return fixtureOf(policy, { ...options, tables });
}

const tried = (owner: number, deflated_sharpe_ratio: number | null): TrialRecord => ({
  owner,
  strategy: owner,
  session: null,
  sharpe_ratio_daily: 0.1,
  probabilistic_sharpe_ratio: 0.99,
  expected_max_sharpe_daily: 0,
  deflated_sharpe_ratio,
  strategy_deflated_sharpe_ratio: deflated_sharpe_ratio,
  session_deflated_sharpe_ratio: null,
});

describe('release policy check', () => {
  const result = (changes: Partial<typeof SOME_RESULT>) => ({ result: changes });

  // Equality passes; drawdowns are compared by magnitude.
  it.each<[string, Partial<ReleasePolicy>, string, object, object, number, number]>([
    [
      'trades',
      { minTrades: 30 },
      'min_trades',
      result({ total_trades: 30 }),
      result({ total_trades: 29 }),
      30,
      29,
    ],
    [
      'Sharpe',
      { minSharpe: 1 },
      'min_sharpe',
      result({ sharpe_ratio: 1 }),
      result({ sharpe_ratio: 0.999 }),
      1,
      0.999,
    ],
    [
      'Sharpe below 0',
      { minSharpe: 0 },
      'min_sharpe',
      result({ sharpe_ratio: 0 }),
      result({ sharpe_ratio: -0.69 }),
      0,
      -0.69,
    ],
    [
      'profit factor',
      { minProfitFactor: 1.5 },
      'min_profit_factor',
      result({ profit_factor: 1.5 }),
      result({ profit_factor: 1.49 }),
      1.5,
      1.49,
    ],
    [
      'drawdown',
      { maxDrawdown: 20 },
      'max_drawdown',
      result({ max_drawdown_pct: -20 }),
      result({ max_drawdown_pct: 20.1 }),
      -20,
      20.1,
    ],
  ])(
    'check passes at its threshold and fails beyond: %s',
    async (_, policy, name, good, bad, passing, missing) => {
      const fixture = await fixtureOf(policy);
      await completedBacktest(fixture, 'bt-good', good);
      await completedBacktest(fixture, 'bt-bad', bad);
      await fixture.register({ backtest_run_id: 'bt-good' });
      await fixture.register({ backtest_run_id: 'bt-bad' });
      const threshold = Object.values(policy)[0];
      const check = async (version: number) =>
        checkOf((await fixture.stage(version, { validate_only: true })).body.validation.checks, name);
      expect(await check(1)).toMatchObject({ status: 'passed', value: passing, threshold });
      expect(await check(2)).toMatchObject({ status: 'failed', value: missing, threshold });
    },
  );

  it('evidence age counts from the last candle, regardless of the requested range', async () => {
    const check = async (now: number, name: string, options: FixtureOptions = {}) => {
      const policy = { minDays: 31, maxEvidenceAgeDays: 180 };
      const fixture = await fixtureOf(policy, { deps: { clock: clockAt(now), ...options.deps } });
      const range = { start: '2025-01-01T00:00:00.000Z', end: '2027-01-01T00:00:00.000Z' };
      await completedBacktest(fixture, 'bt-wide', {
        job: { config: { ...(await configOf(fixture)), date_range: range } },
      });
      await fixture.register({ backtest_run_id: 'bt-wide' });
      return checkOf((await fixture.stage(1, { validate_only: true })).body.validation.checks, name);
    };
    expect(await check(END + 180 * DAY, 'max_evidence_age_days')).toMatchObject({
      status: 'passed',
      value: 180,
    });
    expect(await check(END + 180 * DAY + 1, 'max_evidence_age_days')).toMatchObject({
      status: 'failed',
      value: 180.01,
      threshold: 180,
    });
    const old = await check(END + 537 * DAY, 'max_evidence_age_days');
    expect(old).toMatchObject({ status: 'failed', value: 537 });
    expect(old!.message).toContain('The candles end on 2025-02-01, 537 days ago; at most 180 are allowed');
    expect(await check(END, 'min_days')).toMatchObject({ status: 'passed', value: 31, threshold: 31 });
    // With several pairs, the pair whose candles end first counts.
    const [pair] = SOME_REPORT.data;
    const data = [{ first: pair!.first, last: '2025-01-30T23:55:00.000Z' }, pair];
    const results = reading({ ...SOME_REPORT, data });
    expect(await check(END, 'min_days', { deps: { results } })).toMatchObject({
      status: 'failed',
      value: 30,
    });
    const age = await check(END + 180 * DAY, 'max_evidence_age_days', { deps: { results } });
    expect(age).toMatchObject({ status: 'failed', value: 181 });
  });

  it('evidence of a version without a stored date ends at its registration', async () => {
    const fixture = await fixtureOf({ maxEvidenceAgeDays: 180 });
    await completedBacktest(fixture, 'bt-future', {
      job: {
        config: {
          ...(await configOf(fixture)),
          date_range: { start: '2025-01-01T00:00:00.000Z', end: '2099-01-01T00:00:00.000Z' },
        },
      },
    });
    await fixture.register({ backtest_run_id: 'bt-future' });
    const { versions, model } = await fixture.store.read(MODEL, ['1']);
    const { evidence: _, ...old } = versions.get('1')!;
    const read: typeof fixture.store.read = async (name, numbers, reply) => ({
      ...(await fixture.store.read(name, numbers, reply)),
      model,
      versions: new Map([['1', old]]),
    });
    const tables = { jobs: fixture.jobsTable, registry: fixture.table, series: '' };
    const later = await fixtureOf(
      { maxEvidenceAgeDays: 180 },
      {
        tables,
        deps: { clock: clockAt(END + 200 * DAY) },
        wrap: (store) =>
          new Proxy(store, {
            get: (target, name: keyof typeof store) => {
              if (name === 'read') return read;
              const value = target[name];
              return typeof value === 'function' ? value.bind(target) : value;
            },
          }),
      },
    );
    const { checks } = (await later.stage(1, { validate_only: true })).body.validation;
    expect(checkOf(checks, 'max_evidence_age_days')).toMatchObject({ status: 'failed', value: 200 });
  });

  it('deflated Sharpe ratio is required of versions found by a hyperopt job and derived ones', async () => {
    const job = (deflated_sharpe_ratio: number | null) =>
      ({ status: 'completed', outcome: { overfitting: { deflated_sharpe_ratio } } }) as StoredHyperoptJob;
    const hyperoptJobs = new Map([
      ['ho-good', job(0.95)],
      ['ho-poor', job(0.6)],
      ['ho-short', job(null)],
    ]);
    const fixture = await fixtureOf(
      { minDeflatedSharpe: 0.95 },
      { deps: { hyperoptJobs: { get: async (id) => hyperoptJobs.get(id), setEvidence: async () => true } } },
    );
    const found = (hyperopt_job_id: string) => ({ found_by: { hyperopt_job_id, trial: 3, trials: 50 } });
    for (const id of ['ho-good', 'ho-poor', 'ho-short'])
      await completedBacktest(fixture, `bt-${id.slice(3)}`, { job: found(id) });
    await completedBacktest(fixture, 'bt-plain', {});
    for (const id of ['good', 'poor', 'short', 'plain'])
      await fixture.register({ backtest_run_id: `bt-${id}` });
    // A repeated run of a version does not renew its evidence.
    const registered = {
      model_name: MODEL,
      version: '2',
      container_image_uri: 'i',
      image_digest: null,
      strategy_digest: 's',
    };
    await completedBacktest(fixture, 'bt-again', { job: { registered } });
    await fixture.register({ backtest_run_id: 'bt-again' });
    const check = async (version: number) =>
      checkOf(
        (await fixture.stage(version, { validate_only: true })).body.validation.checks,
        'min_deflated_sharpe',
      );
    expect(await check(1)).toMatchObject({ status: 'passed', value: 0.95 });
    expect(await check(2)).toMatchObject({ status: 'failed', value: 0.6, threshold: 0.95 });
    expect(await check(3)).toMatchObject({ status: 'failed', value: null });
    expect(await check(4)).toMatchObject({ status: 'passed', value: null });
    expect(await check(5)).toMatchObject({ status: 'failed', value: 0.6 });
    expect(await versionOf(fixture, '5')).toMatchObject({
      trials: 50,
      evidence: { hyperopt_job_id: 'ho-poor', deflated_sharpe_ratio: 0.6 },
    });
  });

  it('deflated Sharpe ratio is required of versions that follow many backtests of their owner', async () => {
    const fixture = await fixtureOf({ minDeflatedSharpe: 0.95 });
    const records = [tried(1, 0.4), tried(40, 0.4), tried(40, 0.97), tried(2, null)];
    for (const [index, trials] of records.entries()) {
      await completedBacktest(fixture, `bt-t${index}`, { trials });
      await fixture.register({ backtest_run_id: `bt-t${index}` });
    }
    const check = async (version: number) =>
      checkOf(
        (await fixture.stage(version, { validate_only: true })).body.validation.checks,
        'min_deflated_sharpe',
      );
    expect(await check(1)).toMatchObject({ status: 'passed', value: null });
    expect(await check(2)).toMatchObject({
      status: 'failed',
      value: 0.4,
      message: 'Deflated Sharpe ratio 0.4 of 40 trials; at least 0.95 is required',
    });
    expect(await check(3)).toMatchObject({ status: 'passed', value: 0.97 });
    expect(await check(4)).toMatchObject({ status: 'failed', value: null });
    expect(await versionOf(fixture, '2')).toMatchObject({
      trials: 40,
      evidence: { deflated_sharpe_ratio: 0.4, trial_record: records[1] },
    });
  });

  it('lowest deflated Sharpe ratio of a backtest is required and its scope named, also of a single trial', async () => {
    const fixture = await fixtureOf({ minDeflatedSharpe: 0.95 });
    const lowest = (scope: 'owner' | 'session', trials: number, ratio: number | null): TrialRecord => ({
      ...tried(trials, 0.97),
      lowest: {
        scope,
        trials,
        sharpe_variance_daily: 0,
        expected_max_sharpe_daily: 0,
        deflated_sharpe_ratio: ratio,
        reason: ratio === null ? 'the run has 2 daily returns, and at least 30 are needed' : null,
      },
    });
    const records = [lowest('session', 4, 0.6), lowest('owner', 1, 0.8), lowest('owner', 1, 0.96)];
    for (const [index, trials] of [...records, lowest('owner', 1, null)].entries()) {
      await completedBacktest(fixture, `bt-l${index}`, { trials });
      await fixture.register({ backtest_run_id: `bt-l${index}` });
    }
    const check = async (version: number) =>
      checkOf(
        (await fixture.stage(version, { validate_only: true })).body.validation.checks,
        'min_deflated_sharpe',
      );
    expect(await check(1)).toMatchObject({
      status: 'failed',
      value: 0.6,
      message: 'Deflated Sharpe ratio 0.6 of the 4 trials of the session; at least 0.95 is required',
    });
    expect(await check(2)).toMatchObject({ status: 'failed', value: 0.8 });
    expect(await check(3)).toMatchObject({ status: 'passed', value: 0.96 });
    expect(await check(4)).toMatchObject({
      status: 'failed',
      value: null,
      message:
        'The deflated Sharpe ratio of the backtest is undefined: the run has 2 daily returns, and at least 30 are needed',
    });
  });

  it('ratio of a hyperopt job does not replace an undefined one of the backtest', async () => {
    const job = { status: 'completed', outcome: { overfitting: { deflated_sharpe_ratio: 0.99 } } };
    const hyperoptJobs = { get: async () => job as StoredHyperoptJob, setEvidence: async () => true };
    const fixture = await fixtureOf({ minDeflatedSharpe: 0.5 }, { deps: { hyperoptJobs } });
    const found_by = { hyperopt_job_id: 'ho-1', trial: 3, trials: 50 };
    const undefinedRatio = { scope: 'owner', trials: 51, deflated_sharpe_ratio: null, reason: 'too short' };
    const none = { sharpe_variance_daily: null, expected_max_sharpe_daily: null };
    const trials = { ...tried(51, null), lowest: { ...undefinedRatio, ...none } } as TrialRecord;
    await completedBacktest(fixture, 'bt-short', { job: { found_by }, trials });
    await fixture.register({ backtest_run_id: 'bt-short' });
    expect(await versionOf(fixture, '1')).toMatchObject({
      trials: 51,
      evidence: { hyperopt_job_id: 'ho-1', deflated_sharpe_ratio: null },
    });
  });

  it('version found by a hyperopt job has the lower of both deflated Sharpe ratios', async () => {
    const job = { status: 'completed', outcome: { overfitting: { deflated_sharpe_ratio: 0.9 } } };
    const hyperoptJobs = { get: async () => job as StoredHyperoptJob, setEvidence: async () => true };
    const fixture = await fixtureOf({ minDeflatedSharpe: 0.5 }, { deps: { hyperoptJobs } });
    const found_by = { hyperopt_job_id: 'ho-1', trial: 3, trials: 50 };
    await completedBacktest(fixture, 'bt-both', { job: { found_by }, trials: tried(60, 0.8) });
    await fixture.register({ backtest_run_id: 'bt-both' });
    expect(await versionOf(fixture, '1')).toMatchObject({
      trials: 60,
      evidence: { hyperopt_job_id: 'ho-1', deflated_sharpe_ratio: 0.8 },
    });
  });

  async function configOf(fixture: RegistryFixture) {
    return (await fixture.jobs.get('bt-1'))!.config;
  }
});

describe('release policy', () => {
  const policy = { minTrades: 30, maxEvidenceAgeDays: 180 };

  it('register reports the policy checks without rejecting', async () => {
    const fixture = await fixtureOf(policy);
    const { status, body } = await fixture.register();
    expect([status, body.validation.status]).toEqual([201, 'failed']);
    expect(statuses(body.validation.checks)).toEqual({
      thresholds: 'passed',
      look_ahead: 'warning',
      min_trades: 'failed',
      max_evidence_age_days: 'passed',
    });
    expect(body.message).toContain('fails the release policy');
    expect(body.warnings).toEqual(['release policy: min_trades: 10 trades; at least 30 are required']);
    const [event] = await historyOf(fixture);
    expect(event).toMatchObject({ action: 'register', notes: ['validation failed'], waiver: null });
  });

  it('stage and promote are rejected with all checks and change nothing', async () => {
    const fixture = await fixtureOf(policy);
    await fixture.register();
    const before = await fixture.items();
    const { status, body } = await fixture.stage(1);
    expect([status, body.detail.code, body.detail.field]).toEqual([409, 'RES005', 'version']);
    expect(statuses(body.detail.context.checks)).toMatchObject({
      backtest: 'passed',
      configuration: 'passed',
      min_trades: 'failed',
      max_evidence_age_days: 'passed',
      look_ahead: 'skipped',
    });
    expect(body.detail.message).toContain('min_trades: 10 trades; at least 30 are required');
    expect(await fixture.items()).toEqual(before);
    const later = await stagedBefore(policy);
    const staged = await later.items();
    const rejected = await later.promote(1, {}, as('approver'));
    expect([rejected.status, rejected.body.detail.code]).toEqual([409, 'RES005']);
    expect(statuses(rejected.body.detail.context.checks)).toMatchObject({
      backtest: 'passed',
      min_trades: 'failed',
      max_evidence_age_days: 'passed',
    });
    expect(rejected.body.detail.message).toContain('Version 1 misses the release policy. min_trades');
    expect(await later.items()).toEqual(staged);
  });

  it('policy accepts a version that meets it without thresholds of its own', async () => {
    const results = reading(SOME_REPORT, { ...SOME_RESULT, total_trades: 30 });
    const fixture = await fixtureOf(policy, {
      deps: { stagingDryRunRequired: true, stagingChecks: passing(), results },
    });
    await completedBacktest(fixture, 'bt-many', { result: { total_trades: 30 } });
    const { body } = await fixture.register({ backtest_run_id: 'bt-many' });
    expect(body).toMatchObject({ validation: { status: 'passed' }, warnings: [] });
    expect((await fixture.stage(1)).status).toBe(200);
    expect((await fixture.promote(1, {}, as('approver'))).status).toBe(200);
    await new Invariants(fixture).check();
  });

  it('promotion checks the age of the evidence again', async () => {
    let now = END;
    const fixture = await fixtureOf({ maxEvidenceAgeDays: 180 }, { deps: { clock: { now: () => now } } });
    await fixture.register();
    expect((await fixture.stage(1)).status).toBe(200);
    now += 181 * DAY;
    const { status, body } = await fixture.promote(1, {}, as('approver'));
    expect([status, statuses(body.detail.context.checks).max_evidence_age_days]).toEqual([409, 'failed']);
  });

  it('force and skip_validation do not waive the policy', async () => {
    const fixture = await fixtureOf(policy);
    await fixture.register({ skip_validation: true }, as('admin'));
    const staged = await fixture.stage(1, { skip_validation: true }, as('admin'));
    expect([staged.status, staged.body.detail.code]).toEqual([409, 'RES005']);
    const later = await stagedBefore(policy);
    const forced = await later.promote(1, { force: true }, as('admin'));
    expect([forced.status, forced.body.detail.code]).toEqual([409, 'RES005']);
  });

  it('policy does not block a rollback', async () => {
    const before = await fixtureOf({});
    for (const version of [1, 2]) {
      await before.register();
      await before.stage(version);
      await before.promote(version, {}, as('approver'));
    }
    const tables = { jobs: before.jobsTable, registry: before.table, series: '' };
    const fixture = await fixtureOf({ ...policy, lookAheadCertificate: true }, { tables });
    const { status, body } = await fixture.rollback(1, {}, as('approver'));
    expect([status, body.new_production]).toEqual([200, '1']);
  });

  it('registration warns when neither a policy nor thresholds are set', async () => {
    const fixture = await fixtureOf({});
    const { body } = await fixture.register({ skip_validation: false });
    expect(checkOf(body.validation.checks, 'release_policy')).toMatchObject({
      status: 'skipped',
      message: 'No release policy is set on this platform',
    });
    expect(body.warnings).toEqual([expect.stringMatching(/^thresholds: none given and no release policy/)]);
    expect((await fixture.register({ thresholds: { min_sharpe: 1 } })).body.warnings).toEqual([]);
    expect((await fixture.register({ skip_validation: true }, as('admin'))).body.warnings).toEqual([]);
    const gated = await fixtureOf({ minTrades: 1 });
    expect((await gated.register()).body.warnings).toEqual([]);
  });

  it('policy replaces the default limits of the evidence check', async () => {
    const evidence = async (set: Partial<ReleasePolicy>) => {
      const fixture = await fixtureOf(set, { deps: { clock: clockAt(END + 120 * DAY) } });
      await fixture.register();
      return checkOf((await fixture.stage(1, { validate_only: true })).body.validation.checks, 'evidence');
    };
    expect(await evidence({})).toMatchObject({ status: 'warning', value: 10, threshold: 100 });
    expect(await evidence({ minTrades: 5 })).toMatchObject({ status: 'warning', value: 120, threshold: 90 });
    expect(await evidence({ minTrades: 5, maxEvidenceAgeDays: 180 })).toMatchObject({ status: 'passed' });
  });
});

/** Staging checks that pass immediately. */
function passing() {
  const checks = taskChecks();
  checks.end(ended('passed'));
  return checks;
}

describe('look-ahead certificate', () => {
  const policy = { lookAheadCertificate: true };

  it('staging starts the certificate, and promotion requires it', async () => {
    const stagingChecks = taskChecks();
    const fixture = await fixtureOf(policy, { deps: { stagingChecks } });
    await fixture.register();
    const staged = await fixture.stage(1);
    expect([staged.status, statuses(staged.body.validation.checks).look_ahead]).toEqual([200, 'pending']);
    expect(stagingChecks.started).toHaveLength(1);
    const running = await fixture.promote(1, {}, as('approver'));
    expect([running.status, running.body.detail.code]).toEqual([409, 'RES005']);
    expect(running.body.detail.message).toContain(
      `still running. Promote again when it has passed: GET /api/v1/models/${MODEL}/versions/1`,
    );
    expect(statuses(running.body.detail.context.checks).look_ahead).toBe('pending');
    stagingChecks.end(ended('passed'));
    expect((await fixture.promote(1, {}, as('approver'))).status).toBe(200);
  });

  it.each(['failed', 'skipped', 'warning'] as const)(
    'promotion rejects a certificate that is %s',
    async (status) => {
      const stagingChecks = taskChecks();
      const fixture = await fixtureOf(policy, { deps: { stagingChecks } });
      await fixture.register();
      await fixture.stage(1);
      stagingChecks.end(ended(status === 'failed' ? 'failed' : 'passed', { look_ahead: status }));
      const response = await fixture.promote(1, { force: true }, as('admin'));
      expect([response.status, response.body.detail.code]).toEqual([409, 'RES005']);
      expect(statuses(response.body.detail.context.checks).look_ahead).toBe('failed');
      expect(response.body.detail.message).toContain(`is ${status}: m`);
      // The waiver covers only the policy: a failed validation also requires force.
      const waive = { checks: ['look_ahead'], reason: 'read by two people' };
      const waived = await fixture.promote(1, { waive }, as('admin'));
      expect(waived.status).toBe(status === 'failed' ? 409 : 200);
      if (status === 'failed') {
        expect((await fixture.promote(1, { waive, force: true }, as('admin'))).status).toBe(200);
      }
      expect(checkOf((await versionOf(fixture)).validation.checks, 'look_ahead')).toMatchObject({ status });
    },
  );

  it.each([['sampled'], ['not_checked'], [0], [null]])(
    'promotion rejects a certificate that passed as %s',
    async (value) => {
      const stagingChecks = taskChecks();
      const fixture = await fixtureOf(policy, { deps: { stagingChecks } });
      await fixture.register();
      await fixture.stage(1);
      const { status, checks } = ended('passed');
      stagingChecks.end({
        status,
        checks: checks.map((each) => (each.name === 'look_ahead' ? { ...each, value } : each)),
      });
      const response = await fixture.promote(1, {}, as('approver'));
      expect([response.status, response.body.detail.code]).toEqual([409, 'RES005']);
      expect(checkOf(response.body.detail.context.checks, 'look_ahead')).toMatchObject({
        status: 'failed',
        value,
        message: expect.stringContaining('not certified: m'),
      });
    },
  );

  it('certificate is required with a skipped validation and without validation tasks', async () => {
    const stagingChecks = taskChecks();
    const fixture = await fixtureOf(policy, { deps: { stagingChecks } });
    await fixture.register();
    const { body } = await fixture.stage(1, { skip_validation: true }, as('admin'));
    expect(body.validation).toMatchObject({ status: 'pending', job_id: 'va-1' });
    stagingChecks.end(ended('passed'));
    expect((await versionOf(fixture)).validation_status).toBe('skipped');
    expect((await fixture.promote(1, {}, as('approver'))).status).toBe(200);
    const taskless = await fixtureOf(policy);
    await taskless.register();
    await taskless.stage(1);
    const response = await taskless.promote(1, {}, as('approver'));
    expect([response.status, response.body.detail.message]).toEqual([
      409,
      expect.stringContaining('No task can run it here'),
    ]);
  });
});

it('the rules of the platform can be read by every user; what is not required is null', async () => {
  const none = await fixtureOf({});
  const absent = {
    min_trades: null,
    min_days: null,
    max_evidence_age_days: null,
    min_sharpe: null,
    min_profit_factor: null,
    max_drawdown: null,
    min_deflated_sharpe: null,
    look_ahead_certificate: false,
  };
  expect((await none.get('/api/v1/release-rules')).body).toEqual({
    four_eyes: false,
    validation_required: false,
    rollback_reason_required: false,
    release_policy: absent,
  });
  const some = await fixtureOf({ minTrades: 30, maxDrawdown: 25, lookAheadCertificate: true });
  expect((await some.get('/api/v1/release-rules')).body.release_policy).toEqual({
    ...absent,
    min_trades: 30,
    max_drawdown: 25,
    look_ahead_certificate: true,
  });
});
