import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { DynamoJobRetention } from '#adapters/dynamo/job-retention.ts';
import { DynamoSignalsStore } from '#adapters/dynamo/signals-store.ts';
import { FileObjectStore } from '#adapters/local/file-object-store.ts';
import { sha256 } from '#adapters/sha256.ts';
import { KEEP_FOREVER } from '#contract/env/retention.ts';
import type { StoredSignals } from '#contract/market-data/stored-signals.ts';
import { expireSignals } from '#domain/signals/expire-signals.ts';
import { LocalSignalUploads } from '../../src/local/signal-uploads.ts';
import { type AccessFixture, accessFixture, type Person } from '../support/access-fixture.ts';
import { pendingJob } from '../support/jobs.ts';

const FILES = '/api/v1/signals';
const REQUEST = { format: 'csv', bytes: 10, sha256: '0'.repeat(64) };
const DAY_MS = 86_400_000;

const folder = mkdtempSync(join(tmpdir(), 'touchstone-signals-http-'));
const objects = new FileObjectStore(folder);
const signalFiles = new LocalSignalUploads(objects, Date);
let fixture: AccessFixture;
let ann: Person;
let bob: Person;
beforeAll(async () => {
  fixture = await accessFixture({ signalFiles });
  [ann, bob] = [fixture.person('ann'), fixture.person('bob')];
});
afterAll(async () => {
  await fixture?.stop();
  rmSync(folder, { recursive: true });
});

/** A file that is uploaded. */
async function fileOf(owner: Person): Promise<string> {
  const { status, body } = await owner.post(FILES, REQUEST);
  expect(status).toBe(201);
  await objects.put(`signals/${body.signals_id}`, Buffer.alloc(10), 'text/csv');
  return body.signals_id;
}

/** A completed backtest with a file. */
const backtestOf = (owner: string, signals: string) =>
  fixture.backtest(
    owner,
    {
      config: {
        ...pendingJob('bt-0').config,
        strategy: 'signals',
        signals,
        signals_digest: REQUEST.sha256,
      },
    },
    'completed',
  );

const submit = (person: Person, signals: string) =>
  person.post('/api/v1/backtests', { config: { strategy: 'signals', signals } });

