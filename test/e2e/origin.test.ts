import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { SERVICE_PREFIXES } from '#contract/values/names.ts';
import type { ServiceName } from '#contract/values/operation.ts';
import { VERSION } from '#runtime/version.ts';
import { startTestPlatform, type TestPlatform } from '../support/platform.ts';

/** Everything that the dashboard calls, at the backend's address. */

let platform: TestPlatform;
beforeAll(async () => {
  platform = await startTestPlatform({ concurrency: 0, dashboard: () => ({ status: 'building' }) });
});
afterAll(() => platform?.stop());

describe.each(Object.entries(SERVICE_PREFIXES))(
  'service %s at the address of the backend',
  (name, prefix) => {
    it('service answers as at its own address', async () => {
      const { backend_url, strategy_service_url, data_collection_url } = platform.info;
      const own: Readonly<Record<ServiceName, string>> = {
        backend: backend_url,
        strategy: strategy_service_url,
        data_collection: data_collection_url,
      };
      for (const path of ['/openapi.json', '/docs']) {
        const [prefixed, direct] = await Promise.all([
          fetch(`${backend_url}${prefix}${path}`),
          fetch(`${own[name as ServiceName]}${path}`),
        ]);
        expect(prefixed.status).toBe(200);
        expect(await prefixed.text()).toBe(await direct.text());
        expect(prefixed.headers.get('content-security-policy')).toBe(
          direct.headers.get('content-security-policy'),
        );
      }
      const { status, body } = await platform.get(`${prefix}/api/v1/health`);
      expect([status, body]).toMatchObject([200, { service: expect.stringMatching(name.replace('_', '.')) }]);
    });

    it('unknown path returns a JSON 404', async () => {
      const { status, body } = await platform.get(`${prefix}/nowhere`);
      expect([status, body]).toMatchObject([
        404,
        { detail: { code: 'HTTP404', context: { path: '/nowhere' } } },
      ]);
    });
  },
);

it('audit trail has path and peer of a call under a prefix', async () => {
  const { status } = await platform.post(`${SERVICE_PREFIXES.strategy}/api/v1/hyperopt/ho-none/cancel`);
  expect(status).toBe(404);
  const { body } = await platform.get('/api/v1/audit?operation=cancelHyperopt');
  expect(body.items).toMatchObject([
    { source_ip: '127.0.0.1', path: '/api/v1/hyperopt/ho-none/cancel', status: 404 },
  ]);
});

it('dashboard is at the address of the backend', async () => {
  const page = await platform.request('/', { headers: { accept: 'text/html' } });
  expect([page.status, await page.text()]).toEqual([503, expect.stringContaining('is being built')]);
  const { status, body } = await platform.get('/config.json');
  expect([status, body]).toEqual([200, { stage: 'local', version: VERSION, exchange: 'sim', auth: null }]);
});
