import { afterEach, expect, test } from 'vitest';
import { EVENT_SCHEMAS, type PlatformEvent } from '#contract/platform/events.ts';
import type { EventType } from '#contract/values/event-types.ts';
import { ApiClient } from '../../bin/cli/client.ts';
import { followEvents } from '../../bin/cli/events.ts';
import { startTestPlatform, type TestPlatform } from '../support/platform.ts';
import { poll } from '../support/poll.ts';

let platform: TestPlatform | undefined;
afterEach(() => platform?.stop());

/** Events from a time on, until each of the last types has arrived: different subjects have no common order. */
async function eventsUntil(
  platform: TestPlatform,
  last: readonly EventType[],
  types: string,
  from: number,
): Promise<PlatformEvent[]> {
  const events: PlatformEvent[] = [];
  const stop = new AbortController();
  const client = new ApiClient(platform.info.backend_url);
  const following = followEvents(client, { types, from: String(from), signal: stop.signal }, (event) => {
    events.push(event);
    if (last.every((type) => events.some((each) => each.type === type))) stop.abort();
  });
  await following;
  return events;
}

const typesOf = (events: readonly PlatformEvent[], subject: string) =>
  events.filter((each) => each.subject === subject).map(({ type }) => type);

test('stream reports jobs and versions by the catalogue, also after the platform has restarted', async () => {
  const begun = Date.now();
  platform = await startTestPlatform({ keepHome: true });
  const job = await platform.run({ strategy: 'buy_and_hold' });
  const registered = await platform.strategy.post('/api/v1/strategies/buy_and_hold/register', {
    backtest_run_id: job.job_id,
    container_image_uri: 'registry.test/strategies:1',
  });
  expect(registered.status, JSON.stringify(registered.body)).toBe(201);
  const strategies = '/api/v1/strategies/buy_and_hold';
  await platform.post(`${strategies}/stage`, { version: 1, skip_validation: true });
  await platform.post(`${strategies}/promote`, { version: 1 });
  const events = await eventsUntil(platform, ['backtest.completed', 'version.promoted'], '*', begun);
  const ownEvents = events.filter(({ type }) => !type.startsWith('data.'));
  expect(ownEvents).toHaveLength(5);
  expect(typesOf(ownEvents, `backtests/${job.job_id}`)).toEqual(['backtest.started', 'backtest.completed']);
  expect(typesOf(ownEvents, 'models/buy_and_hold')).toEqual([
    'version.registered',
    'version.staged',
    'version.promoted',
  ]);
  for (const event of events) EVENT_SCHEMAS[event.type].parse(event);
  const completed = events.find(({ type }) => type === 'backtest.completed')!;
  expect(completed.data).toMatchObject({ strategy: 'buy_and_hold', result: job.result });
  expect(new Set(events.map(({ id }) => id)).size).toBe(events.length);
  const sequences = events
    .filter(({ subject }) => subject === 'models/buy_and_hold')
    .map(({ sequence }) => sequence);
  expect(sequences).toEqual([1, 2, 3]);

  await platform.stop();
  platform = await startTestPlatform({ home: platform.home });
  const restarted = Date.now();
  const rolledBack = await platform.post(`${strategies}/rollback`, { reason: 'drill' });
  expect(rolledBack.status, JSON.stringify(rolledBack.body)).toBeLessThan(500);
  await platform.run({ strategy: 'buy_and_hold', dry_run_wallet: 2_000 });
  const later = await eventsUntil(platform, ['backtest.completed'], 'backtest.*', restarted);
  expect(later.map(({ type }) => type)).toEqual(['backtest.started', 'backtest.completed']);
});

test('stream rejects an unknown type', async () => {
  platform = await startTestPlatform();
  const { get, request } = platform;
  const { status, body } = await get('/api/v1/events?types=backtest.won');
  expect([status, body]).toMatchObject([400, { detail: { code: 'VAL005', field: 'types' } }]);
  await poll(
    () => request('/api/v1/events'),
    async ({ status: each }) => each === 204 || each === 200,
    'stream of jobs',
  ).then((response) => response.body?.cancel());
});
