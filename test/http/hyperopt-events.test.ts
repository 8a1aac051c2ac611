import { mkdtempSync, rmSync } from 'node:fs';
import { get, type IncomingMessage } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { DynamoJobQueue } from '#adapters/dynamo/job-queue.ts';
import { KEEP_FOREVER } from '#contract/env/retention.ts';
import type { EndedTrial } from '#contract/hyperopt/hyperopt.ts';
import { HyperoptJob, HyperoptTrialEvent } from '#contract/hyperopt/hyperopt-api.ts';
import { runHyperoptWorker, type TrialRunner } from '#domain/hyperopt/run-hyperopt-worker.ts';
import type { WatchHyperoptDeps } from '#domain/hyperopt/watch-hyperopt.ts';
import { unknownHyperopt } from '#domain/shared/unknown-resources.ts';
import { EventStreams } from '#runtime/event-streams.ts';
import { withIdentityProvider } from '#runtime/identity-provider.ts';
import { serve } from '#runtime/serve.ts';
import { createStreams, type ServiceApp } from '#runtime/service.ts';
import { watchHandler } from '#runtime/services/hyperopt-events.ts';
import { localPool, startIssuer } from '../../src/local/access.ts';
import { accessClaims, openIssuerKey, signToken } from '../../src/local/issuer-key.ts';
import { memoryLog } from '../support/backend.ts';
import { startEngine, type TestEngine } from '../support/engine.ts';
import { eventsOf, parseEvents, virtualTime } from '../support/events.ts';
import { computeTrial, computing, pendingHyperopt, workerDeps } from '../support/hyperopt-workers.ts';
import { poll } from '../support/poll.ts';

const home = mkdtempSync(join(tmpdir(), 'touchstone-events-'));
let engine: TestEngine;
let issuer: Awaited<ReturnType<typeof startIssuer>>;
beforeAll(async () => {
  [engine, issuer] = await Promise.all([startEngine(), startIssuer(home, memoryLog().log)]);
});
afterAll(async () => {
  await Promise.all([engine.stop(), issuer.stop()]);
  rmSync(home, { recursive: true });
});

interface Host {
  readonly app: ServiceApp;
  /** Streams with a reader. */
  readonly followed: () => number;
  readonly lines: ReturnType<typeof memoryLog>['lines'];
}

/** Streaming service whose pauses take no time. */
function host(
  changes: Partial<WatchHyperoptDeps> = {},
  most = 100,
  enforced = false,
  mostPerCaller = 25,
): Host {
  const { log, lines } = memoryLog();
  const { hyperoptJobs, ledger } = workerDeps(engine);
  const deps = { hyperoptJobs, ledger, ...virtualTime(), log, ...changes };
  let following = 0;
  class CountedStreams extends EventStreams {
    override open(caller: string, events: Parameters<EventStreams['open']>[1], closing?: AbortSignal) {
      const counted = async function* (signal: AbortSignal) {
        following++;
        try {
          yield* events(signal);
        } finally {
          following--;
        }
      };
      return super.open(caller, counted, closing);
    }
  }
  const queue = new DynamoJobQueue(engine.client, engine.tables.jobs);
  const handler = watchHandler(
    { ...deps, queue, retention: KEEP_FOREVER },
    new CountedStreams(most, mostPerCaller),
  );
  const app = createStreams(
    'strategy',
    { watchHyperopt: handler },
    {
      log,
      ownership: { hyperopt: { sharing: hyperoptJobs.sharing, unknown: unknownHyperopt } },
      authenticate: withIdentityProvider(localPool(issuer.url), { enforced }),
      checkResponses: true,
    },
  );
  return { app, lines, followed: () => following };
}

let jobs = 0;
async function newHyperopt(changes: Partial<ReturnType<typeof pendingHyperopt>> = {}): Promise<string> {
  const jobId = `ho-${++jobs}`;
  await workerDeps(engine).hyperoptJobs.create({ ...pendingHyperopt(jobId, { workers: 4 }), ...changes });
  return jobId;
}

/** Runs a hyperopt job with four alternating workers: its trials finish out of numeric order. */
async function run(jobId: string): Promise<void> {
  const unsteady = (seed: number): TrialRunner => {
    let calls = seed;
    const turns = () => (calls++ * 7919) % 13;
    return {
      ...computing,
      run: async (request) => {
        for (let left = turns(); left > 0; left--) await new Promise(setImmediate);
        return computeTrial(request);
      },
    };
  };
  await Promise.all(
    [0, 1, 2, 3].map((worker) =>
      runHyperoptWorker(
        workerDeps(engine, unsteady(worker)),
        jobId,
        { worker, task: `task-${worker}` },
        new AbortController().signal,
      ),
    ),
  );
}

