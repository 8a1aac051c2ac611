import { beforeEach, describe, expect, it, vi } from 'vitest';
import { newDelivery } from '#domain/webhooks/deliveries.ts';
import { fileEngine } from '../support/file-engine.ts';
import { backtestEvent, webhookFixture } from '../support/webhook-fixture.ts';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

const engine = fileEngine();
let fixture: Awaited<ReturnType<typeof webhookFixture>>;
beforeEach(async () => {
  fixture = await webhookFixture(engine);
  await fixture.job('bt-1', 'ada');
});

/** Repeats turns at the times that they return, until nothing waits. Returns the offsets from the start, ms. */
async function runUntilDone(id: string): Promise<number[]> {
  const start = fixture.now();
  const times: number[] = [];
  for (;;) {
    const before = fixture.sent.length;
    const { next } = await fixture.lane(id);
    if (fixture.sent.length > before) times.push(fixture.now() - start);
    if (next === undefined) return times;
    fixture.advance(Math.max(next - fixture.now(), 1));
  }
}

describe('createWebhook', () => {
  it('returns the secret once, and stores it out of the audit trail', async () => {
    const { secret, webhook_id } = await fixture.create({ types: ['backtest.*'], description: 'CI' });
    expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
    const read = await fixture.call('GET', `/${webhook_id}`);
    expect(read.body).toMatchObject({ owner: 'ada', status: 'active', types: ['backtest.*'], all: false });
    expect(JSON.stringify([read.body, (await fixture.call('GET', '')).body, fixture.calls])).not.toContain(
      secret,
    );
    expect(fixture.calls[0]).toMatchObject({ operation: 'createWebhook', principal: 'ada' });
  });

  it('stores the host of the URL in the audit trail: the rest may be the key of the receiver', async () => {
    const urls = ['https://hooks.example.com/services/T1/B2/c3d4', 'https://hooks.example.com/?sig=c3d4'];
    for (const url of urls) await fixture.create({ url });
    const requests = fixture.calls.map(({ request }) => request);
    expect(requests.map((each) => JSON.parse(each!).body.url)).toEqual([
      'https://hooks.example.com/…',
      'https://hooks.example.com/…',
    ]);
  });

  it.each([
    ['http://hooks.example.com/', 'must begin with https://'],
    ['ftp://hooks.example.com/', 'must begin with https://'],
    ['no url', 'is not a URL'],
    ['https://user:pass@hooks.example.com/', 'must not contain a user or password'],
    ['https://hooks.example.com:25/', 'must have port 443'],
    ['https://localhost/', 'must have a public host name'],
    ['https://db.internal/', 'must have a public host name'],
    ['https://127.0.0.1/', 'must be at a public address'],
    ['https://0x7f.1/', 'must be at a public address'],
    ['https://2130706433/', 'must be at a public address'],
    ['https://169.254.169.254/latest/meta-data', 'must be at a public address'],
    ['https://[::1]/', 'must be at a public address'],
    ['https://[::ffff:10.0.0.1]/', 'must be at a public address'],
    [`https://hooks.example.com/${'a'.repeat(2_000)}`, 'must be at most 2000 characters'],
  ])('rejects the URL %s', async (url, message) => {
    const { status, body } = await fixture.call('POST', '', { url });
    expect([status, body.detail]).toMatchObject([400, { code: 'VAL005', field: 'url' }]);
    expect(body.detail.message).toContain(message);
    expect(JSON.stringify(body)).not.toContain('pass@');
  });

  it.each([[['backtest.won']], [['version.*,backtest.*']], [[]]])('rejects the types %j', async (types) => {
    const { status, body } = await fixture.call('POST', '', { url: 'https://hooks.example.com/', types });
    expect([status, body.detail.code]).toEqual([400, 'VAL005']);
  });

  it('rejects viewers, `all` of others than admins, and the 21st webhook of an owner', async () => {
    const url = 'https://hooks.example.com/';
    fixture.as({ roles: ['viewer'] });
    expect((await fixture.call('POST', '', { url })).body.detail.code).toBe('AUTH004');
    fixture.as({ roles: ['approver'] });
    expect((await fixture.call('POST', '', { url, all: true })).body.detail).toMatchObject({
      code: 'AUTH004',
      field: 'all',
    });
    for (let count = 0; count < 20; count++) await fixture.create();
    expect(await fixture.call('POST', '', { url })).toMatchObject({
      status: 409,
      body: { detail: { code: 'RES005', context: { count: 20 } } },
    });
    fixture.as({ id: 'bob' });
    await fixture.create();
  });
});

