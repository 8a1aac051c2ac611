import { beforeEach, describe, expect, it } from 'vitest';
import { DynamoCollectionStore } from '#adapters/dynamo/collection-store.ts';
import { ulids } from '#adapters/ids.ts';
import { sha256 } from '#adapters/sha256.ts';
import { CodedError } from '#contract/values/errors.ts';
import { cancelCollection } from '#domain/data/cancel-collection.ts';
import type { CollectionStore } from '#domain/data/collection-queue.ts';
import { CollectionWorker } from '#domain/data/collection-worker.ts';
import { getCollection } from '#domain/data/read-collections.ts';
import { startCollection } from '#domain/data/start-collection.ts';
import { fileEngine } from '../../support/file-engine.ts';
import {
  at,
  BTC,
  DAY,
  ETH,
  exchangesOf,
  type Market,
  openMarket,
  TestExchange,
  untilAborted,
} from './market.ts';

/** Several service processes on one database and one test clock: each is a `CollectionWorker`. */
const engine = fileEngine();
let market: Market;
let exchange: TestExchange;
let now: number;
beforeEach(async () => {
  now = at('2024-06-01');
  market = await openMarket(engine, now);
  exchange = new TestExchange();
  return async () => {
    await Promise.all(processes.splice(0).map((each) => each.worker.stop()));
    await market.stop();
  };
});

interface Process {
  readonly worker: CollectionWorker;
  /** Stores a collection and wakes the worker, as the service does. */
  start(input: Parameters<typeof startCollection>[1]): ReturnType<typeof startCollection>;
  /** Periodic actions by interval, ms. */
  readonly timers: Map<number, () => void>;
  readonly errors: unknown[];
}
const processes: Process[] = [];

/** `isOnlyProcess`: no other process uses the database. */
function start(
  changes: { isOnlyProcess?: boolean; store?: CollectionStore; exchange?: TestExchange } = {},
): Process {
  const timers = new Map<number, () => void>();
  const errors: unknown[] = [];
  const deps = {
    ...market,
    clock: { now: () => now },
    collections: changes.store ?? market.collections,
    exchanges: exchangesOf(changes.exchange ?? exchange),
    defaultExchange: 'test',
    ids: ulids,
    digest: sha256,
    every: (ms: number, action: () => void) => {
      timers.set(ms, action);
      return () => timers.delete(ms);
    },
    log: {
      warn: () => undefined,
      error: (_: string, { error }: Readonly<Record<string, unknown>>) => void errors.push(error),
    },
    isOnlyProcess: changes.isOnlyProcess ?? false,
  };
  const worker = new CollectionWorker(deps);
  const started: Process = {
    worker,
    timers,
    errors,
    start: async (input) => {
      const collection = await startCollection(deps, input);
      worker.wake();
      return collection;
    },
  };
  processes.push(started);
  return started;
}

const LOOK = 30_000;
const RENEW = 20_000;
const body = { symbols: [BTC], timeframe: '1h', start: '2024-01-01', end: '2024-04-01' };
const input = (idempotencyKey: string | null = null, changes: object = {}) => ({
  body: { ...body, ...changes },
  owner: 'me',
  idempotencyKey,
});

async function until(id: string, ...statuses: string[]) {
  for (;;) {
    const collection = await getCollection(market, id);
    if (statuses.includes(collection.status)) return collection;
    await new Promise(setImmediate);
  }
}

/** Blocks the exchange's calls until `open`; `begins` resolves when a call has begun. */
function gated(gatedExchange = exchange) {
  let open = () => {};
  let begun = () => {};
  const gate = new Promise<void>((resolve) => {
    open = resolve;
  });
  const begins = new Promise<void>((resolve) => {
    begun = resolve;
  });
  gatedExchange.during = (signal) => {
    begun();
    return Promise.race([gate, untilAborted(signal)]);
  };
  return { open: () => open(), begins };
}

