import { afterAll, describe, expect, it } from 'vitest';
import { operationsOf } from '#contract/operations/operations.ts';
import { expectRefusal, lambdaHost, serverHost } from './hosts.ts';

/** A web site in a user's browser cannot act on the services. */

const server = await serverHost();
const local = await serverHost({}, { loopbackOnly: true, hasPages: true });
afterAll(() => Promise.all([server.server.close(), local.server.close()]));

describe.each([
  ['on a server', server.call],
  ['behind API Gateway', lambdaHost()],
])('responses to browsers %s', (place, call) => {
  it.each(['/docs', '/docs/start.js', '/openapi.json', '/api/v1/health', '/api/v1/backtests', '/nowhere'])(
    'response of %s forbids embedding, framing and content sniffing',
    async (path) => {
      const { headers } = await call({ path });
      const policy = headers.get('content-security-policy')!;
      expect(policy).toContain("default-src 'none'");
      expect(policy).toContain("frame-ancestors 'none'");
      expect(policy).not.toMatch(/unsafe|\*|https?:/);
      expect(headers.get('x-content-type-options')).toBe('nosniff');
      expect(headers.get('referrer-policy')).toBe('no-referrer');
      expect(headers.get('cross-origin-resource-policy')).toBe('same-origin');
      // RFC 6797 forbids the header without TLS.
      expect(headers.has('strict-transport-security')).toBe(place === 'behind API Gateway');
      expect(headers.has('x-powered-by')).toBe(false);
    },
  );

  it('every page allows scripts and styles of its own origin only', async () => {
    const pages = operationsOf('backend').filter(({ success }) => success[200]?.contentType === 'text/html');
    expect(pages.length).toBeGreaterThan(0);
    for (const { path } of pages) {
      const { headers, text } = await call({ path });
      expect(headers.get('content-security-policy')).toContain("script-src 'self'; style-src 'self'");
      expect(text).not.toMatch(/<script>|<style|\son\w+=|style=|https?:/);
    }
  });

  it('cross-origin preflight is rejected, and no response has CORS headers', async () => {
    const headers = { Origin: 'https://evil.example', 'Access-Control-Request-Method': 'POST' };
    const asked = await call({ method: 'OPTIONS', path: '/api/v1/backtests', headers });
    expectRefusal(asked, 405, 'HTTP405');
    const answered = await call({ path: '/api/v1/backtests', headers });
    for (const { headers } of [asked, answered]) {
      expect([...headers.keys()].filter((name) => name.startsWith('access-control'))).toEqual([]);
    }
  });

  it('form media types are rejected', async () => {
    const body = '{"config":{"strategy":"demo"}}';
    for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data']) {
      const reply = await call({
        method: 'POST',
        path: '/api/v1/backtests',
        body,
        headers: { 'content-type': type },
      });
      expectRefusal(reply, 415, 'HTTP415');
    }
  });
});

describe('local mode without tokens', () => {
  const get = (host: string, more = '', path = '/api/v1/health') =>
    local.raw(`GET ${path} HTTP/1.1\r\nHost: ${host}\r\n${more}Connection: close\r\n\r\n`);

  it.each([
    'evil.example',
    'evil.example:8000',
    '127.0.0.1.evil.example',
    'localhost.evil.example',
    '10.0.0.1',
  ])('local mode rejects the host name %s (DNS rebinding)', async (name) =>
    expectRefusal(await get(name), 403, 'HTTP403'),
  );

  it.each([
    'https://evil.example',
    'http://127.0.0.1.evil.example',
    'null',
    'http://127.0.0.1:9000',
    'http://127.0.0.1',
    'http://localhost:8000',
  ])('local mode rejects the origin %s', async (origin) => {
    expectRefusal(await get('127.0.0.1:8000', `Origin: ${origin}\r\n`), 403, 'HTTP403');
  });

  it.each(['127.0.0.1:8000', 'localhost:8000', 'LOCALHOST', '[::1]:8000'])(
    'local mode accepts the host name %s',
    async (name) => {
      expect((await get(name)).status).toBe(200);
      expect((await get(name, `Origin: http://${name.toLowerCase()}\r\n`)).status).toBe(200);
    },
  );

  it.each([
    ['a picture of another site', 'cross-site', 'no-cors', 'image', 403],
    ['a frame of another site', 'cross-site', 'navigate', 'iframe', 403],
    ['a page of another port', 'same-site', 'cors', 'empty', 403],
    ['a link that a user follows to an API', 'cross-site', 'navigate', 'document', 403],
    ['an address that a user types', 'none', 'navigate', 'document', 200],
    ['a page of the platform', 'same-origin', 'cors', 'empty', 200],
  ])('local mode without an Origin: %s', async (_, site, mode, dest, status) => {
    const more = `Sec-Fetch-Site: ${site}\r\nSec-Fetch-Mode: ${mode}\r\nSec-Fetch-Dest: ${dest}\r\n`;
    expect((await get('127.0.0.1:8000', more)).status).toBe(status);
  });

  it.each([
    ['/', 404],
    ['/challenges/ch-1', 404],
    ['/docs', 403],
    ['/api/v1/events', 403],
    ['/downloads/1', 403],
    ['/openapi.json', 403],
    ['//api/v1/health', 404],
    ['/x/../api/v1/health', 403],
    ['/%61pi/v1/health', 403],
    ['/%', 403],
  ])('a link on another site to %s has status %i: it opens pages only', async (path, status) => {
    const more = 'Sec-Fetch-Site: cross-site\r\nSec-Fetch-Mode: navigate\r\nSec-Fetch-Dest: document\r\n';
    expect((await get('127.0.0.1:8000', more, path)).status).toBe(status);
  });

  it('local mode rejects a request with two Host headers', async () => {
    expectRefusal(await get('127.0.0.1', 'Host: evil.example\r\n'), 403, 'HTTP403');
  });
});
