import { describe, expect, it } from 'vitest';
import { fixedStrategies, knownBuiltIns } from '#adapters/strategies/known-strategies.ts';
import type { StoredBacktestJob } from '#contract/backtests/backtest.ts';
import { KEEP_FOREVER } from '#contract/env/retention.ts';
import { CodedError } from '#contract/values/errors.ts';
import { CORRELATION_HEADER } from '#contract/values/names.ts';
import type { JobStore, ResultStore } from '#domain/ports.ts';
import { withoutIdentityProvider } from '#runtime/authenticate.ts';
import { withDeadline } from '#runtime/service.ts';
import type { BackendDeps } from '#runtime/services/backend.ts';
import { jobView } from '#runtime/services/backtest-views.ts';
import { accepted, backendApp, backendOver, fakeBackendDeps, post } from '../support/backend.ts';
import { signedCursor } from '../support/cursors.ts';
import { pendingJob, SOME_RESULT, SOME_RESULTS, SOME_TIMING } from '../support/jobs.ts';

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const SUBMISSION = { config: { strategy: 'demo' } };

describe('correlation ID', () => {
  const { app } = backendApp({
    getStrategy: () => {
      throw new Error('secret detail');
    },
  });
  const every: [name: string, status: number, path: string, init?: RequestInit][] = [
    ['success', 200, '/api/v1/health'],
    ['created', 201, '/api/v1/backtests', post(SUBMISSION)],
    ['unknown path', 404, '/nowhere'],
    ['wrong method', 405, '/api/v1/health', { method: 'DELETE' }],
    ['media type', 415, '/api/v1/backtests', { method: 'POST', body: 'a=1' }],
    ['malformed JSON', 400, '/api/v1/backtests', post('{')],
    ['body that does not fit', 400, '/api/v1/backtests', post({})],
    ['too large', 413, '/api/v1/backtests', post(`"${'x'.repeat(1024 * 1024)}"`)],
    ['bad query', 400, '/api/v1/backtests?limit=x'],
    ['coded error', 404, '/api/v1/backtests/bt-2'],
    ['server error', 500, '/api/v1/strategies/demo'],
    ['invalid token', 401, '/api/v1/strategies', { headers: { authorization: 'Bearer x' } }],
    ['HEAD', 200, '/api/v1/health', { method: 'HEAD' }],
    ['page', 200, '/docs'],
    ['missing asset', 404, '/docs/nothing.js'],
  ];

  it.each(every)('every response has a correlation ID: %s', async (_, status, path, init) => {
    const response = await app.request(path, init);
    expect(response.status).toBe(status);
    expect(response.headers.get(CORRELATION_HEADER)).toMatch(UUID);
  });

  it.each(['a', 'A.b:c_d-1', 'x'.repeat(128)])('valid correlation ID is kept: %s', async (id) => {
    const response = await app.request('/nowhere', { headers: { [CORRELATION_HEADER]: id } });
    expect(response.headers.get(CORRELATION_HEADER)).toBe(id);
  });

  it.each(['', 'a b', 'a"b', '<script>', 'é', 'x'.repeat(129)])(
    'invalid correlation ID is replaced: %s',
    async (id) => {
      const response = await app.request('/nowhere', { headers: { [CORRELATION_HEADER]: id } });
      expect(response.headers.get(CORRELATION_HEADER)).toMatch(UUID);
    },
  );

  it("correlation ID defaults to the gateway's", async () => {
    const response = await app.request('/nowhere', {}, { requestContext: { requestId: 'gateway-1' } });
    expect(response.headers.get(CORRELATION_HEADER)).toBe('gateway-1');
  });

  it('correlation ID is passed to the handler', async () => {
    const seen: string[] = [];
    const { app } = backendApp({
      submitBacktest: async (request) => {
        seen.push(request.correlationId);
        return accepted(pendingJob('bt-1'));
      },
    });
    await app.request('/api/v1/backtests', post(SUBMISSION, { [CORRELATION_HEADER]: 'mine' }));
    expect(seen).toEqual(['mine']);
  });
});

