import { PutCommand, paginateQuery } from '@aws-sdk/lib-dynamodb';
import { beforeEach, describe, expect, it } from 'vitest';
import { DynamoAuditTrail } from '#adapters/dynamo/audit-trail.ts';
import { DynamoChallengeStore } from '#adapters/dynamo/challenge-store.ts';
import { decodeCursor, encodeCursor } from '#adapters/dynamo/cursor.ts';
import { DynamoRegistryStore } from '#adapters/dynamo/registry-store.ts';
import { ulids } from '#adapters/ids.ts';
import { OPERATIONS } from '#contract/operations/operations.ts';
import type { AuditEntry, StoredAuditCall } from '#contract/platform/audit.ts';
import { ROUTINE_OPERATIONS } from '#contract/values/audit-routine.ts';
import { CodedError } from '#contract/values/errors.ts';
import { changesState } from '#contract/values/operation.ts';
import { auditPartitions } from '#contract/values/tables.ts';
import type { AuditTrail } from '#domain/audit/audit-trail.ts';
import { listAudit } from '#domain/audit/list-audit.ts';
import type { Authenticate } from '#runtime/authenticate.ts';
import type { ServiceDeps } from '#runtime/service.ts';
import { backendHandlers } from '#runtime/services/backend.ts';
import {
  accepted,
  backendApp,
  fakeBackendDeps,
  type HandlerChanges,
  type LogLine,
  post,
} from '../support/backend.ts';
import { signedCursor } from '../support/cursors.ts';
import { fileEngine } from '../support/file-engine.ts';
import { pendingJob } from '../support/jobs.ts';

const engine = fileEngine();
let table: string;
let trail: DynamoAuditTrail;
let now: number;
beforeEach(async () => {
  table = (await engine.freshTables()).registry;
  trail = new DynamoAuditTrail(engine.client, table);
  now = Date.parse('2026-11-21T10:00:00Z');
});

const clock = { now: () => now };
const cursors = { encode: encodeCursor, decode: decodeCursor };
/** Stores of a platform without models. */
const noModels = () => ({
  registry: new DynamoRegistryStore(engine.client, table),
  challenges: new DynamoChallengeStore(engine.client, table),
});
const SUBMISSION = { config: { strategy: 'demo' } };

/** Authenticates `Authorization: name role` without a check. */
const authenticate: Authenticate = async (authorization) => {
  const [id, role] = (authorization ?? 'ann admin').split(' ') as [string, 'admin'];
  return { id, roles: [role], groups: [role] };
};

function open(changes: HandlerChanges = {}, written: AuditTrail = trail, deps: Partial<ServiceDeps> = {}) {
  const { app, lines } = backendApp(
    {
      listAudit: backendHandlers({ ...fakeBackendDeps(), ...noModels(), audit: trail, clock }).backend
        .listAudit,
      ...changes,
    },
    { authenticate, audit: { trail: written, clock, ids: ulids }, ...deps },
  );
  const submit = (headers: Record<string, string> = {}, body: unknown = SUBMISSION) =>
    app.request('/api/v1/backtests', post(body, headers));
  const audit = async (query = '') => {
    const response = await app.request(`/api/v1/audit${query}`);
    return { status: response.status, body: (await response.json()) as any };
  };
  const entries = async (query = '') => (await audit(query)).body.items as AuditEntry[];
  return { app, lines: lines as LogLine[], submit, audit, entries };
}

/** Stored items of one day. */
async function items(day = '2026-11-21'): Promise<Record<string, any>[]> {
  const found = [];
  for (const partition of auditPartitions(day)) {
    const pages = paginateQuery(
      { client: engine.client },
      {
        TableName: table,
        ConsistentRead: true,
        KeyConditionExpression: 'pk = :partition',
        ExpressionAttributeValues: { ':partition': partition },
      },
    );
    for await (const { Items = [] } of pages) found.push(...Items);
  }
  return found.sort((a, b) => (a.sk < b.sk ? -1 : 1));
}

