import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { LocalEnv } from '#contract/env/env.ts';
import { readEnv } from '#runtime/env.ts';
import { startTestPlatform, type TestPlatform } from '../support/platform.ts';

/** Keys and strings of bodies with a meaning in JavaScript or the database, sent to the whole platform. */

let platform: TestPlatform;
const untouched = Object.getOwnPropertyNames(Object.prototype).sort();
beforeAll(async () => {
  // No task runs: the tests check stored values.
  platform = await startTestPlatform({ concurrency: 0 });
});
afterAll(async () => {
  await platform.stop();
});

const send = (text: string, path = '/api/v1/backtests', service: Pick<TestPlatform, 'request'> = platform) =>
  service.request(path, { method: 'POST', headers: { 'content-type': 'application/json' }, body: text });
const config = (more: string) => `{"config":{"strategy":"ema_crossover",${more}}}`;

describe('prototype pollution', () => {
  const POISON = '{"polluted":true}';
  const places = [
    (key: string) => `{"${key}":${POISON},"config":{"strategy":"none"}}`,
    (key: string) => `{"config":{"strategy":"none","${key}":${POISON}}}`,
    ...['params', 'minimal_roi', 'trailing', 'date_range', 'ml_engine'].map(
      (field) => (key: string) => config(`"${field}":{"${key}":${POISON}}`),
    ),
  ];
  const calls: (readonly [string, string, 'backend' | 'strategy'])[] = [
    '__proto__',
    'constructor',
    'prototype',
  ].flatMap((key) => [
    ...places.map((place) => ['/api/v1/backtests', place(key), 'backend'] as const),
    [
      '/api/v1/strategies/ema_crossover/register',
      `{"backtest_run_id":"bt-1","container_image_uri":"a/b","thresholds":{"${key}":${POISON}}}`,
      'strategy',
    ] as const,
    ['/api/v1/data-proxy', `{"operation":"symbols","params":{"${key}":${POISON}}}`, 'backend'] as const,
    ['/api/v1/data-proxy', `{"operation":"${key}","${key}":${POISON}}`, 'backend'] as const,
  ]);

  it.each(calls)('request does not change Object.prototype: %s %s', async (path, body, service) => {
    const response = await send(body, path, service === 'strategy' ? platform.strategy : platform);
    expect(response.status).toBeLessThan(500);
    // Copies drop `__proto__` silently, so it is rejected. The proxy function reads its parameters by name.
    if (body.includes('__proto__') && path !== '/api/v1/data-proxy') {
      expect(await response.json()).toMatchObject({ detail: [{ type: 'json_invalid' }] });
    }
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
    expect(Object.getOwnPropertyNames(Object.prototype).sort()).toEqual(untouched);
  });

  it.each(['__proto__', 'constructor', 'constructor.prototype.polluted', '__proto__[polluted]'])(
    'query parameter %s is rejected as unknown',
    async (name) => {
      const { status } = await platform.get(`/api/v1/backtests?${encodeURIComponent(name)}=1`);
      expect(status).toBe(400);
      expect(Object.getOwnPropertyNames(Object.prototype).sort()).toEqual(untouched);
    },
  );

  it('environment does not change the prototype of the settings', () => {
    const env = readEnv(LocalEnv, JSON.parse('{"__proto__":"x","constructor":"y","BACKEND_PORT":"1"}'));
    expect(env.BACKEND_PORT).toBe(1);
    expect(Object.getPrototypeOf(env)).toBe(Object.prototype);
  });
});

describe('strings', () => {
  it.each(['\\ud800', '\\udc00x'])('lone surrogate %s is rejected as key and value', async (half) => {
    for (const body of [config(`"params":{"${half}":1}`), config(`"x":["${half}"]`)]) {
      const response = await send(body);
      expect(response.status).toBe(400);
      expect(await response.json()).toMatchObject({ detail: [{ type: 'json_invalid' }] });
    }
  });

  it.each([
    'a\0b',
    '\u202egnp',
    '😀'.repeat(20),
    'a\nb',
    '\x1b[2J',
    "'; DROP TABLE jobs; --",
    '#'.repeat(60),
  ])('%j is stored and returned unchanged', async (text) => {
    const { body } = await platform.post('/api/v1/backtests', {
      experiment_name: text,
      config: { strategy: 'ema_crossover', date_range: { start: '2026-01-01', end: '2026-01-02' } },
    });
    expect(body.job_id).toMatch(/^bt-/);
    const { body: job } = await platform.get(`/api/v1/backtests/${body.job_id}`);
    expect(job.experiment_name).toBe(text);
    const listed = await platform.get(`/api/v1/backtests?experiment_name=${encodeURIComponent(text)}`);
    expect(listed.body.items.map(({ job_id }: { job_id: string }) => job_id)).toEqual([body.job_id]);
    await platform.post(`/api/v1/backtests/${body.job_id}/cancel`);
  });

  it.each(['a b', 'ä', 'x'.repeat(256)])('Idempotency-Key %j is rejected', async (key) => {
    const sent = { config: { strategy: 'ema_crossover' } };
    const latin1 = Buffer.from(key, 'utf8').toString('latin1');
    const { status, body } = await platform.post('/api/v1/backtests', sent, { 'Idempotency-Key': latin1 });
    expect([status, body.detail?.field]).toEqual([400, 'Idempotency-Key']);
  });

  it.each(['e30', 'WzEsIngiLFsiYSJdXQ', '%00', 'A'.repeat(4000), '../..'])(
    'forged cursor %s is rejected',
    async (cursor) => {
      const { status, body } = await platform.get(`/api/v1/backtests?cursor=${cursor}`);
      expect([status, body.detail.field]).toEqual([400, 'cursor']);
    },
  );
});