describe('number of webhooks', () => {
  it('calls at the same time make no more than 20 of an owner, also when none can take back what it stored', async () => {
    vi.spyOn(fixture.deps.webhooks, 'remove').mockRejectedValue(new Error('the process ends'));
    const url = 'https://hooks.example.com/';
    for (let count = 0; count < 15; count++) await fixture.create();
    const calls = await Promise.all(Array.from({ length: 30 }, () => fixture.call('POST', '', { url })));
    const made = calls.filter(({ status }) => status === 201).length;
    expect(calls.filter(({ status }) => status !== 201 && status !== 409)).toEqual([]);
    expect(made).toBe(5);
    expect((await fixture.call('GET', '')).body.items).toHaveLength(20);
    expect((await fixture.call('POST', '', { url })).status).toBe(409);
  });
});

describe('access', () => {
  it('webhook of another user is AUTH005 for every operation, and in no list', async () => {
    const { webhook_id } = await fixture.create();
    fixture.as({ id: 'bob' });
    for (const [method, path, body] of [
      ['GET', ''],
      ['PATCH', '', { status: 'paused' }],
      ['DELETE', ''],
      ['POST', '/rotate-secret'],
      ['POST', '/test'],
      ['GET', '/deliveries'],
      ['POST', '/deliveries/x/replay'],
      ['POST', '/replay', { since: '2026-05-01' }],
    ] as const) {
      const { status, body: error } = await fixture.call(method, `/${webhook_id}${path}`, body);
      expect([method, path, status, error.detail.code]).toEqual([method, path, 403, 'AUTH005']);
    }
    expect((await fixture.call('GET', '')).body.items).toEqual([]);
    fixture.as({ id: 'root', roles: ['admin'] });
    expect((await fixture.call('GET', '')).body.items).toHaveLength(1);
    expect((await fixture.call('GET', '/wh-0')).body.detail.code).toBe('HOOK001');
  });

  it('webhook receives the events that its owner may see: own, shared by name or group, market data', async () => {
    for (const [id, owner] of ['bt-2', 'bt-3', 'bt-4'].map((id) => [id, 'bob'] as const))
      await fixture.job(id, owner);
    await fixture.share('bt-3', 'user:ada');
    await fixture.share('bt-4', 'group:desk');
    fixture.as({ groups: ['desk'] });
    const { webhook_id } = await fixture.create();
    const market = { ...backtestEvent('x', 9, 'data.gap'), subject: 'series/sim/BTC/1h' };
    await fixture.publish(...['bt-1', 'bt-2', 'bt-3', 'bt-4'].map((id) => backtestEvent(id)), market);
    await fixture.lane(webhook_id);
    const subjects = fixture.sent.map(({ body }) => JSON.parse(body).subject);
    expect(subjects.sort()).toEqual([
      'backtests/bt-1',
      'backtests/bt-3',
      'backtests/bt-4',
      'series/sim/BTC/1h',
    ]);
  });

  it('a request with other groups right after the webhook was created ends the membership', async () => {
    fixture.as({ groups: ['desk'] });
    const { webhook_id } = await fixture.create();
    fixture.as({ groups: [] });
    expect((await fixture.call('GET', `/${webhook_id}`)).body.groups).toEqual([]);
  });

  it('groups of a webhook are those of its owner at the last request, and their events end with the membership or the grant', async () => {
    await fixture.job('bt-2', 'bob');
    await fixture.share('bt-2', 'group:desk');
    fixture.as({ groups: ['desk'] });
    const created = await fixture.create();
    const { webhook_id } = created;
    expect(created).toMatchObject({ groups: ['desk'], groups_at: created.created_at });
    const received = async (sequence: number) => {
      const before = fixture.sent.length;
      await fixture.publish(backtestEvent('bt-2', sequence));
      await fixture.lane(webhook_id);
      return fixture.sent.length - before;
    };
    const seen = async (groups: string[]) => {
      fixture.advance(MINUTE);
      fixture.as({ groups });
      return (await fixture.call('GET', `/${webhook_id}`)).body;
    };
    expect(await received(1)).toBe(1);
    // Another user's request changes nothing.
    fixture.as({ id: 'eve', groups: [] });
    fixture.advance(MINUTE);
    await fixture.call('GET', '');
    expect(await received(2)).toBe(1);
    expect(await seen([])).toMatchObject({ groups: [], groups_at: new Date(fixture.now()).toISOString() });
    expect(await received(3)).toBe(0);
    expect(await seen(['desk', 'other'])).toMatchObject({ groups: ['desk', 'other'] });
    expect(await received(4)).toBe(1);
    await fixture.deps.ownership.backtest.sharing.share(
      'bt-2',
      [{ principal: 'group:desk', level: 'read' }],
      [],
    );
    expect(await received(5)).toBe(0);
  });

  it('webhook of an admin with `all` receives events of all resources', async () => {
    await fixture.job('bt-2', 'bob');
    fixture.as({ id: 'root', roles: ['admin'] });
    const { webhook_id } = await fixture.create({ all: true });
    await fixture.publish(backtestEvent('bt-1'), backtestEvent('bt-2'));
    await fixture.lane(webhook_id);
    expect(fixture.sent).toHaveLength(2);
  });

  it('webhook with `all` is AUTH005 for an owner who is no longer an admin', async () => {
    fixture.as({ id: 'root', roles: ['admin'] });
    const { webhook_id } = await fixture.create({ all: true });
    expect((await fixture.call('PATCH', `/${webhook_id}`, { description: 'mine' })).status).toBe(200);
    fixture.as({ id: 'root', roles: ['researcher'] });
    for (const [method, path, body] of [
      ['PATCH', '', { url: 'https://hooks.example.com/b' }],
      ['POST', '/rotate-secret'],
      ['POST', '/replay', { since: '2026-05-01T00:00:00Z' }],
      ['GET', '/deliveries'],
    ] as const) {
      const { status, body: error } = await fixture.call(method, `/${webhook_id}${path}`, body);
      expect([status, error.detail.code], `${method} ${path}`).toEqual([403, 'AUTH005']);
    }
  });

  it('delivery of a resource whose grant was revoked in the meantime fails without a request', async () => {
    await fixture.job('bt-2', 'bob');
    await fixture.share('bt-2', 'user:ada');
    const { webhook_id } = await fixture.create();
    await fixture.publish(backtestEvent('bt-2'));
    await fixture.deps.ownership.backtest.sharing.share(
      'bt-2',
      [{ principal: 'user:ada', level: 'read' }],
      [],
    );
    await fixture.lane(webhook_id);
    expect(fixture.sent).toEqual([]);
    const [delivery] = await fixture.deliveries(webhook_id);
    expect(delivery).toMatchObject({ status: 'failed', attempts: 1, next_attempt_at: null });
  });
});

