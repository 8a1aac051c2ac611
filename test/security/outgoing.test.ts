import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { serviceProbe } from '#adapters/health-probes.ts';
import { checkImageUri } from '#domain/registry/container-image.ts';
import { IssuerKeys, readJson, withIdentityProvider } from '#runtime/identity-provider.ts';
import { runTask } from '#runtime/task.ts';
import { accessClaims, LOCAL_POOL, openIssuerKey, signToken } from '../../src/local/issuer-key.ts';
import { localDataProxy } from '../../src/local/services.ts';
import { memoryLog } from '../support/backend.ts';

/** Addresses of outgoing calls come only from the settings, never from callers or services (SSRF). */

const reached: string[] = [];
/** Credentials of a container, which must not be reached. */
const inside = createServer((request, response) => {
  reached.push(request.url!);
  response.end('{"AccessKeyId":"AKIA","Token":"secret","keys":[],"service":"strategy","symbols":[]}');
});
/** Service that redirects every request there. */
const redirecting = createServer((request, response) => {
  const status = Number(request.url?.match(/status=(\d+)/)?.[1] ?? 302);
  response.writeHead(status, { location: `${insideUrl}/v2/credentials` }).end();
});
let insideUrl = '';
let url = '';
const listen = async (server: Server) => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
};
const home = mkdtempSync(join(tmpdir(), 'touchstone-outgoing-'));
beforeAll(async () => {
  insideUrl = await listen(inside);
  url = await listen(redirecting);
});
afterAll(() => {
  inside.close();
  redirecting.close();
  rmSync(home, { recursive: true });
});
beforeEach(() => {
  reached.length = 0;
});

describe('redirects', () => {
  it('data proxy does not follow a redirect', async () => {
    const proxy = localDataProxy(url, 'service-token');
    const deadline_ms = 500;
    const reply = await proxy({ operation: 'symbols', deadline_ms });
    expect(JSON.stringify(reply)).toContain('status 302');
    expect(JSON.stringify(reply)).not.toContain('AKIA');
    expect(reached).toEqual([]);
  });

  it('health probes and key readers do not follow a redirect', async () => {
    await expect(serviceProbe(url, 'strategy')(new AbortController().signal)).rejects.toThrow();
    await expect(readJson(`${url}/jwks.json`)).rejects.toThrow();
    expect(reached).toEqual([]);
  });

  it('task does not follow a redirect of the metadata endpoint', async () => {
    const exit = vi.spyOn(process, 'exit').mockImplementation((() => undefined) as never);
    const { log, lines } = memoryLog();
    const work = vi.fn();
    await runTask({ CORRELATION_ID: 'c', ECS_CONTAINER_METADATA_URI_V4: url }, log, work);
    expect(exit).toHaveBeenCalled();
    expect(lines.map(({ message }) => message)).toEqual(['task failed']);
    expect(work).not.toHaveBeenCalled();
    expect(reached).toEqual([]);
    exit.mockRestore();
    process.exitCode = undefined;
  });
});

describe('data proxy parameters', () => {
  const asked: string[] = [];
  const service = createServer((request, response) => {
    asked.push(`${request.headers.host}${request.url}`);
    response.end('{"symbols":[],"data":[],"all_fresh":true,"stale_symbols":[]}');
  });
  let base = '';
  beforeAll(async () => {
    base = await listen(service);
  });
  afterAll(() => service.close());

  it.each([
    '@evil.example/',
    '//evil.example',
    'http://169.254.169.254/',
    '../../admin',
    '?x#y',
    'a\r\nHost: evil',
  ])('parameter %j changes neither host nor path', async (text) => {
    asked.length = 0;
    const proxy = localDataProxy(base);
    await proxy({ operation: 'symbols', params: { exchange: text } });
    await proxy({
      operation: 'fetch_ohlcv',
      params: { symbol: `${text}/`.slice(0, 50), timeframe: '5m', exchange: text },
    });
    await proxy({ operation: 'check-freshness', params: { symbols: [text], exchange: text } });
    expect(asked.length).toBe(3);
    const host = new URL(base).host;
    for (const each of asked)
      expect(each).toMatch(new RegExp(`^${host}/api/v1/(symbols|ohlcv|freshness)\\?`));
  });

  it('symbols above the limit are rejected without a request', async () => {
    asked.length = 0;
    const symbols = Array.from({ length: 10_001 }, (_, index) => `A${index}/U:U`);
    const reply = await localDataProxy(base)({ operation: 'check-freshness', params: { symbols } });
    expect(reply.body).toMatchObject({
      success: true,
      data: { result: { all_fresh: false, error: 'params.symbols must hold at most 10000 symbols' } },
    });
    expect(asked).toEqual([]);
  });

  it('data proxy ignores a service URL in the request body', async () => {
    asked.length = 0;
    const event = {
      operation: 'health',
      DATA_COLLECTION_URL: url,
      baseUrl: url,
      params: { url, base_url: url },
    };
    await localDataProxy(base)(event);
    expect(asked).toEqual([`${new URL(base).host}/api/v1/health`]);
  });
});

