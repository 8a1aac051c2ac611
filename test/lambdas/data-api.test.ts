import { createServer, type IncomingMessage, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { gatewayEvent, headerOf, LAMBDA_CONTEXT } from '../support/gateway.ts';
import { FUNCTION_ENVIRONMENT } from '../support/lambda-environment.ts';

/** Deployed function between API Gateway and data collection. */

let server: Server;
let received: { method: string; url: string; headers: IncomingMessage['headers']; body: string }[];
let respond: RequestListener;

beforeEach(async () => {
  received = [];
  respond = (_, response) =>
    response.writeHead(200, { 'Content-Type': 'application/json' }).end('{"ok":true}');
  server = createServer(async (request, response) => {
    const body = await text(request);
    const { method = '', url = '', headers } = request;
    received.push({ method, url, headers, body });
    respond(request, response);
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  vi.spyOn(process.stdout, 'write').mockReturnValue(true);
  vi.spyOn(process.stderr, 'write').mockReturnValue(true);
});
afterEach(async () => {
  vi.unstubAllEnvs();
  vi.restoreAllMocks();
  server.closeAllConnections();
  await new Promise((closed) => server.close(closed));
});

async function start(environment: Record<string, string> = {}) {
  const { port } = server.address() as AddressInfo;
  const all = { ...FUNCTION_ENVIRONMENT, DATA_COLLECTION_URL: `http://127.0.0.1:${port}`, ...environment };
  for (const [name, value] of Object.entries(all)) vi.stubEnv(name, value);
  vi.resetModules();
  const { handler } = await import('#lambdas/data-api.ts');
  return (event: Parameters<typeof gatewayEvent>[0]) => handler(gatewayEvent(event), LAMBDA_CONTEXT);
}

const codeOf = ({ body }: { readonly body: string }) => JSON.parse(body).detail.code;

describe('API of data collection', () => {
  test('request reaches the service with its path, query, token and body', async () => {
    const invoke = await start();
    const result = await invoke({
      httpMethod: 'POST',
      path: '/api/v1/collect',
      multiValueQueryStringParameters: { symbol: ['BTC/USDT:USDT'], x: ['1', '2'] },
      headers: {
        Authorization: 'Bearer a.b.c',
        'Content-Type': 'application/json',
        'X-Correlation-ID': 'desk-1',
        Host: 'gateway.example',
      },
      body: '{"symbols":["BTC/USDT:USDT"]}',
    });
    expect(result).toMatchObject({ statusCode: 200, body: '{"ok":true}' });
    const [call, ...others] = received;
    expect(others).toEqual([]);
    expect(call!.method).toBe('POST');
    expect(new URL(call!.url, 'http://x').searchParams.getAll('x')).toEqual(['1', '2']);
    expect(call!.url).toMatch(/^\/api\/v1\/collect\?symbol=BTC/);
    expect(call!.headers).toMatchObject({ authorization: 'Bearer a.b.c', 'x-correlation-id': 'desk-1' });
    expect(call!.headers.host).not.toContain('gateway');
    expect(call!.body).toBe('{"symbols":["BTC/USDT:USDT"]}');
    expect(headerOf(result, 'X-Correlation-ID')).toBe('desk-1');
    expect(headerOf(result, 'Strict-Transport-Security')).toBe('max-age=31536000');
  });

  test("service of another deployment does not get CloudFront's token", async () => {
    const headers = { 'x-origin-token': 'secret-of-cloudfront', 'x-viewer-ip': '198.51.100.7' };
    await (await start())({ path: '/api/v1/candles', headers });
    expect(received[0]!.headers).not.toHaveProperty('x-origin-token');
  });

  test.each([
    ['CloudFront', 'secret-of-cloudfront', '198.51.100.7'],
    ['CloudFront with the token before a rotation', 'earlier-secret-of-cloudfront', '198.51.100.7'],
    ['a client that guesses a token', 'guess', '192.0.2.1'],
    ['a client past CloudFront', undefined, '192.0.2.1'],
  ])('own service believes the address of a call of %s', async (_, token, address) => {
    const fetched = vi.spyOn(globalThis, 'fetch').mockResolvedValue(new Response('candles'));
    const invoke = await start({
      DATA_COLLECTION_URL: '',
      SERVICE_DISCOVERY_NAMESPACE: 'desk.internal',
      ORIGIN_TOKEN: 'secret-of-cloudfront',
      ORIGIN_TOKEN_2: 'earlier-secret-of-cloudfront',
    });
    const result = await invoke({
      path: '/api/v1/candles',
      headers: { 'x-viewer-ip': '198.51.100.7', ...(token && { 'x-origin-token': token }) },
    });
    expect(result.body).toBe('candles');
    const [[sent], ...others] = fetched.mock.calls as [[Request]];
    expect(others).toEqual([]);
    expect(sent.url).toBe('http://data-collection.desk.internal:8002/api/v1/candles');
    expect(sent.headers.get('x-origin-token')).toBe('secret-of-cloudfront');
    expect(sent.headers.get('x-viewer-ip')).toBe(address);
  });

  test.each([
    [401, '{"detail":{"code":"AUTH001"}}'],
    [404, '{"detail":{"code":"HTTP404"}}'],
    [204, ''],
  ])('response %i of the service is returned unchanged', async (status, body) => {
    respond = (_, response) => response.writeHead(status, { 'Retry-After': '7' }).end(body || undefined);
    const result = await (await start())({ path: '/api/v1/candles' });
    expect(result).toMatchObject({ statusCode: status, body });
    expect(headerOf(result, 'Retry-After')).toBe('7');
  });

  test('redirect of the service is not followed', async () => {
    respond = (_, response) => response.writeHead(302, { Location: 'http://169.254.169.254/' }).end();
    const result = await (await start())({ path: '/api/v1/candles' });
    expect(result.statusCode).toBe(302);
    expect(received).toHaveLength(1);
  });

  test('service that cannot be reached is 503 SVC004', async () => {
    const unreachable = await start({ DATA_COLLECTION_URL: 'http://127.0.0.1:1' });
    const result = await unreachable({ path: '/api/v1/candles' });
    expect([result.statusCode, codeOf(result), headerOf(result, 'Retry-After')]).toEqual([
      503,
      'SVC004',
      '1',
    ]);
  });

  test('service that ends the connection in the middle is 503 SVC004', async () => {
    respond = (_, response) => {
      response.writeHead(200, { 'Content-Length': '100' }).write('{');
      response.socket!.destroy();
    };
    const result = await (await start())({ path: '/api/v1/candles' });
    expect([result.statusCode, codeOf(result)]).toEqual([503, 'SVC004']);
  });

  test('function without an address returns 503 SVC004', async () => {
    const result = await (await start({ DATA_COLLECTION_URL: 'not a URL' }))({ path: '/api/v1/candles' });
    expect([result.statusCode, codeOf(result)]).toEqual([503, 'SVC004']);
  });

  test('service that does not respond in time is 504 SVC006', async () => {
    const expired = new AbortController();
    vi.spyOn(AbortSignal, 'timeout').mockReturnValue(expired.signal);
    respond = () => expired.abort(new DOMException('late', 'TimeoutError'));
    const result = await (await start())({ path: '/api/v1/candles' });
    expect([result.statusCode, codeOf(result)]).toEqual([504, 'SVC006']);
    expect(AbortSignal.timeout).toHaveBeenCalledWith(27_000);
  });
});
