import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { DynamoHyperoptStore } from '#adapters/aws/dynamo-hyperopt-store.ts';
import type { DynamoJobStore } from '#adapters/aws/dynamo-job-store.ts';
import { sha256, ulids } from '#adapters/ids.ts';
import { fixedStrategies, knownBuiltIns } from '#adapters/known-strategies.ts';
import { NO_POLICY } from '#contract/release-policy.ts';
import type { ValidationCheck } from '#contract/validation.ts';
import type { SeriesStore } from '#domain/ports.ts';
import { type ReconcileDeps, reconcileJob, reconcileJobs } from '#domain/reconcile-jobs.ts';
import { recordValidationResult } from '#domain/registry/record-validation-results.ts';
import { stagingChecks } from '#domain/registry/start-staging-checks.ts';
import type { StagingChecks } from '#domain/transitions/validation.ts';
import { createRandom } from '#engine/random.ts';
import { memoryLog } from '../../support/backend.ts';
import { startEngine, type TestEngine } from '../../support/engine.ts';
import { SOME_RESULT, SOME_RESULTS, SOME_TIMING } from '../../support/jobs.ts';
import { MODEL, type RegistryFixture, registryFixture } from '../../support/registry-fixture.ts';

let engine: TestEngine;
beforeAll(async () => {
  engine = await startEngine();
});
afterAll(() => engine.stop());

const NOW = Date.parse('2025-03-03T00:00:00.000Z');
const MINUTES = 60_000;
const at = (ms: number) => new Date(ms).toISOString();
const check = (status: ValidationCheck['status']): ValidationCheck => ({
  name: 'smoke_run',
  status,
  message: 'It ran',
  value: null,
  threshold: null,
});

interface Scene {
  readonly fixture: RegistryFixture;
  readonly checks: StagingChecks;
  readonly deps: ReconcileDeps;
  /** Jobs whose execution was started, in order. */
  readonly started: string[];
  readonly clock: { now(): number; time: number };
  validation(version?: string): Promise<any>;
  /** What is still to be settled. */
  waiting(): Promise<string[]>;
}

/** A registry whose checks are started for real, and never run unless a test ends them. */
async function scene(): Promise<Scene> {
  const clock = { time: NOW, now: () => clock.time };
  const started: string[] = [];
  let checks!: StagingChecks;
  const fixture = await registryFixture(engine, {
    deps: {
      clock,
      stagingChecks: {
        start: (version, correlationId) => checks.start(version, correlationId),
        outcome: (jobId) => checks.outcome(jobId),
      },
    },
  });
  const { jobs } = fixture;
  const executions = {
    start: async ({ job_id }: { readonly job_id: string }) => void started.push(job_id),
    stop: async () => undefined,
    state: async () => undefined,
  };
  const common = { clock, ids: ulids, digest: sha256 };
  checks = stagingChecks({
    ...common,
    jobs,
    executions,
    series: { getMany: async () => new Map() } as unknown as SeriesStore,
    strategies: fixedStrategies(knownBuiltIns()),
    log: memoryLog().log,
  });
  const registry = {
    ...common,
    registry: fixture.store,
    challenges: fixture.deps.challenges,
    validations: jobs,
    ...{ stagingDryRunRequired: false, fourEyesRequired: false, releasePolicy: NO_POLICY },
    random: createRandom(1),
    sleep: async () => undefined,
  };
  return {
    fixture,
    checks,
    started,
    clock,
    deps: {
      ...{ jobs, executions, tasks: { stop: async () => undefined }, clock, registry },
      hyperoptJobs: new DynamoHyperoptStore(engine.client, fixture.jobsTable),
      hyperoptExecutions: executions,
      graceMs: 2 * MINUTES,
      onError: (_, error) => {
        throw error;
      },
    },
    validation: async (version = '1') =>
      (await fixture.get(`/api/v1/models/${MODEL}/versions/${version}`)).body.validation,
    waiting: async () => {
      const ids: string[] = [];
      for await (const { job_id } of jobs.endedValidations()) ids.push(job_id);
      return ids;
    },
  };
}

/** Registers and stages version 1: the id of the job of its checks. */
async function staged({ fixture }: Scene): Promise<string> {
  expect((await fixture.register({ thresholds: { max_drawdown: 100 } })).status).toBe(201);
  const { status, body } = await fixture.stage('1');
  expect(status, JSON.stringify(body)).toBe(200);
  expect(body.validation.status).toBe('pending');
  return body.validation.job_id;
}