async function inOrder(jobId: string): Promise<EndedTrial[]> {
  const trials = (await workerDeps(engine).ledger.read(jobId, 0)) as EndedTrial[];
  return trials.sort((a, b) => a.sequence - b.sequence);
}

const at = (jobId: string, after?: number) =>
  `/api/v1/hyperopt/${jobId}/events${after === undefined ? '' : `?after=${after}`}`;

let finished: string;
let whole: Awaited<ReturnType<typeof eventsOf>>;
describe('hyperopt event stream', () => {
  let response: Response;
  beforeAll(async () => {
    finished = await newHyperopt();
    response = await host().app.request(at(finished));
    const reading = eventsOf(response);
    await run(finished);
    whole = await reading;
  });

  it('events are a stream with the headers of every response', async () => {
    expect(response.status).toBe(200);
    const { headers } = response;
    expect(headers.get('Content-Type')).toBe('text/event-stream');
    expect(headers.get('Cache-Control')).toBe('no-store');
    expect(headers.get('X-Correlation-ID')).toMatch(/^[0-9a-f-]{36}$/);
    expect(headers.get('X-Content-Type-Options')).toBe('nosniff');
    const text = await (await host().app.request(at(finished))).text();
    expect(text.startsWith('retry: 3000\n\nid: 0\nevent: snapshot\ndata: {')).toBe(true);
  });

  it('events are the job, each trial in order of its end, and the finished job', async () => {
    const [snapshot, ...rest] = whole;
    expect(snapshot).toMatchObject({ event: 'snapshot', id: 0, data: { status: 'pending', progress: 0 } });
    expect(HyperoptJob.safeParse(snapshot!.data).error).toBeUndefined();
    const status = rest.pop()!;
    expect(status).toMatchObject({ event: 'status', id: 41, data: { status: 'completed', progress: 100 } });
    expect(HyperoptJob.safeParse(status.data).error).toBeUndefined();
    const ended = await inOrder(finished);
    expect(ended.map(({ number }) => number)).not.toEqual(ended.map((_, i) => i));
    let best: number | null = null;
    expect(rest).toEqual(
      ended.map((trial, i) => {
        const { number, state, params } = trial;
        const value = trial.state === 'complete' ? trial.value : null;
        if (value !== null) best = Math.max(best ?? Number.NEGATIVE_INFINITY, value);
        const progress = Math.floor((100 * (i + 1)) / 40);
        return {
          event: 'trial',
          id: i + 1,
          data: {
            number,
            state,
            params,
            value,
            violation: value === null ? null : 0,
            best_value: best,
            progress,
          },
        };
      }),
    );
    for (const { data } of rest) expect(HyperoptTrialEvent.strict().safeParse(data).error).toBeUndefined();
    expect(new Set(rest.map(({ data }) => data.state))).toEqual(new Set(['complete', 'pruned', 'failed']));
  });

  it('stream resumes after any event without a difference', async () => {
    const { app } = host();
    for (let id = 0; id <= 40; id++) {
      const headers = { 'Last-Event-ID': String(id) };
      const [snapshot, ...rest] = await eventsOf(
        await app.request(at(finished, id === 7 ? 0 : id), { headers }),
      );
      expect(snapshot).toMatchObject({ event: 'snapshot', id, data: { status: 'completed' } });
      expect(rest).toEqual(whole.slice(1 + id));
    }
    const [, ...byQuery] = await eventsOf(await app.request(at(finished, 33)));
    expect(byQuery).toEqual(whole.slice(34));
  });

  it('permuted searches are events after those of the trials, and move the progress', async () => {
    const jobId = await newHyperopt({
      config: pendingHyperopt('-', { workers: 4, permutations: 19 }).config,
    });
    await run(jobId);
    const { app } = host();
    const [snapshot, ...rest] = await eventsOf(await app.request(at(jobId)));
    expect(snapshot!.data).toMatchObject({ progress: 100, permutations: { ended: 19, total: 19 } });
    const trials = rest.slice(0, 40);
    // 40 of 20 times 40 trials are 5 %.
    expect(trials.at(-1)).toMatchObject({ event: 'trial', id: 40, data: { progress: 5 } });
    expect(trials[19]).toMatchObject({ event: 'trial', id: 20, data: { progress: 2 } });
    const searches = rest.slice(40, -1);
    expect(searches).toEqual(
      Array.from({ length: 19 }, (_, index) => ({
        event: 'permuted_search',
        id: 41 + index,
        data: {
          ended: index + 1,
          total: 19,
          progress: 5 * (index + 2),
          best_value: snapshot!.data.best_value,
        },
      })),
    );
    expect(rest.at(-1)).toMatchObject({ event: 'status', id: 60, data: { status: 'completed' } });
    for (const id of [40, 45, 59]) {
      const [, ...later] = await eventsOf(await app.request(at(jobId, id)));
      expect(later).toEqual(rest.slice(id));
    }
    expect((await app.request(at(jobId, 60))).status).toBe(204);
  });

  it('stream after the last event returns 204', async () => {
    const { app } = host();
    for (const id of [41, 42, 10_001]) {
      const response = await app.request(at(finished), { headers: { 'Last-Event-ID': String(id) } });
      expect(response.status).toBe(204);
      expect(await response.text()).toBe('');
      expect(response.headers.get('X-Correlation-ID')).toBeTruthy();
    }
  });

  it('stream has the same events for a client that reconnects repeatedly', async () => {
    const { app } = host();
    const jobId = await newHyperopt();
    const running = run(jobId);
    const found: typeof whole = [];
    for (let last = 0; last < 41; last = found.at(-1)?.id ?? 0) {
      const headers = { 'Last-Event-ID': String(last) };
      const reader = (await app.request(at(jobId), { headers })).body!.getReader();
      let text = '';
      while (parseEvents(text).length < 6) {
        const { done, value } = await reader.read();
        if (done) break;
        text += new TextDecoder().decode(value);
      }
      await reader.cancel();
      found.push(...parseEvents(text).slice(1));
    }
    await running;
    expect(found.map(({ id }) => id)).toEqual(Array.from({ length: 41 }, (_, i) => i + 1));
    expect(found.slice(0, 40).map(({ data }) => data.number)).toEqual(
      (await inOrder(jobId)).map(({ number }) => number),
    );
  });

  it('stream ends when the job is cancelled', async () => {
    const jobId = await newHyperopt();
    const response = await host().app.request(at(jobId));
    const reading = eventsOf(response);
    await workerDeps(engine).hyperoptJobs.cancel(jobId, new Date().toISOString());
    expect(await reading).toMatchObject([
      { event: 'snapshot', data: { status: 'pending' } },
      { event: 'status', id: 1, data: { status: 'cancelled' } },
    ]);
  });
});

