import { connect } from 'node:net';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type RunningServer, serve } from '#runtime/serve.ts';
import { backendApp, memoryLog, post } from '../support/backend.ts';

const { log } = memoryLog();
let server: RunningServer;

beforeAll(async () => {
  server = await serve(backendApp().app, { port: 0, hostname: '127.0.0.1', log });
});
afterAll(() => server.close());

/** Sends bytes unchanged and reads until the server closes. */
function raw(request: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(server.port, '127.0.0.1');
    let answer = '';
    socket.on('data', (chunk) => (answer += chunk));
    socket.on('close', () => resolve(answer));
    socket.on('error', reject);
    socket.write(request);
  });
}

it('server serves the application', async () => {
  const response = await fetch(`${server.url}/api/v1/health`);
  expect(response.status).toBe(200);
  expect(await response.json()).toMatchObject({ service: 'backend' });
});

const host = 'Host: x\r\nConnection: close';
it.each([
  ['no HTTP at all', 'hello\r\n\r\n', 400],
  ['an unknown method', `BREW /docs HTTP/1.1\r\n${host}\r\n\r\n`, 400],
  ['an invalid path', `GET docs HTTP/1.1\r\n${host}\r\n\r\n`, 400],
  ['a malformed host', 'GET / HTTP/1.1\r\nHost: a b\r\nConnection: close\r\n\r\n', 400],
  ['no host', 'GET /api/v1/health HTTP/1.1\r\nConnection: close\r\n\r\n', 400],
  ['a backslash in the path', `GET /a\\b HTTP/1.1\r\n${host}\r\n\r\n`, 400],
  ['CONNECT', `CONNECT a:1 HTTP/1.1\r\n${host}\r\n\r\n`, 400],
  ['an unknown expectation', `GET /x HTTP/1.1\r\n${host}\r\nExpect: x\r\n\r\n`, 404],
  [
    'an upgrade',
    `GET /x HTTP/1.1\r\nHost: x\r\nConnection: close, Upgrade\r\nUpgrade: websocket\r\n\r\n`,
    404,
  ],
  ['headers beyond 16 KiB', `GET / HTTP/1.1\r\n${host}\r\nX: ${'x'.repeat(20_000)}\r\n\r\n`, 431],
  ['two lengths', `POST / HTTP/1.1\r\n${host}\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n`, 400],
  ['a bare percent sign', `GET /api/v1/backtests/% HTTP/1.1\r\n${host}\r\n\r\n`, 400],
  ['a path outside the assets', `GET /docs/../../etc/passwd HTTP/1.1\r\n${host}\r\n\r\n`, 404],
])('server responds to %s with the documented body and header', async (_, request, status) => {
  const answer = await raw(request);
  const [head, body] = answer.split('\r\n\r\n') as [string, string];
  expect(head).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
  expect(head.toLowerCase()).toMatch(/\r\nx-correlation-id: [0-9a-f-]{36}/);
  expect(JSON.parse(body.slice(body.indexOf('{'), body.lastIndexOf('}') + 1))).toMatchObject({
    detail: {
      code: expect.stringMatching(/^(HTTP4\d\d|VAL005)$/),
      message: expect.any(String),
      field: expect.any(String),
    },
  });
});

it('server returns 413 for a body of 5 MB with or without a length', async () => {
  const large = 'x'.repeat(5_000_000);
  const announced = await fetch(`${server.url}/api/v1/backtests`, post(large));
  expect(announced.status).toBe(413);
  const chunks = new Blob([large]).stream();
  const init = { ...post(''), body: chunks, duplex: 'half' } as RequestInit;
  const unannounced = await fetch(`${server.url}/api/v1/backtests`, init);
  expect(unannounced.status).toBe(413);
  expect(await unannounced.json()).toMatchObject({ detail: { code: 'HTTP413' } });
});

it('startup error contains the port in use', async () => {
  const second = serve(backendApp().app, { port: server.port, hostname: '127.0.0.1', log });
  await expect(second).rejects.toThrow(`Port ${server.port} is in use`);
});

it('server closes a connection that does not read its response', async () => {
  const { promise: cancelled, resolve } = Promise.withResolvers<void>();
  const fetch = () =>
    new Response(
      new ReadableStream({
        pull: (controller) => controller.enqueue(new Uint8Array(65_536)),
        cancel: () => resolve(),
      }),
    );
  const endless = await serve({ fetch } as never, {
    port: 0,
    hostname: '127.0.0.1',
    log,
    stalledTimeoutMs: 100,
  });
  const socket = connect(endless.port, '127.0.0.1');
  socket.pause().write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
  await cancelled;
  socket.destroy();
  await endless.close();
});
