import { SFNClient, StartExecutionCommand } from '@aws-sdk/client-sfn';
import { GetCommand, QueryCommand, ScanCommand } from '@aws-sdk/lib-dynamodb';
import { mockClient } from 'aws-sdk-client-mock';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { DynamoJobQueue } from '#adapters/dynamo/job-queue.ts';
import { DynamoJobStore } from '#adapters/dynamo/job-store.ts';
import { sha256 } from '#adapters/sha256.ts';
import { CANARY_INTERVAL_MS } from '#contract/env/canary.ts';
import { endExecutions, measureQueue } from '#domain/repair/repair-jobs.ts';
import { type CanaryDeps, runCanary } from '#runtime/canary.ts';
import { startEngine, type TestEngine } from '../support/engine.ts';
import { gatewayEvent, LAMBDA_CONTEXT } from '../support/gateway.ts';
import { SOME_RESULT, SOME_RESULTS, SOME_TIMING } from '../support/jobs.ts';
import { BACKEND_ENVIRONMENT } from '../support/lambda-environment.ts';
import { queueScene } from '../support/queue-scene.ts';

/** The deployed canary against the deployed backend, on the embedded database. */

const TOKEN = 'a-secret-of-the-canary';
const OTHER_TOKEN = 'another-secret-of-the-canary';
const BACKEND_URL = 'https://backend.example/test/';

let engine: TestEngine;
let backend: typeof import('#lambdas/backend.ts');
let canary: typeof import('#lambdas/canary.ts');
let table: string;
let jobs: DynamoJobStore;
let queue: DynamoJobQueue;
const states = mockClient(SFNClient);
const printed = vi.spyOn(process.stdout, 'write').mockReturnValue(true);
vi.spyOn(process.stderr, 'write').mockReturnValue(true);

/** API Gateway before the backend's function. */
const gateway: typeof fetch = async (address, { method, headers, body } = {}) => {
  const { href, pathname, searchParams } = new URL(String(address));
  expect(href.startsWith(BACKEND_URL)).toBe(true);
  const event = gatewayEvent({
    httpMethod: method!,
    path: pathname.replace('/test', ''),
    headers: headers as Record<string, string>,
    queryStringParameters: Object.fromEntries(searchParams),
    body: (body as string | undefined) ?? null,
  });
  const result = await backend.handler(event, LAMBDA_CONTEXT);
  return new Response(result.body, { status: result.statusCode });
};
const network = vi.fn(gateway);

beforeAll(async () => {
  engine = await startEngine();
  const { jobs: jobsTable, registry, series } = engine.tables;
  table = jobsTable;
  jobs = new DynamoJobStore(engine.client, table);
  queue = new DynamoJobQueue(engine.client, table);
  const environment = {
    ...BACKEND_ENVIRONMENT,
    POWERTOOLS_METRICS_DISABLED: 'false',
    LOG_LEVEL: 'INFO',
    DYNAMODB_ENDPOINT: engine.endpoint,
    MAX_RUNNING_BACKTESTS: '1',
    MAX_RUNNING_FAST: '0',
    JOBS_TABLE: jobsTable,
    REGISTRY_TABLE: registry,
    SERIES_TABLE: series,
    ENVIRONMENT: 'development',
    CANARY_TOKEN: TOKEN,
    CANARY_TOKEN_2: OTHER_TOKEN,
    BACKEND_URL,
  };
  for (const [name, value] of Object.entries(environment)) vi.stubEnv(name, value);
  vi.stubGlobal('fetch', network);
  backend = await import('#lambdas/backend.ts');
  canary = await import('#lambdas/canary.ts');
});
beforeEach(() => {
  states.reset();
  states.on(StartExecutionCommand).resolves({});
  network.mockImplementation(gateway);
  printed.mockClear();
});
afterAll(async () => {
  vi.unstubAllEnvs();
  vi.unstubAllGlobals();
  vi.restoreAllMocks();
  await engine.stop();
});

const FIRST = Math.floor(Date.now() / CANARY_INTERVAL_MS) + 10;
let latest = FIRST;
/** One run of the canary, five minutes after the previous one. */
function run(changes: Partial<CanaryDeps> = {}) {
  const time = latest++ * CANARY_INTERVAL_MS;
  return runCanary({
    baseUrl: BACKEND_URL,
    token: TOKEN,
    fetch: network,
    digest: sha256,
    sleep: async () => undefined,
    clock: { now: () => time },
    timeoutSignal: () => new AbortController().signal,
    ...changes,
  });
}

const TASK = 'arn:aws:ecs:us-east-1:123456789012:task/touchstone/1';
const AT = () => new Date().toISOString();
const outcome = { result: SOME_RESULT, results: SOME_RESULTS, timing: SOME_TIMING, warnings: [] };
const submitted = async () => (await queue.slots('canary'))[0]!.job_id;

