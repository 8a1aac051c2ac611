import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { DynamoCollectionStore } from '#adapters/dynamo/collection-store.ts';
import { DynamoEventLog } from '#adapters/dynamo/event-log.ts';
import { DynamoHyperoptStore } from '#adapters/dynamo/hyperopt-store.ts';
import { DynamoJobStore } from '#adapters/dynamo/job-store.ts';
import { openRegistry } from '#adapters/dynamo/open-registry.ts';
import type { StoredCollection } from '#contract/market-data/stored-market-data.ts';
import type { PlatformEvent } from '#contract/platform/events.ts';
import type { EventType } from '#contract/values/event-types.ts';
import type { WatchJobsDeps } from '#domain/job-events/watch-jobs.ts';
import { ownershipOf } from '#domain/ownership.ts';
import { EventStreams } from '#runtime/event-streams.ts';
import { withIdentityProvider } from '#runtime/identity-provider.ts';
import { createStreams } from '#runtime/service.ts';
import { watchJobsHandler } from '#runtime/services/job-events.ts';
import { localPool, startIssuer } from '../../src/local/access.ts';
import { accessClaims, openIssuerKey, signToken } from '../../src/local/issuer-key.ts';
import { memoryLog } from '../support/backend.ts';
import { startEngine, type TestEngine } from '../support/engine.ts';
import { eventsOf, parseEvents, type Received } from '../support/events.ts';
import { pendingHyperopt } from '../support/hyperopt-workers.ts';
import { pendingJob, SOME_RESULT, SOME_RESULTS, SOME_TIMING } from '../support/jobs.ts';

const home = mkdtempSync(join(tmpdir(), 'touchstone-job-events-'));
const AT = '2026-06-01T00:00:00.000Z';
let engine: TestEngine;
let issuer: Awaited<ReturnType<typeof startIssuer>>;
beforeAll(async () => {
  [engine, issuer] = await Promise.all([startEngine(), startIssuer(home, memoryLog().log)]);
});
afterAll(async () => {
  await Promise.all([engine?.stop(), issuer?.stop()]);
  rmSync(home, { recursive: true });
});

type Steps = readonly (() => Promise<unknown>)[];

/** Streaming backend on tables of its own, at a virtual time. Each pause takes the next step. */
async function scene() {
  const tables = await engine.freshTables();
  const jobs = new DynamoJobStore(engine.client, tables.jobs);
  const hyperoptJobs = new DynamoHyperoptStore(engine.client, tables.jobs);
  const collections = new DynamoCollectionStore(engine.client, tables.series);
  const { log, lines } = memoryLog();
  let now = Date.parse(AT);
  const clock = { now: () => now };
  let steps: (() => Promise<unknown>)[] = [];
  const pause: WatchJobsDeps['pause'] = async (ms) => {
    now += ms;
    await steps.shift()?.();
  };
  const events = new DynamoEventLog(engine.client, tables.jobs, clock);
  const ownership = ownershipOf({ jobs, ...openRegistry(tables.registry, engine.endpoint) });
  const deps = { jobs, hyperoptJobs, collections, events, ownership, clock, pause, log };
  const streams = new EventStreams(100, 1);
  const app = createStreams(
    'backend',
    { watchJobs: watchJobsHandler(deps, streams) },
    {
      log,
      ownership: {},
      authenticate: withIdentityProvider(localPool(issuer.url), { enforced: true }),
      checkResponses: true,
    },
  );
  const open = async (user: string, lastId?: string, role: 'viewer' | 'admin' = 'viewer', query = '') => {
    const claims = accessClaims({ user, role, groups: [], lifetime: 600, now: Date.now() });
    const token = signToken(openIssuerKey(home), claims);
    const headers = {
      authorization: `Bearer ${token}`,
      ...(lastId !== undefined && { 'Last-Event-ID': lastId }),
    };
    return app.request(`/api/v1/events${query}`, { headers });
  };
  /** Events of a stream until it ends, with what happens in its pauses. */
  const follow = async (user: string, during: Steps = [], lastId?: string): Promise<Received[]> => {
    steps = [...during];
    const events = await eventsOf(await open(user, lastId));
    expect(events.at(-1)).toMatchObject({ event: 'reconnect', id: expect.any(String) });
    return events;
  };
  const submit = (id: string, owner: string, created_at = new Date(now).toISOString()) =>
    jobs.create(pendingJob(id, { owner, created_at }));
  const finish = async (id: string) => {
    await jobs.claim(id, 'task', new Date(now).toISOString());
    const outcome = { result: SOME_RESULT, results: SOME_RESULTS, timing: SOME_TIMING, warnings: [] };
    await jobs.complete(id, 1, outcome, new Date(now).toISOString());
  };
  const forward = (ms: number) => {
    now += ms;
  };
  const during = (...next: Steps) => {
    steps = [...next];
  };
  return { jobs, hyperoptJobs, collections, events, lines, open, follow, submit, finish, forward, during };
}