/** Ends a job as its task does. */
async function end(jobs: DynamoJobStore, jobId: string, checks: ValidationCheck[], time = NOW) {
  const claim = await jobs.claim(jobId, 'task', at(time));
  expect(claim.outcome).toBe('claimed');
  const outcome = { result: SOME_RESULT, results: SOME_RESULTS, timing: SOME_TIMING, warnings: [], checks };
  expect(await jobs.complete(jobId, 1, outcome, at(time))).toBe(true);
}

const events = async ({ fixture }: Scene) =>
  (await fixture.get(`/api/v1/models/${MODEL}/history`)).body.items.map((each: any) => each.action);

describe('the end of a validation', () => {
  it.each(['passed', 'failed'] as const)('%s is recorded once, with its event', async (status) => {
    const scenario = await scene();
    const jobId = await staged(scenario);
    await end(scenario.fixture.jobs, jobId, [check(status)]);
    await reconcileJob(scenario.deps, jobId);
    const stored = await scenario.fixture.store.read(MODEL, ['1']);
    expect(stored.versions.get('1')!.validation.status).toBe(status);
    expect(await scenario.waiting()).toEqual([]);
    await reconcileJob(scenario.deps, jobId);
    await reconcileJobs(scenario.deps);
    expect(await events(scenario)).toEqual(['validate', 'stage', 'register']);
  });

  it('shows before anybody recorded it, and decides a promotion', async () => {
    const scenario = await scene();
    const jobId = await staged(scenario);
    await end(scenario.fixture.jobs, jobId, [check('failed')]);
    expect((await scenario.validation()).status).toBe('failed');
    const { status, body } = await scenario.fixture.promote('1');
    expect([status, body.detail.code]).toEqual([409, 'RES005']);
  });

  it('proves nothing without checks', async () => {
    const scenario = await scene();
    const jobId = await staged(scenario);
    await end(scenario.fixture.jobs, jobId, []);
    expect((await scenario.validation()).status).toBe('failed');
  });

  it('is recorded by the next pass when reconcile died before it', async () => {
    const scenario = await scene();
    const jobId = await staged(scenario);
    await end(scenario.fixture.jobs, jobId, [check('passed')]);
    expect(await scenario.waiting()).toEqual([jobId]);
    await reconcileJobs(scenario.deps);
    expect(await scenario.waiting()).toEqual([]);
    expect(await events(scenario)).toEqual(['validate', 'stage', 'register']);
  });

  it('is not recorded twice when reconcile died between its two writes', async () => {
    const scenario = await scene();
    const jobId = await staged(scenario);
    await end(scenario.fixture.jobs, jobId, [check('passed')]);
    const job = (await scenario.fixture.jobs.get(jobId))!;
    const dying = {
      ...scenario.deps.registry,
      validations: {
        endedValidations: () => scenario.fixture.jobs.endedValidations(),
        forgetValidation: async () => {
          throw new Error('killed');
        },
      },
    };
    await expect(recordValidationResult(dying, job)).rejects.toThrow('killed');
    expect(await scenario.waiting()).toEqual([jobId]);
    scenario.clock.time += 11 * MINUTES;
    await reconcileJobs(scenario.deps);
    expect(await scenario.waiting()).toEqual([]);
    expect(await events(scenario)).toEqual(['validate', 'stage', 'register']);
  });

  it('waits for a staging that is stored after the checks have ended', async () => {
    const scenario = await scene();
    await scenario.fixture.register({ thresholds: { max_drawdown: 100 } });
    const version = (await scenario.fixture.store.read(MODEL, ['1'])).versions.get('1')!;
    const jobId = await scenario.checks.start(version, 'c-1');
    await end(scenario.fixture.jobs, jobId, [check('passed')]);
    await reconcileJob(scenario.deps, jobId);
    expect(await scenario.waiting()).toEqual([jobId]);
    expect((await scenario.fixture.stage('1')).body.validation.job_id).toBe(jobId);
    await reconcileJobs(scenario.deps);
    expect(await scenario.waiting()).toEqual([]);
    const stored = await scenario.fixture.store.read(MODEL, ['1']);
    expect(stored.versions.get('1')!.validation.status).toBe('passed');
  });

  it('is forgotten when the registry does not know the version any more', async () => {
    const scenario = await scene();
    const jobId = await staged(scenario);
    await end(scenario.fixture.jobs, jobId, [check('passed')]);
    const emptied = (await scene()).fixture.store;
    const deps = { ...scenario.deps, registry: { ...scenario.deps.registry, registry: emptied } };
    await reconcileJobs(deps);
    expect(await scenario.waiting()).toEqual([jobId]);
    scenario.clock.time += 10 * MINUTES;
    await reconcileJobs(deps);
    expect(await scenario.waiting()).toEqual([]);
  });

  it('is forgotten when no staging came', async () => {
    const scenario = await scene();
    await scenario.fixture.register({ thresholds: { max_drawdown: 100 } });
    const version = (await scenario.fixture.store.read(MODEL, ['1'])).versions.get('1')!;
    const jobId = await scenario.checks.start(version, 'c-1');
    await end(scenario.fixture.jobs, jobId, [check('passed')]);
    scenario.clock.time += 10 * MINUTES;
    await reconcileJobs(scenario.deps);
    expect(await scenario.waiting()).toEqual([]);
    expect(await events(scenario)).toEqual(['register']);
  });

  it.each([1, 2, 3, 4, 5])('survives a promotion at the same moment (%i)', async () => {
    const scenario = await scene();
    const jobId = await staged(scenario);
    await end(scenario.fixture.jobs, jobId, [check('passed')]);
    const [promoted] = await Promise.all([
      scenario.fixture.promote('1'),
      reconcileJob(scenario.deps, jobId),
      reconcileJobs(scenario.deps),
    ]);
    expect(promoted.status).toBe(200);
    const { versions, model } = await scenario.fixture.store.read(MODEL, ['1']);
    expect(versions.get('1')).toMatchObject({ stage: 'Production', validation: { status: 'passed' } });
    expect(model!.events).toBe((await events(scenario)).length);
  });
});

