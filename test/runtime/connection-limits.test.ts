import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { expect, it } from 'vitest';
import { type RunningServer, serve } from '#runtime/serve.ts';
import { backendApp, memoryLog } from '../support/backend.ts';

/** Limits of one client on a shared server. */

const { log } = memoryLog();
const GET = 'GET / HTTP/1.1\r\nHost: x\r\n\r\n';

function start(
  fetch: (request: Request) => Response | Promise<Response>,
  stalledTimeoutMs?: number,
): Promise<RunningServer> {
  return serve({ fetch } as never, { port: 0, hostname: '127.0.0.1', log, stalledTimeoutMs });
}

/** Reads until that many responses have arrived. */
async function responses(socket: Socket, count: number): Promise<void> {
  let text = '';
  while (text.split('HTTP/1.1 200').length - 1 < count) text += String((await once(socket, 'data'))[0]);
}

it('server processes one request of a connection at a time and responds to all', async () => {
  let working = 0;
  let most = 0;
  const server = await start(async () => {
    most = Math.max(most, ++working);
    // Enough turns of the event loop to read all requests.
    for (let turns = 0; turns < 50; turns++) await new Promise(setImmediate);
    working--;
    return new Response('done');
  });
  const socket = connect(server.port, '127.0.0.1');
  socket.write(GET.repeat(150));
  await responses(socket, 150);
  expect(most).toBe(1);
  socket.destroy();
  await server.close();
});

it('server stops reading a connection with queued requests', async () => {
  let started = 0;
  const { promise: open, resolve: letGo } = Promise.withResolvers<void>();
  const server = await start(async () => {
    started++;
    await open;
    return new Response('done');
  });
  const socket = connect(server.port, '127.0.0.1');
  // Far more than the buffers of both ends.
  const flood = GET.repeat(1_000);
  let sent = 0;
  while (sent < 100_000_000 && (socket.write(flood) || (await drained(socket)))) sent += flood.length;
  expect(sent).toBeLessThan(100_000_000);
  expect(started).toBe(1);
  socket.destroy();
  letGo();
  await server.close();
});

/** True while more can be sent; false when the peer has not read for some turns of the event loop. */
async function drained(socket: Socket): Promise<boolean> {
  for (let turns = 0; turns < 2_000; turns++) {
    await new Promise(setImmediate);
    if (!socket.writableNeedDrain) return true;
  }
  return false;
}

it('server cancels the response of a pipeline when its client disconnects', async () => {
  let open = 0;
  const server = await start(() => {
    open++;
    const body = new ReadableStream({
      pull: (controller) => controller.enqueue(new Uint8Array(65_536)),
      cancel: () => void open--,
    });
    return new Response(body);
  });
  const socket = connect(server.port, '127.0.0.1');
  socket.pause().write(GET.repeat(20));
  await expect.poll(() => open).toBe(1);
  socket.destroy();
  await expect.poll(() => open).toBe(0);
  await server.close();
});

it('server accepts the 257th connection of a peer after another one closes', async () => {
  const server = await start(() => new Response('done'));
  const sockets = Array.from({ length: 257 }, () => connect(server.port, '127.0.0.1'));
  await Promise.all(sockets.map((socket) => once(socket, 'connect')));
  const answered = sockets.map((socket) => responses(socket, 1));
  for (const socket of sockets) socket.write(GET);
  await Promise.all(answered.slice(0, 256));
  const last = sockets[256]!;
  expect(last.bytesRead).toBe(0);
  sockets[0]!.destroy();
  await answered[256];
  for (const socket of sockets) socket.destroy();
  await server.close();
});

const HALF_HEADERS = 'GET / HTTP/1.1\r\nHost: x\r\nX-Half: ';
const HALF_BODY = 'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\n{';

it.each([
  ['headers', HALF_HEADERS],
  ['bodies', HALF_BODY],
])(
  'half %s of 256 connections, whose clients keep their ends open, end with 408; the next connection is served',
  async (_, half) => {
    const fetch = async (request: Request) => new Response(await request.text().catch(() => 'broken'));
    const limits = { headersTimeoutMs: 50, requestTimeoutMs: 60 };
    const server = await serve({ fetch } as never, { port: 0, hostname: '127.0.0.1', log, ...limits });
    const options = { port: server.port, host: '127.0.0.1', allowHalfOpen: true };
    const halves = Array.from({ length: 256 }, () => connect(options));
    const texts = halves.map(async (socket) => {
      socket
        .setEncoding('utf8')
        .on('error', () => undefined)
        .write(half);
      let text = '';
      for await (const chunk of socket) text += chunk;
      return text;
    });
    await Promise.all(halves.map((socket) => once(socket, 'connect')));
    const next = connect(server.port, '127.0.0.1');
    next.write(GET);
    await responses(next, 1);
    for (const text of await Promise.all(texts)) expect(text).toMatch(/^HTTP\/1\.1 408 /);
    for (const socket of [...halves, next]) socket.destroy();
    await server.close();
  },
);

