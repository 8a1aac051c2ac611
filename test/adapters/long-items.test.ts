import { PutCommand } from '@aws-sdk/lib-dynamodb';
import { expect, test } from 'vitest';
import { DynamoChallengeStore } from '#adapters/dynamo/challenge-store.ts';
import { DynamoEventLog } from '#adapters/dynamo/event-log.ts';
import { challengeEventKey } from '#adapters/dynamo/registry-item.ts';
import { DynamoRegistryStore } from '#adapters/dynamo/registry-store.ts';
import { DynamoDeliveryStore } from '#adapters/dynamo/webhook-store.ts';
import { ulids } from '#adapters/ids.ts';
import { sha256 } from '#adapters/sha256.ts';
import type { PlatformEvent } from '#contract/platform/events.ts';
import type { ChallengeEvent } from '#contract/registry/stored-challenge.ts';
import { EventFeed } from '#domain/events/event-feed.ts';
import type { Page } from '#domain/ports.ts';
import { planTransition } from '#domain/transitions/plan-transition.ts';
import { newDelivery } from '#domain/webhooks/deliveries.ts';
import { fileEngine } from '../support/file-engine.ts';
import { storedVersion } from '../support/stored-version.ts';

const engine = fileEngine();

/** One read of the database returns 1 MB: some 40 items with this text. */
const LONG = '日'.repeat(8_000);
const COUNT = 90;
const START = Date.parse('2026-05-01T00:00:00.000Z');
const numbers = Array.from({ length: COUNT }, (_, index) => index + 1);

/** All items of a list, by its pages. */
async function all<T>(read: (cursor: string | null) => Promise<Page<T>>): Promise<T[]> {
  const items: T[] = [];
  let cursor: string | null = null;
  do {
    const page = await read(cursor);
    items.push(...page.items);
    cursor = page.next;
  } while (cursor !== null);
  return items;
}

function event(sequence: number): PlatformEvent {
  const subject = 'series/sim/X/1h';
  const time = new Date(START + sequence).toISOString();
  const text = { id: `${subject}#${sequence}#data.gap`, source: 's', type: 'data.gap', subject, time };
  return { ...text, sequence, data: { reason: LONG } } as unknown as PlatformEvent;
}

test('history of a model with long notes: every change on its pages', async () => {
  const store = new DynamoRegistryStore(engine.client, engine.tables.registry);
  const actor = { id: 'ada', groups: [], isAdmin: false };
  const call = { actor, idempotencyKey: null, correlationId: 'c' };
  const version = storedVersion('1', { model_name: 'm', stage: 'None' });
  const at = new Date(START).toISOString();
  const register = { action: 'register', call, at, before: null, version } as const;
  let write = planTransition({ ids: ulids }, null, register);
  await store.commit(write);
  for (const number of numbers) {
    const label = {
      action: 'label',
      call,
      at,
      before: version,
      version,
      notes: [`${number} ${LONG}`],
    } as const;
    write = planTransition({ ids: ulids }, write.model.after, label);
    expect(await store.commit(write)).toBe('done');
  }
  const found = await all((cursor) => store.history('m', 100, cursor));
  expect(found).toHaveLength(COUNT + 1);
  expect(found.at(-1)).toMatchObject({ action: 'register' });
});

test('events of a challenge with long reasons: every one on its pages', async () => {
  const store = new DynamoChallengeStore(engine.client, engine.tables.registry);
  for (const sequence of numbers) {
    const item: ChallengeEvent = {
      schema_version: 2,
      challenge_id: 'ch-1',
      sequence,
      at: new Date(START).toISOString(),
      actor: 'ada',
      action: 'hold',
      status: 'active',
      outcome: null,
      canary_stage: 'stage_1',
      reason: LONG,
      warnings: [],
      correlation_id: null,
    };
    const Item = { ...challengeEventKey(item), ...item };
    await engine.client.send(new PutCommand({ TableName: engine.tables.registry, Item }));
  }
  expect(await all((cursor) => store.events('ch-1', 100, cursor))).toHaveLength(COUNT);
});

test('a stream and the log of a webhook: every event, also long ones', async () => {
  const clock = { now: () => START };
  const log = new DynamoEventLog(engine.client, engine.tables.jobs, clock);
  const deliveries = new DynamoDeliveryStore(engine.client, engine.tables.jobs, clock);
  await log.append(numbers.map(event));
  for (const number of numbers) await deliveries.add(newDelivery(sha256, 'wh-1', event(number), START));
  const later = { now: () => START + 60_000 };
  const admin = { id: 'root', groups: [], isAdmin: true };
  const feed = new EventFeed({ events: log, ownership: {} as never, clock: later }, admin, '*', START - 1);
  const received = [...(await feed.next()), ...(await feed.next()), ...(await feed.next())];
  expect(received.map(({ sequence }) => sequence)).toEqual(numbers);
  expect(await deliveries.list('wh-1', undefined, 100)).toHaveLength(COUNT);
});

test('a stream has the events of after its clock was set back', async () => {
  const { jobs } = await engine.freshTables();
  let now = START;
  const clock = { now: () => now };
  const log = new DynamoEventLog(engine.client, jobs, clock);
  const admin = { id: 'root', groups: [], isAdmin: true };
  const feed = new EventFeed({ events: log, ownership: {} as never, clock }, admin, '*', START - 1);
  const next = async () => (await feed.next()).map(({ sequence }) => sequence);
  await log.append([event(1)]);
  expect(await next()).toEqual([1]);
  now += 60_000;
  await log.append([event(2)]);
  expect(await next()).toEqual([2]);
  now -= 3_600_000;
  await log.append([event(3)]);
  expect(await next()).toEqual([3]);
});