describe('audit entry', () => {
  it('entry states caller, time, operation, request, address and outcome', async () => {
    const { submit, entries } = open();
    const answer = await submit({
      authorization: 'bob researcher',
      'X-Correlation-ID': 'trace-1',
      'User-Agent': 'curl/8',
    });
    expect(answer.status).toBe(201);
    expect(await entries()).toEqual([
      {
        id: expect.stringMatching(/^[0-9A-HJKMNP-TV-Z]{26}$/),
        at: '2026-11-21T10:00:00.000Z',
        principal: 'bob',
        roles: ['researcher'],
        service: 'backend',
        operation: 'submitBacktest',
        resource: { kind: 'backtests', id: 'bt-1' },
        model_name: null,
        version: null,
        method: 'POST',
        path: '/api/v1/backtests',
        outcome: 'succeeded',
        status: 201,
        code: null,
        ended_at: '2026-11-21T10:00:00.000Z',
        correlation_id: 'trace-1',
        request: { query: {}, body: SUBMISSION },
        source_ip: null,
        user_agent: 'curl/8',
      },
    ]);
  });

  it('entry names the resource of the path and the error of the use case', async () => {
    const { app, entries } = open();
    const cancel = (id: string) => app.request(`/api/v1/backtests/${id}/cancel`, { method: 'POST' });
    expect((await cancel('bt-404')).status).toBe(404);
    expect(await entries()).toMatchObject([
      { resource: { kind: 'backtests', id: 'bt-404' }, outcome: 'refused', status: 404, code: 'RES001' },
    ]);
  });

  it('call without the role is one item without the unread body', async () => {
    const { submit, entries } = open();
    expect((await submit({ authorization: 'eve viewer' })).status).toBe(403);
    expect(await entries()).toMatchObject([
      {
        principal: 'eve',
        roles: ['viewer'],
        outcome: 'refused',
        status: 403,
        code: 'AUTH004',
        request: null,
      },
    ]);
    expect(await items()).toHaveLength(1);
  });

  it('call denied a resource is recorded as refused', async () => {
    const denied = async () => {
      throw new CodedError('AUTH005');
    };
    const { app, entries } = open({ cancelBacktest: denied });
    await app.request('/api/v1/backtests/bt-1/cancel', { method: 'POST' });
    expect(await entries()).toMatchObject([{ outcome: 'refused', code: 'AUTH005' }]);
  });

  it('reads, unauthenticated calls and invalid requests are not recorded', async () => {
    const { app, submit } = open();
    await app.request('/api/v1/backtests');
    expect((await submit({}, { config: 'none' })).status).toBe(400);
    expect((await submit({}, '{')).status).toBe(400);
    await app.request('/api/v1/backtests', { method: 'DELETE' });
    const unauthenticated = backendApp(
      {},
      {
        audit: { trail, clock, ids: ulids },
        authenticate: async () => {
          throw new CodedError('AUTH003');
        },
      },
    );
    expect((await unauthenticated.app.request('/api/v1/backtests', post(SUBMISSION))).status).toBe(401);
    expect(await items()).toEqual([]);
  });

  it('entry distinguishes a server error from a rejection', async () => {
    const { submit, entries } = open({
      submitBacktest: async () => {
        throw new Error('secret');
      },
    });
    await submit();
    expect(await entries()).toMatchObject([{ outcome: 'failed', status: 500, code: 'SVC001' }]);
    expect(JSON.stringify(await items())).not.toContain('secret');
  });
});

