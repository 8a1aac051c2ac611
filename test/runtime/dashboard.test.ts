import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { RunningServer } from '#runtime/serve.ts';
import { serve } from '#runtime/serve.ts';
import { StaticFiles } from '#runtime/static-files.ts';
import { type DashboardState, withDashboard } from '../../src/local/dashboard.ts';
import { exchange, expectRefusal } from '../security/hosts.ts';
import { backendApp, memoryLog } from '../support/backend.ts';

/** The dashboard on one machine: its files, its pages and its configuration, before the API of the backend. */

const CONFIG = { stage: 'local', version: '1.2.3', exchange: 'sim', auth: null };
const INDEX =
  '<!doctype html><title>Touchstone</title><script type="module" src="/assets/main-C0ffee12.js"></script>';
const SCRIPT = `export const text = '${'a long script; '.repeat(100)}';`;
const FONT = Buffer.from(`wOF2${'0'.repeat(2000)}`);
const BROWSER = { accept: 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8' };

const folder = mkdtempSync(join(tmpdir(), 'touchstone-web-'));
mkdirSync(join(folder, 'assets'));
mkdirSync(join(folder, '.vite'));
for (const [path, content] of [
  ['index.html', INDEX],
  ['favicon.svg', '<svg xmlns="http://www.w3.org/2000/svg"/>'],
  ['assets/main-C0ffee12.js', SCRIPT],
  ['assets/style-C0ffee12.css', 'a{}'],
  ['assets/inter-C0ffee12.woff2', FONT],
  ['.vite/manifest.json', '{}'],
  ['.env', 'SECRET=1'],
] as const)
  writeFileSync(join(folder, path), content);
symlinkSync('/etc/passwd', join(folder, 'passwd'));
symlinkSync('/etc', join(folder, 'etc'));

let state: DashboardState;
let ready: DashboardState;
let server: RunningServer;
beforeAll(async () => {
  ready = { status: 'ready', files: await StaticFiles.read(folder) };
  // Requests touch no disk.
  rmSync(folder, { recursive: true });
  state = ready;
  server = await serve(
    withDashboard(backendApp().app, CONFIG, () => state),
    { port: 0, hostname: '127.0.0.1', log: memoryLog().log, loopbackOnly: true },
  );
});
afterAll(() => server.close());

/** Without the Accept-Encoding of fetch and its decompression. */
const get = (path: string, headers: Readonly<Record<string, string>> = {}, method = 'GET') => {
  const lines = Object.entries({ Host: 'localhost', Connection: 'close', ...headers });
  return exchange(
    server.port,
    `${method} ${path} HTTP/1.1\r\n${lines.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n`,
  );
};
const bytesOf = async (path: string, encoding: string) => {
  const { promise, resolve, reject } = Promise.withResolvers<{ encoding?: string; bytes: Buffer }>();
  const { get } = await import('node:http');
  get(`${server.url}${path}`, { headers: { 'Accept-Encoding': encoding } }, async (response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of response) chunks.push(chunk);
    resolve({ encoding: response.headers['content-encoding']!, bytes: Buffer.concat(chunks) });
  }).on('error', reject);
  return promise;
};

