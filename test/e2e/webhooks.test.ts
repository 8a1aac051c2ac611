import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestPlatform, type TestPlatform } from '../support/platform.ts';
import { poll } from '../support/poll.ts';
import { type Received, startReceiver } from '../support/receiver.ts';

/** The reference implementation of the specification. */
interface Reference {
  readonly Webhook: new (secret: string) => { verify(body: string, headers: object): any };
}
const { Webhook } = createRequire(import.meta.url)('standardwebhooks') as Reference;

const home = mkdtempSync(join(tmpdir(), 'touchstone-webhooks-'));
let platform: TestPlatform;
let isDown = false;
let receiver: Awaited<ReturnType<typeof startReceiver>>;
beforeAll(async () => {
  receiver = await startReceiver(({ path }) => {
    if (path === '/hangs') return new Promise(() => undefined);
    return path === '/down' && isDown ? 503 : 204;
  });
  platform = await startTestPlatform({ home, webhooksAllowLoopback: true });
});
afterAll(async () => {
  await receiver?.close();
  await platform?.stop();
  rmSync(home, { recursive: true, force: true });
});

const create = async (path: string, types: string[]) =>
  (await platform.post('/api/v1/webhooks', { url: `${receiver.url}${path}`, types })).body;
const received = (path: string) => receiver.requests.filter((request) => request.path === path);
const typesOf = (requests: readonly Received[]) => requests.map(({ body }) => JSON.parse(body).type);

test('webhook receives signed events, also while another one hangs', async () => {
  await create('/hangs', ['*']);
  const { webhook_id, secret } = await create('/works', ['backtest.*']);
  const job = await platform.run({ strategy: 'buy_and_hold' });
  const requests = await poll(
    () => received('/works'),
    (each) => typesOf(each).includes('backtest.completed'),
  );
  expect(typesOf(requests)).toEqual(['backtest.started', 'backtest.completed']);
  const verified = requests.map(({ body, headers }) => new Webhook(secret).verify(body, headers));
  expect(verified[1]).toMatchObject({
    subject: `backtests/${job.job_id}`,
    data: { job_id: job.job_id, result: job.result },
  });
  expect(verified[1].sequence).toBeGreaterThan(verified[0].sequence);
  const { body, headers } = requests[0]!;
  expect(() => new Webhook(secret).verify(`${body} `, headers)).toThrow();
  expect(received('/hangs').length).toBeGreaterThan(0);

  const rotated = await platform.post(`/api/v1/webhooks/${webhook_id}/rotate-secret`);
  await platform.post(`/api/v1/webhooks/${webhook_id}/test`);
  const [, , sent] = await poll(
    () => received('/works'),
    (each) => each.length > 2,
  );
  for (const each of [secret, rotated.body.secret]) new Webhook(each).verify(sent!.body, sent!.headers);
});

test('event between a kill of the platform and its delivery is delivered after the next start', async () => {
  isDown = true;
  const { webhook_id } = await create('/down', ['backtest.completed']);
  await platform.stop();
  const child = spawn(process.execPath, ['bin/local.ts'], {
    env: {
      TOUCHSTONE_HOME: home,
      WEBHOOKS_ALLOW_LOOPBACK: 'true',
      BACKEND_PORT: '0',
      DATA_COLLECTION_PORT: '0',
      STRATEGY_PORT: '0',
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let output = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    output += text;
  });
  const url = await poll(() => /backend +(http:\S+)\/docs/.exec(output)?.[1]);
  const submitted = await fetch(`${url}/api/v1/backtests`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ config: { strategy: 'buy_and_hold' } }),
  });
  const { job_id } = (await submitted.json()) as { job_id: string };
  // The receiver has rejected the event, so the delivery waits when the platform dies.
  await poll(
    () => received('/down'),
    (each) => each.length > 0,
  );
  child.kill('SIGKILL');
  await new Promise((resolve) => child.once('exit', resolve));
  isDown = false;
  platform = await startTestPlatform({ home, webhooksAllowLoopback: true });
  const [delivery] = await poll(
    async () => (await platform.get(`/api/v1/webhooks/${webhook_id}/deliveries`)).body.items,
    ([each]) => each?.status === 'delivered',
  );
  expect(delivery).toMatchObject({ subject: `backtests/${job_id}`, type: 'backtest.completed' });
  const ids = new Set(received('/down').map(({ headers }) => headers['webhook-id']));
  expect([...ids]).toEqual([delivery.message_id]);
});
