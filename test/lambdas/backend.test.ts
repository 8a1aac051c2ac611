import { InvokeCommand, LambdaClient } from '@aws-sdk/client-lambda';
import { SFNClient, StartExecutionCommand } from '@aws-sdk/client-sfn';
import { DynamoDBDocumentClient, GetCommand, PutCommand } from '@aws-sdk/lib-dynamodb';
import type { APIGatewayProxyEvent } from 'aws-lambda';
import { mockClient } from 'aws-sdk-client-mock';
import { afterEach, beforeAll, expect, it, vi } from 'vitest';
import { gatewayEvent, headerOf, LAMBDA_CONTEXT } from '../support/gateway.ts';
import { BACKEND_ENVIRONMENT } from '../support/lambda-environment.ts';

type Backend = typeof import('#lambdas/backend.ts');
let backend: Backend;
const call = (changes: Partial<APIGatewayProxyEvent>) =>
  backend.handler(gatewayEvent(changes), LAMBDA_CONTEXT);
const json = { 'Content-Type': 'application/json' };

const ORIGIN_TOKENS = { ORIGIN_TOKEN: 'token-that-is-sent-now', ORIGIN_TOKEN_2: 'token-of-the-rotation' };

beforeAll(async () => {
  for (const [name, value] of Object.entries({ ...BACKEND_ENVIRONMENT, ...ORIGIN_TOKENS }))
    vi.stubEnv(name, value);
  backend = await import('#lambdas/backend.ts');
});
afterEach(() => vi.restoreAllMocks());

it('function stores a submission and starts an execution named by the run', async () => {
  const dynamo = mockClient(DynamoDBDocumentClient);
  const states = mockClient(SFNClient);
  dynamo.onAnyCommand().resolves({ Responses: { series: [] } } as never);
  dynamo
    .on(GetCommand)
    .callsFake(() => ({ Item: dynamo.commandCalls(PutCommand).at(-1)!.args[0].input.Item }));
  states.on(StartExecutionCommand).resolves({});
  const result = await call({
    httpMethod: 'POST',
    path: '/api/v1/backtests',
    headers: { ...json, 'X-Correlation-ID': 'trace-me' },
    body: JSON.stringify({ config: { strategy: 'ema_crossover' } }),
  });
  dynamo.restore();
  states.restore();
  expect(result.statusCode).toBe(201);
  const { job_id } = JSON.parse(result.body) as { job_id: string };
  expect(job_id).toMatch(/^bt-[0-9A-HJKMNP-TV-Z]{26}$/);
  const written = dynamo.commandCalls(PutCommand).map(({ args }) => args[0].input);
  // The item of the owner's list and the job itself.
  const stored = written.filter(({ TableName }) => TableName === 'jobs').map(({ Item }) => Item!.item);
  expect(stored).toEqual(['ACCESS#user:anonymous', 'JOB']);
  // The audit item precedes the job; the outcome item has its key as a prefix.
  const audit = written.filter(({ TableName }) => TableName === 'registry').map(({ Item }) => Item!);
  expect(written.indexOf(written.find(({ Item }) => Item === audit[0])!)).toBe(0);
  expect(audit).toMatchObject([
    { operation: 'submitBacktest', source_ip: '192.0.2.1', correlation_id: 'trace-me', outcome: null },
    { sk: `${audit[0]!.sk}#OUTCOME`, outcome: 'succeeded', created: { kind: 'backtests', id: job_id } },
  ]);
  const [start] = states.commandCalls(StartExecutionCommand);
  expect(start!.args[0].input).toMatchObject({
    stateMachineArn: BACKEND_ENVIRONMENT.BACKTEST_STATE_MACHINE_ARN,
    name: `${job_id}-1`,
  });
  expect(JSON.parse(start!.args[0].input.input!)).toMatchObject({ job_id, correlation_id: 'trace-me' });
});

it.each([
  ['the viewer behind CloudFront', { 'x-origin-token': ORIGIN_TOKENS.ORIGIN_TOKEN }, '198.51.100.7'],
  ['the viewer during a rotation', { 'X-Origin-Token': ORIGIN_TOKENS.ORIGIN_TOKEN_2 }, '198.51.100.7'],
  [
    'a viewer with IPv6',
    { 'x-origin-token': ORIGIN_TOKENS.ORIGIN_TOKEN, 'x-viewer-ip': '2001:db8::7' },
    '2001:db8::7',
  ],
  ['the caller who claims another one', {}, '192.0.2.1'],
  ['the caller with a wrong token', { 'x-origin-token': 'token-that-is-sent-NOW' }, '192.0.2.1'],
  ['the caller with an empty token', { 'x-origin-token': '' }, '192.0.2.1'],
  [
    'the caller when the header has no address',
    { 'x-origin-token': ORIGIN_TOKENS.ORIGIN_TOKEN, 'x-viewer-ip': 'desk, 1.2.3.4' },
    '192.0.2.1',
  ],
])('audit trail records the address of %s', async (_, headers, address) => {
  vi.spyOn(process.stdout, 'write').mockReturnValue(true);
  vi.spyOn(process.stderr, 'write').mockReturnValue(true);
  const dynamo = mockClient(DynamoDBDocumentClient);
  dynamo.onAnyCommand().resolves({});
  await call({
    httpMethod: 'POST',
    path: '/api/v1/backtests/bt-404/cancel',
    headers: { 'x-viewer-ip': '198.51.100.7', ...headers },
  });
  const [{ source_ip }] = dynamo.commandCalls(PutCommand).map(({ args }) => args[0].input.Item) as any[];
  dynamo.restore();
  expect(source_ip).toBe(address);
});

