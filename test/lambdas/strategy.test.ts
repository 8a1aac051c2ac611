import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CreateScheduleCommand, SchedulerClient } from '@aws-sdk/client-scheduler';
import type { APIGatewayProxyEvent } from 'aws-lambda';
import { mockClient } from 'aws-sdk-client-mock';
import { afterAll, afterEach, beforeAll, expect, it, vi } from 'vitest';
import { DynamoJobStore } from '#adapters/dynamo/job-store.ts';
import { ObjectResultStore } from '#adapters/objects/result-store.ts';
import { openObjectStore } from '#adapters/open-object-store.ts';
import { tableOf } from '../engine/metrics/samples.ts';
import { startEngine, type TestEngine } from '../support/engine.ts';
import { gatewayEvent, headerOf, LAMBDA_CONTEXT } from '../support/gateway.ts';
import { pendingJob, SOME_CURVE, SOME_RESULT, SOME_TIMING } from '../support/jobs.ts';
import { FUNCTION_ENVIRONMENT, SCHEDULES, SLOT_ENVIRONMENT } from '../support/lambda-environment.ts';
import { SOME_REPORT } from '../support/registry-fixture.ts';

const AT = '2025-03-02T00:00:00.000Z';
const objects = mkdtempSync(join(tmpdir(), 'touchstone-strategy-'));

type Strategy = typeof import('#lambdas/strategy.ts');
let strategy: Strategy;
let engine: TestEngine;
const call = (changes: Partial<APIGatewayProxyEvent> = {}) =>
  strategy.handler(gatewayEvent(changes), LAMBDA_CONTEXT);
const send = (path: string, body: object) =>
  call({
    httpMethod: 'POST',
    path,
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify(body),
  });
const register = (body: object) => send('/api/v1/strategies/ema_crossover/register', body);

beforeAll(async () => {
  engine = await startEngine();
  const environment = {
    ...FUNCTION_ENVIRONMENT,
    ...SLOT_ENVIRONMENT,
    DYNAMODB_ENDPOINT: engine.endpoint,
    OBJECTS_DIRECTORY: objects,
    JOBS_TABLE: engine.tables.jobs,
    SERIES_TABLE: engine.tables.series,
    REGISTRY_TABLE: engine.tables.registry,
    RESULTS_BUCKET: 'results',
    CANDLES_BUCKET: 'candles',
    HYPEROPT_STATE_MACHINE_ARN: 'arn:aws:states:us-east-1:123456789012:stateMachine:hyperopt',
    ...SCHEDULES,
    ALLOWED_REGISTRIES: 'registry.example/strategies',
  };
  for (const [name, value] of Object.entries(environment)) vi.stubEnv(name, value);
  strategy = await import('#lambdas/strategy.ts');
});
afterEach(() => vi.restoreAllMocks());
afterAll(async () => {
  await engine.stop();
  rmSync(objects, { recursive: true, force: true });
});

/** A completed backtest with its stored results. */
async function backtest(jobId: string): Promise<void> {
  const jobs = new DynamoJobStore(engine.client, engine.tables.jobs);
  const store = new ObjectResultStore(openObjectStore({ OBJECTS_DIRECTORY: objects }, 'results'));
  await jobs.create(pendingJob(jobId));
  await jobs.claim(jobId, 'task', AT);
  const results = await store.write(jobId, 1, {
    result: JSON.stringify(SOME_RESULT),
    equity: '{}',
    report: JSON.stringify(SOME_REPORT),
    curve: SOME_CURVE,
    trades: tableOf([]),
    tradesParquet: new Uint8Array(),
  });
  await jobs.complete(jobId, 1, { result: SOME_RESULT, results, timing: SOME_TIMING, warnings: [] }, AT);
}

it('health is healthy with its registry', async () => {
  const result = await call();
  expect(result.statusCode).toBe(200);
  expect(JSON.parse(result.body)).toMatchObject({
    service: 'strategy',
    status: 'healthy',
    dependencies: { registry: 'healthy' },
  });
  expect(headerOf(result, 'X-Correlation-ID')).toBe('c6af9ac6-7b61-11e6-9a41-93e8deadbeef');
});

it('function registers a completed backtest', async () => {
  await backtest('bt-1');
  const uri = `registry.example/strategies/trend@sha256:${'ab'.repeat(32)}`;
  const result = await register({ backtest_run_id: 'bt-1', container_image_uri: uri });
  expect(result.statusCode, result.body).toBe(201);
  expect(JSON.parse(result.body)).toMatchObject({ version: '1' });
});

it('function creates a challenge with its schedule, and without it when Scheduler fails', async () => {
  const scheduler = mockClient(SchedulerClient);
  await register({ backtest_run_id: 'bt-1', container_image_uri: 'registry.example/strategies/trend:2' });
  const create = async () => {
    const versions = { champion_version: '1', challenger_version: '2' };
    const { statusCode, body } = await send('/api/v1/models/ema_crossover/challenges', versions);
    expect(statusCode, body).toBe(201);
    return JSON.parse(body);
  };
  scheduler.on(CreateScheduleCommand).resolves({});
  const { challenge_id, ends_at } = await create();
  const second = Math.ceil(Date.parse(ends_at) / 1000);
  expect(scheduler.commandCalls(CreateScheduleCommand).map(({ args }) => args[0].input)).toMatchObject([
    {
      Name: `${challenge_id}.${second}`,
      GroupName: SCHEDULES.SCHEDULE_GROUP,
      Target: { Arn: SCHEDULES.SCHEDULE_FUNCTION_ARN, RoleArn: SCHEDULES.SCHEDULE_ROLE_ARN },
    },
  ]);
  await send(`/challenges/${challenge_id}/rollback`, {});
  vi.spyOn(process.stdout, 'write').mockReturnValue(true);
  vi.spyOn(process.stderr, 'write').mockReturnValue(true);
  scheduler.on(CreateScheduleCommand).rejects(new Error('AccessDeniedException'));
  await create();
  expect(scheduler.commandCalls(CreateScheduleCommand)).toHaveLength(2);
  scheduler.restore();
});

it.each([
  ['an image of another registry', 'ghcr.io/desk/trend:1', 400, 'VAL005'],
  ['an invalid image reference', 'not an image', 400, 'VAL006'],
])('function rejects %s', async (_, container_image_uri, status, code) => {
  const result = await register({ backtest_run_id: 'bt-1', container_image_uri });
  expect([result.statusCode, JSON.parse(result.body).detail.code]).toEqual([status, code]);
});

it('function returns 404 for paths of the backend', async () => {
  expect((await call({ path: '/api/v1/backtests' })).statusCode).toBe(404);
});

it('function returns 503 SVC005 and is unhealthy when the registry is down', async () => {
  vi.spyOn(process.stdout, 'write').mockReturnValue(true);
  vi.spyOn(process.stderr, 'write').mockReturnValue(true);
  vi.resetModules();
  vi.stubEnv('DYNAMODB_ENDPOINT', 'http://127.0.0.1:1');
  strategy = await import('#lambdas/strategy.ts');
  const result = await register({
    backtest_run_id: 'bt-1',
    container_image_uri: 'registry.example/strategies/trend:1',
  });
  expect([result.statusCode, JSON.parse(result.body).detail.code]).toEqual([503, 'SVC005']);
  expect(JSON.parse((await call()).body)).toMatchObject({
    status: 'degraded',
    dependencies: { registry: 'unavailable' },
  });
});
