import { DescribeExecutionCommand, SFNClient, StartExecutionCommand } from '@aws-sdk/client-sfn';
import { DeleteCommand, PutCommand } from '@aws-sdk/lib-dynamodb';
import { mockClient } from 'aws-sdk-client-mock';
import { afterAll, beforeAll, beforeEach, expect, it, vi } from 'vitest';
import { DynamoChallengeStore } from '#adapters/aws/dynamo-challenge-store.ts';
import { DynamoHyperoptStore } from '#adapters/aws/dynamo-hyperopt-store.ts';
import { startEngine, type TestEngine } from '../support/engine.ts';
import { LAMBDA_CONTEXT } from '../support/gateway.ts';
import { pendingHyperopt } from '../support/hyperopt-workers.ts';
import { pendingJob, SOME_RESULT, SOME_RESULTS, SOME_TIMING } from '../support/jobs.ts';
import { FUNCTION_ENVIRONMENT } from '../support/lambda-environment.ts';
import {
  IMAGE,
  MODEL,
  PROVENANCE,
  type RegistryFixture,
  registryFixture,
} from '../support/registry-fixture.ts';
import { storedChallenge } from '../support/stored-challenge.ts';

const AT = '2025-03-02T00:00:00.000Z';
const MACHINES = 'arn:aws:states:us-east-1:123456789012:stateMachine';

type Reconcile = typeof import('#lambdas/reconcile.ts');
let engine: TestEngine;
let fixture: RegistryFixture;
let reconcile: Reconcile;
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
    JOBS_TABLE: fixture.jobsTable,
    REGISTRY_TABLE: fixture.table,
    BACKTEST_STATE_MACHINE_ARN: `${MACHINES}:backtest`,
    HYPEROPT_STATE_MACHINE_ARN: `${MACHINES}:hyperopt`,
  };
  for (const [name, value] of Object.entries(environment)) vi.stubEnv(name, value);
  reconcile = await import('#lambdas/reconcile.ts');
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

const ended = (name: string, status: string) => ({
  'detail-type': 'Step Functions Execution Status Change',
  detail: { name, status },
});

/** Stores a validation of version 1 as finished by its task. */
async function storeValidation({ jobs }: RegistryFixture): Promise<void> {
  const { execution_input, ...job } = pendingJob('va-1');
  await jobs.create({
    ...job,
    kind: 'validation',
    execution_input: { ...execution_input, kind: 'validation' },
    registered: {
      model_name: MODEL,
      version: '1',
      container_image_uri: IMAGE,
      image_digest: null,
      strategy_digest: PROVENANCE.strategy_digest,
    },
  });
  await jobs.claim('va-1', 'task', AT);
  const checks = [
    { name: 'smoke_run', status: 'passed', message: 'It ran', value: null, threshold: null } as const,
  ];
  const outcome = { result: SOME_RESULT, results: SOME_RESULTS, timing: SOME_TIMING, warnings: [], checks };
  await jobs.complete('va-1', 1, outcome, AT);
}

it('reconcile records a validation in its version when the execution ends', async () => {
  await fixture.register({ thresholds: { max_drawdown: 100 } });
  expect((await fixture.stage('1')).body.validation).toMatchObject({ status: 'pending', job_id: 'va-1' });
  await storeValidation(fixture);
  states.on(DescribeExecutionCommand).resolves({ status: 'SUCCEEDED' });
  await reconcile.handler(ended('va-1', 'SUCCEEDED'), LAMBDA_CONTEXT);
  const { versions } = await fixture.store.read(MODEL, ['1']);
  expect(versions.get('1')!.validation.status).toBe('passed');
});

const WORKERS = { worker: 0, task: 'arn:aws:ecs:us-east-1:123456789012:task/touchstone/1' };