describe('redaction and size of audit entries', () => {
  const summary = async (config: Record<string, unknown>, headers: Record<string, string> = {}) => {
    const { submit, entries } = open();
    expect((await submit(headers, { config: { strategy: 'demo', ...config } })).status).toBe(201);
    return (await entries())[0]!;
  };

  it.each([
    ['a value under a secret name', { api_key: 'hush' }],
    ['a value under a secret name in camel case', { dbPassword: { deep: 'hush' } }],
    ['a token', { note: `x eyJhbGciOiJub25lIn0.eyJzdWIiOiJhIn0.hush` }],
    ['a header', { note: 'Authorization: Bearer hush' }],
    ['a URL with a password', { note: 'https://u:hush@host/' }],
    ['an AWS access key', { note: `${['AK', 'IA'].join('')}ABCDEFGHIJKLhush` }],
    ['the secret of a webhook', { note: `my ${['wh', 'sec_'].join('')}hush` }],
    ['a token of GitHub', { note: `${['gh', 'p_'].join('')}${'a'.repeat(32)}hush` }],
    ['a token of GitLab', { note: `${['gl', 'pat-'].join('')}hush` }],
    ['a token of Slack', { note: `${['xo', 'xb-'].join('')}hush` }],
  ])('entry omits %s', async (_, params) => {
    const { request } = await summary({ params });
    expect(JSON.stringify(request)).not.toContain('hush');
    expect(JSON.stringify(request)).toContain('[removed]');
  });

  it('entry omits the token of the call', async () => {
    await summary({}, { authorization: 'hush-token admin' });
    const [{ principal, ...rest }] = (await items()) as [Record<string, unknown>];
    expect(principal).toBe('hush-token');
    expect(JSON.stringify(rest)).not.toContain('hush-token');
  });

  it('entry stays small for any request and marks omitted values', async () => {
    const pairs = Array.from({ length: 5_000 }, (_, i) => `COIN${i}/USDT:USDT`);
    const { request } = await summary({ pairs, exchange: 'x'.repeat(100_000) });
    expect(JSON.stringify(request)).toMatch(/COIN0\/USDT:USDT.*… \d+ more/);
    const wide = Object.fromEntries(
      Array.from({ length: 500 }, (_, i) => [`${i}${'k'.repeat(300)}`, { deep: 'y'.repeat(500) }]),
    );
    const huge = await summary({ params: wide, pairs, ...wide }, { 'User-Agent': 'z'.repeat(5_000) });
    expect(Buffer.byteLength(JSON.stringify(huge))).toBeLessThan(6_000);
  });

  it('entry replaces control characters of terminals and line breaks', async () => {
    const { request, user_agent } = await summary(
      { exchange: 'a\u001b[31mb\r\nc\u202ed' },
      { 'User-Agent': 'x\u009by' },
    );
    expect(JSON.stringify(request)).toContain('a\uFFFD[31mb\uFFFD\uFFFDc\uFFFDd');
    expect(user_agent).toBe('x\uFFFDy');
  });

  it('unknown keys are counted and not stored, at every level', async () => {
    const { submit, entries } = open();
    const unknown = Object.fromEntries(Array.from({ length: 900 }, (_, i) => [`x${i}`, 'y'.repeat(300)]));
    await submit({}, { config: { strategy: 'demo', ...unknown }, ...unknown, '…': 'none' });
    expect((await entries())[0]!.request).toEqual({
      query: {},
      body: { config: { strategy: 'demo', '…': '900 unknown' }, '…': '901 unknown' },
    });
  });

  /** Each attempt to make the entry say less: long lists, unknown keys, names and texts that look like secrets. */
  const noise = {
    ...Object.fromEntries(Array.from({ length: 900 }, (_, i) => [`token${i}`, { deep: ['y'.repeat(300)] }])),
    summary: 'too large',
  };
  const secretive = `Bearer ${['AK', 'IA'].join('')}ABCDEFGHIJKLMNOP https://u:p@host/ ${'why '.repeat(480)}`;
  const waive = { checks: ['min_trades', 'min_days', 'max_age_days', 'look_ahead'], reason: secretive };
  /** A letter that texts count as two characters. */
  const wide = '\u{1D4B3}'.repeat(100);
  const grants = Array.from({ length: 40 }, (_, i) => ({
    principal: `user:${['AK', 'IA'].join('')}ABCDEFGHIJKL-${wide}-${i}`,
    level: i % 2 ? 'write' : 'read',
  }));

  it.each([
    ['shareModel', 'PUT', '/models/m/sharing', { shared_with: grants }],
    ['shareBacktest', 'PUT', '/backtests/bt-1/sharing', { shared_with: grants }],
    ['stageVersion', 'POST', '/strategies/m/stage', { version: '7', comment: secretive, waive }],
    [
      'promoteVersion',
      'POST',
      '/strategies/m/promote',
      {
        version: '7',
        expected_production: '6',
        challenge_id: 'ch-1',
        comment: secretive,
        force: true,
        waive,
      },
    ],
    ['rollbackModel', 'POST', '/models/m/rollback', { target_version: '6', reason: secretive }],
    ['stopModel', 'POST', '/models/m/stop', { expected_production: '6', reason: secretive }],
    ['labelVersion', 'PATCH', '/models/m/versions/7', { aliases: ['AKIAABCDEFGHIJKLMNOP', 'shadow'] }],
    [
      'transferOwnership',
      'POST',
      '/ownership',
      { resource: 'models/m', owner: `AKIAABCDEFGHIJKLMNOP-${wide}` },
    ],
  ] as const)(
    'entry of %s keeps grants, principals, versions and reasons whole',
    async (id, method, path, body) => {
      const failing = async () => {
        throw new CodedError('SVC001');
      };
      const noisy = {
        ...noise,
        ...body,
        ...('shared_with' in body && {
          shared_with: body.shared_with.map((grant) => ({ ...grant, note: 'yyy', token: ['yyy'] })),
        }),
      };
      const { app, entries } = open({ [id]: failing });
      await app.request(`/api/v1${path}`, { ...post(noisy), method });
      const [entry] = await entries();
      expect(entry).toMatchObject({
        operation: id,
        resource: { kind: expect.any(String), id: expect.any(String) },
      });
      expect(entry!.request!.body).toMatchObject(body);
      expect(JSON.stringify(entry)).not.toContain('yyy');
    },
  );

  it('repeated names, which a call reads as one, do not displace the others', async () => {
    const { app, entries } = open();
    const checks = [...Array(45).fill('min_trades'), 'look_ahead'];
    await app.request('/api/v1/strategies/m/stage', post({ version: '1', waive: { checks, reason: 'r' } }));
    const aliases = [...Array(45).fill('shadow'), 'live'];
    await app.request('/api/v1/models/m/versions/1', { ...post({ aliases }), method: 'PATCH' });
    const [label, stage] = await entries();
    expect(label!.request!.body).toEqual({ aliases: ['shadow', 'live'] });
    expect(stage!.request!.body).toMatchObject({
      waive: { checks: ['min_trades', 'look_ahead'], reason: 'r' },
    });
  });

  it('a hundred entries with all that is kept whole, and too long, are below the limit of a response', async () => {
    const long = '\u20ac'.repeat(5_000);
    const { app, entries } = open();
    const body = {
      version: long,
      model_version: long,
      expected_production: long,
      challenge_id: long,
      comment: long,
      waive: { checks: Array(45).fill(long), reason: long },
    };
    await app.request('/api/v1/strategies/m/promote', post(body));
    const [entry] = await entries();
    expect(entry!.operation).toBe('promoteVersion');
    expect(Buffer.byteLength(JSON.stringify(entry))).toBeLessThan(50_000);
  });
});