describe('access to hyperopt events', () => {
  const token = (user: string, role: 'viewer' | 'researcher' = 'viewer') => {
    const claims = accessClaims({ user, role, groups: [], lifetime: 600, now: Date.now() });
    return { Authorization: `Bearer ${signToken(openIssuerKey(home), claims)}` };
  };
  const answer = async (jobId: string, headers: Record<string, string> = {}) => {
    const response = await host({}, 100, true).app.request(at(jobId), { headers });
    if (response.status === 200) {
      await response.body!.cancel();
      return [200];
    }
    const { detail } = (await response.json()) as any;
    return [response.status, detail.code];
  };

  it('events are visible to the owner and to principals with a grant', async () => {
    const jobId = await newHyperopt({ owner: 'ann' });
    expect(await answer(jobId)).toEqual([401, 'AUTH003']);
    expect(await answer(jobId, token('ann'))).toEqual([200]);
    expect(await answer(jobId, token('bob', 'researcher'))).toEqual([403, 'AUTH005']);
    const { sharing } = workerDeps(engine).hyperoptJobs as unknown as {
      sharing: { share(id: string, before: unknown[], after: unknown[]): Promise<unknown> };
    };
    await sharing.share(jobId, [], [{ principal: 'user:bob', level: 'read' }]);
    expect(await answer(jobId, token('bob'))).toEqual([200]);
    expect(await answer('ho-none', token('ann'))).toEqual([404, 'OPT001']);
  });

  it.each(['x', '-1', '1.5', '10202', ' '])('invalid event ID is rejected: %j', async (id) => {
    const { app } = host();
    const response = await app.request(at(finished), { headers: { 'Last-Event-ID': `a${id}` } });
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ detail: { code: 'VAL005', field: 'Last-Event-ID' } });
    const query = await app.request(`${at(finished)}?after=${encodeURIComponent(id)}`);
    expect(await query.json()).toMatchObject({ detail: { code: 'VAL005', field: 'after' } });
  });
});