describe('routing', () => {
  const { app } = backendApp();

  it.each([
    '/',
    '/api',
    '/api/v1/health/',
    '/api/v1/backtests/',
    '/API/V1/health',
    '/api/v1/backtests/bt-1/x',
  ])('unknown path returns 404 HTTP404: %s', async (path) => {
    const response = await app.request(path);
    expect(response.status).toBe(404);
    expect(await response.json()).toMatchObject({ detail: { code: 'HTTP404', field: '' } });
  });

  it.each([
    ['PUT', '/api/v1/backtests', 'POST, GET, HEAD'],
    ['PUT', '/api/v1/backtests/bt-1', 'GET, PATCH, DELETE, HEAD'],
    ['GET', '/api/v1/backtests/bt-1/cancel', 'POST'],
    ['OPTIONS', '/api/v1/health', 'GET, HEAD'],
    ['PATCH', '/docs', 'GET, HEAD'],
  ])('wrong method returns 405 HTTP405 with Allow: %s %s', async (method, path, allow) => {
    const response = await app.request(path, { method });
    expect(response.status).toBe(405);
    expect(response.headers.get('Allow')).toBe(allow);
    expect(await response.json()).toMatchObject({ detail: { code: 'HTTP405' } });
  });

  it('HEAD returns the headers of GET without the body', async () => {
    const response = await app.request('/api/v1/health', { method: 'HEAD' });
    expect(response.headers.get('content-type')).toBe('application/json');
    expect(await response.text()).toBe('');
  });
});

describe('errors', () => {
  it('unexpected error returns SVC001 without details and is logged completely', async () => {
    const failure = new Error('connect to 10.0.0.7 as admin failed');
    const { app, lines } = backendApp({
      getBacktest: async () => {
        throw failure;
      },
    });
    const response = await app.request('/api/v1/backtests/bt-1');
    expect(response.status).toBe(500);
    expect(await response.json()).toEqual({
      detail: { code: 'SVC001', message: 'Internal server error', field: '', context: {} },
    });
    expect(lines.filter((line) => line.level === 'error').map((line) => line.fields.error)).toEqual([
      failure,
    ]);
  });

  it('coded error returns its status, message, field and context', async () => {
    const { app } = backendApp({
      cancelBacktest: async () => {
        throw new CodedError('RES005', {
          status: 400,
          message: 'The backtest is already completed',
          field: 'job_id',
          context: { status: 'completed' },
        });
      },
    });
    const response = await app.request('/api/v1/backtests/bt-1/cancel', { method: 'POST' });
    expect(response.status).toBe(400);
    expect(await response.json()).toEqual({
      detail: {
        code: 'RES005',
        message: 'The backtest is already completed',
        field: 'job_id',
        context: { status: 'completed' },
      },
    });
  });

  it('unavailable dependency is logged and returns Retry-After', async () => {
    const { app, lines } = backendApp({
      listBacktests: async () => {
        throw new CodedError('DATA005', { cause: new Error('ECONNREFUSED') });
      },
    });
    const response = await app.request('/api/v1/backtests');
    expect(response.status).toBe(503);
    expect(response.headers.get('Retry-After')).toBe('1');
    expect(lines.some((line) => line.level === 'error' && line.fields.code === 'DATA005')).toBe(true);
  });

  it('call returns 504 SVC006 when the deadline passes', async () => {
    const { app } = backendApp({ getBacktest: () => new Promise(() => {}) }, { deadlineMs: 10 });
    const response = await app.request('/api/v1/backtests/bt-1');
    expect(response.status).toBe(504);
    expect(await response.json()).toMatchObject({ detail: { code: 'SVC006' } });
  });

  it('signal of the handler aborts only when the deadline passes', async () => {
    const signals: AbortSignal[] = [];
    const stuck = withDeadline(10, (signal) => {
      signals.push(signal);
      return new Promise(() => {});
    });
    await expect(stuck).rejects.toMatchObject({ code: 'SVC006' });
    await withDeadline(1000, async (signal) => signals.push(signal));
    expect(signals.map((signal) => signal.aborted)).toEqual([true, false]);
  });

  it('undocumented response is an error', async () => {
    const odd = { ...jobView(pendingJob('bt-1'), null, KEEP_FOREVER), attempt: 1.5 };
    const { app, lines } = backendApp({ getBacktest: async () => ({ status: 200, body: odd }) });
    expect((await app.request('/api/v1/backtests/bt-1')).status).toBe(500);
    expect(String(lines.find((line) => line.level === 'error')?.fields.error)).toContain('attempt');
  });

  it('undocumented key is an error', async () => {
    const equity = { dates: [], equity: [], drawdown: [], monthly_returns: {}, extra: 1 };
    const { app, lines } = backendApp({
      getBacktestEquity: async () => ({ status: 200, body: equity }),
    });
    expect((await app.request('/api/v1/backtests/bt-1/equity')).status).toBe(500);
    expect(String(lines.find((line) => line.level === 'error')?.fields.error)).toContain('does not name');
  });

  it('undocumented error is an error', async () => {
    const { app } = backendApp({
      getBacktest: async () => {
        throw new CodedError('DATA002');
      },
    });
    expect((await app.request('/api/v1/backtests/bt-1')).status).toBe(500);
  });
});