describe('token issuer', () => {
  it('keys come from the configured issuer, not from the token', async () => {
    const read = vi.fn(async () => ({ keys: [openIssuerKey(home).jwk] }));
    const keys = new IssuerKeys({ read });
    const authenticate = withIdentityProvider({ ...LOCAL_POOL, keys }, { enforced: true });
    const claims = accessClaims({ user: 'eve', role: 'admin', lifetime: 600, now: Date.now() });
    const key = openIssuerKey(home);
    const headers = { alg: 'RS256', kid: key.kid, jku: `${insideUrl}/jwks`, x5u: `${insideUrl}/cert` };
    const [, payload, signature] = signToken(key, { ...claims, iss: insideUrl }).split('.');
    const head = Buffer.from(JSON.stringify(headers)).toString('base64url');
    for (const token of [signToken(key, { ...claims, iss: insideUrl }), `${head}.${payload}.${signature}`]) {
      await expect(authenticate(`Bearer ${token}`)).rejects.toMatchObject({ code: 'AUTH002' });
    }
    for (const [uri] of read.mock.calls as unknown as [string][]) expect(uri).toContain('amazonaws.com');
    expect(reached).toEqual([]);
  });
});

describe('container image references', () => {
  const allowed = ['123456789012.dkr.ecr.us-east-1.amazonaws.com', 'ghcr.io/team'];
  const digest = `sha256:${'0'.repeat(64)}`;

  it.each([
    'https://ghcr.io/team/image',
    'file:///etc/passwd',
    'ghcr.io/team/../other/image',
    'ghcr.io/team/image:tag with spaces',
    'ghcr.io/team/image@sha256:abc',
    `ghcr.io/team/image@md5:${'0'.repeat(32)}`,
    'ghcr.io//team/image',
    'user:password@ghcr.io/team/image',
    'ghcr.io/team/image\n',
    'ghcr.io/team/image$(id)',
    'ghcr.io/team/image;id',
    'ghcr.io/team/ïmage',
    '--privileged',
    '',
    `ghcr.io/team/${'x'.repeat(500)}`,
  ])('image reference %j is rejected as malformed', (uri) => {
    expect(() => checkImageUri(uri, null)).toThrow(expect.objectContaining({ code: 'VAL006' }));
  });

  it.each([
    'evil.example/image',
    'ghcr.io/teammate/image',
    'ghcr.io/team.evil.example/image',
    '123456789012.dkr.ecr.us-east-1.amazonaws.com.evil.example/image',
    'evil.example/123456789012.dkr.ecr.us-east-1.amazonaws.com/image',
    'image',
  ])('image reference %j is rejected as outside the allowed registries', (uri) => {
    expect(() => checkImageUri(uri, allowed)).toThrow(expect.objectContaining({ code: 'VAL005' }));
  });

  it.each([`${allowed[0]}/touchstone:1@${digest}`, 'ghcr.io/team/image'])(
    'image reference %j is accepted',
    (uri) => {
      expect(checkImageUri(uri, allowed)).toBe(uri);
    },
  );
});