it('half bodies end early while connections of their address wait, so 511 of them do not delay the next one', async () => {
  const fetch = async (request: Request) => new Response(await request.text().catch(() => 'broken'));
  // No time-out of a request would end within the test.
  const limits = { requestTimeoutMs: 600_000, crowdedTimeoutMs: 100 };
  const server = await serve({ fetch } as never, { port: 0, hostname: '127.0.0.1', log, ...limits });
  const halves = Array.from({ length: 511 }, () => connect(server.port, '127.0.0.1'));
  for (const socket of halves) socket.on('error', () => undefined).write(HALF_BODY);
  await Promise.all(halves.map((socket) => once(socket, 'connect')));
  const next = connect(server.port, '127.0.0.1');
  next.write(GET);
  await responses(next, 1);
  // Nobody waits any more: the last ones may take their time.
  const last = connect(server.port, '127.0.0.1');
  last.write(HALF_BODY);
  for (const socket of [...halves, next]) socket.destroy();
  await responses(await anotherRound(server, last), 1);
  last.destroy();
  await server.close();
});

/** The connection with the rest of its body, sent after the server has looked for slow requests. */
async function anotherRound(server: RunningServer, socket: Socket): Promise<Socket> {
  for (let calls = 0; calls < 200; calls++) {
    const other = connect(server.port, '127.0.0.1');
    other.write(GET);
    await responses(other, 1);
    other.destroy();
  }
  socket.write('123456789');
  return socket;
}

it('of the connections of an address whose clients read nothing, 16 stay open', async () => {
  const body = new Uint8Array(8 * 1024 * 1024);
  let aborted = 0;
  const fetch = (request: Request) => {
    request.signal.addEventListener('abort', () => void aborted++);
    return new Response(body);
  };
  const limits = { crowdedTimeoutMs: 100 };
  const server = await serve({ fetch } as never, { port: 0, hostname: '127.0.0.1', log, ...limits });
  const sockets = Array.from({ length: 20 }, () => connect(server.port, '127.0.0.1').pause());
  for (const socket of sockets) socket.on('error', () => undefined).write(GET);
  await expect.poll(() => aborted, { timeout: 20_000 }).toBe(4);
  for (const socket of sockets) socket.destroy();
  await server.close();
});

it('server answers 503 to a peer with 256 open and 256 waiting connections', async () => {
  const server = await start(() => new Response('done'));
  const sockets = Array.from({ length: 512 }, () => connect(server.port, '127.0.0.1'));
  await Promise.all(sockets.map((socket) => once(socket, 'connect')));
  const one = connect(server.port, '127.0.0.1').setEncoding('utf8');
  let text = '';
  for await (const chunk of one) text += chunk;
  expect(text).toMatch(/^HTTP\/1\.1 503 .*Retry-After: 1\r\n.*"code":"HTTP503"/s);
  for (const socket of sockets) socket.destroy();
  await server.close();
});

it('server outlives a client that sends CONNECT and resets its connection', async () => {
  const server = await start(() => new Response('done'));
  for (let calls = 0; calls < 50; calls++) {
    const socket = connect(server.port, '127.0.0.1');
    await once(socket, 'connect');
    socket.write('CONNECT a:1 HTTP/1.1\r\nHost: x\r\n\r\n');
    socket.resetAndDestroy();
    await once(socket, 'close');
  }
  // An error without a listener would be reported as that of this test.
  expect((await fetch(server.url)).status).toBe(200);
  await server.close();
});

it('server closes a connection that waits too long to be accepted', async () => {
  const server = await start(() => new Response('done'), 100);
  const busy = Array.from({ length: 256 }, () => connect(server.port, '127.0.0.1'));
  await Promise.all(busy.map((socket) => once(socket, 'connect')));
  const last = connect(server.port, '127.0.0.1');
  last.on('error', () => undefined).resume();
  await once(last, 'close');
  expect(last.bytesRead).toBe(0);
  for (const socket of busy) socket.destroy();
  await server.close();
});

it('server closes a connection that sends without reading its response', async () => {
  const server = await start(() => {
    const pull = (controller: ReadableStreamDefaultController) => controller.enqueue(new Uint8Array(65_536));
    return new Response(new ReadableStream({ pull }));
  }, 200);
  const socket = connect(server.port, '127.0.0.1');
  socket.pause().write(GET);
  socket.write('POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000\r\n\r\n');
  const sending = setInterval(() => socket.write('x'), 20);
  // The first write after the end reports it, because nothing is read.
  const [error] = (await once(socket, 'error')) as [NodeJS.ErrnoException];
  clearInterval(sending);
  expect(error.code).toMatch(/^(ECONNRESET|EPIPE)$/);
  await server.close();
});

it('server closes idle and waiting connections when it stops', async () => {
  const server = await start(() => new Response('done'));
  const sockets = Array.from({ length: 258 }, () => connect(server.port, '127.0.0.1').resume());
  await Promise.all(sockets.map((socket) => once(socket, 'connect')));
  // A connection that the server has not accepted yet is reset.
  for (const socket of sockets) socket.on('error', () => undefined);
  const closed = sockets.map((socket) => new Promise((resolve) => socket.once('close', resolve)));
  await server.close();
  await Promise.all(closed);
});

it('server reads an asset from disk at the pace of its client', async () => {
  const server = await serve(backendApp().app, { port: 0, hostname: '127.0.0.1', log });
  const response = await fetch(`${server.url}/docs/swagger-ui-bundle.js`);
  const reader = response.body!.getReader();
  let length = 0;
  let chunks = 0;
  for (let each = await reader.read(); !each.done; each = await reader.read(), chunks++) {
    length += each.value.length;
  }
  expect(length).toBeGreaterThan(1_000_000);
  expect(chunks).toBeGreaterThan(5);
  await server.close();
});
