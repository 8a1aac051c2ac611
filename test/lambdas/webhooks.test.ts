import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, beforeEach, expect, it, vi } from 'vitest';
import { startEngine, type TestEngine } from '../support/engine.ts';
import { LAMBDA_CONTEXT } from '../support/gateway.ts';
import { FUNCTION_ENVIRONMENT } from '../support/lambda-environment.ts';
import { backtestEvent, webhookFixture } from '../support/webhook-fixture.ts';

let engine: TestEngine;
let sqs: Server;
let fixture: Awaited<ReturnType<typeof webhookFixture>>;
let handler: (event: unknown, context: unknown) => Promise<unknown>;
let messages: { readonly target: unknown; readonly delay: number; readonly message: any }[] = [];
let status = 200;

beforeAll(async () => {
  vi.spyOn(process.stdout, 'write').mockReturnValue(true);
  engine = await startEngine();
  fixture = await webhookFixture(engine, Date);
  await fixture.job('bt-1', 'ada');
  sqs = createServer(async (request, reply) => {
    const { QueueUrl, MessageBody, DelaySeconds } = JSON.parse(await text(request));
    expect(QueueUrl).toMatch(/\/1234\/webhooks$/);
    const { 'x-amz-target': target } = request.headers;
    messages.push({ target, delay: DelaySeconds, message: JSON.parse(MessageBody) });
    reply.writeHead(status).end('{}');
  }).listen(0, '127.0.0.1');
  await once(sqs, 'listening');
  const { port } = sqs.address() as { port: number };
  const environment = {
    ...FUNCTION_ENVIRONMENT,
    DYNAMODB_ENDPOINT: engine.endpoint,
    JOBS_TABLE: fixture.tables.jobs,
    REGISTRY_TABLE: fixture.tables.registry,
    WEBHOOK_QUEUE_URL: `http://127.0.0.1:${port}/1234/webhooks`,
  };
  for (const [name, value] of Object.entries(environment)) vi.stubEnv(name, value);
  ({ handler } = (await import('#lambdas/webhooks.ts')) as never);
});
afterAll(async () => {
  sqs?.close();
  vi.unstubAllEnvs();
  vi.restoreAllMocks();
  await engine?.stop();
});
beforeEach(() => {
  messages = [];
  status = 200;
});

const receive = (...bodies: unknown[]) =>
  handler(
    { Records: bodies.map((body) => ({ body: typeof body === 'string' ? body : JSON.stringify(body) })) },
    LAMBDA_CONTEXT,
  );
/** An address that no function reaches: its name has none. */
const create = () => fixture.create({ url: 'https://receiver.invalid/' });
const statusesOf = async (id: string) =>
  (await fixture.deliveries(id)).map((each) => [each.sequence, each.attempts, each.last_attempts[0]?.error]);

it('event becomes a delivery, and a failed attempt one delayed message', async () => {
  const { webhook_id } = await create();
  await receive({ detail: backtestEvent('bt-1', 1) }, 'not JSON', 'null');
  const [[sequence, attempts, error]] = (await statusesOf(webhook_id)) as any;
  expect([sequence, attempts]).toEqual([1, 1]);
  expect(error).toMatch(/host name/);
  expect(messages).toMatchObject([{ target: 'AmazonSQS.SendMessage', message: { webhook_id } }]);
  const [{ delay }] = messages as any;
  expect(delay).toBeGreaterThanOrEqual(3);
  expect(delay).toBeLessThanOrEqual(7);
  // The same event again: nothing is added, and the planned message is enough.
  await receive({ detail: backtestEvent('bt-1', 1) });
  expect(await statusesOf(webhook_id)).toHaveLength(1);
  expect(messages).toHaveLength(1);
});

it('message that arrives before its time is sent again, with the longest delay of SQS', async () => {
  await receive({ webhook_id: 'wh-later', at: Date.now() + 3_600_000 });
  expect(messages).toMatchObject([{ delay: 900, message: { webhook_id: 'wh-later' } }]);
});

it('planned message that arrives a moment early does not end the retries', async () => {
  const { webhook_id } = await create();
  await receive({ detail: backtestEvent('bt-1', 9) });
  const planned = messages.find(({ message }) => message.webhook_id === webhook_id)!.message;
  messages = [];
  const clock = vi.spyOn(Date, 'now').mockReturnValue(planned.at - 500);
  await receive(planned).finally(() => clock.mockRestore());
  expect(messages).toMatchObject([{ delay: 1, message: planned }]);
});

it('events for a webhook whose lane is in use leave one message, not one for each', async () => {
  const { webhook_id } = await create();
  const now = Date.now();
  await fixture.deps.webhooks.lease(webhook_id, 'another worker', now, now + 60_000);
  for (const sequence of [11, 12, 13]) await receive({ detail: backtestEvent('bt-1', sequence) });
  expect(await statusesOf(webhook_id)).toHaveLength(3);
  expect(messages.filter(({ message }) => message.webhook_id === webhook_id)).toHaveLength(1);
});

it('wake-up of a deleted webhook ends', async () => {
  await receive({ webhook_id: 'wh-gone', at: Date.now() });
  expect(messages).toEqual([]);
});

it('function fails, so that the batch is received again, when the message of a retry is not accepted', async () => {
  const { webhook_id } = await create();
  status = 503;
  await expect(receive({ detail: backtestEvent('bt-1', 2) })).rejects.toThrow('SendMessage');
  status = 200;
  await receive({ detail: backtestEvent('bt-1', 2) });
  expect(messages.map(({ message }) => message.webhook_id)).toContain(webhook_id);
  expect((await statusesOf(webhook_id))[0]).toMatchObject([2, 1, expect.any(String)]);
});