/** Handles the end of the canary's execution as the dispatcher does. */
async function endExecution(jobId: string): Promise<void> {
  const { deps, executions } = await queueScene(engine, 1);
  executions.states.set(`${jobId}-1`, 'succeeded');
  await endExecutions({ ...deps, jobs, queue }, [`${jobId}-1`]);
}

async function complete(jobId: string): Promise<void> {
  await jobs.claim(jobId, TASK, AT());
  expect(await jobs.complete(jobId, 1, outcome, AT())).toBe(true);
  await endExecution(jobId);
}

const get = async (path: string, token?: string) => {
  const headers: Record<string, string> = token ? { Authorization: `Bearer ${token}` } : {};
  const response = await gateway(`${BACKEND_URL}api/v1/${path}`, { method: 'GET', headers });
  return { status: response.status, body: (await response.json()) as any };
};

it('canary starts a backtest in its own slot while a user has taken all others, and no list has it', async () => {
  const body = JSON.stringify({ config: { strategy: 'ema_crossover', exchange: 'sim' } });
  const headers = { 'Content-Type': 'application/json' };
  const post = () => gateway(`${BACKEND_URL}api/v1/backtests`, { method: 'POST', headers, body });
  for (const user of [await post(), await post()]) expect(user.status).toBe(201);
  const auditOfUser = (await get('audit')).body.items.length;

  expect(await run()).toMatchObject({ failures: [] });
  const jobId = await submitted();
  expect(jobId).toMatch(/^bt-CANARYK[0-9A-F]{25}$/);
  expect(states.commandCalls(StartExecutionCommand).at(-1)!.args[0].input.name).toBe(`${jobId}-1`);
  const { Item: item } = await engine.client.send(
    new GetCommand({ TableName: table, Key: { job_id: jobId, item: 'JOB' } }),
  );
  expect(item).toMatchObject({ kind: 'canary', owner: 'canary', experiment_name: 'canary' });
  const age = item!.expires_at - Date.parse(item!.created_at) / 1000;
  expect([Math.floor(age), Math.ceil(age)]).toContain(24 * 60 * 60);

  // The anonymous caller of this stage is an admin, who sees the jobs of all users.
  const listed = (await get('backtests')).body.items;
  expect(listed.map(({ owner, job_id }: any) => [owner, job_id])).toHaveLength(2);
  expect(JSON.stringify(listed)).not.toContain(jobId);
  expect((await get('audit')).body.items).toHaveLength(auditOfUser);
  const { Items } = await engine.client.send(
    new QueryCommand({
      TableName: table,
      KeyConditionExpression: 'job_id = :id',
      ExpressionAttributeValues: { ':id': jobId },
    }),
  );
  expect(Items).toHaveLength(1);
  const { deps } = await queueScene(engine, 1);
  expect(await measureQueue({ ...deps, jobs, queue })).toMatchObject({
    waiting: { backtest: 1 },
    running: { backtest: 1 },
  });
  await complete(jobId);
  expect(await queue.slots('canary')).toEqual([]);
  expect(await queue.slots('backtest')).toHaveLength(1);
});

it('run reports the time that the previous backtest took, and a repeated run submits nothing more', async () => {
  const report = await run();
  expect(report).toMatchObject({ failures: [], durationS: expect.any(Number) });
  expect(report.durationS).toBeGreaterThanOrEqual(0);
  const jobId = await submitted();
  latest--;
  await run();
  const { Items = [] } = await engine.client.send(
    new ScanCommand({
      TableName: table,
      FilterExpression: 'kind = :canary',
      ExpressionAttributeValues: { ':canary': 'canary' },
    }),
  );
  expect(Items).toHaveLength(2);
  await complete(jobId);
});

it('run fails when the previous backtest failed, with its reason', async () => {
  await run();
  const jobId = await submitted();
  await jobs.fail(jobId, null, { code: 'DATA005', message: 'The results cannot be stored' }, AT());
  await endExecution(jobId);
  expect(await run()).toEqual({
    jobId,
    failures: ['check: the backtest is failed: The results cannot be stored'],
  });
});

it('run cancels a backtest that did not end in five minutes, and the next one gets its slot', async () => {
  const jobId = await submitted();
  const { failures } = await run();
  expect(failures).toEqual(['check: the backtest is still pending after 5 minutes']);
  expect((await jobs.get(jobId))!.status).toBe('cancelled');
  await endExecution(jobId);
  const next = await submitted();
  expect(next).not.toBe(jobId);
  await complete(next);
  expect((await run()).failures).toEqual([]);
  await complete(await submitted());
});