describe('stopped worker', () => {
  it('stopped worker leaves its collections to the next, which fetches only missing candles', async () => {
    const first = start();
    // 5m is fetched month by month: the second month hangs.
    let calls = 0;
    let second = () => {};
    const reached = new Promise<void>((resolve) => {
      second = resolve;
    });
    exchange.during = async (signal) => {
      if (++calls < 2) return;
      second();
      await untilAborted(signal);
    };
    const one = await first.start(input(null, { timeframe: '5m' }));
    const two = await first.start(input(null, { symbols: [ETH] }));
    await reached;
    await first.worker.stop();
    expect(await getCollection(market, one.collection_id)).toMatchObject({
      status: 'pending',
      progress: expect.closeTo(1 / 3),
      candles: 31 * 288,
      error: null,
    });
    exchange.asked();
    exchange.during = async () => {};
    const next = start();
    next.worker.resume();
    expect(await until(one.collection_id, 'completed')).toMatchObject({
      progress: 1,
      candles: 91 * 288,
    });
    expect(await until(two.collection_id, 'completed')).toMatchObject({ candles: 91 * 24 });
    expect(exchange.asked()).toEqual([
      `${BTC} 2024-02-01T00:00 2024-03-01T00:00`,
      `${BTC} 2024-03-01T00:00 2024-04-01T00:00`,
      `${ETH} 2024-01-01T00:00 2024-04-01T00:00`,
    ]);
  });
});

describe('crashed worker', () => {
  it('hung worker keeps its lease for 60 seconds and records nothing after takeover', async () => {
    const dead = start();
    const { open, begins } = gated();
    const { collection_id: id } = await dead.start(input());
    await begins;
    const other = new TestExchange();
    const next = start({ exchange: other });
    next.worker.resume();
    now += 59_999;
    next.timers.get(LOOK)!();
    await next.worker.stop();
    expect(other.asked()).toEqual([]);

    const third = start({ exchange: other });
    now += 1;
    third.worker.resume();
    const ended = await until(id, 'completed');
    expect(ended).toMatchObject({ candles: 91 * 24 });
    open();
    await dead.worker.stop();
    expect(await getCollection(market, id)).toEqual(ended);
  });

  it('live worker renews its lease and keeps its collection', async () => {
    const alive = start();
    const { open, begins } = gated();
    const { collection_id: id } = await alive.start(input());
    await begins;
    const other = new TestExchange();
    const next = start({ exchange: other });
    for (let minutes = 0; minutes < 3; minutes++) {
      now += 45_000;
      const { revision } = await market.collections.changeQueue((queue) => queue);
      alive.timers.get(RENEW)!();
      for (;;) {
        const queue = await market.collections.changeQueue((each) => each);
        if (queue.revision > revision) break;
        await new Promise(setImmediate);
      }
      next.worker.resume();
      next.timers.get(LOOK)!();
    }
    open();
    await until(id, 'completed');
    expect(other.calls).toEqual([]);
  });

  it('next worker takes over immediately when it is the only process', async () => {
    const dead = start();
    const { begins } = gated();
    const { collection_id: id } = await dead.start(input());
    await begins;
    const next = start({ isOnlyProcess: true, exchange: new TestExchange() });
    next.worker.resume();
    expect(await until(id, 'completed')).toMatchObject({ candles: 91 * 24 });
  });

  it('collection fails after 5 crashes without progress', async () => {
    for (let i = 0; i < 5; i++) {
      const dying = start({ isOnlyProcess: true });
      const { begins } = gated();
      if (i === 0) await dying.start(input('k'));
      else dying.worker.resume();
      await begins;
    }
    const next = start({ isOnlyProcess: true });
    next.worker.resume();
    const { collection_id: id } = await next.start(input('k'));
    expect(await until(id, 'failed')).toMatchObject({
      error: 'SVC001 Its process ended, 5 times without progress. Start a new collection.',
    });
    exchange.during = async () => {};
    const { collection_id } = await next.start(input());
    await until(collection_id, 'completed');
  });
});

describe('storage failure', () => {
  it('collection stays pending and resumes when storage recovers', async () => {
    const process = start();
    const write = market.candles.write;
    market.candles.write = () => Promise.reject(new CodedError('DATA005'));
    const { collection_id: id } = await process.start(input());
    const waiting = async () => {
      for (;;) {
        const collection = await getCollection(market, id);
        if (collection.error) return collection;
        await new Promise(setImmediate);
      }
    };
    expect(await waiting()).toMatchObject({ status: 'pending', error: 'DATA005 Data storage unavailable' });
    process.worker.resume();
    market.candles.write = write;
    while (process.errors.length === 0) await new Promise(setImmediate);
    process.timers.get(LOOK)!();
    expect(await until(id, 'completed')).toMatchObject({ error: null, candles: 91 * 24 });
  });
});

