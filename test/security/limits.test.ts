import { gzipSync } from 'node:zlib';
import { afterAll, describe, expect, it } from 'vitest';
import { accepted } from '../support/backend.ts';
import { pendingJob } from '../support/jobs.ts';
import { expectRefusal, lambdaHost, serverHost } from './hosts.ts';

/** Too large, too long, too deep or too slow requests are rejected before they are read, on both hosts. */

const accepts = { submitBacktest: async () => accepted(pendingJob('bt-1')) };
const server = await serverHost(accepts);
afterAll(() => server.server.close());

const JSON_TYPE = { 'content-type': 'application/json' };
const submit = (config: string, headers: Record<string, string> = {}) => ({
  method: 'POST',
  path: '/api/v1/backtests',
  headers: { ...JSON_TYPE, ...headers },
  body: `{"config":{"strategy":"demo",${config}}}`,
});
const many = (count: number, make: (index: number) => string) =>
  Array.from({ length: count }, (_, index) => make(index)).join();
const numbered = (count: number) => many(count, (index) => `p${index}=1`).replaceAll(',', '&');
const headersOf = (count: number) =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`x-${index}`, '1']));

describe.each([
  ['on a server', server.call],
  ['behind API Gateway', lambdaHost(accepts)],
])('limits %s', (_, call) => {
  it.each([
    ['a body beyond 1 MiB', 413, 'HTTP413', submit(`"x":"${'x'.repeat(1_048_576)}"`)],
    ['a compressed body', 415, 'HTTP415', submit('"x":1', { 'content-encoding': 'gzip' })],
    [
      '64 levels and more',
      400,
      'json_invalid',
      submit(`"params":{"fast":${'['.repeat(70)}${']'.repeat(70)}}`),
    ],
    ['half a million levels', 400, 'json_invalid', submit(`"x":${'['.repeat(500_000)}`)],
    ['100,000 wrong values', 400, 'json_invalid', submit(`"pairs":[${many(100_000, () => '1')}]`)],
    ['75,000 keys', 400, 'json_invalid', submit(many(75_000, (index) => `"fast${index}":1`))],
    ['a number of 900,000 digits', 400, 'finite_number', submit(`"fee":${'9'.repeat(900_000)}`)],
    ['an integer above the safe range', 400, 'int_parsing_size', submit('"seed":90071992547409931')],
    [
      'a parameter above the safe range',
      400,
      'VAL005',
      { path: `/api/v1/backtests?limit=${'9'.repeat(30)}` },
    ],
    ['an address of 20,000 characters', 414, 'HTTP414', { path: `/api/v1/health?x=${'x'.repeat(20_000)}` }],
    ['1,500 parameters', 414, 'HTTP414', { path: `/api/v1/health?${numbered(1_500)}` }],
    ['150 headers', 431, 'HTTP431', { path: '/api/v1/health', headers: headersOf(150) }],
    [
      'a header of 20,000 characters',
      431,
      'HTTP431',
      { path: '/api/v1/health', headers: { x: 'x'.repeat(20_000) } },
    ],
  ])('service rejects %s with %i %s', async (_, status, code, request) => {
    expectRefusal(await call(request), status, code);
  });

  it('service accepts a large valid request', async () => {
    const pairs = many(200, (index) => `"A${index}/USDT:USDT"`);
    expect((await call(submit(`"pairs":[${pairs}]`))).status).toBe(201);
    const symbols = many(500, (index) => `ABC${index}/USDT:USDT`);
    const listed = await call({ path: `/api/v1/data/freshness?symbols=${symbols}` });
    // The fake has no data; the request itself was accepted.
    expect(listed.status).toBe(503);
  });
});

describe('limits on a server only', () => {
  const head = 'Host: x\r\nContent-Type: application/json\r\n';

  it('announced body over the limit is rejected before it is sent', async () => {
    const reply = await server.raw(
      `POST /api/v1/backtests HTTP/1.1\r\n${head}Content-Length: 5000000\r\n\r\n`,
    );
    expectRefusal(reply, 413, 'HTTP413');
  });

  it('endless body is read up to the limit only', async () => {
    let sent = 0;
    const chunk = `10000\r\n${'x'.repeat(65_536)}\r\n`;
    const reply = await server.raw((socket) => {
      socket.write(`POST /api/v1/backtests HTTP/1.1\r\n${head}Transfer-Encoding: chunked\r\n\r\n`);
      const more = () => {
        while (socket.writable && socket.write(chunk)) sent += chunk.length;
      };
      socket.on('drain', more);
      more();
    });
    expectRefusal(reply, 413, 'HTTP413');
    expect(sent).toBeLessThan(500_000_000);
  });

  it('compressed body is rejected without decompression', async () => {
    const bomb = gzipSync(Buffer.alloc(50_000_000, 0x20));
    expect(bomb.length).toBeLessThan(100_000);
    const response = await fetch(`${server.server.url}/api/v1/backtests`, {
      method: 'POST',
      headers: { ...JSON_TYPE, 'content-encoding': 'gzip' },
      body: bomb,
    });
    expect(response.status).toBe(415);
  });

  it('headers over the parser limit return 431', async () => {
    expectRefusal(await server.raw(`GET / HTTP/1.1\r\nX: ${'x'.repeat(50_000)}\r\n\r\n`), 431, 'HTTP431');
  });
});

it.each(['', '/services/backend'])(
  'error of the parser has the form of MLflow below %s/api/2.0/',
  async (prefix) => {
    const head = `GET ${prefix}/api/2.0/mlflow/runs/get?run_id=1 HTTP/1.1\r\nHost: x\r\n`;
    for (const [rest, status] of [
      [`X: ${'x'.repeat(50_000)}\r\n\r\n`, 431],
      ['X\u0000: x\r\n\r\n', 400],
    ] as const) {
      const reply = await server.raw(head + rest);
      expect([reply.status, Object.keys(JSON.parse(reply.text))]).toEqual([
        status,
        ['error_code', 'message'],
      ]);
    }
  },
);

describe('slow requests', () => {
  it.each([
    ['headers', { headersTimeoutMs: 50 }, 'GET /api/v1/health HTTP/1.1\r\nHost: x\r\nX-Slow: '],
    [
      'a body',
      { headersTimeoutMs: 50, requestTimeoutMs: 60 },
      'POST /api/v1/backtests HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\n{',
    ],
  ])('slow %s returns 408 and closes the connection', async (_, options, sent) => {
    const slow = await serverHost({}, options);
    expectRefusal(await slow.raw(sent), 408, 'HTTP408');
    await slow.server.close();
  });

  it('body slower than the response deadline returns 408', async () => {
    const slow = await serverHost({}, { headersTimeoutMs: 50, requestTimeoutMs: 60 }, { deadlineMs: 5 });
    const sent = 'POST /api/v1/backtests HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n';
    expectRefusal(await slow.raw(`${sent}Content-Length: 10\r\n\r\n{`), 408, 'HTTP408');
    await slow.server.close();
  });
});
