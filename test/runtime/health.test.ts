import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createDocumentClient } from '#adapters/dynamo/client.ts';
import { serviceProbe, tableProbe } from '#adapters/health-probes.ts';
import { openStores } from '#adapters/open-stores.ts';
import { getHealth, type Probe } from '#domain/get-health.ts';
import { withoutIdentityProvider } from '#runtime/authenticate.ts';
import { localDataProxy, startBackend } from '../../src/local/services.ts';
import { memoryAudit } from '../support/audit.ts';
import { memoryLog, WITHOUT_JOBS } from '../support/backend.ts';
import { cursorKey } from '../support/cursors.ts';
import { startTestPlatform, type TestPlatform } from '../support/platform.ts';

const authenticate = withoutIdentityProvider({ enforced: false });

let platform: TestPlatform;
beforeAll(async () => {
  platform = await startTestPlatform();
});
afterAll(() => platform.stop());

describe('health of the strategy service', () => {
  it('health contains the service name and its dependencies', async () => {
    const { status, body } = await platform.strategy.get('/api/v1/health');
    expect(status).toBe(200);
    expect(body).toEqual({
      status: 'healthy',
      service: 'strategy',
      version: expect.stringMatching(/^\d+\.\d+\.\d+/),
      dependencies: { registry: 'healthy' },
    });
  });

  it('strategy service has its own correlation IDs, documentation and OpenAPI document', async () => {
    const health = await platform.strategy.request('/api/v1/health', {
      headers: { 'X-Correlation-ID': 'look-1' },
    });
    expect(health.headers.get('X-Correlation-ID')).toBe('look-1');
    // A history tells promotions by a challenge from those of users by the ID of the challenge.
    const forged = await platform.strategy.request('/api/v1/health', {
      headers: { 'X-Correlation-ID': 'ch-01M8KA925AEC1GN9SQ8VFQBH1C' },
    });
    expect(forged.headers.get('X-Correlation-ID')).not.toMatch(/^ch-/);
    const page = await platform.strategy.request('/docs');
    expect(await page.text()).toContain('Touchstone strategy service');
    const { body } = await platform.strategy.get('/openapi.json');
    expect(body.info.title).toBe('Touchstone strategy service');
    expect((await platform.strategy.get('/api/v1/nothing')).body.detail.code).toBe('HTTP404');
  });
});

describe('health of the backend', () => {
  /** Backend next to the platform with its own dependencies. */
  async function healthWith(changes: {
    strategyServiceUrl?: string;
    registryTable?: string;
    dataCollection?: string;
  }) {
    const { info } = platform;
    const backend = await startBackend(
      {
        port: 0,
        exchange: 'sim',
        checkResponses: true,
        authenticate,
        audit: memoryAudit().audit,
        cursorKey,
        log: memoryLog().log,
      },
      {
        ...WITHOUT_JOBS,
        stores: openStores(info.storage),
        databaseEndpoint: info.storage.DYNAMODB_ENDPOINT,
        registryTable: changes.registryTable ?? 'Registry',
        strategyServiceUrl: changes.strategyServiceUrl ?? info.strategy_service_url,
        dataProxy: localDataProxy(changes.dataCollection ?? info.data_collection_url),
      },
    );
    try {
      const response = await fetch(`${backend.url}/api/v1/health`);
      const { status, dependencies, reason } = (await response.json()) as Record<string, any>;
      return { code: response.status, status, dependencies, reason };
    } finally {
      await backend.close();
    }
  }
  const healthy = { strategy_service: 'healthy', data_collection: 'healthy', registry: 'healthy' };
  const gone = 'http://127.0.0.1:1';

  it('backend health lists its three dependencies', async () => {
    const expected = { code: 200, status: 'healthy', dependencies: healthy };
    // A loaded machine may exceed the time limit of a probe.
    await expect.poll(() => healthWith({})).toEqual(expected);
  });

  it.each([
    ['strategy_service', { strategyServiceUrl: gone }],
    ['data_collection', { dataCollection: gone }],
    ['registry', { registryTable: 'Elsewhere' }],
  ])('backend is degraded and lists the dependency when %s is unavailable', async (name, changes) => {
    await expect
      .poll(() => healthWith(changes))
      .toEqual({
        code: 200,
        status: 'degraded',
        dependencies: { ...healthy, [name]: 'unavailable' },
        reason: `${name} is unavailable`,
      });
  });
});

/** Health of a service with `probe` as its dependency `it`. */
async function found(probe: Probe, timeoutMs = 600_000) {
  const { status, dependencies } = await getHealth({ probes: { it: probe } }, timeoutMs);
  return { status, it: dependencies.it };
}

async function withServer(answer: RequestListener, run: (url: string) => Promise<void>) {
  const server = createServer(answer);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  try {
    await run(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

const DOWN = { status: 'degraded', it: 'unavailable' };

describe('health of a dependency', () => {
  it('dependency is healthy when it responds under its own name', async () => {
    const probe = serviceProbe(`${platform.info.strategy_service_url}/`, 'strategy');
    expect(await found(probe)).toMatchObject({ status: 'healthy', it: 'healthy' });
  });

  it('dependency is unavailable when its port is closed', async () => {
    expect(await found(serviceProbe('http://127.0.0.1:1', 'strategy'))).toMatchObject(DOWN);
  });

  it.each([
    ['another service', 200, '{"service":"backend"}'],
    ['an unhealthy service', 503, '{"service":"strategy"}'],
    ['a service without JSON', 200, '<html>'],
  ])('dependency is unavailable when %s responds', async (_, status, body) => {
    await withServer(
      (_request, response) => response.writeHead(status).end(body),
      async (url) => expect(await found(serviceProbe(url, 'strategy'))).toMatchObject(DOWN),
    );
  });

  it('dependency is unavailable when it exceeds the time limit of the probe', async () => {
    await withServer(
      () => undefined,
      async (url) => expect(await found(serviceProbe(url, 'strategy'), 50)).toEqual(DOWN),
    );
  });

  it('dependency is unavailable when its table is missing', async () => {
    const client = createDocumentClient({ endpoint: platform.info.storage.DYNAMODB_ENDPOINT });
    expect(await found(tableProbe(client, 'registry', 'Elsewhere'))).toMatchObject(DOWN);
    expect(await found(tableProbe(client, 'registry', 'Registry'))).toMatchObject({ it: 'healthy' });
  });

  it('dependency that is not deployed does not degrade the health', async () => {
    expect(await found(null)).toMatchObject({ status: 'healthy', it: 'not_deployed' });
  });
});