describe('log', () => {
  it('log has one line per request that headers and paths cannot forge', async () => {
    const { app, lines } = backendApp();
    await app.request('/a%0A{"level":"ERROR"}');
    expect(lines).toHaveLength(1);
    expect(lines[0]).toMatchObject({
      message: 'request',
      fields: { operation: 'none', status: 404, code: 'HTTP404' },
    });
  });

  it('observers receive every response', async () => {
    const outcomes: [string | undefined, number][] = [];
    const { app } = backendApp(
      {},
      { observe: ({ operation, status }) => outcomes.push([operation?.id, status]) },
    );
    await app.request('/api/v1/health');
    await app.request('/nowhere');
    expect(outcomes).toEqual([
      ['getHealth', 200],
      [undefined, 404],
    ]);
  });
});

describe('authentication', () => {
  const open = backendApp().app;
  const enforced = backendApp({}, { authenticate: withoutIdentityProvider({ enforced: true }) }).app;
  const token = { headers: { authorization: 'Bearer abc' } };

  it('unverifiable token is rejected, also with optional authentication', async () => {
    const response = await open.request('/api/v1/backtests', token);
    expect(response.status).toBe(401);
    expect(response.headers.get('WWW-Authenticate')).toBe(
      'Bearer realm="touchstone", error="invalid_token", error_description="Invalid token"',
    );
    expect(await response.json()).toMatchObject({ detail: { code: 'AUTH002', field: 'Authorization' } });
  });

  it('enforced service rejects a missing token', async () => {
    const response = await enforced.request('/api/v1/backtests');
    expect(response.status).toBe(401);
    expect(response.headers.get('WWW-Authenticate')).toBe('Bearer realm="touchstone"');
    expect(await response.json()).toMatchObject({ detail: { code: 'AUTH003' } });
  });

  it.each(['/api/v1/health', '/docs', '/docs/start.js', '/openapi.json'])(
    '%s requires no token',
    async (path) => {
      expect((await enforced.request(path)).status).toBe(200);
      expect((await enforced.request(path, token)).status).toBe(200);
    },
  );

  it('insufficient role is rejected with AUTH004', async () => {
    const { app } = backendApp(
      {},
      { authenticate: async () => ({ id: 'v', roles: ['viewer'], groups: [] }) },
    );
    expect((await app.request('/api/v1/backtests')).status).toBe(200);
    const response = await app.request('/api/v1/backtests', post(SUBMISSION));
    expect(response.status).toBe(403);
    expect(await response.json()).toMatchObject({
      detail: { code: 'AUTH004', context: { required: 'researcher' } },
    });
  });
});