it('function returns 503 DATA005 when the database is down', async () => {
  vi.spyOn(process.stdout, 'write').mockReturnValue(true);
  const written = vi.spyOn(process.stderr, 'write').mockReturnValue(true);
  const result = await call({ path: '/api/v1/backtests' });
  expect(result.statusCode).toBe(503);
  expect(JSON.parse(result.body)).toMatchObject({ detail: { code: 'DATA005' } });
  // The brake of a deployment counts such lines of the new version: lib/http/traffic-shift.ts.
  expect(written.mock.calls.map(([line]) => JSON.parse(String(line)))).toMatchObject([
    { level: 'ERROR', function_version: LAMBDA_CONTEXT.functionVersion },
  ]);
});

it("function requests freshness for both encodings of API Gateway's list", async () => {
  const lambda = mockClient(LambdaClient);
  const result = {
    all_fresh: true,
    stale_symbols: [],
    exchange: 'binanceusdm',
    stale_threshold_hours: 24,
    symbols: [],
  };
  const envelope = {
    statusCode: 200,
    body: { success: true, data: { operation: 'check-freshness', result } },
  };
  lambda.on(InvokeCommand).resolves({ Payload: Buffer.from(JSON.stringify(envelope)) as never });
  const both = ['BTC/USDT:USDT', 'ETH/USDT:USDT'];
  const ask = (symbols: string[]) =>
    call({ path: '/api/v1/data/freshness', multiValueQueryStringParameters: { symbols } });
  const responses = [await ask(both), await ask([both.join(',')])];
  const sent = lambda
    .commandCalls(InvokeCommand)
    .map(({ args: [{ input }] }) => [input.FunctionName, JSON.parse(String(input.Payload))]);
  lambda.restore();
  for (const { statusCode, body } of responses) {
    expect(statusCode).toBe(200);
    expect(JSON.parse(body)).toEqual(result);
  }
  const event = {
    operation: 'check-freshness',
    params: { symbols: both, exchange: 'binanceusdm', stale_threshold_hours: 24 },
    correlation_id: 'c6af9ac6-7b61-11e6-9a41-93e8deadbeef',
    deadline_ms: 25_000,
    safe: false,
  };
  expect(sent).toEqual([
    ['data-proxy', event],
    ['data-proxy', event],
  ]);
});

it('function lists the built-in strategies and returns one', async () => {
  const list = await call({ path: '/api/v1/strategies' });
  const { items } = JSON.parse(list.body) as { items: { strategy: string; ml_engine: unknown }[] };
  expect(items.map(({ strategy }) => strategy)).toContain('ema_crossover');
  expect(items[0]!.ml_engine).toEqual({ enabled: false, model_type: 'none' });
  const one = await call({ path: '/api/v1/strategies/ema_crossover' });
  expect(JSON.parse(one.body)).toEqual(items.find(({ strategy }) => strategy === 'ema_crossover'));
});

it.each<[string, number, Partial<APIGatewayProxyEvent>]>([
  ['an unknown strategy', 404, { path: '/api/v1/strategies/nothing' }],
  [
    'a submission of an unknown strategy',
    404,
    {
      httpMethod: 'POST',
      path: '/api/v1/backtests',
      headers: json,
      body: '{"config":{"strategy":"nothing"}}',
    },
  ],
  [
    'a submission with an invalid value',
    400,
    {
      httpMethod: 'POST',
      path: '/api/v1/backtests',
      headers: json,
      body: '{"config":{"strategy":"ema_crossover","timeframe":"7x"}}',
    },
  ],
  ['a malformed job ID', 400, { path: '/api/v1/backtests/1' }],
  ['an unknown path', 404, { path: '/x', resource: '/{proxy+}', pathParameters: { proxy: 'x' } }],
])('function responds to %s with %i and the correlation header', async (_, status, changes) => {
  const dynamo = mockClient(DynamoDBDocumentClient);
  dynamo.on(PutCommand).resolves({});
  const result = await call(changes);
  dynamo.restore();
  expect(result.statusCode).toBe(status);
  expect(headerOf(result, 'X-Correlation-ID')).toBe('c6af9ac6-7b61-11e6-9a41-93e8deadbeef');
});

it('function does not start without its environment and lists the missing variables', async () => {
  vi.resetModules();
  vi.stubEnv('JOBS_TABLE', undefined);
  await expect(import('#lambdas/backend.ts')).rejects.toThrow('JOBS_TABLE is missing');
});
