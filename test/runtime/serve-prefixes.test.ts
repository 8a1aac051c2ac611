import { afterAll, describe, expect, it } from 'vitest';
import { SERVICE_PREFIXES } from '#contract/values/names.ts';
import { serve } from '#runtime/serve.ts';
import { exchange, expectRefusal } from '../security/hosts.ts';
import { backendApp, memoryLog, post } from '../support/backend.ts';

/** Applications under a path prefix of one server. */

const prefix = SERVICE_PREFIXES.strategy;
const { log } = memoryLog();

type App = Parameters<typeof serve>[0];
type Env = {
  readonly closing: AbortSignal;
  readonly incoming: { readonly socket: { remoteAddress?: string } };
};

/** Server whose own application is the backend, and whose application under the prefix is this one. */
async function hosting(fetch: (request: Request, env: Env) => Response | Promise<Response>) {
  const app = { fetch } as unknown as App;
  return serve(backendApp().app, {
    port: 0,
    hostname: '127.0.0.1',
    log,
    loopbackOnly: true,
    prefixes: new Map([[prefix, app]]),
  });
}

describe('application under a prefix', () => {
  const seen: string[] = [];
  let peer: string | undefined;
  const started = hosting(async (request, env) => {
    const { pathname, search } = new URL(request.url);
    seen.push(pathname);
    peer = env.incoming.socket.remoteAddress;
    return Response.json({ path: pathname + search, body: await request.text() });
  });
  afterAll(async () => (await started).close());
  const get = async (path: string, more = '') =>
    exchange(
      (await started).port,
      `GET ${path} HTTP/1.1\r\nHost: localhost\r\n${more}Connection: close\r\n\r\n`,
    );

  it('application receives path, query and body without the prefix', async () => {
    const server = await started;
    const response = await fetch(`${server.url}${prefix}/api/v1/x%2Fy?a=1&b=%20`, post('{"c":1}'));
    expect(await response.json()).toEqual({ path: '/api/v1/x%2Fy?a=1&b=%20', body: '{"c":1}' });
  });

  it('application receives the address of the peer', async () => {
    await get(`${prefix}/x`);
    expect(peer).toBe('127.0.0.1');
  });

  it.each([
    prefix,
    `${prefix}?a=/`,
    `${prefix}x/api/v1/health`,
    '/services/nowhere/x',
    '/services/%73trategy/x',
    '//services/strategy/x',
    `/x/..${prefix}/x`,
    `http://localhost${prefix}/x`,
  ])('path %s does not reach the application', async (path) => {
    const before = seen.length;
    expectRefusal(await get(path), 404, 'HTTP404');
    expect(seen.length).toBe(before);
  });

  it.each([
    ['/../backend/api/v1/health', '/backend/api/v1/health'],
    ['/%2e%2e/%2e%2e/etc/passwd', '/etc/passwd'],
    ['//evil.example/x', '//evil.example/x'],
    ['/..%2f..%2fx', '/..%2f..%2fx'],
  ])('path %s stays in the application', async (path, received) => {
    const before = seen.length;
    const { status } = await get(`${prefix}${path}`);
    expect([status, seen.slice(before)]).toEqual([200, [received]]);
  });

  it.each(['Host: evil.example', 'Origin: https://evil.example'])(
    'request with %s is rejected',
    async (line) => {
      const [host, origin] = line.startsWith('Host') ? [line, ''] : ['Host: localhost', `${line}\r\n`];
      const request = `GET ${prefix}/x HTTP/1.1\r\n${host}\r\n${origin}Connection: close\r\n\r\n`;
      const before = seen.length;
      expectRefusal(await exchange((await started).port, request), 403, 'HTTP403');
      expect(seen.length).toBe(before);
    },
  );
});

it('stream under a prefix sends each part immediately and ends with its client', async () => {
  const sent = Promise.withResolvers<ReadableStreamDefaultController>();
  const { promise: cancelled, resolve } = Promise.withResolvers<void>();
  const server = await hosting(
    () => new Response(new ReadableStream({ start: (part) => sent.resolve(part), cancel: () => resolve() })),
  );
  const client = new AbortController();
  const asked = fetch(`${server.url}${prefix}/events`, { signal: client.signal });
  const parts = await sent.promise;
  parts.enqueue(new TextEncoder().encode(': 1\n\n'));
  const reader = (await asked).body!.getReader();
  const text = async () => new TextDecoder().decode((await reader.read()).value);
  expect(await text()).toBe(': 1\n\n');
  parts.enqueue(new TextEncoder().encode(': 2\n\n'));
  expect(await text()).toBe(': 2\n\n');
  client.abort();
  await cancelled;
  await server.close();
});

it('stop of the server reaches an application under a prefix and waits for its response', async () => {
  const asked = Promise.withResolvers<void>();
  const server = await hosting(async (_, { closing }) => {
    asked.resolve();
    await new Promise((resolve) => closing.addEventListener('abort', resolve));
    return new Response('ended');
  });
  const response = fetch(`${server.url}${prefix}/events`);
  await asked.promise;
  const closed = server.close();
  expect(await (await response).text()).toBe('ended');
  await closed;
});

it('body of 5 MB under a prefix returns 413', async () => {
  const { app } = backendApp();
  const server = await serve(app, {
    port: 0,
    hostname: '127.0.0.1',
    log,
    prefixes: new Map([[SERVICE_PREFIXES.backend, app]]),
  });
  const body = new Blob(['x'.repeat(5_000_000)]).stream();
  const init = { ...post(''), body, duplex: 'half' } as RequestInit;
  const response = await fetch(`${server.url}${SERVICE_PREFIXES.backend}/api/v1/backtests`, init);
  expect([response.status, await response.json()]).toMatchObject([413, { detail: { code: 'HTTP413' } }]);
  await server.close();
});