describe('the job of a validation', () => {
  it('is the same for the same version, and runs its configuration on the newest candles', async () => {
    const scenario = await scene();
    const jobId = await staged(scenario);
    const version = (await scenario.fixture.store.read(MODEL, ['1'])).versions.get('1')!;
    expect(await scenario.checks.start(version, 'c-2')).toBe(jobId);
    const job = (await scenario.fixture.jobs.get(jobId))!;
    const { date_range, params, ...config } = job.config;
    expect(version.config).toMatchObject(config);
    // What the registered configuration leaves out has its default.
    expect(params).toEqual({ fast: 20, slow: 50 });
    expect(Date.parse(date_range.end)).toBe(NOW);
    expect((NOW - Date.parse(date_range.start)) / (5 * MINUTES)).toBe(1000);
    expect(job.execution_input).toMatchObject({ job_id: jobId, kind: 'validation', image: null });
  });

  it('is started again when its execution got lost', async () => {
    const scenario = await scene();
    const jobId = await staged(scenario);
    scenario.clock.time += 3 * MINUTES;
    const { started } = await reconcileJobs(scenario.deps);
    expect(started).toEqual([jobId]);
    expect(scenario.started).toEqual([jobId, jobId]);
  });

  it.each([
    ['SVC001', /could not be run to their end\. Register the backtest again/],
    ['DATA001', /^DATA001 It went wrong$/],
  ])('that ended with %s fails its version, and says why', async (code, message) => {
    const scenario = await scene();
    const jobId = await staged(scenario);
    await scenario.fixture.jobs.fail(jobId, null, { code, message: 'It went wrong' }, at(NOW));
    await reconcileJobs(scenario.deps);
    const validation = await scenario.validation();
    expect(validation.status).toBe('failed');
    expect(validation.checks.at(-1)).toMatchObject({ name: 'smoke_run', status: 'failed' });
    expect(validation.checks.at(-1).message).toMatch(message);
  });

  it('is in no list of backtests, whatever its state', async () => {
    const scenario = await scene();
    const jobId = await staged(scenario);
    const { jobs } = scenario.fixture;
    const listed = async () => {
      const filters = [{}, ...(['pending', 'running', 'completed'] as const).map((status) => ({ status }))];
      const pages = await Promise.all(filters.map((filter) => jobs.list(filter, 100, null)));
      return pages.flatMap(({ items }) => items.map(({ job_id }) => job_id));
    };
    expect(await listed()).not.toContain(jobId);
    await end(jobs, jobId, [check('passed')]);
    const ids = await listed();
    expect(ids.length).toBeGreaterThan(0);
    expect(ids).not.toContain(jobId);
  });
});