describe('pages', () => {
  it.each([
    '/',
    '/index.html',
    '/backtests',
    '/backtests/bt-01JAB?tab=trades#x',
    '/strategies/my.strategy.v1.2/versions/3',
    '/data',
    '/apiary',
  ])('browser opens %s as the entry page', async (path) => {
    const { status, headers, text } = await get(path, BROWSER);
    expect([status, text]).toEqual([200, INDEX]);
    expect(headers.get('content-type')).toBe('text/html; charset=utf-8');
    expect(headers.get('cache-control')).toBe('no-cache');
  });

  it.each(['/', '/config.json', '/assets/main-C0ffee12.js', '/backtests'])(
    '%s has a correlation ID: that of the caller or its own',
    async (path) => {
      const idOf = async (given?: string) => {
        const { headers } = await get(path, { ...BROWSER, ...(given && { 'X-Correlation-ID': given }) });
        return headers.get('x-correlation-id');
      };
      expect(await idOf('mine-1')).toBe('mine-1');
      const own = [await idOf(), await idOf('not valid')];
      for (const id of own) expect(id).toMatch(/^[0-9a-f-]{36}$/);
      expect(new Set(own).size).toBe(2);
    },
  );

  it('a page that is not built has a correlation ID', async () => {
    state = { status: 'building' };
    const { status, headers } = await get('/', BROWSER);
    state = ready;
    expect([status, headers.get('x-correlation-id')]).toEqual([
      503,
      expect.stringMatching(/^[0-9a-f-]{36}$/),
    ]);
  });

  it('root is the entry page for every accepted type', async () => {
    expect((await get('/', { accept: '*/*' })).text).toBe(INDEX);
    expect((await get('/')).text).toBe(INDEX);
  });

  it.each([
    '/api',
    '/api/v1/nowhere',
    '/api/v1/strategies/a.b/versions',
    '/services',
    '/services/backend',
    '/services/nowhere/api/v1/health',
    '/docs/nowhere.js',
    '/openapi.json/x',
    '/assets/',
    '/assets/old-C0ffee12.js',
    '/config.json/x',
  ])('browser gets a 404 in JSON for %s', async (path) => {
    expectRefusal(await get(path, BROWSER), 404, 'HTTP404');
  });

  it('request that does not accept HTML gets a 404 in JSON for the path of a page', async () => {
    expectRefusal(await get('/backtests', { accept: 'application/json' }), 404, 'HTTP404');
    expectRefusal(await get('/backtests', { accept: '*/*' }), 404, 'HTTP404');
  });

  it('only reads reach a page', async () => {
    for (const method of ['POST', 'PUT', 'DELETE', 'OPTIONS'])
      expectRefusal(await get('/backtests', BROWSER, method), 404, 'HTTP404');
  });

  it('API and documentation keep their responses', async () => {
    expect(JSON.parse((await get('/api/v1/health', BROWSER)).text)).toMatchObject({ service: 'backend' });
    const docs = await get('/docs', BROWSER);
    expect(docs.text).toContain('swagger-ui');
    expect(docs.headers.get('content-security-policy')).not.toContain('trusted-types');
  });
});

describe('files', () => {
  it('hashed file is immutable, others are revalidated', async () => {
    const of = async (path: string) => (await get(path)).headers.get('cache-control');
    expect(await of('/assets/main-C0ffee12.js')).toBe('public, max-age=31536000, immutable');
    expect(await of('/favicon.svg')).toBe('no-cache');
  });

  it.each([
    ['/assets/main-C0ffee12.js', 'text/javascript; charset=utf-8'],
    ['/assets/style-C0ffee12.css', 'text/css; charset=utf-8'],
    ['/assets/inter-C0ffee12.woff2', 'font/woff2'],
    ['/favicon.svg', 'image/svg+xml'],
  ])('type of %s is %s', async (path, type) => {
    expect((await get(path)).headers.get('content-type')).toBe(type);
  });

  it.each([
    ['br', 'br'],
    ['gzip', 'gzip'],
    ['gzip, deflate, br, zstd', 'br'],
    ['gzip;q=1.0, br;q=0', 'gzip'],
    ['*', 'br'],
    ['identity', undefined],
    ['deflate', undefined],
    ['br;q=0, *;q=0', undefined],
    ['brr, gzi', undefined],
  ])('Accept-Encoding "%s" selects %s', async (accepted, expected) => {
    for (let repeat = 0; repeat < 2; repeat++) {
      const { encoding, bytes } = await bytesOf('/assets/main-C0ffee12.js', accepted);
      expect(encoding).toBe(expected);
      const decoded = { br: brotliDecompressSync, gzip: gunzipSync, none: Buffer.from }[encoding ?? 'none']!(
        bytes,
      );
      expect(decoded.toString()).toBe(SCRIPT);
      if (encoding) expect(bytes.length).toBeLessThan(SCRIPT.length / 4);
    }
  });

  it('small file and font are sent unchanged', async () => {
    expect(await bytesOf('/assets/style-C0ffee12.css', 'br')).toEqual({ bytes: Buffer.from('a{}') });
    expect(await bytesOf('/assets/inter-C0ffee12.woff2', 'br')).toEqual({ bytes: FONT });
  });

  it('cached file is not sent again, and each encoding has its own tag', async () => {
    const accept = { 'Accept-Encoding': 'br' };
    const path = '/assets/main-C0ffee12.js';
    const { headers } = await get(path, accept, 'HEAD');
    const tag = headers.get('etag')!;
    expect(headers.get('vary')).toBe('Accept-Encoding');
    for (const condition of [tag, `W/${tag}`, `"x", ${tag}`, '*']) {
      const { status, headers, text } = await get(path, { ...accept, 'If-None-Match': condition });
      expect([status, text, headers.get('etag')]).toEqual([304, '', tag]);
      expect(headers.get('cache-control')).toContain('immutable');
    }
    expect((await get(path, { ...accept, 'If-None-Match': '"x"' }, 'HEAD')).status).toBe(200);
    expect((await get(path, { 'If-None-Match': tag })).status).toBe(200);
  });

  it('HEAD has the headers of GET and no body', async () => {
    for (const path of ['/', '/assets/main-C0ffee12.js', '/config.json']) {
      const [head, whole] = [await get(path, BROWSER, 'HEAD'), await get(path, BROWSER)];
      expect(head.text).toBe('');
      const compared = ({ headers }: typeof head) =>
        [...headers].filter(([name]) => name !== 'date' && name !== 'x-correlation-id');
      expect(compared(head)).toEqual(compared(whole));
    }
  });

  it.each([
    '/passwd',
    '/etc/passwd',
    '/.env',
    '/.vite/manifest.json',
    '/assets/../../etc/passwd',
    '/assets/%2e%2e/%2e%2e/etc/passwd',
    '/assets/..%2f..%2fetc%2fpasswd',
    '/assets/..%5c..%5cetc',
    '/assets/%00',
    '/favicon.svg%00.html',
    '/assets/main-C0ffee12.js/',
    '/assets//main-C0ffee12.js',
    '/%2e%2e/etc/passwd',
    '//etc/passwd',
    '/constructor',
    '/__proto__',
    '/assets',
  ])('hostile path %s returns a 404 in JSON', async (path) => {
    expectRefusal(await get(path), 404, 'HTTP404');
    // As a page such a path is the entry page at most.
    expect((await get(path, BROWSER)).text).toMatch(/^<!doctype html><title>Touchstone|HTTP404/);
  });
});