it('function publishes 0 when the API does not respond, after three attempts of each request', async () => {
  network.mockReset();
  network.mockRejectedValue(new TypeError('fetch failed'));
  const sleeps: number[] = [];
  const sleep = async (ms: number) => void sleeps.push(ms);
  const reason = 'the API did not respond: fetch failed';
  expect((await run({ sleep })).failures).toEqual([`check: ${reason}`, `submission: ${reason}`]);
  expect(sleeps).toEqual([1_000, 2_000, 1_000, 2_000]);
  expect(network).toHaveBeenCalledTimes(6);
  // With a rejection that is not repeated, the deployed function needs no pause.
  network.mockImplementation(async () =>
    Response.json({ detail: { code: 'AUTH002', message: 'No' } }, { status: 401 }),
  );
  await canary.handler({}, LAMBDA_CONTEXT);
  const lines = printed.mock.calls.map(([line]) => JSON.parse(String(line)));
  expect(lines.filter((line) => '_aws' in line)).toMatchObject([
    { service: 'canary', stage: 'development', CanarySuccess: 0 },
  ]);
});

it('function publishes 1 and the duration when the previous backtest completed', async () => {
  const run = Math.floor(Date.now() / CANARY_INTERVAL_MS);
  const created_at = '2026-01-01T00:00:00.000Z';
  const job = { status: 'completed', error: null, created_at, finished_at: '2026-01-01T00:00:42.500Z' };
  const seen: (string | null)[] = [];
  network.mockImplementation(async (_, { method, headers } = {}) => {
    seen.push(new Headers(headers).get('Idempotency-Key'));
    return Response.json(method === 'GET' ? job : {}, { status: method === 'GET' ? 200 : 201 });
  });
  await canary.handler({}, LAMBDA_CONTEXT);
  const lines = printed.mock.calls.map(([line]) => JSON.parse(String(line)));
  expect(lines.filter((line) => '_aws' in line)).toMatchObject([{ CanarySuccess: 1, CanaryDuration: 42.5 }]);
  // The interval may end during the test.
  expect(
    [
      [run - 1, run],
      [run, run + 1],
    ].map((keys) => keys.map(String)),
  ).toContainEqual(seen);
});

it("token of the canary opens only the canary's operations, and no other token is the canary's", async () => {
  for (const path of ['backtests', 'strategies', 'audit']) {
    for (const token of [TOKEN, OTHER_TOKEN]) {
      expect(await get(path, token)).toMatchObject({ status: 403, body: { detail: { code: 'AUTH004' } } });
    }
  }
  const jobId = (await get('backtests')).body.items[0].job_id;
  expect(await get(`backtests/${jobId}`, TOKEN)).toMatchObject({
    status: 403,
    body: { detail: { code: 'AUTH005' } },
  });
  expect(await get('backtests', `${TOKEN}!`)).toMatchObject({ status: 401 });
});

describe('dashboard', () => {
  const WEB_URL = 'https://d111111abcdef8.cloudfront.net/';
  const PAGE = '<!doctype html><script type="module" crossorigin src="/assets/index-4f2a.js"></script>';
  const javascript = { headers: { 'Content-Type': 'text/javascript; charset=utf-8' } };
  const served: Record<string, () => Response> = {
    backtests: () => new Response(PAGE),
    'assets/index-4f2a.js': () => new Response('', javascript),
    'services/backend/api/v1/health': () => Response.json({ status: 'healthy' }),
  };
  const runWith = (changes: Record<string, () => Response>) => {
    const asked: string[] = [];
    const web: typeof fetch = async (address, init) => {
      const url = String(address);
      if (!url.startsWith(WEB_URL)) return new Response('{}', { status: 404 });
      const path = url.slice(WEB_URL.length);
      asked.push(path);
      // A page needs the header of a browser, and nobody needs the canary's token.
      const headers = new Headers(init!.headers);
      expect(headers.get('Accept') === 'text/html').toBe(path === 'backtests');
      expect(headers.has('Authorization')).toBe(false);
      return { ...served, ...changes }[path]!();
    };
    return { asked, report: run({ webUrl: WEB_URL, fetch: web }) };
  };

  it('canary loads a page, its script and the health of a service at one address', async () => {
    const { asked, report } = runWith({});
    expect(await report).toMatchObject({ dashboard: null });
    expect(asked).toEqual(Object.keys(served));
  });

  it.each([
    [
      'page is missing',
      { backtests: () => new Response('', { status: 404 }) },
      'backtests returned status 404',
    ],
    ['page is another one', { backtests: () => new Response('<html>') }, 'the page names no script'],
    [
      'script is the entry page',
      { 'assets/index-4f2a.js': () => new Response(PAGE, { headers: { 'Content-Type': 'text/html' } }) },
      'the script has the type "text/html"',
    ],
    [
      'service cannot be reached',
      { 'services/backend/api/v1/health': () => new Response('', { status: 502 }) },
      'services/backend/api/v1/health returned status 502',
    ],
  ])('failure of the dashboard is no failure of the backtest: %s', async (_, changes, failure) => {
    const { report } = runWith(changes);
    const { failures, dashboard } = await report;
    expect(dashboard).toBe(`dashboard: ${failure}`);
    expect(failures.join()).not.toContain('dashboard');
  });

  it('canary without a dashboard reports nothing about it', async () => {
    expect(await run({ fetch: async () => new Response('{}', { status: 404 }) })).not.toHaveProperty(
      'dashboard',
    );
  });
});