describe('audit failures', () => {
  const failing = (method: 'begin' | 'end', error: Error): AuditTrail => ({
    begin: (call) => trail.begin(call),
    end: (call, outcome) => trail.end(call, outcome),
    calls: (stretch) => trail.calls(stretch),
    [method]: async () => {
      throw error;
    },
  });

  it.each([new CodedError('SVC005'), new Error('AccessDenied')])(
    'call changes nothing and returns 503 when the audit write fails: %s',
    async (error) => {
      let done = 0;
      const submitBacktest = async () => {
        done++;
        return accepted(pendingJob('bt-1'));
      };
      const { submit } = open({ submitBacktest }, failing('begin', error));
      const response = await submit();
      const { detail } = (await response.json()) as any;
      expect([response.status, detail.code, detail.message]).toEqual([
        503,
        'SVC005',
        'The audit trail cannot be written: nothing was changed',
      ]);
      expect(done).toBe(0);
    },
  );

  it('completed call returns its response when the audit outcome write fails', async () => {
    const { submit, entries, lines } = open({}, failing('end', new CodedError('SVC005')));
    expect((await submit()).status).toBe(201);
    expect(await entries('?outcome=unknown')).toMatchObject([{ status: null, code: null, ended_at: null }]);
    expect(lines).toContainEqual(
      expect.objectContaining({ level: 'error', message: 'outcome not in the audit trail' }),
    );
  });

  it('timed-out call changes nothing afterwards', async () => {
    const [writing, ended] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const slow: AuditTrail = {
      ...failing('begin', new Error('unused')),
      begin: async (call) => {
        await writing.promise;
        return trail.begin(call);
      },
      end: (call, outcome) => trail.end(call, outcome).finally(ended.resolve),
    };
    let done = 0;
    const submitBacktest = async () => {
      done++;
      return accepted(pendingJob('bt-1'));
    };
    const { submit } = open({ submitBacktest }, slow, { deadlineMs: 5 });
    expect((await submit()).status).toBe(504);
    writing.resolve();
    await ended.promise;
    expect(done).toBe(0);
    expect(await open().entries()).toMatchObject([{ outcome: 'failed', status: 504, code: 'SVC006' }]);
  });

  it('rejection is returned when its audit write fails', async () => {
    const { submit, lines } = open({}, failing('begin', new CodedError('SVC005')));
    expect((await submit({ authorization: 'eve viewer' })).status).toBe(403);
    expect(lines).toContainEqual(
      expect.objectContaining({
        level: 'error',
        message: 'refusal not in the audit trail',
        fields: expect.objectContaining({ principal: 'eve', operation: 'submitBacktest', code: 'AUTH004' }),
      }),
    );
  });

  it('entry has the outcome unknown when the service crashes during the call', async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const { submit, entries } = open({
      submitBacktest: () => {
        resolve();
        return new Promise(() => undefined);
      },
    });
    void submit();
    await promise;
    expect(await entries()).toMatchObject([
      { operation: 'submitBacktest', resource: { kind: 'backtests', id: null }, outcome: 'unknown' },
    ]);
  });

  it('audit list returns 503 when storage is down', async () => {
    const { audit } = open({
      listAudit: async () => {
        throw new CodedError('SVC005');
      },
    });
    expect((await audit()).status).toBe(503);
  });
});

