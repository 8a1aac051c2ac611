import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { text } from 'node:stream/consumers';
import { marshall } from '@aws-sdk/util-dynamodb';
import { afterAll, beforeAll, beforeEach, expect, it, vi } from 'vitest';
import { DynamoEventLog } from '#adapters/dynamo/event-log.ts';
import { startEngine, type TestEngine } from '../support/engine.ts';
import { LAMBDA_CONTEXT } from '../support/gateway.ts';
import { pendingJob } from '../support/jobs.ts';
import { FUNCTION_ENVIRONMENT } from '../support/lambda-environment.ts';

let engine: TestEngine;
let eventBridge: Server;
let handler: (event: unknown, context: unknown) => Promise<unknown>;
let requests: { readonly target: unknown; readonly authorization: unknown; readonly entries: any[] }[] = [];
let response: { readonly status: number; readonly body: object };

beforeAll(async () => {
  engine = await startEngine();
  eventBridge = createServer(async (request, reply) => {
    const { 'x-amz-target': target, authorization } = request.headers;
    requests.push({ target, authorization, entries: JSON.parse(await text(request)).Entries });
    reply.writeHead(response.status).end(JSON.stringify(response.body));
  }).listen(0, '127.0.0.1');
  await once(eventBridge, 'listening');
  const { port } = eventBridge.address() as { port: number };
  const environment = {
    ...FUNCTION_ENVIRONMENT,
    DYNAMODB_ENDPOINT: engine.endpoint,
    JOBS_TABLE: engine.tables.jobs,
    EVENT_BUS: 'touchstone-events',
    EVENT_SOURCE: 'touchstone/prod/a',
    EVENTS_ENDPOINT: `http://127.0.0.1:${port}`,
  };
  for (const [name, value] of Object.entries(environment)) vi.stubEnv(name, value);
  ({ handler } = (await import('#lambdas/table-events.ts')) as never);
});
afterAll(async () => {
  eventBridge?.close();
  vi.unstubAllEnvs();
  await engine?.stop();
});
beforeEach(() => {
  requests = [];
  response = { status: 200, body: { FailedEntryCount: 0, Entries: [] } };
});

/** Stream record of a job that a task has claimed. */
function claimed(id: string) {
  const at = Date.now();
  const job = { ...pendingJob(id), item: 'JOB' };
  const after = { ...job, status: 'running', started_at: new Date(at).toISOString(), revision: 2 };
  const options = { removeUndefinedValues: true };
  return {
    eventName: 'MODIFY',
    dynamodb: {
      Keys: marshall({ job_id: id, item: 'JOB' }),
      OldImage: marshall(job, options),
      NewImage: marshall(after, options),
      SequenceNumber: '1',
      ApproximateCreationDateTime: Math.floor(at / 1_000),
    },
  };
}
const send = (...ids: string[]) => handler({ Records: ids.map(claimed) }, LAMBDA_CONTEXT);
const logged = async () =>
  (await new DynamoEventLog(engine.client, engine.tables.jobs, Date).after('2000', 100)).map(
    ({ event }) => event.subject,
  );

it('function puts the events of a batch on the bus, ten per request, and adds them to the log', async () => {
  const ids = Array.from({ length: 12 }, (_, index) => `bt-${index}`);
  await send(...ids);
  expect(requests.map(({ entries }) => entries.length)).toEqual([10, 2]);
  expect(requests[0]).toMatchObject({
    target: 'AWSEvents.PutEvents',
    authorization: expect.stringMatching(/^AWS4-HMAC-SHA256 Credential=.*\/events\/aws4_request/),
  });
  const [entry] = requests[0]!.entries;
  expect(entry).toMatchObject({
    EventBusName: 'touchstone-events',
    Source: 'touchstone',
    DetailType: 'backtest.started',
  });
  // Rules of the bus name its own source. The event's says which stage and platform.
  expect(JSON.parse(entry.Detail)).toMatchObject({
    type: 'backtest.started',
    source: 'touchstone/prod/a',
    subject: 'backtests/bt-0',
  });
  expect(await logged()).toEqual(ids.map((id) => `backtests/${id}`));
});

it.each([
  ['rejects an event', 200, { FailedEntryCount: 1, Entries: [{}, { ErrorCode: 'ThrottlingException' }] }],
  ['is not available', 503, {}],
])('function fails, so that the batch is sent again, when the bus %s', async (_, status, body) => {
  response = { status, body };
  await expect(send('bt-a', 'bt-b')).rejects.toThrow('PutEvents');
});

it('function sends no request for changes that are no events', async () => {
  await handler({ Records: [] }, LAMBDA_CONTEXT);
  expect(requests).toEqual([]);
});
