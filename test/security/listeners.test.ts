import { readFileSync } from 'node:fs';
import { glob } from 'node:fs/promises';
import { request } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { LOCAL_POOL } from '../../src/local/issuer-key.ts';
import { http } from '../cli/mcp-fixture.ts';
import { startTestPlatform, type TestPlatform } from '../support/platform.ts';

/** Every program that listens, as docs/security.md lists them. */

async function sourcesWith(pattern: RegExp): Promise<string[]> {
  const found: string[] = [];
  for (const root of ['src', 'bin', 'lambdas']) {
    for await (const file of glob(`${root}/**/*.{ts,mjs,cjs}`)) {
      if (pattern.test(readFileSync(file, 'utf8'))) found.push(file);
    }
  }
  return found.sort();
}

/** Status of a request with headers that `fetch` does not send. */
function statusOf(url: string, headers: Record<string, string>, method = 'GET'): Promise<number> {
  return new Promise((resolve, reject) => {
    const sent = request(url, { method, headers }, (response) => {
      response.resume();
      resolve(response.statusCode!);
    });
    sent.on('error', reject).end();
  });
}

let platform: TestPlatform;
let mcp: Awaited<ReturnType<typeof http>>;
let urls: Record<string, string>;
beforeAll(async () => {
  platform = await startTestPlatform({ auth: true });
  mcp = await http(platform.home, []);
  const { info } = platform;
  urls = {
    backend: `${info.backend_url}/api/v1/health`,
    'strategy service': `${info.strategy_service_url}/api/v1/health`,
    'data collection': `${info.data_collection_url}/health`,
    issuer: `${info.issuer_url}/${LOCAL_POOL.userPoolId}/.well-known/jwks.json`,
    mcp: mcp.url,
  };
});
afterAll(async () => {
  mcp?.server.kill();
  await platform?.stop();
});

describe('listeners', () => {
  it('sources open a port by one server, except the embedded database', async () => {
    const imported =
      /import[^;]*\b(createServer|createSocket|Server)\b[^;]*from 'node:(https?|http2|net|tls|dgram)'/;
    const listeners = ['src/adapters/local/dynoxide.ts', 'src/runtime/serve.ts'];
    expect(await sourcesWith(imported)).toEqual(listeners);
    const whole = /import (\w+|\* as \w+)(,[^;]*)? from 'node:(https?|http2|net|tls|dgram)'/;
    expect(await sourcesWith(whole)).toEqual([]);
    expect(await sourcesWith(/import[^;]*\bserve\b[^;]*\/serve\.ts'/)).toEqual([
      'bin/cli/mcp/http.ts',
      'src/local/access.ts',
      'src/local/services.ts',
      'src/tasks/data-collection.ts',
    ]);
  });

  it.each(['backend', 'strategy service', 'data collection', 'issuer', 'mcp'])(
    '%s listens on 127.0.0.1 and rejects names and pages that are not its own',
    async (name) => {
      const url = urls[name]!;
      const { host, hostname, port } = new URL(url);
      expect(hostname).toBe('127.0.0.1');
      const own = await statusOf(url, {});
      expect(own).not.toBe(403);
      expect(await statusOf(url, { origin: `http://${host}` })).toBe(own);
      const rejected: Record<string, string>[] = [
        { host: `evil.example:${port}` },
        { host: 'evil.example' },
        { origin: 'https://evil.example' },
        { origin: 'null' },
        { origin: `http://localhost:${port}` },
        { origin: 'http://127.0.0.1:1' },
      ];
      for (const headers of rejected) {
        for (const method of ['GET', 'POST'])
          expect(await statusOf(url, headers, method), JSON.stringify(headers)).toBe(403);
      }
    },
  );

  it.each(['backend', 'strategy service', 'data collection', 'issuer', 'mcp'])(
    'each response of %s forbids embedding, framing and content sniffing',
    async (name) => {
      const { origin } = new URL(urls[name]!);
      for (const [url, init] of [
        [urls[name]!, {}],
        [`${origin}/nowhere`, {}],
        [urls[name]!, { method: 'POST', body: '{' }],
      ] as const) {
        const { headers } = await fetch(url, init);
        expect(headers.get('content-security-policy'), url).toBe(
          "default-src 'none'; frame-ancestors 'none'",
        );
        expect(headers.get('x-content-type-options'), url).toBe('nosniff');
        expect(headers.get('referrer-policy'), url).toBe('no-referrer');
        expect(headers.get('cross-origin-resource-policy'), url).toBe('same-origin');
      }
    },
  );
});