describe('files of signals', () => {
  it('a repeated request does not return a file that is of another user now', async () => {
    const key = { 'Idempotency-Key': 'file' };
    const { signals_id } = (await ann.post(FILES, REQUEST, key)).body;
    expect((await ann.post(FILES, REQUEST, key)).body).toMatchObject({ signals_id });
    const given = { resource: `signals/${signals_id}`, owner: 'bob' };
    expect((await fixture.person('root', 'admin').post('/api/v1/ownership', given)).status).toBe(200);
    const repeated = await ann.post(FILES, REQUEST, key);
    expect([repeated.status, repeated.code]).toEqual([409, 'RES005']);
    await bob.delete(`${FILES}/${signals_id}`);
  });

  it('are received two of the largest at a time; the bodies of further uploads wait unread', async () => {
    const bytes = 1_000;
    const content = Buffer.alloc(bytes, 'x');
    const uploads = new LocalSignalUploads(objects, Date, 2 * bytes);
    const app = uploads.infront({ fetch: () => new Response(null, { status: 404 }) });
    let open = 0;
    let most = 0;
    const upload = async (number: number) => {
      const signals_id = `sg-${String(number).padStart(26, '0')}`;
      const file = {
        signals_id,
        bytes,
        format: 'csv',
        sha256: sha256(content),
        owner: `user-${number}`,
      } as StoredSignals;
      const { url } = await uploads.offer(file);
      const parts = (async function* () {
        most = Math.max(most, ++open);
        for (let at = 0; at < bytes; at += 100) {
          await new Promise(setImmediate);
          yield content.subarray(at, at + 100);
        }
        open--;
      })();
      const body = new ReadableStream(
        {
          pull: async (to) => parts.next().then(({ value, done }) => (done ? to.close() : to.enqueue(value))),
        },
        { highWaterMark: 0 },
      );
      const init = { method: 'PUT', body, duplex: 'half' } as RequestInit;
      const response = await app.fetch(new Request(`http://localhost${url}`, init), {} as never);
      expect([response.status, await uploads.isUploaded(signals_id)]).toEqual([200, true]);
    };
    await Promise.all(Array.from({ length: 20 }, (_, number) => upload(number)));
    expect([most, open]).toEqual([2, 0]);
  });

  it('of an owner who sends nothing leave room for those of others', async () => {
    const content = Buffer.alloc(1_000, 'x');
    const uploads = new LocalSignalUploads(objects, Date, 2 * content.length);
    const app = uploads.infront({ fetch: () => new Response(null, { status: 404 }) });
    const send = async (number: number, owner: string, body: BodyInit) => {
      const signals_id = `sg-${String(number).padStart(26, '1')}`;
      const { url } = await uploads.offer({
        signals_id,
        owner,
        bytes: content.length,
        format: 'csv',
        sha256: sha256(content),
      } as StoredSignals);
      const init = { method: 'PUT', body, duplex: 'half' } as RequestInit;
      return app.fetch(new Request(`http://localhost${url}`, init), {} as never);
    };
    const silent = Promise.withResolvers<void>();
    const nothing = () => new ReadableStream({ pull: async (to) => silent.promise.then(() => to.close()) });
    const slow = [send(1, 'eve', nothing()), send(2, 'eve', nothing()), send(3, 'eve', nothing())];
    expect((await send(4, 'ann', content)).status).toBe(200);
    silent.resolve();
    expect((await Promise.all(slow)).map(({ status }) => status)).toEqual([400, 400, 400]);
    expect((await send(5, 'eve', content)).status).toBe(200);
  });

  describe('addresses for uploads', () => {
    const content = Buffer.alloc(1_000, 'x');
    const open = () => {
      const uploads = new LocalSignalUploads(objects, Date);
      const app = uploads.infront({ fetch: () => new Response(null, { status: 404 }) });
      const offer = async (owner: string, number: number) => {
        const signals_id = `sg-${String(number).padStart(26, '2')}`;
        const file = { signals_id, owner, bytes: 1_000, format: 'csv', sha256: sha256(content) };
        return { signals_id, url: (await uploads.offer(file as StoredSignals)).url };
      };
      const send = async (url: string, body: BodyInit = content) =>
        app.fetch(
          new Request(`http://localhost${url}`, { method: 'PUT', body, duplex: 'half' } as RequestInit),
          {} as never,
        );
      return { uploads, offer, send };
    };

    it('accept nothing for a file that was deleted, also while it is sent', async () => {
      const { uploads, offer, send } = open();
      const { signals_id, url } = await offer('ann', 1);
      await uploads.remove(signals_id);
      expect([(await send(url)).status, await uploads.isUploaded(signals_id)]).toEqual([404, false]);

      const sent = await offer('ann', 2);
      const deleted = Promise.withResolvers<void>();
      const slow = new ReadableStream({
        pull: async (to) => {
          await deleted.promise;
          to.enqueue(content);
          to.close();
        },
      });
      const answer = send(sent.url, slow);
      await new Promise(setImmediate);
      await uploads.remove(sent.signals_id);
      deleted.resolve();
      expect([(await answer).status, await uploads.isUploaded(sent.signals_id)]).toEqual([400, false]);
    });

    it('of a user who asks for many do not end those of others', async () => {
      const { offer, send } = open();
      const { url } = await offer('bob', 3);
      const first = await offer('eve', 4);
      for (let count = 0; count < 1_000; count++) await offer('eve', 4);
      expect([(await send(first.url)).status, (await send(url)).status]).toEqual([404, 200]);
    });
  });

  it('belong to their owner until they are shared', async () => {
    const id = await fileOf(ann);
    const at = `${FILES}/${id}`;
    for (const rejected of [await bob.get(at), await bob.delete(at), await submit(bob, id)]) {
      expect([rejected.status, rejected.code]).toEqual([403, 'AUTH005']);
      expect(JSON.stringify(rejected.body)).not.toContain('ann');
    }
    expect((await submit(ann, id)).status).toBe(201);
    expect((await bob.get(FILES)).body.items).toEqual([]);
    expect((await ann.share(at, 'user:bob')).status).toBe(200);
    expect((await submit(bob, id)).status).toBe(201);
    expect((await bob.delete(at)).code).toBe('AUTH005');
    expect((await fixture.person('eve', 'viewer').post(FILES, REQUEST)).code).toBe('AUTH004');
    expect((await fixture.withoutToken.get(at)).status).toBe(401);
  });

  it('are created once for a key, and listed in pages, newest first', async () => {
    const cid = fixture.person('cid');
    const key = { 'Idempotency-Key': 'nightly' };
    const [first, second] = [await cid.post(FILES, REQUEST, key), await cid.post(FILES, REQUEST, key)];
    expect(second.body.signals_id).toBe(first.body.signals_id);
    const other = await cid.post(FILES, { ...REQUEST, bytes: 11 }, key);
    expect([other.status, other.code]).toEqual([409, 'RES005']);
    const last = await fileOf(cid);
    const page = (await cid.get(`${FILES}?limit=1`)).body;
    expect(page.items.map((each: any) => each.signals_id)).toEqual([last]);
    const next = (await cid.get(`${FILES}?limit=1&cursor=${page.next_cursor}`)).body;
    expect(next.items.map((each: any) => each.signals_id)).toEqual([first.body.signals_id]);
    for (const wrong of [{ bytes: 2 ** 26 }, { bytes: 0 }, { sha256: 'x' }, { format: 'xlsx' }]) {
      expect((await cid.post(FILES, { ...REQUEST, ...wrong })).code).toBe('VAL005');
    }
  });

  it('are deleted when nobody needs them, also after a deletion that was interrupted', async () => {
    const dan = fixture.person('dan');
    const [unused, used, shared, kept, marked] = await Promise.all(
      Array.from({ length: 5 }, () => fileOf(dan)),
    );
    const signals = new DynamoSignalsStore(fixture.client, fixture.jobsTable);
    const retention = new DynamoJobRetention(fixture.client, fixture.jobsTable);
    expect((await submit(dan, used!)).status).toBe(201);
    await dan.share(`${FILES}/${shared}`, 'user:bob');
    const run = await backtestOf('dan', kept!);
    expect((await dan.register(run, 'signals')).status).toBe(201);
    await signals.beginDeletion((await signals.find(marked!))!, new Date().toISOString());
    const before = (await signals.find(unused!))!;
    await dan.share(`${FILES}/${unused}`, 'user:bob');
    expect(await signals.beginDeletion(before, new Date().toISOString())).toBe(false);
    await dan.put(`${FILES}/${unused}/sharing`, { shared_with: [] });
    const rest = async (days: number, jobs: number | null = null) => {
      const clock = { now: () => Date.now() + days * DAY_MS };
      const { registry } = fixture;
      const deps = { retention, signals, signalFiles, clock, registry, days: { ...KEEP_FOREVER, jobs } };
      await expireSignals(deps, (name, error) => expect.fail(`${name}: ${error}`));
      const found = await Promise.all([unused, used, shared, kept, marked].map((id) => signals.find(id!)));
      return found.map((each) => each !== undefined);
    };
    expect(await rest(1)).toEqual([true, true, true, true, false]);
    expect(await signalFiles.isUploaded(marked!)).toBe(false);
    expect(await rest(31)).toEqual([false, true, true, true, false]);
    expect(await rest(100, 90)).toEqual([false, true, true, true, false]);
    expect(await rest(121, 90)).toEqual([false, false, true, true, false]);
    expect(await signalFiles.isUploaded(used!)).toBe(false);
    expect((await submit(dan, used!)).code).toBe('SIG001');
    const rejected = await dan.delete(`${FILES}/${kept}`);
    expect([rejected.status, rejected.code]).toEqual([409, 'RES005']);
    expect(rejected.body.detail.message).toContain('Version 1 of signals is registered');
  });

  it('are run by a user of their version without a grant, also where the request names the file as a repeated run does', async () => {
    // The owner of the model.
    const dan = fixture.person('dan');
    const [own, other] = await Promise.all([fileOf(dan), fileOf(dan)]);
    const { body } = await dan.register(await backtestOf('dan', own!), 'signals');
    expect((await dan.share('/api/v1/models/signals', 'user:gus')).status).toBe(200);
    const run = (signals?: string) =>
      fixture.person('gus').post('/api/v1/backtests', {
        config: { strategy: 'signals', ...(signals && { signals }) },
        model_version: body.version,
      });
    const runs = [await run(), await run(own), await run(other)];
    expect(runs.map(({ status, code }) => code ?? status)).toEqual([201, 201, 'AUTH005']);
  });

  it('are deleted after a registration that died before its version was stored', async () => {
    const eli = fixture.person('eli');
    const [recent, abandoned, expiring] = await Promise.all(Array.from({ length: 3 }, () => fileOf(eli)));
    const signals = new DynamoSignalsStore(fixture.client, fixture.jobsTable);
    const [now, past] = [0, 61 * 60_000].map((ms) => new Date(Date.now() - ms).toISOString());
    await signals.keep(recent!, 'signals', now!);
    for (const id of [abandoned, expiring]) await signals.keep(id!, 'signals', past!);
    const inProgress = await eli.delete(`${FILES}/${recent}`);
    expect([inProgress.status, inProgress.code]).toEqual([409, 'RES005']);
    expect(inProgress.body.detail.message).toContain('Retry in an hour');
    expect((await eli.delete(`${FILES}/${abandoned}`)).status).toBe(204);
    expect((await eli.get(`${FILES}/${abandoned}`)).code).toBe('SIG001');
    const retention = new DynamoJobRetention(fixture.client, fixture.jobsTable);
    const clock = { now: () => Date.now() + 31 * DAY_MS };
    const { registry } = fixture;
    await expireSignals(
      { retention, signals, signalFiles, registry, clock, days: KEEP_FOREVER },
      (name, error) => expect.fail(`${name}: ${error}`),
    );
    expect(await signals.find(expiring!)).toBe(undefined);
  });

  it('stay when a registration takes them between the check and the deletion', async () => {
    const signals = new DynamoSignalsStore(fixture.client, fixture.jobsTable);
    const id = await fileOf(ann);
    const read = (await signals.find(id))!;
    await signals.keep(id, 'signals', '2026-05-01T00:00:00.000Z');
    expect(await signals.beginDeletion(read, '2026-05-02T00:00:00.000Z')).toBe(false);
    const marked = (await signals.find(id))!;
    await signals.keep(id, 'signals', '2026-05-01T00:00:01.000Z');
    expect(await signals.beginDeletion(marked, '2026-05-02T00:00:00.000Z')).toBe(false);
    expect(await signals.beginDeletion((await signals.find(id))!, '2026-05-02T00:00:00.000Z')).toBe(true);
  });
});