describe('deliveries', () => {
  it('event that is published twice is delivered once, with one message ID for all webhooks', async () => {
    const [a, b] = [await fixture.create(), await fixture.create({ types: ['backtest.started'] })];
    await fixture.publish(backtestEvent('bt-1'));
    await fixture.publish(backtestEvent('bt-1'));
    for (const { webhook_id } of [a, b]) await runUntilDone(webhook_id);
    expect(fixture.sent).toHaveLength(2);
    const ids = fixture.sent.map(({ headers }) => headers['webhook-id']);
    expect(ids[0]).toMatch(/^msg_[0-9a-f]{32}$/);
    expect(ids[0]).toBe(ids[1]);
    expect(JSON.parse(fixture.sent[0]!.body)).toEqual(backtestEvent('bt-1'));
  });

  it('events of two platforms with one ID are two messages to a receiver', async () => {
    const { webhook_id } = await fixture.create();
    const event = backtestEvent('bt-1');
    await fixture.publish(event, { ...event, source: 'touchstone/prod/other' });
    await runUntilDone(webhook_id);
    expect(new Set(fixture.sent.map(({ headers }) => headers['webhook-id'])).size).toBe(2);
    expect(new Set(fixture.sent.map(({ body }) => JSON.parse(body).source)).size).toBe(2);
  });

  it('event that was logged before sources named the platform keeps the ID of its message', () => {
    const { digest } = fixture.deps;
    const event = { ...backtestEvent('bt-1'), source: 'touchstone' };
    const { message_id } = newDelivery(digest, 'wh-1', event, fixture.now());
    expect(message_id.slice('msg_'.length)).toHaveLength(32);
    expect(digest(event.id)).toContain(message_id.slice('msg_'.length));
  });

  it('failed delivery is attempted with growing pauses for 24 hours, then it has failed', async () => {
    fixture.answer(async () => ({ status: 500 }));
    const { webhook_id } = await fixture.create();
    await fixture.publish(backtestEvent('bt-1'));
    const times = await runUntilDone(webhook_id);
    const pauses = times.slice(1).map((time, index) => (time - times[index]!) / SECOND);
    expect(pauses.slice(0, 7)).toEqual([5, 30, 120, 600, 1_800, 3_600, 7_200]);
    expect(Math.max(...pauses)).toBe(4 * 3_600);
    expect(times.at(-1)).toBe(24 * HOUR);
    const [delivery] = await fixture.deliveries(webhook_id);
    expect(delivery).toMatchObject({ status: 'failed', next_attempt_at: null, attempts: times.length });
    expect(delivery.last_attempts.at(-1)).toMatchObject({ status: 500, error: 'HTTP 500' });
    const { body } = await fixture.call('GET', `/${webhook_id}/deliveries?status=delivered`);
    expect(body.items).toEqual([]);
  });

  it('delivery succeeds on a later attempt, and the webhook is no longer failing', async () => {
    let count = 0;
    fixture.answer(async () => ({ status: ++count < 3 ? 503 : 200 }));
    const { webhook_id } = await fixture.create();
    await fixture.publish(backtestEvent('bt-1'));
    expect(await runUntilDone(webhook_id)).toEqual([0, 5 * SECOND, 35 * SECOND]);
    expect((await fixture.deliveries(webhook_id))[0]).toMatchObject({ status: 'delivered', attempts: 3 });
    const { body } = await fixture.call('GET', `/${webhook_id}`);
    expect(body).toMatchObject({ failing_since: null, last_success_at: '2026-05-01T12:00:35.000Z' });
  });

  it('one event that a receiver rejects delays no other event', async () => {
    fixture.answer(async ({ body }) => ({ status: JSON.parse(body).sequence === 1 ? 400 : 200 }));
    const { webhook_id } = await fixture.create();
    await fixture.publish(...[1, 2, 3].map((sequence) => backtestEvent('bt-1', sequence)));
    await fixture.lane(webhook_id);
    const statuses = (await fixture.deliveries(webhook_id)).map(({ status }) => status);
    expect(statuses).toEqual(['delivered', 'delivered', 'pending']);
  });

  it('more events that wait for their next attempt than a page has delay no new event', async () => {
    const { webhook_id } = await fixture.create();
    const { deliveries, digest } = fixture.deps;
    const waiting = { tries: 1, next_attempt_at: new Date(fixture.now() + HOUR).toISOString() };
    const old = Array.from({ length: 510 }, (_, index) =>
      newDelivery(digest, webhook_id, backtestEvent('bt-1', index), fixture.now()),
    );
    await Promise.all(old.map((delivery) => deliveries.add({ ...delivery, ...waiting })));
    await fixture.publish(backtestEvent('bt-1', 600));
    expect((await fixture.lane(webhook_id)).next).toBe(fixture.now() + HOUR);
    expect(fixture.sent.map(({ body }) => JSON.parse(body).sequence)).toEqual([600]);
  });

  it('entry whose delivery has expired is passed over once in a turn', async () => {
    const { webhook_id } = await fixture.create();
    await fixture.publish(backtestEvent('bt-1'));
    const find = vi.spyOn(fixture.deps.deliveries, 'find').mockImplementation(async () => {
      // Ends a turn that asks again.
      fixture.advance(SECOND);
      return undefined;
    });
    expect((await fixture.lane(webhook_id)).next).toBeUndefined();
    expect(find).toHaveBeenCalledTimes(1);
  });

  it('Retry-After of a receiver delays its next attempt', async () => {
    fixture.answer(async () => ({ status: 429, retryAfterMs: HOUR }));
    const { webhook_id } = await fixture.create();
    await fixture.publish(backtestEvent('bt-1'));
    expect((await fixture.lane(webhook_id)).next).toBe(fixture.now() + HOUR);
  });

  it('receiver that fails for five events pauses, so that its lane is free', async () => {
    fixture.answer(async () => ({ status: null, error: 'No response within the time limit' }));
    const { webhook_id } = await fixture.create();
    await fixture.publish(...Array.from({ length: 30 }, (_, index) => backtestEvent('bt-1', index + 1)));
    const { next } = await fixture.lane(webhook_id);
    expect(fixture.sent).toHaveLength(5);
    expect(next).toBe(fixture.now() + 5 * SECOND);
  });

  it('turn ends after ten seconds, so that other webhooks have theirs', async () => {
    fixture.answer(async () => {
      fixture.advance(4 * SECOND);
      return { status: 200 };
    });
    const { webhook_id } = await fixture.create();
    await fixture.publish(...Array.from({ length: 30 }, (_, index) => backtestEvent('bt-1', index + 1)));
    expect((await fixture.lane(webhook_id)).next).toBe(fixture.now());
    expect(fixture.sent).toHaveLength(3);
  });

  it('second worker leaves a lane in use, until the lease of a worker that died has expired', async () => {
    const { webhook_id } = await fixture.create();
    await fixture.publish(backtestEvent('bt-1'));
    await fixture.deps.webhooks.lease(webhook_id, 'dead', fixture.now(), fixture.now() + 40 * SECOND);
    expect((await fixture.lane(webhook_id)).next).toBe(fixture.now() + 2 * SECOND);
    expect(fixture.sent).toEqual([]);
    fixture.advance(41 * SECOND);
    await fixture.lane(webhook_id);
    expect(fixture.sent).toHaveLength(1);
  });

  it('webhook without a success for three days is disabled with the reason, and works when it is set active', async () => {
    fixture.answer(async () => ({ status: 500 }));
    const { webhook_id } = await fixture.create();
    await fixture.publish(backtestEvent('bt-1', 1));
    await runUntilDone(webhook_id);
    fixture.advance(47 * HOUR);
    await fixture.publish(backtestEvent('bt-1', 2));
    await fixture.lane(webhook_id);
    expect((await fixture.call('GET', `/${webhook_id}`)).body.status).toBe('active');
    fixture.advance(2 * HOUR);
    await fixture.lane(webhook_id);
    const { body } = await fixture.call('GET', `/${webhook_id}`);
    expect(body).toMatchObject({
      status: 'disabled',
      disabled_reason: 'No delivery has succeeded since 2026-05-01T12:00:00.000Z. Last failure: HTTP 500',
    });
    expect(await fixture.publish(backtestEvent('bt-1', 3))).toEqual([]);
    expect((await fixture.call('POST', `/${webhook_id}/test`)).body.detail.code).toBe('RES005');

    fixture.answer(async () => ({ status: 200 }));
    const active = await fixture.call('PATCH', `/${webhook_id}`, { status: 'active' });
    expect(active.body).toMatchObject({ status: 'active', disabled_reason: null, failing_since: null });
    expect(fixture.woken).toContain(webhook_id);
    fixture.advance(HOUR);
    await fixture.lane(webhook_id);
    expect((await fixture.deliveries(webhook_id))[0]).toMatchObject({ sequence: 2, status: 'delivered' });
  });

  it('410 of a receiver disables its webhook immediately', async () => {
    fixture.answer(async () => ({ status: 410 }));
    const { webhook_id } = await fixture.create();
    await fixture.publish(backtestEvent('bt-1'));
    expect((await fixture.lane(webhook_id)).next).toBeUndefined();
    const { body } = await fixture.call('GET', `/${webhook_id}`);
    expect(body).toMatchObject({ status: 'disabled', disabled_reason: expect.stringContaining('410') });
  });

  it('paused webhook gets nothing, and its user’s change is not undone by a failing delivery', async () => {
    const { webhook_id } = await fixture.create();
    await fixture.publish(backtestEvent('bt-1'));
    fixture.answer(async () => {
      await fixture.call('PATCH', `/${webhook_id}`, { status: 'paused' });
      return { status: 410 };
    });
    await fixture.lane(webhook_id);
    expect((await fixture.call('GET', `/${webhook_id}`)).body.status).toBe('paused');
    expect(await fixture.lane(webhook_id)).toMatchObject({ next: undefined });
    expect(fixture.sent).toHaveLength(1);
  });
});