const CALL: StoredAuditCall = {
  schema_version: 1,
  id: '01ARZ3NDEKTSV4RRFFQ69G5FAV',
  at: '2026-11-21T09:00:00.000Z',
  principal: 'ann',
  roles: ['admin'],
  service: 'backend',
  operation: 'cancelBacktest',
  resource: { kind: 'backtests', id: 'bt-1' },
  method: 'POST',
  path: '/api/v1/backtests/bt-1/cancel',
  correlation_id: 'c',
  request: null,
  source_ip: null,
  user_agent: null,
  outcome: null,
};

describe('audit storage', () => {
  const DONE = {
    outcome: 'succeeded',
    status: 200,
    code: null,
    created: null,
    ended_at: CALL.at,
  } as const;

  it('second write of a call or its outcome is rejected', async () => {
    await trail.begin(CALL);
    await trail.end(CALL, DONE);
    const before = await items();
    await expect(trail.begin({ ...CALL, principal: 'eve' })).rejects.toThrow();
    await expect(trail.end(CALL, { ...DONE, outcome: 'failed' })).rejects.toThrow();
    expect(await items()).toEqual(before);
  });

  it('repeated write after a lost response is one write', async () => {
    await trail.begin(CALL);
    await trail.begin(CALL);
    expect(await items()).toHaveLength(1);
  });

  it('list returns 500 for an item with an unknown shape', async () => {
    const Item = { pk: auditPartitions('2026-11-21')[0]!, sk: `${CALL.at}#${CALL.id}`, principal: 'eve' };
    await engine.client.send(new PutCommand({ TableName: table, Item }));
    expect((await open().audit()).status).toBe(500);
  });
});