describe('host of event streams', () => {
  it('host limits concurrent streams and accepts another when one ends', async () => {
    const { app, followed } = host({}, 2);
    const jobId = await newHyperopt();
    const bodies = [await app.request(at(jobId)), await app.request(at(jobId))].map(({ body }) =>
      body!.getReader(),
    );
    const rejected = await app.request(at(jobId));
    expect(rejected.status).toBe(503);
    expect(rejected.headers.get('Retry-After')).toBe('1');
    expect(await rejected.json()).toMatchObject({ detail: { code: 'HTTP503' } });
    await bodies[0]!.read();
    await bodies[0]!.read();
    await bodies[0]!.cancel();
    expect(followed()).toBe(0);
    const again = await app.request(at(jobId));
    expect(again.status).toBe(200);
    await again.body!.cancel();
    await bodies[1]!.cancel();
  });

  it('host limits the streams of one caller and accepts those of others', async () => {
    const { app } = host({}, 100, true, 2);
    const jobId = await newHyperopt();
    const opened = (user: string) => {
      const claims = accessClaims({ user, role: 'admin', lifetime: 60, now: Date.now() });
      const headers = { authorization: `Bearer ${signToken(openIssuerKey(home), claims)}` };
      return app.request(at(jobId), { headers });
    };
    const taken = [await opened('ada'), await opened('ada')];
    const rejected = await opened('ada');
    expect(rejected.status).toBe(503);
    expect(await rejected.json()).toMatchObject({
      detail: {
        code: 'HTTP503',
        message: expect.stringContaining('Close one'),
        context: { streams: 2, max: 2 },
      },
    });
    taken.push(await opened('bob'));
    expect(taken.map(({ status }) => status)).toEqual([200, 200, 200]);
    await taken[0]!.body!.cancel();
    const again = await opened('ada');
    expect(again.status).toBe(200);
    for (const { body } of [...taken.slice(1), again]) await body!.cancel();
  });

  it('HEAD does not keep a stream open', async () => {
    const { app } = host({}, 1);
    for (let i = 0; i < 3; i++) {
      const response = await app.request(at(finished), { method: 'HEAD' });
      expect(response.status).toBe(200);
      expect(await response.text()).toBe('');
    }
  });

  it('stream reads the ledger only when its client reads', async () => {
    const { ledger } = workerDeps(engine);
    let reads = 0;
    const read: typeof ledger.read = (...call) => {
      reads++;
      return ledger.read(...call);
    };
    const reader = (await host({ ledger: { read } }).app.request(at(finished))).body!.getReader();
    await reader.read();
    await reader.read();
    for (let turns = 0; turns < 20; turns++) await sleep(1);
    expect(reads).toBe(0);
    await reader.read();
    expect(reads).toBe(1);
    await reader.cancel();
  });

  /** Pause of 60 s, which only an abort ends early. */
  const longPause: WatchHyperoptDeps['pause'] = (_, signal) =>
    sleep(60_000, undefined, { signal }).catch(() => undefined);

  it('host releases the stream of a disconnected client', async () => {
    const { app, followed } = host({ pause: longPause });
    const { log } = memoryLog();
    const server = await serve(app, { port: 0, hostname: '127.0.0.1', log });
    const jobId = await newHyperopt();
    const clients = await Promise.all(
      Array.from({ length: 8 }, async () => {
        const request = get(`${server.url}${at(jobId)}`);
        const response = await new Promise<IncomingMessage>((resolve) => request.on('response', resolve));
        await new Promise((resolve) => response.once('data', resolve));
        response.on('error', () => undefined);
        return request;
      }),
    );
    await poll(() => followed() === 8);
    for (const client of clients) client.destroy();
    await poll(() => followed() === 0);
    await server.close();
  });

  it('stopping host ends its streams so that clients reconnect to another host', async () => {
    const { app, followed } = host({ pause: longPause });
    const { log } = memoryLog();
    const server = await serve(app, { port: 0, hostname: '127.0.0.1', log });
    const response = await fetch(`${server.url}${at(await newHyperopt())}`);
    const reading = eventsOf(response);
    await poll(() => followed() === 1);
    await server.close();
    expect((await reading).map(({ event }) => event)).toEqual(['snapshot', 'reconnect']);
  });

  it('failed storage ends the stream with a log line and no details for the client', async () => {
    let reads = 0;
    const hyperoptJobs: WatchHyperoptDeps['hyperoptJobs'] = {
      get: (id) =>
        reads++ === 0 ? workerDeps(engine).hyperoptJobs.get(id) : Promise.reject(new Error('secret')),
    };
    const { app, lines } = host({ hyperoptJobs });
    const text = await (await app.request(at(await newHyperopt()))).text();
    expect(parseEvents(text).map(({ event }) => event)).toEqual(['snapshot', 'reconnect']);
    expect(text).not.toContain('secret');
    expect(lines.filter(({ level }) => level === 'error')).toHaveLength(1);
  });
});