describe('rotateWebhookSecret', () => {
  it('both secrets sign for 24 hours, then the new one only', async () => {
    const { webhook_id, secret: first } = await fixture.create();
    const { body: rotated } = await fixture.call('POST', `/${webhook_id}/rotate-secret`);
    expect(rotated.secret).not.toBe(first);
    expect(rotated.previous_secret_expires_at).toBe('2026-05-02T12:00:00.000Z');
    await fixture.publish(backtestEvent('bt-1', 1));
    await fixture.lane(webhook_id);
    fixture.advance(24 * HOUR);
    await fixture.publish(backtestEvent('bt-1', 2));
    await fixture.lane(webhook_id);
    const { sign } = fixture.deps.signatures;
    const [both, one] = fixture.sent.map(({ headers, body }) => ({
      given: headers['webhook-signature']!.split(' '),
      expected: [rotated.secret, first].map((secret) =>
        sign(secret, headers['webhook-id']!, Number(headers['webhook-timestamp']), body),
      ),
    }));
    expect(both!.given).toEqual(both!.expected);
    expect(one!.given).toEqual(one!.expected.slice(0, 1));
  });
});

describe('replay', () => {
  it('delivery is delivered again with the same message ID', async () => {
    const { webhook_id } = await fixture.create();
    await fixture.publish(backtestEvent('bt-1'));
    await fixture.lane(webhook_id);
    const [delivery] = await fixture.deliveries(webhook_id);
    const replayed = await fixture.call('POST', `/${webhook_id}/deliveries/${delivery.delivery_id}/replay`);
    expect(replayed).toMatchObject({ status: 202, body: { status: 'pending', attempts: 1 } });
    await fixture.lane(webhook_id);
    expect(new Set(fixture.sent.map(({ headers }) => headers['webhook-id'])).size).toBe(1);
    expect(fixture.sent).toHaveLength(2);
    const unknown = await fixture.call('POST', `/${webhook_id}/deliveries/x/replay`);
    expect([unknown.status, unknown.body.detail.code]).toEqual([404, 'HOOK002']);
  });

  it('time range is delivered again, with events from before the webhook, and without those of others', async () => {
    await fixture.job('bt-2', 'bob');
    const before = new Date(fixture.now()).toISOString();
    await fixture.publish(backtestEvent('bt-1', 1), backtestEvent('bt-2', 1));
    fixture.advance(60 * SECOND);
    const { webhook_id } = await fixture.create({ types: ['backtest.*'] });
    await fixture.publish(backtestEvent('bt-1', 2));
    await fixture.lane(webhook_id);
    const { body } = await fixture.call('POST', `/${webhook_id}/replay`, {
      since: before,
      until: '2026-05-01T12:05:00Z',
    });
    expect(body).toEqual({ replayed: 2, next_since: null });
    await fixture.lane(webhook_id);
    const sequences = fixture.sent.map(({ body: sent }) => JSON.parse(sent).sequence);
    expect(sequences.sort()).toEqual([1, 2, 2]);
    const invalid = await fixture.call('POST', `/${webhook_id}/replay`, { since: '2027-01-01' });
    expect(invalid.body.detail).toMatchObject({ code: 'VAL001', field: 'since' });
  });

  it('replay of more events than one call takes says where the next one continues', async () => {
    const { webhook_id } = await fixture.create();
    for (const sequence of [1, 3, 5]) {
      await fixture.deps.events.append([
        backtestEvent('bt-1', sequence),
        backtestEvent('bt-1', sequence + 1),
      ]);
      fixture.advance(SECOND);
    }
    const since = '2026-05-01T12:00:00Z';
    const first = await fixture.call('POST', `/${webhook_id}/replay`, { since });
    expect(first.body).toEqual({ replayed: 5, next_since: '2026-05-01T12:00:02.000Z' });
    const rest = await fixture.call('POST', `/${webhook_id}/replay`, { since: first.body.next_since });
    expect(rest.body).toEqual({ replayed: 2, next_since: null });
  });
});

describe('testWebhook', () => {
  it('sends an event of type webhook.test, whatever types are selected', async () => {
    const { webhook_id } = await fixture.create({ types: ['version.*'] });
    const { status, body } = await fixture.call('POST', `/${webhook_id}/test`);
    expect([status, body]).toMatchObject([202, { type: 'webhook.test', status: 'pending' }]);
    await fixture.lane(webhook_id);
    expect(JSON.parse(fixture.sent[0]!.body)).toMatchObject({
      type: 'webhook.test',
      subject: `webhooks/${webhook_id}`,
      data: { webhook_id },
    });
    await fixture.call('DELETE', `/${webhook_id}`);
    expect(await fixture.lane(webhook_id)).toEqual({});
    expect((await fixture.call('GET', `/${webhook_id}/deliveries`)).status).toBe(404);
  });
});