const shown = (events: readonly Received[]) =>
  events.map(({ event, data }) => (event === 'job' ? `${data.id} ${data.status} ${data.progress}` : event));

function collection(id: string, created_at: string): StoredCollection {
  return {
    schema_version: 2,
    revision: 0,
    request_digest: 'x',
    collection_id: id,
    status: 'running',
    exchange: 'sim',
    symbols: ['BTC/USDT:USDT'],
    timeframe: '1h',
    start: AT,
    end: AT,
    progress: 0.5,
    candles: 0,
    error: null,
    attempts: 0,
    created_at,
    updated_at: created_at,
  };
}

it('stream has the unfinished jobs of all kinds, then their changes and new jobs', async () => {
  const { jobs, hyperoptJobs, collections, follow, submit, finish } = await scene();
  await submit('bt-old', 'ann', '2026-01-01T00:00:00.000Z');
  await submit('bt-other', 'bob', '2026-01-01T00:00:00.000Z');
  await hyperoptJobs.create({ ...pendingHyperopt('ho-1'), owner: 'ann' });
  const stored = await collections.create(collection('co-1', AT));
  const events = await follow('ann', [
    () => jobs.claim('bt-old', 'task', AT),
    () => jobs.setProgress('bt-old', 1, 0.5, AT),
    async () => undefined,
    async () => {
      await submit('bt-short', 'ann');
      await finish('bt-short');
    },
    () => collections.update({ ...stored, status: 'completed', progress: 1 }),
    async () => {
      await finish('bt-other');
      await hyperoptJobs.cancel('ho-1', AT);
      await jobs.fail('bt-old', 1, { code: 'SVC001', message: 'why' }, AT);
    },
  ]);
  expect(shown(events)).toEqual([
    'bt-old pending 0',
    'ho-1 pending 0',
    'co-1 running 0.5',
    'bt-old running 0',
    'bt-old running 0.5',
    'bt-short completed 1',
    'co-1 completed 1',
    'bt-old failed null',
    'ho-1 cancelled null',
    'reconnect',
  ]);
  expect(events[0]!.data).toEqual({ kind: 'backtest', id: 'bt-old', status: 'pending', progress: 0 });
  expect(new Set(events.slice(0, -1).map(({ data }) => data.kind))).toEqual(
    new Set(['backtest', 'hyperopt', 'collection']),
  );
});

it('client that reconnects gets every job that has ended in between, then 204', async () => {
  const { follow, submit, finish, open } = await scene();
  await submit('bt-a', 'ann', '2026-01-01T00:00:00.000Z');
  await submit('bt-b', 'ann', '2026-01-02T00:00:00.000Z');
  const response = await open('ann');
  const reader = response.body!.getReader();
  let text = '';
  while (parseEvents(text).length < 2) text += new TextDecoder().decode((await reader.read()).value);
  await reader.cancel();
  // The ID comes with the last event of a pass: before, the client would miss the others.
  const [first, second] = parseEvents(text);
  expect([first!.id, second!.id]).toEqual([undefined, `${Date.parse(AT) - 10_000},bt-a,bt-b`]);
  // One that was followed, one that was submitted and has ended in between, and one that nobody knew.
  await finish('bt-a');
  await submit('bt-c', 'ann');
  await finish('bt-c');
  await submit('bt-foreign', 'bob');
  const events = await follow('ann', [() => finish('bt-b')], second!.id);
  expect(shown(events)).toEqual([
    'bt-a completed 1',
    'bt-b pending 0',
    'bt-c completed 1',
    'bt-b completed 1',
    'reconnect',
  ]);
  const again = await open('ann', events.at(-1)!.id);
  expect([again.status, await again.text()]).toEqual([204, '']);
  expect((await open('eve')).status).toBe(204);
});

it('stream follows what the caller may see, and drops what is no longer shared', async () => {
  const { jobs, follow, submit, open } = await scene();
  await submit('bt-own', 'ann');
  await submit('bt-bob', 'bob');
  const grant = [{ principal: 'user:ann', level: 'read' as const }];
  const events = await follow('ann', [
    () => jobs.sharing.share('bt-bob', [], grant),
    ...Array.from({ length: 10 }, () => async () => undefined),
    () => jobs.sharing.share('bt-bob', grant, []),
    () => jobs.cancel('bt-bob', AT),
    () => jobs.cancel('bt-own', AT),
  ]);
  expect(shown(events)).toEqual([
    'bt-own pending 0',
    'bt-bob pending 0',
    'bt-own cancelled null',
    'reconnect',
  ]);
  // An ID of a client names any jobs: those of others stay hidden.
  await submit('bt-new', 'bob', '2026-01-01T00:00:00.000Z');
  const forged = `${Date.parse(AT) + 60_000},bt-new,bt-none,ho-none,co-none`;
  expect((await open('ann', forged)).status).toBe(204);
  const all = await open('root', undefined, 'admin');
  expect(all.status).toBe(200);
  await all.body!.cancel();
});

