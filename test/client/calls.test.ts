import { describe, expect, it } from 'vitest';
import {
  AccessError,
  AuthenticationError,
  ConflictError,
  cancelBacktest,
  connect,
  DataError,
  deleteBacktest,
  ExpiredError,
  exportBacktest,
  getBacktest,
  getMe,
  items,
  listBacktests,
  listBacktestTrades,
  NotFoundError,
  pages,
  RateLimitError,
  startHyperopt,
  submitBacktest,
  TouchstoneError,
  UnavailableError,
  ValidationError,
  waitFor,
} from '../../src/client/index.ts';
import { broken, clientOf, json, rejected } from './service.ts';

const REQUEST = { body: { config: { strategy: 'ema_crossover' } } };
const SUBMITTED = { job_id: 'bt-1', status: 'pending' };

describe('calls', () => {
  it('address has a prefix for each service, or is one for each', async () => {
    const { connection, sent } = clientOf([json(SUBMITTED, 201), json(SUBMITTED, 201)]);
    await submitBacktest(connection, REQUEST);
    await startHyperopt(connection, { body: { strategy: 'ema_crossover' } });
    expect(sent.map(({ method, url }) => [method, url])).toEqual([
      ['POST', '/services/backend/api/v1/backtests'],
      ['POST', '/services/strategy/api/v1/hyperopt'],
    ]);
    expect(sent[0]).toMatchObject(REQUEST);
    const each = connect({ strategy: 'http://127.0.0.1:8001/' });
    expect(each.addressOf('strategy')).toBe('http://127.0.0.1:8001');
    await expect(getMe(each)).rejects.toThrow('Pass the address of backend to connect()');
  });

  it('names are path variables or query, and arrays are repeated', async () => {
    const { connection, sent } = clientOf(Array.from({ length: 3 }, () => json({ items: [] })));
    await listBacktestTrades(connection, {
      job_id: 'bt-1',
      pair: ['BTC/USDT:USDT', 'ETH'],
      limit: 5,
      side: undefined,
    });
    await listBacktests(connection);
    await listBacktests(connection, { params: { fast: 10, 'a b': true }, sort: 'params.fast' });
    expect(sent.map(({ url }) => url)).toEqual([
      '/services/backend/api/v1/backtests/bt-1/trades?pair=BTC%2FUSDT%3AUSDT&pair=ETH&limit=5',
      '/services/backend/api/v1/backtests',
      '/services/backend/api/v1/backtests?params.fast=10&params.a+b=true&sort=params.fast',
    ]);
  });

  it.each(['', '.', '..'])(
    'path variable %j, which would address another path, is a TypeError',
    async (job_id) => {
      const { connection, sent } = clientOf([]);
      await expect(deleteBacktest(connection, { job_id })).rejects.toThrow(TypeError);
      expect(sent).toEqual([]);
    },
  );

  it('unknown fields and values of enumerations are kept', async () => {
    const job = { job_id: 'bt-1', status: 'paused', later: [1] };
    const { connection } = clientOf([json(job)]);
    expect(await getBacktest(connection, { job_id: 'bt-1' })).toEqual(job);
  });

  it('a misspelled or missing field does not compile', async () => {
    const { connection } = clientOf(Array.from({ length: 3 }, () => json(SUBMITTED, 201)));
    // @ts-expect-error
    await submitBacktest(connection, { body: { config: { strategi: 'ema_crossover' } } });
    // @ts-expect-error
    await submitBacktest(connection, { body: { config: { strategy: 'ema_crossover', tiemframe: '1h' } } });
    // @ts-expect-error
    expect((await getBacktest(connection, { job_id: 'bt-1' })).state).toBeUndefined();
  });

  it('call without a body in its response returns undefined', async () => {
    const { connection, sent } = clientOf([() => new Response(null, { status: 204 })]);
    expect(await deleteBacktest(connection, { job_id: 'bt-1' })).toBeUndefined();
    expect(sent[0]!.method).toBe('DELETE');
  });

  it('file is read from the response, or from where the response says, without the token', async () => {
    const { connection, sent } = clientOf(
      [() => new Response('a,b'), json({ url: 'https://files.test/x' }, 201), () => new Response('c,d')],
      { token: 'secret' },
    );
    for (const text of ['a,b', 'c,d']) {
      const response = await exportBacktest(connection, { job_id: 'bt-1', format: 'csv' });
      expect(await response.text()).toBe(text);
    }
    expect(sent[2]!.url).toBe('https://files.test/x');
    expect(sent.map(({ headers }) => headers.get('Authorization'))).toEqual([
      'Bearer secret',
      'Bearer secret',
      null,
    ]);
  });
});

