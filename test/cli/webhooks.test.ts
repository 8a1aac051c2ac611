import { afterAll, beforeAll, expect, it } from 'vitest';
import type { TestPlatform } from '../support/platform.ts';
import { poll } from '../support/poll.ts';
import { startReceiver } from '../support/receiver.ts';
import { platformFixture } from './platform-fixture.ts';

let receiver: Awaited<ReturnType<typeof startReceiver>>;
beforeAll(async () => {
  receiver = await startReceiver();
});
afterAll(() => receiver?.close());

let platform: TestPlatform;
const touchstone = platformFixture(
  'touchstone-webhooks-',
  { webhooksAllowLoopback: true },
  async (started) => {
    platform = started;
  },
);
const webhooks = (...args: string[]) => touchstone('webhooks', ...args);

it('webhook is created, tested, listed, replayed, rotated and deleted', async () => {
  const created = await webhooks(
    'create',
    `${receiver.url}/cli`,
    '--types',
    'version.*',
    '--description',
    'CI',
  );
  expect([created.code, created.err]).toEqual([0, '']);
  const [, id, secret] = /^(wh-\w+)\nSecret: (whsec_\S+)\n/.exec(created.out)!;
  expect((await webhooks('test', id!)).out).toContain('is being sent');
  await poll(() => receiver.requests.length === 1);
  const delivered = async () => (await platform.get(`/api/v1/webhooks/${id}/deliveries`)).body.items[0];
  const { delivery_id } = await poll(delivered, ({ status }) => status === 'delivered');

  const deliveries = await webhooks('deliveries', id!);
  expect(deliveries.out).toMatch(
    new RegExp(`${delivery_id}.*webhook.test.*webhooks/${id}.*delivered.*1.*HTTP 204`),
  );
  expect((await webhooks('deliveries', id!, '--status', 'failed')).out).toBe('No deliveries.\n');
  expect((await webhooks('replay', id!, delivery_id)).code).toBe(0);
  await poll(() => receiver.requests.length === 2);
  const { replayed } = JSON.parse((await webhooks('replay', id!, '--since', '2026-01-01', '--json')).out);
  expect(replayed).toBe(0);

  const rotated = await webhooks('rotate', id!);
  expect(rotated.out).toContain('The previous secret signs too until');
  expect(rotated.out).not.toContain(secret);
  expect((await webhooks('pause', id!)).out).toBe(`${id}: paused\n`);
  const listed = await webhooks('list');
  expect(listed.out).toMatch(new RegExp(`${id}.*/cli.*version\\.\\*.*paused.*CI`));
  expect(listed.out).not.toContain('whsec_');
  expect((await webhooks('resume', id!)).out).toBe(`${id}: active\n`);
  expect((await webhooks('delete', id!)).out).toBe(`${id}: deleted\n`);
  expect((await webhooks('list')).out).toBe('No webhooks.\n');
});

it('invalid arguments end with what to do', async () => {
  const usage = await webhooks('replay', 'wh-1');
  expect([usage.code, usage.err]).toEqual([2, expect.stringContaining('or --since <time>')]);
  const rejected = await webhooks('create', 'http://hooks.example/');
  expect([rejected.code, rejected.err]).toEqual([1, expect.stringContaining('must begin with https://')]);
});
