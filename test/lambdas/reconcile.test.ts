import { DescribeExecutionCommand, SFNClient } from '@aws-sdk/client-sfn';
import { mockClient } from 'aws-sdk-client-mock';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { startEngine, type TestEngine } from '../support/engine.ts';
import { LAMBDA_CONTEXT } from '../support/gateway.ts';
import { pendingJob, SOME_RESULT, SOME_RESULTS, SOME_TIMING } from '../support/jobs.ts';
import { FUNCTION_ENVIRONMENT } from '../support/lambda-environment.ts';
import { IMAGE, MODEL, PROVENANCE, type RegistryWorld, registryWorld } from '../support/registry-world.ts';

const AT = '2025-03-02T00:00:00.000Z';

type Reconcile = typeof import('#lambdas/reconcile.ts');
let engine: TestEngine;
const states = mockClient(SFNClient);

beforeAll(async () => {
  engine = await startEngine();
  vi.spyOn(process.stdout, 'write').mockReturnValue(true);
});
afterAll(async () => {
  vi.restoreAllMocks();
  await engine.stop();
});

/** A validation of version 1 as its task leaves it. */
async function storeValidation({ jobs }: RegistryWorld): Promise<void> {
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

it('records a validation that ended in its version, when its execution ends', async () => {
  const world = await registryWorld(engine, {
    deps: { stagingChecks: { start: async () => 'va-1', outcome: async () => undefined } },
  });
  await world.register({ thresholds: { max_drawdown: 100 } });
  expect((await world.stage('1')).body.validation).toMatchObject({ status: 'pending', job_id: 'va-1' });
  await storeValidation(world);
  const environment = {
    ...FUNCTION_ENVIRONMENT,
    DYNAMODB_ENDPOINT: engine.endpoint,
    JOBS_TABLE: world.jobsTable,
    REGISTRY_TABLE: world.table,
    BACKTEST_STATE_MACHINE_ARN: 'arn:aws:states:us-east-1:123456789012:stateMachine:backtest',
    HYPEROPT_STATE_MACHINE_ARN: 'arn:aws:states:us-east-1:123456789012:stateMachine:hyperopt',
  };
  for (const [name, value] of Object.entries(environment)) vi.stubEnv(name, value);
  states.on(DescribeExecutionCommand).resolves({ status: 'SUCCEEDED' });
  const { handler }: Reconcile = await import('#lambdas/reconcile.ts');
  const event = {
    'detail-type': 'Step Functions Execution Status Change',
    detail: { name: 'va-1', status: 'SUCCEEDED' },
  };
  await handler(event, LAMBDA_CONTEXT);
  const { versions } = await world.store.read(MODEL, ['1']);
  expect(versions.get('1')!.validation.status).toBe('passed');
});
