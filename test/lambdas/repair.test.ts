import { DescribeExecutionCommand, ListExecutionsCommand, SFNClient } from '@aws-sdk/client-sfn';
import { DeleteCommand, GetCommand, PutCommand } from '@aws-sdk/lib-dynamodb';
import { mockClient } from 'aws-sdk-client-mock';
import { afterAll, beforeAll, beforeEach, expect, it, vi } from 'vitest';
import { DynamoChallengeStore } from '#adapters/dynamo/challenge-store.ts';
import { DynamoHyperoptStore } from '#adapters/dynamo/hyperopt-store.ts';
import { DynamoJobQueue } from '#adapters/dynamo/job-queue.ts';
import { startEngine, type TestEngine } from '../support/engine.ts';
import { LAMBDA_CONTEXT } from '../support/gateway.ts';
import { pendingHyperopt } from '../support/hyperopt-workers.ts';
import { FUNCTION_ENVIRONMENT, SLOT_ENVIRONMENT } from '../support/lambda-environment.ts';
import { MODEL, type RegistryFixture, registryFixture } from '../support/registry-fixture.ts';
import { storedChallenge } from '../support/stored-challenge.ts';

const AT = '2025-03-02T00:00:00.000Z';
const MACHINES = 'arn:aws:states:us-east-1:123456789012:stateMachine';

type Repair = typeof import('#lambdas/repair.ts');
let engine: TestEngine;
let fixture: RegistryFixture;
let repair: Repair;
const states = mockClient(SFNClient);
const printed = vi.spyOn(process.stdout, 'write').mockReturnValue(true);

beforeAll(async () => {
  engine = await startEngine();
  fixture = await registryFixture(engine, {
    deps: { stagingChecks: { start: async () => 'va-1', outcome: async () => undefined } },
  });
  const environment = {
    ...FUNCTION_ENVIRONMENT,
    POWERTOOLS_METRICS_DISABLED: 'false',
    DYNAMODB_ENDPOINT: engine.endpoint,
    ...SLOT_ENVIRONMENT,
    JOBS_TABLE: fixture.jobsTable,
    REGISTRY_TABLE: fixture.table,
    BACKTEST_STATE_MACHINE_ARN: `${MACHINES}:backtest`,
    HYPEROPT_STATE_MACHINE_ARN: `${MACHINES}:hyperopt`,
  };
  for (const [name, value] of Object.entries(environment)) vi.stubEnv(name, value);
  repair = await import('#lambdas/repair.ts');
});
beforeEach(() => states.reset());
afterAll(async () => {
  vi.unstubAllEnvs();
  vi.restoreAllMocks();
  await engine.stop();
});

const ago = (minutes: number) => new Date(Date.now() - minutes * 60_000).toISOString();

/** Log lines that CloudWatch converts into metrics. */
const metricsOf = (lines: readonly string[]) =>
  lines.filter((line) => line.includes('_aws')).map((line) => JSON.parse(line));

const WORKERS = { worker: 0, task: 'arn:aws:ecs:us-east-1:123456789012:task/touchstone/1' };

it('repair ends a challenge at its deadline once, and counts failures on the regular schedule', async () => {
  const store = new DynamoChallengeStore(engine.client, fixture.table);
  await fixture.register({ thresholds: { max_drawdown: 100 } });
  const { model } = await fixture.store.read(MODEL, []);
  const began = { ...storedChallenge({ ends_at: ago(1), last_traffic_at: ago(2) }), events: 0 };
  await store.commit({ before: null, after: began, events: [], modelRevision: model!.revision });
  const stray = { pk: 'CHALLENGE#ch-stray', sk: 'META', active_challenge: 'unfinished', created_at: AT };
  await engine.client.send(new PutCommand({ TableName: fixture.table, Item: stray }));
  states.on(DescribeExecutionCommand).resolves({ status: 'RUNNING' });
  vi.spyOn(console, 'error').mockReturnValue();
  const metrics = async (event: object) => {
    printed.mockClear();
    await repair.handler(event, LAMBDA_CONTEXT);
    return metricsOf(printed.mock.calls.map(([line]) => String(line)));
  };
  const [ended, ...others] = await metrics({ challenge_id: 'ch-1' });
  expect(others).toEqual([]);
  expect(ended).toMatchObject({ service: 'challenges', stage: 'development', ChallengesEnded: 1 });
  expect(await store.read('ch-1')).toMatchObject({ status: 'expired', ended_at: began.ends_at });
  expect(await metrics({ challenge_id: 'ch-1' })).toEqual([]);
  const measures = { service: 'repair', OldestPendingSeconds: 0, WaitingJobs: 0, RunningJobs: 0 };
  expect(await metrics({})).toMatchObject([measures, { service: 'repair', ChallengeProcessingErrors: 1 }]);
  await engine.client.send(
    new DeleteCommand({ TableName: fixture.table, Key: { pk: stray.pk, sk: 'META' } }),
  );
  expect(await metrics({})).toMatchObject([measures, { ChallengeProcessingErrors: 0 }]);
});

