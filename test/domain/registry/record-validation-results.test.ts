import { type DynamoDBDocumentClient, QueryCommand, TransactWriteCommand } from '@aws-sdk/lib-dynamodb';
import { describe, expect, it } from 'vitest';
import { DynamoHyperoptStore } from '#adapters/dynamo/hyperopt-store.ts';
import { DynamoJobQueue } from '#adapters/dynamo/job-queue.ts';
import type { DynamoJobStore } from '#adapters/dynamo/job-store.ts';
import { DynamoRegistryStore } from '#adapters/dynamo/registry-store.ts';
import { DynamoStrategyCosts } from '#adapters/dynamo/strategy-costs.ts';
import { ulids } from '#adapters/ids.ts';
import { sha256 } from '#adapters/sha256.ts';
import { fixedStrategies, knownBuiltIns } from '#adapters/strategies/known-strategies.ts';
import type { ValidationCheck } from '#contract/common/validation-check.ts';
import { NO_POLICY } from '#contract/registry/release-rules.ts';
import type { SeriesStore } from '#domain/ports.ts';
import { recordValidationResult } from '#domain/registry/record-validation-results.ts';
import { stagingChecks } from '#domain/registry/start-staging-checks.ts';
import { endExecutions, type RepairDeps, repairJobs } from '#domain/repair/repair-jobs.ts';
import type { StagingChecks } from '#domain/transitions/check-status.ts';
import { createRandom } from '#engine/random.ts';
import { memoryLog } from '../../support/backend.ts';
import { type MemoryExecutions, memoryExecutions } from '../../support/executions.ts';
import { fileEngine } from '../../support/file-engine.ts';
import { SOME_RESULT, SOME_RESULTS, SOME_TIMING } from '../../support/jobs.ts';
import { MODEL, type RegistryFixture, registryFixture } from '../../support/registry-fixture.ts';

const engine = fileEngine();

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
  readonly deps: RepairDeps;
  /** Jobs whose execution was started, in order. */
  readonly started: string[];
  readonly states: MemoryExecutions['states'];
  readonly clock: { now(): number; time: number };
  validation(version?: string): Promise<any>;
  /** Jobs whose validation result is not recorded yet. */
  waiting(): Promise<string[]>;
}

