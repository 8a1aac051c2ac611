import type { APIGatewayProxyEvent } from 'aws-lambda';
import { afterAll, beforeAll, beforeEach, expect, it, vi } from 'vitest';
import { runHyperoptWorker } from '#domain/hyperopt/run-hyperopt-worker.ts';
import { startEngine, type TestEngine } from '../support/engine.ts';
import { parseEvents } from '../support/events.ts';
import { gatewayEvent, LAMBDA_CONTEXT } from '../support/gateway.ts';
import { pendingHyperopt, workerDeps } from '../support/hyperopt-workers.ts';
import { FUNCTION_ENVIRONMENT } from '../support/lambda-environment.ts';
import { Output, type StreamHandler, stubResponseStreams } from '../support/lambda-stream.ts';

let engine: TestEngine;
let handler: StreamHandler;
beforeAll(async () => {
  engine = await startEngine();
  stubResponseStreams();
  const environment = {
    ...FUNCTION_ENVIRONMENT,
    DYNAMODB_ENDPOINT: engine.endpoint,
    JOBS_TABLE: engine.tables.jobs,
  };
  for (const [name, value] of Object.entries(environment)) vi.stubEnv(name, value);
  ({ handler } = (await import('#lambdas/strategy-events.ts')) as unknown as { handler: StreamHandler });
  await workerDeps(engine).hyperoptJobs.create(pendingHyperopt('ho-1'));
  const me = { worker: 0, task: 'task' };
  await runHyperoptWorker(workerDeps(engine), 'ho-1', me, new AbortController().signal);
  await workerDeps(engine).hyperoptJobs.create(pendingHyperopt('ho-2'));
});
afterAll(() => engine.stop());

let output: Output;
beforeEach(() => {
  output = new Output();
});
const call = (changes: Partial<APIGatewayProxyEvent>) =>
  handler(gatewayEvent(changes), output, LAMBDA_CONTEXT);

it('function streams the events of a hyperopt job after status and headers', async () => {
  await call({ path: '/api/v1/hyperopt/ho-1/events', queryStringParameters: { after: '37' } });
  expect(output.writableFinished).toBe(true);
  expect(output.sent.statusCode).toBe(200);
  expect(Object.keys(output.sent).sort()).toEqual(['headers', 'multiValueHeaders', 'statusCode']);
  expect(output.header('content-type')).toBe('text/event-stream');
  expect(output.header('x-correlation-id')).toBe('c6af9ac6-7b61-11e6-9a41-93e8deadbeef');
  expect(output.header('strict-transport-security')).toBeTruthy();
  expect(parseEvents(output.text).map(({ event, id }) => [event, id])).toEqual([
    ['snapshot', 37],
    ['trial', 38],
    ['trial', 39],
    ['trial', 40],
    ['status', 41],
  ]);
});

it.each([
  [
    'a stream without further events',
    '/api/v1/hyperopt/ho-1/events',
    { 'Last-Event-ID': '41' },
    204,
    undefined,
  ],
  ['an unknown job', '/api/v1/hyperopt/ho-none/events', {}, 404, 'OPT001'],
  ['an invalid event ID', '/api/v1/hyperopt/ho-1/events', { 'Last-Event-ID': 'x' }, 400, 'VAL005'],
  ['an invalid token', '/api/v1/hyperopt/ho-1/events', { Authorization: 'Bearer x' }, 401, 'AUTH002'],
  ['another path of the service', '/api/v1/hyperopt', {}, 404, 'HTTP404'],
])('function responds to %s without streaming', async (_, path, headers, status, code) => {
  await call({ path, headers: headers as Record<string, string> });
  expect(output.writableFinished).toBe(true);
  expect(output.sent.statusCode).toBe(status);
  expect(output.header('x-correlation-id')).toBeTruthy();
  if (code) expect(JSON.parse(output.text)).toMatchObject({ detail: { code } });
  else expect(output.text).toBe('');
});

it('function ends without an error when the client disconnects', async () => {
  const running = call({ path: '/api/v1/hyperopt/ho-2/events' });
  await expect.poll(() => output.text).toContain('event: snapshot');
  output.destroy(new Error('gone'));
  await running;
});