describe('cancelCollection', () => {
  const queued = async () => (await market.collections.changeQueue((queue) => queue)).ids;
  const cancel = (id: string, store = market.collections) =>
    cancelCollection(
      {
        collections: store,
        clock: { now: () => now },
        log: { warn: () => undefined, error: () => undefined },
      },
      id,
    );

  it('cancelled collection stops in its process, keeps its candles, and the next one starts', async () => {
    const process = start();
    let calls = 0;
    let second = () => {};
    const reached = new Promise<void>((resolve) => {
      second = resolve;
    });
    // 5m is fetched month by month: the second month hangs.
    exchange.during = async (signal) => {
      if (++calls !== 2) return;
      second();
      await untilAborted(signal);
    };
    const one = await process.start(input(null, { timeframe: '5m' }));
    // Another process queues it, so the first one is not woken.
    const two = await start().start(input(null, { symbols: [ETH] }));
    await reached;
    now += 1;
    const cancelled = await cancel(one.collection_id);
    expect(cancelled).toMatchObject({ status: 'cancelled', updated_at: new Date(now).toISOString() });
    expect(await queued()).toEqual([two.collection_id]);
    process.worker.cancel(one.collection_id);
    expect(await until(two.collection_id, 'completed')).toMatchObject({ candles: 91 * 24 });
    expect(await getCollection(market, one.collection_id)).toEqual(cancelled);
    const series = await market.series.getMany('test', [{ symbol: BTC, timeframe: '5m' }]);
    expect(series.get(`${BTC}#5m`)?.count).toBe(31 * 288);
    await process.worker.stop();
    expect(await market.collections.changeQueue((queue) => queue)).toMatchObject({
      ids: [],
      lease_owner: null,
    });
  });

  it('process that was not called notices the cancellation when it renews its lease', async () => {
    const process = start();
    const { begins } = gated();
    const one = await process.start(input());
    await begins;
    await cancel(one.collection_id);
    exchange.during = async () => {};
    const two = await process.start(input(null, { symbols: [ETH] }));
    process.timers.get(RENEW)!();
    await until(two.collection_id, 'completed');
    expect((await getCollection(market, one.collection_id)).status).toBe('cancelled');
    expect(process.errors).toEqual([]);
  });

  it('waiting collection is never requested', async () => {
    const process = start();
    const { open, begins } = gated();
    const one = await process.start(input());
    await begins;
    const two = await process.start(input(null, { symbols: [ETH] }));
    await cancel(two.collection_id);
    process.worker.cancel(two.collection_id);
    open();
    await until(one.collection_id, 'completed');
    await process.worker.stop();
    expect(exchange.calls.filter(({ symbol }) => symbol === ETH)).toEqual([]);
  });

  it('worker removes a collection whose canceller died before it left the queue', async () => {
    const stopped = start();
    await stopped.worker.stop();
    const { collection_id: id } = await stopped.start(input());
    const error = await cancel(id, {
      ...undying(),
      changeQueue: () => Promise.reject(new CodedError('DATA005')),
    });
    expect(error.status).toBe('cancelled');
    expect(await queued()).toEqual([id]);
    const next = start();
    next.worker.resume();
    const { collection_id } = await next.start(input(null, { symbols: [ETH] }));
    await until(collection_id, 'completed');
    // A worker that is stopped between the two writes leaves the completed collection to the next one.
    await expect.poll(queued).toEqual([]);
    await next.worker.stop();
    expect(exchange.calls.filter(({ symbol }) => symbol === BTC)).toEqual([]);
  });

  it('cancellation and progress at the same time: the cancellation is repeated on the new progress', async () => {
    const process = start();
    const { begins } = gated();
    const { collection_id: id } = await process.start(input());
    await begins;
    let written = false;
    const cancelled = await cancel(id, {
      ...undying(),
      update: async (collection) => {
        if (!written) {
          written = true;
          const stored = (await market.collections.get(id))!;
          await market.collections.update({ ...stored, progress: 0.5 });
        }
        return market.collections.update(collection);
      },
    });
    expect(cancelled).toMatchObject({ status: 'cancelled', progress: 0.5 });
  });

  it.each(['completed', 'cancelled'])('%s collection is not cancelled', async (status) => {
    const process = start();
    if (status === 'cancelled') gated();
    const { collection_id: id } = await process.start(input());
    if (status === 'cancelled') await cancel(id);
    await until(id, status);
    await expect(cancel(id)).rejects.toMatchObject({
      code: 'RES005',
      message: `The collection is already ${status}`,
    });
  });

  /** The store, as an object whose methods can be replaced. */
  function undying(): CollectionStore {
    const { collections: store } = market;
    return {
      create: (collection) => store.create(collection),
      get: (id) => store.get(id),
      list: (...query) => store.list(...query),
      update: (collection) => store.update(collection),
      changeQueue: (change) => store.changeQueue(change),
    };
  }
});