describe('repeated calls', () => {
  it('a POST is repeated with the same key, after pauses that grow', async () => {
    const { connection, sent, pauses } = clientOf([rejected(503, 'DATA005'), broken, json(SUBMITTED, 201)]);
    expect(await submitBacktest(connection, REQUEST)).toEqual(SUBMITTED);
    const keys = sent.map(({ headers }) => headers.get('Idempotency-Key'));
    expect(new Set(keys).size).toBe(1);
    expect(keys[0]).toMatch(/^(\d+-){3}\d+$/);
    expect(pauses[0]).toBeGreaterThanOrEqual(375);
    expect(pauses[0]).toBeLessThanOrEqual(625);
    expect(pauses[1]).toBeGreaterThanOrEqual(750);
  });

  it('the key may be that of the caller', async () => {
    const { connection, sent } = clientOf([json(SUBMITTED, 201)]);
    await submitBacktest(connection, REQUEST, { idempotencyKey: 'nightly-7' });
    expect(sent[0]!.headers.get('Idempotency-Key')).toBe('nightly-7');
  });

  it.each([
    ['seconds', '7', 7_000],
    ['a date', 'Fri, 01 Jan 2100 00:00:00 GMT', 365 * 86_400_000],
  ])('the pause is at least Retry-After in %s', async (_, after, least) => {
    const replies = [rejected(429, 'HTTP429', { 'Retry-After': after }), json({})];
    const { connection, pauses } = clientOf(replies, { longestPauseMs: Number.POSITIVE_INFINITY });
    await getMe(connection);
    expect(pauses).toEqual([expect.any(Number)]);
    expect(pauses[0]).toBeGreaterThanOrEqual(least);
  });

  it('a pause longer than the longest is an error at once', async () => {
    const { connection, sent } = clientOf([rejected(429, 'HTTP429', { 'Retry-After': '61' })]);
    await expect(getMe(connection)).rejects.toMatchObject({ code: 'HTTP429', retryAfterSeconds: 61 });
    expect(sent).toHaveLength(1);
  });

  it('the error after the last attempt is thrown', async () => {
    const { connection, sent } = clientOf([broken, broken, rejected(500, 'SVC001')]);
    await expect(getMe(connection)).rejects.toMatchObject({ code: 'SVC001', status: 500 });
    expect(sent).toHaveLength(3);
  });

  it.each([
    ['DELETE', deleteBacktest],
    ['POST without a key', cancelBacktest],
  ])('a %s is repeated only after 429, which changed nothing', async (_, change) => {
    const lost = clientOf([broken]);
    await expect(change(lost.connection, { job_id: 'bt-1' })).rejects.toThrow(UnavailableError);
    const limited = clientOf([rejected(429, 'HTTP429'), json({})]);
    await change(limited.connection, { job_id: 'bt-1' });
    expect([lost.sent.length, limited.sent.length]).toEqual([1, 2]);
    expect(limited.sent[1]!.headers.has('Idempotency-Key')).toBe(false);
  });

  it('a rejected request is not repeated', async () => {
    const { connection, sent } = clientOf([rejected(400, 'VAL003')]);
    await expect(getMe(connection)).rejects.toThrow(ValidationError);
    expect(sent).toHaveLength(1);
  });

  it('an expired token is renewed once', async () => {
    const asked: boolean[] = [];
    const token = async ({ renew }: { renew: boolean }) => {
      asked.push(renew);
      return renew ? 'new' : 'old';
    };
    const expired = rejected(401, 'AUTH001');
    const { connection, sent } = clientOf([expired, json({}), expired, expired], { token });
    await getMe(connection);
    expect(sent.map(({ headers }) => headers.get('Authorization'))).toEqual(['Bearer old', 'Bearer new']);
    await expect(getMe(connection)).rejects.toThrow(AuthenticationError);
    expect(asked).toEqual([false, true, false, true]);
  });

  it('a call that gets no response within its time is repeated, then an error that says so', async () => {
    const silent = (_: unknown, signal: AbortSignal) =>
      new Promise<never>((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
    const { connection, sent } = clientOf([silent, silent], { attempts: 2 });
    await expect(getMe(connection, {}, { timeoutMs: 1 })).rejects.toThrow(
      'No response from http://touchstone.test/services/backend/api/v1/me within 1 ms',
    );
    expect(sent).toHaveLength(2);
  });

  it('an aborted call throws the reason, also in a pause', async () => {
    const stop = new AbortController();
    const { connection, sent } = clientOf([broken], {
      pause: async (_, signal) => {
        stop.abort(new Error('enough'));
        signal!.throwIfAborted();
      },
    });
    await expect(getMe(connection, {}, { signal: stop.signal })).rejects.toThrow('enough');
    await expect(getMe(connection, {}, { signal: stop.signal })).rejects.toThrow('enough');
    expect(sent.length).toBeLessThanOrEqual(2);
  });
});

describe('errors', () => {
  it.each([
    ['VAL005', 400, ValidationError],
    ['AUTH003', 401, AuthenticationError],
    ['AUTH005', 403, AccessError],
    ['RES003', 404, NotFoundError],
    ['CHL001', 404, NotFoundError],
    ['RES005', 409, ConflictError],
    ['RES006', 410, ExpiredError],
    ['DATA001', 400, DataError],
    ['HTTP429', 429, RateLimitError],
    ['DATA004', 503, UnavailableError],
    ['NEW001', 418, TouchstoneError],
  ])('%s has its class and details', async (code, status, Class) => {
    const { connection } = clientOf([rejected(status, code, { 'X-Correlation-ID': 'c-1' })], { attempts: 1 });
    const error = await getMe(connection).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(Class);
    expect((error as Error).constructor).toBe(Class);
    expect(error).toMatchObject({
      name: Class.name,
      code,
      status,
      message: `Why ${code}`,
      field: 'x',
      context: { n: 1 },
      correlationId: 'c-1',
    });
  });

  it('a connection that fails says why', async () => {
    const failed = (cause?: Error) => () => Promise.reject(new TypeError('fetch failed', { cause }));
    const why = new Error('connect ECONNREFUSED 127.0.0.1:8000');
    // The cause has no message where a name has several addresses.
    for (const [cause, message] of [
      [why, why.message],
      [new AggregateError([why]), 'fetch failed'],
      [undefined, 'fetch failed'],
    ] as const) {
      const { connection } = clientOf([failed(cause)], { attempts: 1 });
      await expect(getBacktest(connection, { job_id: 'bt-1' })).rejects.toMatchObject({
        code: 'NO_RESPONSE',
        status: 0,
        message: `No response from http://touchstone.test/services/backend/api/v1/backtests/bt-1: ${message}`,
      });
    }
  });

  it('a body that does not fit its schema has its issues', async () => {
    const issue = { type: 'missing', loc: ['body', 'config'], msg: 'Field required', input: {} };
    const { connection } = clientOf([json({ detail: [issue] }, 400)]);
    await expect(submitBacktest(connection, REQUEST)).rejects.toMatchObject({
      name: 'ValidationError',
      code: 'INVALID_BODY',
      issues: [issue],
      message: 'body.config: Field required',
    });
  });

  it.each([502, 404, 200])('a response of status %i that is not JSON is an error', async (status) => {
    const { connection } = clientOf([() => new Response('<html>', { status })], { attempts: 1 });
    await expect(getMe(connection)).rejects.toBeInstanceOf(TouchstoneError);
  });
});

describe('lists', () => {
  it('pages follow the cursor with the same filters to the end, also past an empty page', async () => {
    const { connection, sent } = clientOf([
      json({ items: [{ job_id: 'bt-3' }], next_cursor: 'a' }),
      json({ items: [], next_cursor: 'b' }),
      json({ items: [{ job_id: 'bt-1' }], next_cursor: null }),
    ]);
    const found: string[] = [];
    for await (const job of items(connection, listBacktests, { status: 'completed' })) found.push(job.job_id);
    expect(found).toEqual(['bt-3', 'bt-1']);
    expect(sent.map(({ url }) => url.split('?')[1])).toEqual([
      'status=completed',
      'status=completed&cursor=a',
      'status=completed&cursor=b',
    ]);
  });

  it('numbered pages are counted up to the last', async () => {
    const page = (number: number) => json({ items: [{ id: number }], page: number, pages: 3 });
    const { connection, sent } = clientOf([page(2), page(3)]);
    const numbers: number[] = [];
    for await (const { page } of pages(connection, listBacktestTrades, { job_id: 'bt-1', page: 2 }))
      numbers.push(page);
    expect(numbers).toEqual([2, 3]);
    expect(sent[1]!.url).toContain('page=3');
  });

  it('a page that nobody asks for is not read', async () => {
    const { connection, sent } = clientOf([json({ items: [{ job_id: 'bt-3' }], next_cursor: 'a' })]);
    for await (const _ of items(connection, listBacktests)) break;
    expect(sent).toHaveLength(1);
  });
});

describe('waitFor', () => {
  it('reads a job with growing pauses until it has ended', async () => {
    const states = ['pending', 'running', 'running', 'failed'];
    const { connection, pauses } = clientOf(states.map((status) => json({ job_id: 'bt-1', status })));
    const seen: string[] = [];
    const onRead = ({ status }: { status: string }) => seen.push(status);
    const job = await waitFor(connection, getBacktest, { job_id: 'bt-1' }, { onRead, intervalMs: 1_000 });
    expect([job.status, seen]).toEqual(['failed', states]);
    expect(pauses).toEqual([100, 150, 225]);
  });
});