/** Registry whose checks are started but run only when a test ends them. */
async function scene(): Promise<Scene> {
  const clock = { time: NOW, now: () => clock.time };
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
  const executions = memoryExecutions();
  const queue = new DynamoJobQueue(engine.client, fixture.jobsTable);
  const maxRunning = { backtest: 10, fast: 1, hyperopt: 1 };
  const common = { clock, ids: ulids, digest: sha256 };
  checks = stagingChecks({
    ...common,
    jobs,
    executions,
    queue,
    maxRunning,
    series: { getMany: async () => new Map() } as unknown as SeriesStore,
    strategies: fixedStrategies(knownBuiltIns()),
    log: memoryLog().log,
  });
  const registry = {
    ...common,
    registry: fixture.store,
    challenges: fixture.deps.challenges,
    validations: jobs,
    stagingDryRunRequired: false,
    fourEyesRequired: false,
    releasePolicy: NO_POLICY,
    random: createRandom(1),
    sleep: async () => undefined,
  };
  return {
    fixture,
    checks,
    started: executions.started,
    states: executions.states,
    clock,
    deps: {
      jobs,
      executions,
      queue,
      maxRunning,
      tasks: { stop: async () => undefined },
      clock,
      registry,
      strategyCosts: new DynamoStrategyCosts(engine.client, fixture.jobsTable),
      random: Math.random,
      log: memoryLog().log,
      hyperoptJobs: new DynamoHyperoptStore(engine.client, fixture.jobsTable),
      hyperoptExecutions: executions,
      countTrials: async () => undefined,
      graceMs: 2 * MINUTES,
      expiry: null,
      columnsExpiry: null,
      signalsExpiry: null,
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

/** Registers and stages version 1. Returns the job ID of its checks. */
async function staged({ fixture }: Scene): Promise<string> {
  expect((await fixture.register({ thresholds: { max_drawdown: 100 } })).status).toBe(201);
  const { status, body } = await fixture.stage('1');
  expect(status, JSON.stringify(body)).toBe(200);
  expect(body.validation.status).toBe('pending');
  return body.validation.job_id;
}

/** Ends a job like its task does. */
async function end(jobs: DynamoJobStore, jobId: string, checks: ValidationCheck[], time = NOW) {
  const claim = await jobs.claim(jobId, 'task', at(time));
  expect(claim.outcome).toBe('claimed');
  const outcome = { result: SOME_RESULT, results: SOME_RESULTS, timing: SOME_TIMING, warnings: [], checks };
  expect(await jobs.complete(jobId, 1, outcome, at(time))).toBe(true);
}

const events = async ({ fixture }: Scene) =>
  (await fixture.get(`/api/v1/models/${MODEL}/history`)).body.items.map((each: any) => each.action);

describe('validation result', () => {
  it.each(['passed', 'failed'] as const)(
    'validation result %s is recorded once with one event',
    async (status) => {
      const scenario = await scene();
      const jobId = await staged(scenario);
      await end(scenario.fixture.jobs, jobId, [check(status)]);
      await endExecutions(scenario.deps, [`${jobId}-1`]);
      const stored = await scenario.fixture.store.read(MODEL, ['1']);
      expect(stored.versions.get('1')!.validation.status).toBe(status);
      expect(await scenario.waiting()).toEqual([]);
      await endExecutions(scenario.deps, [`${jobId}-1`]);
      await repairJobs(scenario.deps);
      expect(await events(scenario)).toEqual(['validate', 'stage', 'register']);
    },
  );

  it('validation result is visible and blocks promotion before it is recorded', async () => {
    const scenario = await scene();
    const jobId = await staged(scenario);
    await end(scenario.fixture.jobs, jobId, [check('failed')]);
    expect((await scenario.validation()).status).toBe('failed');
    const { status, body } = await scenario.fixture.promote('1');
    expect([status, body.detail.code]).toEqual([409, 'RES005']);
  });

  it('validation without checks fails', async () => {
    const scenario = await scene();
    const jobId = await staged(scenario);
    await end(scenario.fixture.jobs, jobId, []);
    expect((await scenario.validation()).status).toBe('failed');
  });

  it('validation result is recorded by the next repair run after a crash before the write', async () => {
    const scenario = await scene();
    const jobId = await staged(scenario);
    await end(scenario.fixture.jobs, jobId, [check('passed')]);
    expect(await scenario.waiting()).toEqual([jobId]);
    await repairJobs(scenario.deps);
    expect(await scenario.waiting()).toEqual([]);
    expect(await events(scenario)).toEqual(['validate', 'stage', 'register']);
  });

  it('validation result is recorded once when repair crashes between its two writes', async () => {
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
    await repairJobs(scenario.deps);
    expect(await scenario.waiting()).toEqual([]);
    expect(await events(scenario)).toEqual(['validate', 'stage', 'register']);
  });

  it('validation result is recorded when staging is stored after the checks ended', async () => {
    const scenario = await scene();
    await scenario.fixture.register({ thresholds: { max_drawdown: 100 } });
    const version = (await scenario.fixture.store.read(MODEL, ['1'])).versions.get('1')!;
    const jobId = await scenario.checks.start(version, 'c-1');
    await end(scenario.fixture.jobs, jobId, [check('passed')]);
    await endExecutions(scenario.deps, [`${jobId}-1`]);
    expect(await scenario.waiting()).toEqual([jobId]);
    expect((await scenario.fixture.stage('1')).body.validation.job_id).toBe(jobId);
    await repairJobs(scenario.deps);
    expect(await scenario.waiting()).toEqual([]);
    const stored = await scenario.fixture.store.read(MODEL, ['1']);
    expect(stored.versions.get('1')!.validation.status).toBe('passed');
  });

  it('validation result is recorded while challenges cannot be read', async () => {
    const scenario = await scene();
    const jobId = await staged(scenario);
    await end(scenario.fixture.jobs, jobId, [check('passed')]);
    const challenges = new Proxy(scenario.fixture.deps.challenges, {
      get: () => () => {
        throw new Error('no index');
      },
    });
    const deps = { ...scenario.deps, registry: { ...scenario.deps.registry, challenges } };
    await expect(repairJobs(deps)).rejects.toThrow('no index');
    expect(await scenario.waiting()).toEqual([]);
  });

  it('validation result is discarded after 10 minutes when the version no longer exists', async () => {
    const scenario = await scene();
    const jobId = await staged(scenario);
    await end(scenario.fixture.jobs, jobId, [check('passed')]);
    const emptied = (await scene()).fixture.store;
    const deps = { ...scenario.deps, registry: { ...scenario.deps.registry, registry: emptied } };
    await repairJobs(deps);
    expect(await scenario.waiting()).toEqual([jobId]);
    scenario.clock.time += 10 * MINUTES;
    await repairJobs(deps);
    expect(await scenario.waiting()).toEqual([]);
  });

  it('validation result is discarded after 10 minutes when the version was not staged', async () => {
    const scenario = await scene();
    await scenario.fixture.register({ thresholds: { max_drawdown: 100 } });
    const version = (await scenario.fixture.store.read(MODEL, ['1'])).versions.get('1')!;
    const jobId = await scenario.checks.start(version, 'c-1');
    await end(scenario.fixture.jobs, jobId, [check('passed')]);
    scenario.clock.time += 10 * MINUTES;
    await repairJobs(scenario.deps);
    expect(await scenario.waiting()).toEqual([]);
    expect(await events(scenario)).toEqual(['register']);
  });

  it.each([1, 2, 3, 4, 5])(
    'validation result is recorded when a promotion runs concurrently (%i)',
    async () => {
      const scenario = await scene();
      const jobId = await staged(scenario);
      await end(scenario.fixture.jobs, jobId, [check('passed')]);
      const [promoted] = await Promise.all([
        scenario.fixture.promote('1'),
        endExecutions(scenario.deps, [`${jobId}-1`]),
        repairJobs(scenario.deps),
      ]);
      expect(promoted.status).toBe(200);
      const { versions, model } = await scenario.fixture.store.read(MODEL, ['1']);
      expect(versions.get('1')).toMatchObject({ stage: 'Production', validation: { status: 'passed' } });
      expect(model!.events).toBe((await events(scenario)).length);
    },
  );
});

describe('validation job', () => {
  it('validation job is reused per version and runs its configuration on the newest candles', async () => {
    const scenario = await scene();
    const jobId = await staged(scenario);
    const version = (await scenario.fixture.store.read(MODEL, ['1'])).versions.get('1')!;
    expect(await scenario.checks.start(version, 'c-2')).toBe(jobId);
    const job = (await scenario.fixture.jobs.get(jobId))!;
    const { date_range, params, ...config } = job.config;
    expect(version.config).toMatchObject(config);
    // Omitted parameters have their defaults.
    expect(params).toEqual({ fast: 20, slow: 50 });
    expect(Date.parse(date_range.end)).toBe(NOW);
    expect((NOW - Date.parse(date_range.start)) / (5 * MINUTES)).toBe(1000);
    expect(job.execution_input).toMatchObject({ job_id: jobId, kind: 'validation', image: null });
  });

  it('validation job is restarted when its execution is lost', async () => {
    const scenario = await scene();
    const jobId = await staged(scenario);
    scenario.clock.time += 3 * MINUTES;
    scenario.states.clear();
    const { restarted } = await repairJobs(scenario.deps);
    expect(restarted).toEqual([jobId]);
    expect(scenario.started).toEqual([`${jobId}-1`, `${jobId}-1`]);
  });

  it.each([
    ['SVC001', /could not be run to their end\. Register the backtest again/],
    ['DATA001', /^DATA001 It went wrong$/],
  ])('validation job that ended with %s fails its version and states the reason', async (code, message) => {
    const scenario = await scene();
    const jobId = await staged(scenario);
    await scenario.fixture.jobs.fail(jobId, null, { code, message: 'It went wrong' }, at(NOW));
    await repairJobs(scenario.deps);
    const validation = await scenario.validation();
    expect(validation.status).toBe('failed');
    expect(validation.checks.at(-1)).toMatchObject({ name: 'smoke_run', status: 'failed' });
    expect(validation.checks.at(-1).message).toMatch(message);
  });

  it('validation job is omitted from backtest lists in every status', async () => {
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

it('repair gives the catalog the owner of a transfer whose process ended after it was stored', async () => {
  const scenario = await scene();
  const { fixture } = scenario;
  await staged(scenario);
  const owners = async () => {
    const { body } = await fixture.get('/api/v1/catalog/strategies');
    return body.items.map(({ owner }: { owner: string }) => owner);
  };
  const before = (await fixture.store.sharing.find(MODEL))!;
  const next = { owner: 'bob', shared_with: [] };
  const dying = new DynamoRegistryStore(endingAfter(TransactWriteCommand), fixture.table);
  await expect(dying.sharing.transfer(MODEL, before, next)).rejects.toThrow('the process ends');
  expect([(await fixture.store.sharing.find(MODEL))!.owner, await owners()]).toEqual(['bob', [before.owner]]);
  await repairJobs(scenario.deps);
  expect(await owners()).toEqual(['bob']);
  // What is finished is not repeated: a transfer that finishes late leaves the owner of a later one.
  const later = { ...next, owner: 'carol' };
  expect(await fixture.store.sharing.transfer(MODEL, next, later)).toBe('done');
  await repairJobs(scenario.deps);
  expect(await owners()).toEqual(['carol']);
  const marks = await engine.client.send(
    new QueryCommand({
      TableName: fixture.table,
      KeyConditionExpression: 'pk = :partition AND begins_with(sk, :prefix)',
      ExpressionAttributeValues: { ':partition': 'CATALOG', ':prefix': 'TRANSFER#' },
    }),
  );
  expect(marks.Items).toEqual([{ pk: 'CATALOG', sk: `TRANSFER#${MODEL}` }]);
});

/** Client of a process that ends after its first command of a kind. */
function endingAfter(kind: new (...args: never[]) => object): DynamoDBDocumentClient {
  let ended = false;
  const send = async (command: object, ...more: never[]) => {
    if (ended) throw new Error('the process ends');
    ended = command instanceof kind;
    return (engine.client.send as (...args: unknown[]) => Promise<unknown>)(command, ...more);
  };
  return Object.assign(Object.create(engine.client), { send });
}