it('reconcile starts another execution of a hyperopt job whose execution failed', async () => {
  const hyperoptJobs = new DynamoHyperoptStore(engine.client, fixture.jobsTable);
  await hyperoptJobs.create(pendingHyperopt('ho-1'));
  await hyperoptJobs.begin('ho-1', WORKERS.worker, WORKERS.task, AT);
  states.on(DescribeExecutionCommand).resolves({ status: 'FAILED' });
  await reconcile.handler(ended('ho-1', 'FAILED'), LAMBDA_CONTEXT);
  expect(states.commandCalls(DescribeExecutionCommand).map(({ args }) => args[0].input)).toEqual([
    { executionArn: 'arn:aws:states:us-east-1:123456789012:execution:hyperopt:ho-1' },
  ]);
  expect(states.commandCalls(StartExecutionCommand).map(({ args }) => args[0].input)).toEqual([
    {
      stateMachineArn: `${MACHINES}:hyperopt`,
      name: 'ho-1-2',
      input: JSON.stringify(pendingHyperopt('ho-1').execution_input),
    },
  ]);
  expect(await hyperoptJobs.get('ho-1')).toMatchObject({ status: 'running', runs: 2 });
});

it('reconcile ends a challenge at its deadline once, and counts failures on the regular schedule', async () => {
  const store = new DynamoChallengeStore(engine.client, fixture.table);
  const { model } = await fixture.store.read(MODEL, []);
  const began = { ...storedChallenge({ ends_at: ago(1), last_traffic_at: ago(2) }), events: 0 };
  await store.commit({ before: null, after: began, events: [], modelRevision: model!.revision });
  const stray = { pk: 'CHALLENGE#ch-stray', sk: 'META', active_challenge: 'unfinished', created_at: AT };
  await engine.client.send(new PutCommand({ TableName: fixture.table, Item: stray }));
  states.on(DescribeExecutionCommand).resolves({ status: 'RUNNING' });
  vi.spyOn(console, 'error').mockReturnValue();
  const metrics = async (event: object) => {
    printed.mockClear();
    await reconcile.handler(event, LAMBDA_CONTEXT);
    return metricsOf(printed.mock.calls.map(([line]) => String(line)));
  };
  const [ended, ...others] = await metrics({ challenge_id: 'ch-1' });
  expect(others).toEqual([]);
  expect(ended).toMatchObject({ service: 'challenges', stage: 'development', ChallengesEnded: 1 });
  expect(await store.read('ch-1')).toMatchObject({ status: 'expired', ended_at: began.ends_at });
  expect(await metrics({ challenge_id: 'ch-1' })).toEqual([]);
  expect(await metrics({})).toMatchObject([{ service: 'reconcile', ChallengeProcessingErrors: 1 }]);
  await engine.client.send(
    new DeleteCommand({ TableName: fixture.table, Key: { pk: stray.pk, sk: 'META' } }),
  );
  expect(await metrics({})).toMatchObject([{ ChallengeProcessingErrors: 0 }]);
});

it('reconcile publishes the age of the oldest pending job and the longest stall on the schedule', async () => {
  const hyperoptJobs = new DynamoHyperoptStore(engine.client, fixture.jobsTable);
  await hyperoptJobs.create({ ...pendingHyperopt('ho-waiting'), created_at: ago(20), updated_at: ago(20) });
  for (const [jobId, minutes] of [
    ['ho-quiet', 150],
    ['ho-busy', 1],
  ] as const) {
    await hyperoptJobs.create({ ...pendingHyperopt(jobId), created_at: ago(600) });
    await hyperoptJobs.begin(jobId, WORKERS.worker, WORKERS.task, ago(minutes));
  }
  await hyperoptJobs.cancel('ho-1', AT);
  states.on(DescribeExecutionCommand).resolves({ status: 'RUNNING' });
  printed.mockClear();
  await reconcile.handler({}, LAMBDA_CONTEXT);
  const [line] = metricsOf(printed.mock.calls.map(([each]) => String(each)));
  const { OldestPendingSeconds, LongestStallSeconds, ...others } = line;
  expect(OldestPendingSeconds / 60).toBeCloseTo(20, 0);
  expect(LongestStallSeconds / 60).toBeCloseTo(150, 0);
  expect(others).toMatchObject({ service: 'reconcile', stage: 'development' });
});