it('repair repairs a queue that it cannot measure, and fails so that its alarm rings', async () => {
  const queue = new DynamoJobQueue(engine.client, fixture.jobsTable);
  const jobs = new DynamoHyperoptStore(engine.client, fixture.jobsTable);
  await jobs.create(pendingHyperopt('ho-broken'));
  const slot = { lane: 'hyperopt', number: 7, job_id: 'ho-broken', run: 1, owner: 'anonymous' } as const;
  expect(await queue.take({ ...slot, since: Date.parse(ago(1)) })).toBe('taken');
  const key = { job_id: 'ho-broken', item: 'JOB' };
  const { Item } = await engine.client.send(new GetCommand({ TableName: fixture.jobsTable, Key: key }));
  const broken = { ...Item, status: 'unheard-of' };
  await engine.client.send(new PutCommand({ TableName: fixture.jobsTable, Item: broken }));
  states.on(ListExecutionsCommand).resolves({ executions: [] });
  printed.mockClear();
  await expect(repair.handler({}, LAMBDA_CONTEXT)).rejects.toThrow('ho-broken');
  const published = metricsOf(printed.mock.calls.map(([line]) => String(line)));
  expect(published).toMatchObject([{ ChallengeProcessingErrors: 0 }]);
  await queue.free({ ...slot, since: 0 });
  await engine.client.send(new DeleteCommand({ TableName: fixture.jobsTable, Key: key }));
});

it('repair publishes the age of the oldest pending job and the longest stall on the schedule', async () => {
  const hyperoptJobs = new DynamoHyperoptStore(engine.client, fixture.jobsTable);
  const queue = new DynamoJobQueue(engine.client, fixture.jobsTable);
  await hyperoptJobs.create({ ...pendingHyperopt('ho-waiting'), created_at: ago(20), updated_at: ago(20) });
  for (const [number, jobId, minutes] of [
    [0, 'ho-quiet', 150],
    [1, 'ho-busy', 1],
  ] as const) {
    await hyperoptJobs.create({ ...pendingHyperopt(jobId), created_at: ago(600) });
    const slot = { lane: 'hyperopt', number, job_id: jobId, run: 1, owner: 'anonymous' } as const;
    expect(await queue.take({ ...slot, since: Date.parse(ago(minutes)) })).toBe('taken');
    await hyperoptJobs.begin(jobId, WORKERS.worker, WORKERS.task, ago(minutes));
  }
  states.on(ListExecutionsCommand).resolves({ executions: [] });
  states.on(DescribeExecutionCommand).resolves({ status: 'RUNNING' });
  printed.mockClear();
  await repair.handler({}, LAMBDA_CONTEXT);
  const [line] = metricsOf(printed.mock.calls.map(([each]) => String(each)));
  const { OldestPendingSeconds, LongestStallSeconds, ...others } = line;
  expect(OldestPendingSeconds / 60).toBeCloseTo(20, 0);
  expect(LongestStallSeconds / 60).toBeCloseTo(150, 0);
  expect(others).toMatchObject({ service: 'repair', stage: 'development', RunningJobs: 2 });
});