describe('configuration', () => {
  it('configuration is served with and without a built dashboard', async () => {
    for (state of [ready, { status: 'building' } satisfies DashboardState]) {
      const { status, headers, text } = await get('/config.json');
      expect([status, JSON.parse(text)]).toEqual([200, CONFIG]);
      expect(headers.get('cache-control')).toBe('no-cache');
      expect(headers.get('content-type')).toBe('application/json');
    }
    state = ready;
  });
});

describe('security headers', () => {
  it.each(['/', '/backtests', '/assets/main-C0ffee12.js', '/favicon.svg'])(
    'policy of %s is strict',
    async (path) => {
      const { headers } = await get(path, BROWSER);
      expect(headers.get('content-security-policy')).toBe(
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; connect-src 'self'; manifest-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'",
      );
      expect(headers.get('x-content-type-options')).toBe('nosniff');
      expect(headers.get('referrer-policy')).toBe('no-referrer');
      expect(headers.get('cross-origin-opener-policy')).toBe('same-origin');
      expect(headers.get('cross-origin-resource-policy')).toBe('same-origin');
      expect(headers.get('permissions-policy')).toContain('camera=(), ');
      // RFC 6797 forbids the header without TLS.
      expect(headers.has('strict-transport-security')).toBe(false);
    },
  );

  it.each(['/', '/assets/main-C0ffee12.js', '/config.json'])(
    '%s is served to this machine only',
    async (path) => {
      expectRefusal(await get(path, { Host: 'evil.example' }), 403, 'HTTP403');
      expectRefusal(await get(path, { Origin: 'https://evil.example' }), 403, 'HTTP403');
    },
  );
});

describe('dashboard that is not built', () => {
  afterAll(() => {
    state = ready;
  });

  it('page says that it is being built and asks again', async () => {
    state = { status: 'building' };
    for (const path of ['/', '/backtests/bt-1']) {
      const { status, headers, text } = await get(path, BROWSER);
      expect(status).toBe(503);
      expect(text).toContain('The dashboard is being built');
      expect(text).toContain('<meta http-equiv="refresh" content="1">');
      expect(headers.get('cache-control')).toBe('no-store');
    }
    expect(JSON.parse((await get('/api/v1/health')).text)).toMatchObject({ service: 'backend' });
    expectRefusal(await get('/assets/main-C0ffee12.js'), 404, 'HTTP404');
  });

  it('page says why the build failed and does not ask again', async () => {
    state = { status: 'failed', reason: 'main.tsx: <script>alert(1)</script> & more' };
    const { status, headers, text } = await get('/', BROWSER);
    expect(status).toBe(503);
    expect(text).toContain('The dashboard could not be built');
    expect(text).toContain('main.tsx: &lt;script>alert(1)&lt;/script> &amp; more');
    expect(text).not.toContain('http-equiv="refresh"');
    expect(headers.has('retry-after')).toBe(false);
  });

  it('page has neither script nor style', async () => {
    for (state of [{ status: 'building' }, { status: 'failed', reason: '' }] satisfies DashboardState[]) {
      const { headers, text } = await get('/', BROWSER);
      expect(headers.get('content-security-policy')).toContain("default-src 'none'");
      expect(headers.get('content-security-policy')).not.toMatch(/script-src|style-src|unsafe|\*/);
      expect(text).not.toMatch(/<script|<style|\sstyle=|\son\w+=|https?:/);
    }
  });
});