describe('startCollection', () => {
  it('startCollection rejects a future start and defaults to the last 90 days', async () => {
    const process = start();
    const now = market.clock.now();
    const range = (from: number | undefined, to: number) =>
      input(null, { start: from && new Date(from).toISOString(), end: new Date(to).toISOString() });
    for (const from of [now, now + 300 * DAY]) {
      await expect(process.start(range(from, now + 400 * DAY))).rejects.toMatchObject({
        code: 'VAL001',
        field: 'start',
        message: expect.stringContaining('future'),
      });
    }
    const last = async (to: number) => (await process.start(range(undefined, to))).start;
    expect(await last(now + 400 * DAY)).toBe(new Date(now - 90 * DAY).toISOString());
    expect(await last(now - 10 * DAY)).toBe(new Date(now - 100 * DAY).toISOString());
  });

  it('startCollection error states the accepted time range', async () => {
    const old = start().start(input(null, { start: '1900-01-01' }));
    await expect(old).rejects.toMatchObject({
      code: 'VAL001',
      message: 'start must be ISO 8601, 20250131 or 20250131T0630, from 2000-01-01 to 2099-12-31',
    });
  });

  it('concurrent startCollection calls with one key create and run one collection', async () => {
    const both = [start(), start()];
    const accepted = await Promise.all(Array.from({ length: 10 }, (_, i) => both[i % 2]!.start(input('k'))));
    const ids = new Set(accepted.map((each) => each.collection_id));
    expect(ids.size).toBe(1);
    await until([...ids][0]!, 'completed');
    await Promise.all(both.map((each) => each.worker.stop()));
    expect(exchange.asked()).toHaveLength(1);
  });

  it('worker runs a collection whose creator died before queueing it', async () => {
    const dying = start({
      store: {
        create: (collection) => market.collections.create(collection),
        get: (id) => market.collections.get(id),
        list: (...query) => market.collections.list(...query),
        update: (collection) => market.collections.update(collection),
        changeQueue: async (change) => {
          const queue = await market.collections.changeQueue((each) => each);
          if (change(queue) !== queue) throw new Error('killed');
          return queue;
        },
      },
    });
    await expect(dying.start(input('k'))).rejects.toThrow('killed');
    const next = start();
    next.worker.resume();
    const { collection_id: id } = await next.start(input('k'));
    expect(await until(id, 'completed')).toMatchObject({ candles: 91 * 24 });
  });

  it('completed collection is returned without another run when its key is reused', async () => {
    const process = start();
    const { collection_id: id } = await process.start(input('k'));
    const ended = await until(id, 'completed');
    exchange.asked();
    expect(await process.start(input('k'))).toEqual(ended);
    await process.worker.stop();
    expect(exchange.calls).toEqual([]);
  });
});

it('DynamoCollectionStore rejects an invalid stored item with its ID', async () => {
  const { series } = await engine.freshTables();
  const store = new DynamoCollectionStore(engine.client, series);
  await store.update({ revision: 0, collection_id: 'co-1', status: 'done' } as never);
  await expect(store.get('co-1')).rejects.toMatchObject({ code: 'SVC001', message: /co-1 cannot be read/ });
});