it.each(['x', '123', `${Date.parse(AT)},va-1`, `${Date.parse(AT)}${',bt-1'.repeat(101)}`])(
  'Last-Event-ID %s is rejected',
  async (lastId) => {
    const response = await (await scene()).open('ann', lastId);
    expect([response.status, await response.json()]).toMatchObject([
      400,
      { detail: { code: 'VAL005', field: 'Last-Event-ID' } },
    ]);
  },
);

it('stream sends a comment every 15 s, and reconnect after 14 minutes or when storage fails', async () => {
  const { jobs, submit, open, forward, during, lines } = await scene();
  await submit('bt-1', 'ann');
  during(...Array.from({ length: 10 }, () => async () => undefined), async () => forward(14 * 60_000));
  const text = await (await open('ann')).text();
  // After 15 and 30 s, and after the jump.
  expect(text.split(': still here').length - 1).toBe(3);
  const events = parseEvents(text);
  expect(shown(events)).toEqual(['bt-1 pending 0', 'reconnect']);
  expect(events[1]!.id).toMatch(/^\d{13},bt-1$/);
  const { activity } = jobs;
  const rowsOf = [activity.rowsOf.bind(activity), () => Promise.reject(new Error('gone'))];
  const value = {
    unfinished: activity.unfinished.bind(activity),
    submittedAfter: activity.submittedAfter.bind(activity),
    rowsOf: (...call: Parameters<typeof activity.rowsOf>) => rowsOf.shift()!(...call),
  };
  Object.defineProperty(jobs, 'activity', { value });
  const next = await open('ann', events[1]!.id);
  expect(shown(await eventsOf(next))).toEqual(['bt-1 pending 0', 'reconnect']);
  expect(lines.map(({ message }: { message?: string }) => message)).toContain('failed to stream jobs');
});

it('caller with too many open streams gets 503', async () => {
  const { submit, open } = await scene();
  await submit('bt-1', 'ann');
  const [first, second] = [await open('ann'), await open('ann')];
  expect([first.status, second.status]).toEqual([200, 503]);
  await first.body!.cancel();
});

/** Event of a subject. */
function eventAbout(subject: string, type: EventType, sequence = 1): PlatformEvent {
  const [id, time] = [`${subject}#${sequence}#${type}`, AT];
  return {
    specversion: '1.0',
    id,
    source: 'touchstone',
    type,
    subject,
    time,
    datacontenttype: 'application/json',
    sequence,
    data: {},
  } as unknown as PlatformEvent;
}

it('stream with types has the events that the caller may see, continues after its position, and does not end when idle', async () => {
  const { submit, open, events, during, forward } = await scene();
  await submit('bt-ann', 'ann', '2026-01-01T00:00:00.000Z');
  await submit('bt-bob', 'bob', '2026-01-01T00:00:00.000Z');
  const idle = Array.from({ length: 40 }, () => async () => undefined);
  const end = async () => forward(14 * 60_000);
  const steps = [
    () => events.append([eventAbout('backtests/bt-bob', 'backtest.started')]),
    () => events.append([eventAbout('backtests/bt-ann', 'backtest.started')]),
    () => events.append([eventAbout('models/unknown', 'version.staged')]),
    () =>
      events.append([
        eventAbout('series/sim/BTC/1h', 'data.gap'),
        eventAbout('collections/co-1', 'data.collected'),
      ]),
    ...idle,
    () => events.append([eventAbout('backtests/bt-ann', 'backtest.failed', 2)]),
    end,
  ];
  const named = (received: readonly Received[]) =>
    received
      .filter(({ event }) => event !== 'job')
      .map(({ event, data }) => `${event} ${data.subject ?? ''}`.trim());
  during(...steps);
  const received = await eventsOf(await open('ann', undefined, 'viewer', '?types=backtest.*,data.gap'));
  expect(named(received)).toEqual([
    'backtest.started backtests/bt-ann',
    'data.gap series/sim/BTC/1h',
    'backtest.failed backtests/bt-ann',
    'reconnect',
  ]);
  // A client that continues misses nothing; what is seconds old may come again.
  await events.append([eventAbout('backtests/bt-ann', 'backtest.completed', 3)]);
  during(end);
  const next = await eventsOf(await open('ann', received.at(-1)!.id, 'viewer', '?types=backtest.*'));
  expect(named(next)).toContain('backtest.completed backtests/bt-ann');
  expect(named(next)).not.toContain('backtest.started backtests/bt-ann');
  during(end);
  const all = await eventsOf(await open('root', `${Date.parse(AT)}~${Date.parse(AT)}`, 'admin', '?types=*'));
  expect(named(all)).toEqual(
    expect.arrayContaining(['backtest.started backtests/bt-bob', 'version.staged models/unknown']),
  );
});
