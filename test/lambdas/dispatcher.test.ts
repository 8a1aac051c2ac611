import {
  DescribeExecutionCommand,
  ExecutionDoesNotExist,
  ListExecutionsCommand,
  SFNClient,
  StartExecutionCommand,
} from '@aws-sdk/client-sfn';
import { mockClient } from 'aws-sdk-client-mock';
import { afterAll, beforeAll, beforeEach, expect, it, vi } from 'vitest';
import { DynamoHyperoptStore } from '#adapters/dynamo/hyperopt-store.ts';
import { DynamoJobQueue } from '#adapters/dynamo/job-queue.ts';
import { startEngine, type TestEngine } from '../support/engine.ts';
import { LAMBDA_CONTEXT } from '../support/gateway.ts';
import { pendingHyperopt } from '../support/hyperopt-workers.ts';
import { pendingJob, SOME_RESULT, SOME_RESULTS, SOME_TIMING } from '../support/jobs.ts';
import { FUNCTION_ENVIRONMENT, SLOT_ENVIRONMENT } from '../support/lambda-environment.ts';
import {
  IMAGE,
  MODEL,
  PROVENANCE,
  type RegistryFixture,
  registryFixture,
} from '../support/registry-fixture.ts';

const AT = '2025-03-02T00:00:00.000Z';
const MACHINES = 'arn:aws:states:us-east-1:123456789012:stateMachine';

type Dispatcher = typeof import('#lambdas/dispatcher.ts');
let engine: TestEngine;
let fixture: RegistryFixture;
let dispatcher: Dispatcher;
let queue: DynamoJobQueue;
const states = mockClient(SFNClient);

beforeAll(async () => {
  vi.spyOn(process.stdout, 'write').mockReturnValue(true);
  engine = await startEngine();
  fixture = await registryFixture(engine, {
    deps: { stagingChecks: { start: async () => 'va-1', outcome: async () => undefined } },
  });
  queue = new DynamoJobQueue(engine.client, fixture.jobsTable);
  const environment = {
    ...FUNCTION_ENVIRONMENT,
    ...SLOT_ENVIRONMENT,
    DYNAMODB_ENDPOINT: engine.endpoint,
    JOBS_TABLE: fixture.jobsTable,
    REGISTRY_TABLE: fixture.table,
    BACKTEST_STATE_MACHINE_ARN: `${MACHINES}:backtest`,
    HYPEROPT_STATE_MACHINE_ARN: `${MACHINES}:hyperopt`,
  };
  for (const [name, value] of Object.entries(environment)) vi.stubEnv(name, value);
  dispatcher = await import('#lambdas/dispatcher.ts');
});
beforeEach(() => states.reset());
afterAll(async () => {
  vi.unstubAllEnvs();
  vi.restoreAllMocks();
  await engine.stop();
});

/** Messages as EventBridge puts them into the queue: ends of executions, or a tick without one. */
const handle = (...events: readonly object[]) =>
  dispatcher.handler({ Records: events.map((event) => ({ body: JSON.stringify(event) })) }, LAMBDA_CONTEXT);
const ended = (name: string, status: string) => ({
  'detail-type': 'Step Functions Execution Status Change',
  detail: { name, status },
});
const TICK = { 'detail-type': 'Scheduled Event', detail: {} };

/** Gives a waiting job the slot of that number. */
async function give(lane: 'backtest' | 'hyperopt', number: number, job_id: string): Promise<void> {
  const slot = { lane, number, job_id, run: 1, owner: 'anonymous', since: Date.now() - 10 * 60_000 };
  expect(await queue.take(slot)).toBe('taken');
}

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
  await give('backtest', 0, 'va-1');
  await jobs.claim('va-1', 'task', AT);
  const checks = [
    { name: 'smoke_run', status: 'passed', message: 'It ran', value: null, threshold: null } as const,
  ];
  const outcome = { result: SOME_RESULT, results: SOME_RESULTS, timing: SOME_TIMING, warnings: [], checks };
  await jobs.complete('va-1', 1, outcome, AT);
}

it('dispatcher records a validation in its version when the execution ends', async () => {
  await fixture.register({ thresholds: { max_drawdown: 100 } });
  expect((await fixture.stage('1')).body.validation).toMatchObject({ status: 'pending', job_id: 'va-1' });
  await storeValidation(fixture);
  await handle(ended('va-1-1', 'SUCCEEDED'));
  expect(states.commandCalls(DescribeExecutionCommand)).toEqual([]);
  const { versions } = await fixture.store.read(MODEL, ['1']);
  expect(versions.get('1')!.validation.status).toBe('passed');
  expect(await queue.slots('backtest')).toEqual([]);
});

it('dispatcher starts another execution of a hyperopt job whose execution failed', async () => {
  const hyperoptJobs = new DynamoHyperoptStore(engine.client, fixture.jobsTable);
  await hyperoptJobs.create(pendingHyperopt('ho-1'));
  await give('hyperopt', 0, 'ho-1');
  await hyperoptJobs.begin('ho-1', 0, 'arn:aws:ecs:us-east-1:123456789012:task/touchstone/1', AT);
  states.on(DescribeExecutionCommand).resolves({ status: 'FAILED' });
  await handle(ended('ho-1-1', 'FAILED'), ended('ho-1-1', 'FAILED'));
  expect(states.commandCalls(DescribeExecutionCommand)[0]!.args[0].input).toEqual({
    executionArn: 'arn:aws:states:us-east-1:123456789012:execution:hyperopt:ho-1-1',
  });
  expect(states.commandCalls(StartExecutionCommand).map(({ args }) => args[0].input)).toEqual([
    {
      stateMachineArn: `${MACHINES}:hyperopt`,
      name: 'ho-1-2',
      input: JSON.stringify(pendingHyperopt('ho-1').execution_input),
    },
  ]);
  expect(await hyperoptJobs.get('ho-1')).toMatchObject({ status: 'running', runs: 2 });
});

it('tick starts waiting jobs and repairs slots whose execution never started', async () => {
  await fixture.jobs.create(pendingJob('bt-lost'));
  await give('backtest', 0, 'bt-lost');
  await queue.announce('backtest', 'anonymous', Date.now());
  await fixture.jobs.create(pendingJob('bt-waiting'));
  states.on(ListExecutionsCommand).resolves({ executions: [] });
  states
    .on(DescribeExecutionCommand)
    .rejects(new ExecutionDoesNotExist({ $metadata: {}, message: 'unknown' }));
  await handle(TICK);
  const names = states.commandCalls(StartExecutionCommand).map(({ args }) => args[0].input.name);
  expect(names).toEqual(expect.arrayContaining(['bt-lost-1', 'bt-waiting-1']));
});

it('dispatcher ignores an execution of an unknown job', async () => {
  await handle(ended('bt-unknown-1', 'FAILED'));
  expect(states.commandCalls(StartExecutionCommand)).toEqual([]);
});

it('unreadable message and an execution without a job id do not hold back their batch', async () => {
  await fixture.jobs.create(pendingJob('bt-behind'));
  await queue.announce('backtest', 'anonymous', Date.now());
  const Records = ['not json', 'null', JSON.stringify(ended('-1', 'FAILED')), JSON.stringify(TICK)];
  states.on(ListExecutionsCommand).resolves({ executions: [] });
  await dispatcher.handler({ Records: Records.map((body) => ({ body })) }, LAMBDA_CONTEXT);
  const names = states.commandCalls(StartExecutionCommand).map(({ args }) => args[0].input.name);
  expect(names).toContain('bt-behind-1');
});
