import type { APIGatewayProxyEvent } from 'aws-lambda';
import { afterAll, beforeAll, beforeEach, expect, it, vi } from 'vitest';
import { DynamoJobStore } from '#adapters/dynamo/job-store.ts';
import { startEngine, type TestEngine } from '../support/engine.ts';
import { parseEvents } from '../support/events.ts';
import { gatewayEvent, LAMBDA_CONTEXT } from '../support/gateway.ts';
import { pendingJob } from '../support/jobs.ts';
import { FUNCTION_ENVIRONMENT } from '../support/lambda-environment.ts';
import { Output, type StreamHandler, stubResponseStreams } from '../support/lambda-stream.ts';

const PATH = '/api/v1/events';
let engine: TestEngine;
let handler: StreamHandler;
beforeAll(async () => {
  engine = await startEngine();
  stubResponseStreams();
  const environment = {
    ...FUNCTION_ENVIRONMENT,
    DYNAMODB_ENDPOINT: engine.endpoint,
    JOBS_TABLE: engine.tables.jobs,
    SERIES_TABLE: engine.tables.series,
    REGISTRY_TABLE: engine.tables.registry,
    RUNS_BUCKET: 'runs',
    IMAGE_ROLE_ID: 'AROAEXAMPLEID',
  };
  for (const [name, value] of Object.entries(environment)) vi.stubEnv(name, value);
  ({ handler } = (await import('#lambdas/job-events.ts')) as unknown as { handler: StreamHandler });
});
afterAll(() => engine?.stop());

let output: Output;
beforeEach(() => {
  output = new Output();
});
const call = (changes: Partial<APIGatewayProxyEvent>) =>
  handler(gatewayEvent(changes), output, LAMBDA_CONTEXT);

it.each([
  ['a caller without an unfinished job', PATH, {}, 204, undefined],
  ['an invalid event ID', PATH, { 'Last-Event-ID': 'x' }, 400, 'VAL005'],
  ['an invalid token', PATH, { Authorization: 'Bearer x' }, 401, 'AUTH002'],
  ['another path of the service', '/api/v1/backtests', {}, 404, 'HTTP404'],
])('function responds to %s without streaming', async (_, path, headers, status, code) => {
  await call({ path, headers: headers as Record<string, string> });
  expect(output.writableFinished).toBe(true);
  expect(output.sent.statusCode).toBe(status);
  expect(output.header('x-correlation-id')).toBeTruthy();
  if (code) expect(JSON.parse(output.text)).toMatchObject({ detail: { code } });
  else expect(output.text).toBe('');
});

it('function streams the unfinished jobs, and ends without an error when the client disconnects', async () => {
  await new DynamoJobStore(engine.client, engine.tables.jobs).create(pendingJob('bt-1'));
  const running = call({ path: PATH });
  await expect.poll(() => parseEvents(output.text)).toHaveLength(1);
  expect(output.sent.statusCode).toBe(200);
  expect(output.header('content-type')).toBe('text/event-stream');
  expect(parseEvents(output.text)[0]).toMatchObject({
    event: 'job',
    id: expect.stringMatching(/^\d{13},bt-1$/),
    data: { kind: 'backtest', id: 'bt-1', status: 'pending', progress: 0 },
  });
  output.destroy(new Error('gone'));
  await running;
});