describe('backend operations', () => {
  const completed = {
    ...pendingJob('bt-1'),
    status: 'completed' as const,
    started_at: '2025-03-01T00:00:01.000Z',
    task: 'task-1',
    progress: 1,
    finished_at: '2025-03-01T00:00:09.000Z',
    result: SOME_RESULT,
    results: SOME_RESULTS,
    timing: SOME_TIMING,
  };
  const json = async (path: string, changes: Partial<BackendDeps> = {}, init?: RequestInit) => {
    const app = backendOver(changes);
    const response = await app.request(path, init);
    return { status: response.status, headers: response.headers, body: (await response.json()) as never };
  };
  const jobsWith = (changes: Partial<JobStore>) => ({ jobs: fakeBackendDeps(changes).jobs });

  it('submit returns 201 with job_id, status, created_at and Location', async () => {
    const stored: StoredBacktestJob[] = [];
    const { status, headers, body } = await json(
      '/api/v1/backtests',
      {
        strategies: fixedStrategies(knownBuiltIns()),
        ...jobsWith({
          create: async (job) => {
            stored.push(job);
            return job;
          },
        }),
      },
      post({ config: { strategy: 'ema_crossover', colour: 'x' }, priority: 7 }, { 'Idempotency-Key': 'k1' }),
    );
    expect(status).toBe(201);
    expect(stored).toMatchObject([
      { job_id: expect.stringMatching(/^bt-K/), owner: 'anonymous', priority: 7, status: 'pending' },
    ]);
    const { job_id, created_at, warnings } = stored[0]!;
    expect(headers.get('Location')).toBe(`backtests/${job_id}`);
    expect(body).toEqual({ job_id, status: 'pending', created_at, warnings });
    expect(warnings).toContainEqual(expect.stringContaining('config.colour'));
  });

  it('get returns a job in each state with the fields of the contract', async () => {
    const failed = {
      ...pendingJob('bt-1'),
      status: 'failed' as const,
      finished_at: '2025-03-01T00:00:09.000Z',
      error: 'Out of memory',
      error_code: 'SVC001',
    };
    expect((await json('/api/v1/backtests/bt-1', {})).body).toMatchObject({
      status: 'pending',
      result: null,
      error: null,
      progress: 0,
    });
    expect(
      (await json('/api/v1/backtests/bt-1', jobsWith({ get: async () => completed }))).body,
    ).toMatchObject({
      status: 'completed',
      result: SOME_RESULT,
      error: null,
      progress: 1,
      timing: SOME_TIMING,
    });
    expect((await json('/api/v1/backtests/bt-1', jobsWith({ get: async () => failed }))).body).toMatchObject({
      status: 'failed',
      result: null,
      error: 'Out of memory',
      progress: null,
      timing: null,
    });
  });

  it('list returns the envelope of the contract and passes on every filter', async () => {
    const seen: unknown[] = [];
    const list: JobStore['list'] = async (...query) => {
      seen.push(query);
      return { items: [], next: 'more', searched: null, count: null };
    };
    const { body } = await json(
      `/api/v1/backtests?limit=3&cursor=${await signedCursor('c')}&status=failed&experiment_name=e`,
      jobsWith({ list }),
    );
    const next_cursor = await signedCursor('more');
    expect(body).toEqual({ items: [], next_cursor, searched: null, count: null });
    expect(seen).toEqual([[{ status: 'failed', experiment_name: 'e' }, 3, 'c', undefined, undefined]]);
  });

  it('list returns 20 items per page by default', async () => {
    const limits: unknown[] = [];
    const list: JobStore['list'] = async (_, limit) => {
      limits.push(limit);
      return { items: [], next: null, searched: null, count: null };
    };
    await json('/api/v1/backtests', jobsWith({ list }));
    expect(limits).toEqual([20]);
  });

  it('equity is returned as stored', async () => {
    const equity = {
      dates: ['2025-01-01'],
      equity: [1000],
      drawdown: [0],
      monthly_returns: { '2025-01': 0 },
    };
    const results = { read: async () => equity } as unknown as ResultStore;
    const deps = { ...jobsWith({ get: async () => completed }), results };
    expect((await json('/api/v1/backtests/bt-1/equity', deps)).body).toEqual(equity);
  });

  it('health returns the service, its version and its dependencies', async () => {
    expect((await json('/api/v1/health', {})).body).toEqual({
      status: 'healthy',
      service: 'backend',
      version: expect.stringMatching(/^\d+\.\d+\.\d+$/),
      dependencies: { registry: 'healthy' },
    });
  });

  it('strategies are listed in items', async () => {
    expect((await json('/api/v1/strategies', {})).body).toEqual({ items: [], broken: [] });
  });
});