describe('GET /api/v1/audit', () => {
  /** Records 24 calls, one every 5 h, over five days. */
  const record = async () => {
    const { submit } = open();
    const times: string[] = [];
    for (let i = 0; i < 24; i++) {
      now = Date.parse('2026-11-16T23:59:59.999Z') + i * 5 * 3_600_000;
      times.push(new Date(now).toISOString());
      expect((await submit({ authorization: i % 3 === 0 ? 'bob viewer' : 'ann admin' })).status).toBe(
        i % 3 === 0 ? 403 : 201,
      );
    }
    return times.reverse();
  };
  const pages = async (query: string, from: string | null = null) => {
    const { audit } = open();
    const seen: AuditEntry[] = [];
    let cursor = from;
    do {
      const { status, body } = await audit(`?${query}${cursor ? `&cursor=${cursor}` : ''}`);
      expect(status).toBe(200);
      seen.push(...body.items);
      cursor = body.next_cursor;
    } while (cursor);
    return seen;
  };

  it('pages list each call once, newest first, over days and during new calls', async () => {
    const times = await record();
    expect((await pages('limit=100')).map(({ at }) => at)).toEqual(times);
    expect((await pages('limit=1')).map(({ at }) => at)).toEqual(times);
    const { audit, submit } = open();
    const { body } = await audit('?limit=7');
    now += 1_000;
    await submit();
    const rest = await pages('limit=7', body.next_cursor);
    expect([...body.items, ...rest].map(({ at }: AuditEntry) => at)).toEqual(times);
    expect((await open().entries('?limit=1'))[0]!.at).toBe(new Date(now).toISOString());
  });

  it('calls of the same millisecond are listed separately, latest first', async () => {
    const { submit } = open({
      submitBacktest: async ({ body }) => accepted(pendingJob(`bt-${body.priority}`)),
    });
    for (const priority of [1, 2, 3, 4, 5]) await submit({}, { ...SUBMISSION, priority });
    expect((await pages('limit=2')).map(({ resource }) => resource.id)).toEqual(
      [5, 4, 3, 2, 1].map((n) => `bt-${n}`),
    );
  });

  it('every routine operation is one that the trail records', () => {
    const recorded = OPERATIONS.filter(changesState).map(({ id }) => id);
    expect(recorded).toEqual(expect.arrayContaining([...ROUTINE_OPERATIONS]));
  });

  it('list without routine calls leaves out those of programs, unless one of them is the filter', async () => {
    const operations = ['logTrades', 'cancelBacktest', 'assignKey', 'previewImport', 'promoteVersion'];
    for (const [index, operation] of operations.entries()) {
      const id = `01ARZ3NDEKTSV4RRFFQ69G5FA${index}`;
      await trail.begin({ ...CALL, id, operation });
    }
    const of = async (query: string) => (await pages(query)).map(({ operation }) => operation);
    expect(await of('limit=1&routine=false')).toEqual(['promoteVersion', 'cancelBacktest']);
    expect(await of('routine=true')).toEqual(operations.toReversed());
    expect(await of('')).toEqual(operations.toReversed());
    expect(await of('routine=false&operation=logTrades')).toEqual(['logTrades']);
    const { audit } = open();
    expect((await audit('?routine=maybe')).status).toBe(400);
    const { body } = await audit('?limit=1&routine=false');
    expect((await audit(`?limit=1&cursor=${body.next_cursor}`)).body.detail.code).toBe('VAL006');
  });

  it('filtered list returns only matching entries on every page', async () => {
    const times = await record();
    const of = async (query: string) => (await pages(query)).map(({ at }) => at);
    const every = (from: number) => times.filter((_, i) => (23 - i) % 3 === from);
    expect(await of('principal=bob&limit=3')).toEqual(every(0));
    expect(await of('outcome=refused&limit=1')).toEqual(every(0));
    expect(await of('resource=bt-1&limit=5')).toEqual([...every(1), ...every(2)].sort().reverse());
    expect(await of('operation=cancelBacktest')).toEqual([]);
    expect(await of('principal=bo')).toEqual([]);
    for (const day of ['2026-11-17', '20261117'])
      expect(await of(`day=${day}`)).toEqual(times.filter((at) => at.startsWith('2026-11-17')));
    const range = `from=${times[9]}&to=${times[4]}`;
    expect(await of(range)).toEqual(times.slice(5, 10));
    expect(await of(`${range}&limit=2`)).toEqual(times.slice(5, 10));
    expect(await of('from=2026-11-19&to=2026-11-20')).toEqual(
      times.filter((at) => at.startsWith('2026-11-19')),
    );
  });

  it('default range is seven days', async () => {
    const { submit, entries } = open();
    await submit();
    now += 7 * 86_400_000 - 1;
    expect(await entries()).toHaveLength(1);
    now += 1;
    expect(await entries()).toHaveLength(0);
  });

  it('page reads a bounded number of calls and continues with the cursor', async () => {
    async function* many() {
      for (let i = 2_500; i > 0; i--) {
        const at = new Date(Date.parse('2026-11-21T00:00:00Z') + i).toISOString();
        yield { ...EMPTY, id: '01ARZ3NDEKTSV4RRFFQ69G5FAV', at, principal: i === 1 ? 'bob' : 'ann' };
      }
    }
    const audit: AuditTrail = {
      begin: (call) => trail.begin(call),
      end: (call, outcome) => trail.end(call, outcome),
      calls: async function* ({ day, before }) {
        for await (const call of many()) if (day === '2026-11-21' && call.at < before) yield call;
      },
    };
    const input = { limit: 20, principal: 'bob' };
    const first = await listAudit({ ...noModels(), audit, cursors, clock }, input);
    expect(first).toEqual({ items: [], next: expect.any(String) });
    const second = await listAudit(
      { ...noModels(), audit, cursors, clock },
      { ...input, cursor: first.next! },
    );
    expect(second).toMatchObject({ items: [{ principal: 'bob' }], next: null });
  });

  it.each([
    ['from=2026-11-21&to=2026-11-21', 400, 'VAL001', 'from'],
    ['from=yesterday', 400, 'VAL001', 'from'],
    ['to=2026-02-30', 400, 'VAL001', 'to'],
    ['day=2026-11', 400, 'VAL001', 'day'],
    ['day=2026-11-21&from=2026-11-20', 400, 'VAL005', 'day'],
    ['from=2026-10-01', 400, 'VAL005', 'from'],
    ['from=2026-10-01&to=2026-11-02', 400, 'VAL005', 'from'],
    ['limit=101', 400, 'VAL005', 'limit'],
    ['outcome=good', 400, 'VAL005', 'outcome'],
    ['cursor=abc', 400, 'VAL006', 'cursor'],
  ])('audit list rejects ?%s with %i %s', async (query, status, code, field) => {
    const { body, ...answer } = await open().audit(`?${query}`);
    expect([answer.status, body.detail.code, body.detail.field]).toEqual([status, code, field]);
  });

  it('cursor is accepted only with the same filters; a forged cursor is rejected', async () => {
    const { submit, audit } = open();
    await submit();
    now += 1;
    await submit();
    const { body } = await audit('?limit=1');
    const other = await audit(`?limit=1&principal=ann&cursor=${body.next_cursor}`);
    expect(other.body.detail).toMatchObject({ code: 'VAL006', context: { filters: { principal: 'ann' } } });
    const scope = {
      list: 'audit',
      day: null,
      from: null,
      to: null,
      principal: null,
      operation: null,
      resource: null,
      outcome: null,
    };
    const key = '2026-11-21T10:00:00.000Z#01ARZ3NDEKTSV4RRFFQ69G5FAV';
    for (const position of [
      ['x', '2026-11-20', '2026-11-22'],
      [key, '2000-01-01', '2026-11-22'],
      [key, '2026-11-20', '2026-11-21'],
      [key, 'soon', 'later'],
    ]) {
      const answer = await audit(`?cursor=${await signedCursor(encodeCursor(position, scope))}`);
      expect([answer.status, answer.body.detail.code]).toEqual([400, 'VAL006']);
    }
  });

  it('audit list requires the admin role', async () => {
    const { app } = open();
    const answer = await app.request('/api/v1/audit', { headers: { authorization: 'bob approver' } });
    expect(answer.status).toBe(403);
  });

  const EMPTY: Omit<StoredAuditCall, 'id' | 'at' | 'principal'> = {
    schema_version: 1,
    roles: [],
    service: 'backend',
    operation: 'submitBacktest',
    method: 'POST',
    path: '/',
    resource: { kind: 'backtests', id: null },
    correlation_id: 'c',
    request: null,
    source_ip: null,
    user_agent: null,
    outcome: null,
  };
});

describe('retention of the audit trail', () => {
  const kept = () => new DynamoAuditTrail(engine.client, table, 30);

  it('call and outcome expire together, and every other entry stays', async () => {
    await open({}, kept()).submit();
    const expiries = (await items()).map(({ expires_at }) => expires_at);
    expect(expiries).toEqual([1, 1].map(() => Math.ceil((now + 30 * 24 * 60 * 60_000) / 1000)));
    await open().submit();
    expect((await items()).filter(({ expires_at }) => expires_at === undefined)).toHaveLength(2);
  });

  it('expired entry is not listed although its item is still stored', async () => {
    now = Date.parse('2020-01-01T00:00:00Z');
    await open({}, kept()).submit();
    await open().submit();
    expect(await items('2020-01-01')).toHaveLength(4);
    expect(await open().entries('?day=2020-01-01')).toHaveLength(1);
  });
});
