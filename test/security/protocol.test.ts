import { afterAll, expect, it } from 'vitest';
import { withoutIdentityProvider } from '#runtime/authenticate.ts';
import { expectRefusal, lambdaHost, serverHost } from './hosts.ts';

/** Ambiguous requests: end of a request (request smuggling), method and sender. */

const enforced = { authenticate: withoutIdentityProvider({ enforced: true }) };
const server = await serverHost();
const guarded = await serverHost({}, {}, enforced);
afterAll(() => Promise.all([server.server.close(), guarded.server.close()]));

const host = 'Host: x\r\nConnection: close\r\n';
const post = `POST /api/v1/backtests HTTP/1.1\r\n${host}Content-Type: application/json\r\n`;

it.each([
  [
    'a length with chunked encoding',
    `${post}Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
  ],
  ['two lengths', `${post}Content-Length: 5\r\nContent-Length: 6\r\n\r\nhello!`],
  ['a length with a sign', `${post}Content-Length: +5\r\n\r\nhello`],
  ['a length below 0', `${post}Content-Length: -1\r\n\r\n`],
  ['a length above the number range', `${post}Content-Length: 99999999999999999999999\r\n\r\n`],
  ['a space before the colon', `${post}Content-Length : 5\r\n\r\nhello`],
  ['another encoding after chunked', `${post}Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n`],
  ['an encoding that does not exist', `${post}Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n`],
  ['a folded header', `${post}Transfer-Encoding:\r\n chunked\r\n\r\n0\r\n\r\n`],
  ['a chunk without a length', `${post}Transfer-Encoding: chunked\r\n\r\nzz\r\nhello\r\n0\r\n\r\n`],
  ['lines that end with LF only', 'GET /api/v1/health HTTP/1.1\nHost: x\nConnection: close\n\n'],
  ['NUL in the path', `GET /a\0b HTTP/1.1\r\n${host}\r\n`],
  ['NUL in a header', `GET /api/v1/health HTTP/1.1\r\n${host}X: a\0b\r\n\r\n`],
  ['ESC in a header', `GET /api/v1/health HTTP/1.1\r\n${host}X: a\x1bb\r\n\r\n`],
])('server rejects %s with 400', async (_, request) => {
  expectRefusal(await server.raw(request), 400, 'HTTP400');
});

it('pipelined requests get their own responses in order', async () => {
  const { text } = await server.raw(`GET /one HTTP/1.1\r\nHost: x\r\n\r\nGET /two HTTP/1.1\r\n${host}\r\n`);
  expect(text.indexOf('/one')).toBeLessThan(text.indexOf('/two'));
  expect(text.match(/HTTP404/g)).toHaveLength(2);
});

it('absolute request URL is read as a path of this server', async () => {
  const request = `GET http://169.254.169.254/api/v1/nothing HTTP/1.1\r\n${host}\r\n`;
  expectRefusal(await server.raw(request), 404, 'HTTP404');
});

it.each([
  ['on a server', server.call],
  ['behind API Gateway', lambdaHost()],
])('headers do not change the method %s', async (_, call) => {
  for (const name of ['X-HTTP-Method-Override', 'X-Method-Override', 'X-HTTP-Method']) {
    const reply = await call({
      method: 'POST',
      path: '/api/v1/health?_method=GET',
      headers: { [name]: 'GET' },
    });
    expectRefusal(reply, 405, 'HTTP405');
  }
});

it('two Authorization headers are rejected with AUTH002', async () => {
  const authorization = 'Authorization: Bearer a\r\nAuthorization: Bearer b\r\n';
  expectRefusal(
    await guarded.raw(`GET /api/v1/backtests HTTP/1.1\r\n${host}${authorization}\r\n`),
    401,
    'AUTH002',
  );
});

it('two correlation IDs are replaced by one', async () => {
  const ids = 'X-Correlation-ID: a\r\nX-Correlation-ID: b\r\n';
  const reply = await server.raw(`GET /api/v1/health HTTP/1.1\r\n${host}${ids}\r\n`);
  expect(reply.headers.get('x-correlation-id')).toMatch(/^[0-9a-f-]{36}$/);
});

it('repeated parameter is rejected with its name', async () => {
  const { status, text } = await server.call({ path: '/api/v1/backtests?limit=1&limit=100' });
  expect([status, JSON.parse(text).detail.field]).toEqual([400, 'limit']);
});
