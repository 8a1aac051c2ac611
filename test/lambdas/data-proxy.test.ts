import type { Context } from 'aws-lambda';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import type { ProxyEnvelope, ProxyHttpResponse } from '#runtime/data-proxy/envelope.ts';
import { FakeService } from '../runtime/data-proxy-server.ts';
import { gatewayEvent, LAMBDA_CONTEXT } from '../support/gateway.ts';

let service: FakeService;
beforeAll(async () => {
  service = await FakeService.start();
});
afterAll(() => service.stop());

let printed: string[];
beforeEach(() => {
  printed = [];
  service.requests.length = 0;
  service.behaviours = [{ status: 200, body: { all_fresh: true, stale_symbols: [] } }];
  for (const stream of [process.stdout, process.stderr]) {
    vi.spyOn(stream, 'write').mockImplementation((text) => {
      printed.push(...String(text).trim().split('\n'));
      return true;
    });
  }
});
afterEach(() => {
  vi.restoreAllMocks();
  vi.unstubAllEnvs();
});

/** Deployed handler, loaded again with this environment. */
async function start(environment: Record<string, string>) {
  for (const [name, value] of Object.entries(environment)) vi.stubEnv(name, value);
  vi.resetModules();
  const { handler } = await import('#lambdas/data-proxy.ts');
  return (event: unknown, context = LAMBDA_CONTEXT) => handler(event as never, context as Context);
}

/** Printed lines in the embedded metric format. */
function metrics(): Record<string, unknown>[] {
  const lines = printed.map((line) => JSON.parse(line) as Record<string, unknown>);
  return lines.filter((line) => '_aws' in line);
}

const freshness = { operation: 'check-freshness', params: { symbols: ['BTC/USDT:USDT'] } };

describe('metrics', () => {
  it('metrics are published for the total and the operation, ProxyErrors 0 on success', async () => {
    const invoke = await start({ DATA_COLLECTION_URL: service.url, ENVIRONMENT: 'test' });
    await invoke(freshness);
    expect(metrics()).toEqual([
      {
        _aws: {
          Timestamp: expect.any(Number),
          CloudWatchMetrics: [
            {
              Namespace: 'Touchstone',
              Dimensions: [
                ['service', 'stage'],
                ['service', 'operation'],
              ],
              Metrics: [
                { Name: 'ProxyRequests', Unit: 'Count' },
                { Name: 'ProxyLatency', Unit: 'Milliseconds' },
                { Name: 'ProxyErrors', Unit: 'Count' },
                { Name: 'ProxyUpstreamErrors', Unit: 'Count' },
              ],
            },
          ],
        },
        service: 'data-proxy',
        stage: 'test',
        operation: 'check-freshness',
        ProxyRequests: 1,
        ProxyLatency: expect.any(Number),
        ProxyErrors: 0,
        ProxyUpstreamErrors: 0,
      },
    ]);
  });

  it('ProxyErrors counts failures with status 200 and rejected calls', async () => {
    service.behaviours = [{ status: 500, body: {} }];
    const invoke = await start({ DATA_COLLECTION_URL: service.url, MAX_RETRIES: '0' });
    const answer = (await invoke(freshness)) as ProxyEnvelope;
    expect(answer.statusCode).toBe(200);
    await invoke({ operation: 'made-up-dimension' });
    await invoke({ ...freshness, safe: false });
    expect(metrics().map(({ operation, ProxyErrors }) => [operation, ProxyErrors])).toEqual([
      ['check-freshness', 1],
      ['unknown', 1],
      ['check-freshness', 1],
    ]);
    expect(metrics().map(({ ProxyUpstreamErrors }) => ProxyUpstreamErrors)).toEqual([1, 0, 1]);
    // A warm function drops the dimensions of earlier calls.
    for (const { _aws } of metrics() as { _aws: { CloudWatchMetrics: { Dimensions: unknown }[] } }[]) {
      expect(_aws.CloudWatchMetrics.map(({ Dimensions }) => Dimensions)).toEqual([
        [
          ['service', 'stage'],
          ['service', 'operation'],
        ],
      ]);
    }
  });
});

describe('settings', () => {
  it('MAX_RETRIES limits the retries of a 5xx', async () => {
    service.behaviours = [{ status: 502, body: {} }];
    const invoke = await start({ DATA_COLLECTION_URL: service.url, MAX_RETRIES: '0' });
    const { body } = (await invoke(freshness)) as ProxyEnvelope;
    expect(service.requests).toHaveLength(1);
    expect(body).toEqual({
      success: true,
      data: {
        operation: 'check-freshness',
        result: {
          all_fresh: false,
          stale_symbols: [],
          error: 'Data collection failed: status 502 (1 attempt)',
        },
      },
    });
  });

  it.each(['', 'not an address', 'data.example:8002'])(
    'function with the address "%s" returns 503 SVC004',
    async (url) => {
      const invoke = await start({ DATA_COLLECTION_URL: url, SERVICE_DISCOVERY_NAMESPACE: '' });
      expect(await invoke({ operation: 'health' })).toMatchObject({
        statusCode: 503,
        body: { success: false, data: { operation: 'health', result: null }, error: { code: 'SVC004' } },
      });
    },
  );

  it('failure that the caller did not cause is logged with the version of the function', async () => {
    const invoke = await start({ DATA_COLLECTION_URL: service.url });
    service.behaviours = [{ status: 401, body: {} }];
    await invoke(freshness);
    // The brake of a deployment counts such lines of the new version: lib/http/traffic-shift.ts.
    expect(printed.map((line) => JSON.parse(line))).toContainEqual(
      expect.objectContaining({ upstream: true, function_version: LAMBDA_CONTEXT.functionVersion }),
    );
  });

  it('service token is sent and never logged', async () => {
    const invoke = await start({
      DATA_COLLECTION_URL: service.url,
      SERVICE_TOKEN: 'a-secret-of-the-platform',
    });
    await invoke(freshness);
    expect(service.requests[0]!.headers.authorization).toBe('Bearer a-secret-of-the-platform');
    expect(printed.join('\n')).not.toContain('a-secret-of-the-platform');
  });

  it('calls end within the remaining time of the function', async () => {
    const invoke = await start({ DATA_COLLECTION_URL: service.url });
    const { body } = (await invoke(freshness, {
      ...LAMBDA_CONTEXT,
      getRemainingTimeInMillis: () => 1000,
    })) as ProxyEnvelope;
    expect(body.data.result!.error).toBe('No time is left to ask data collection');
    expect(service.requests).toHaveLength(0);
  });
});

it('API Gateway event gets a string body and its correlation ID, which is also in the log', async () => {
  const invoke = await start({ DATA_COLLECTION_URL: service.url });
  const event = gatewayEvent({
    httpMethod: 'POST',
    path: '/api/v1/data-proxy',
    headers: { 'X-Correlation-ID': 'trace-42' },
    body: JSON.stringify(freshness),
  });
  const response = (await invoke(event)) as ProxyHttpResponse;
  expect([response.statusCode, response.headers['X-Correlation-ID']]).toEqual([200, 'trace-42']);
  expect(JSON.parse(response.body)).toMatchObject({ success: true, data: { result: { all_fresh: true } } });
  expect(service.requests[0]!.headers['x-correlation-id']).toBe('trace-42');
  const line = printed.map((text) => JSON.parse(text)).find((each) => each.message === 'proxied');
  expect(line).toMatchObject({ operation: 'check-freshness', correlation_id: 'trace-42' });
});
