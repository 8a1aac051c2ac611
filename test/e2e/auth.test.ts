import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, vi } from 'vitest';
import { OPERATIONS } from '#contract/operations/operations.ts';
import { pathsOf, type ServiceName } from '#contract/values/operation.ts';
import { openIssuerKey } from '../../src/local/issuer-key.ts';
import { authFixture } from './auth-fixture.ts';

/** Platform of `npm start -- --auth`: every service, tokens of the command line, real HTTP. */

const ROLES = ['viewer', 'researcher', 'approver', 'admin'];
const fixture = authFixture(ROLES.slice(1));
const { home, tokens, touchstone, bearer } = fixture;

const addresses = (): Record<ServiceName, string> => ({
  backend: fixture.platform.info.backend_url,
  strategy: fixture.platform.info.strategy_service_url,
  data_collection: fixture.platform.info.data_collection_url,
});

const EVERY_PATH = OPERATIONS.flatMap((operation) =>
  pathsOf(operation).map((path) => [`${operation.method} ${path}`, { ...operation, path }] as const),
);

describe.each(EVERY_PATH)('access to %s', (_, { service, method, path, access }) => {
  /** Error code of the response, or null. */
  const call = async (headers: Record<string, string>) => {
    const response = await fetch(`${addresses()[service]}${path.replaceAll(/\{\w+\}/g, 'x')}`, {
      method,
      headers: { 'content-type': 'application/json', ...headers },
      ...(method === 'GET' ? {} : { body: '{}' }),
    });
    const body = await response.text();
    // In the errors for MLflow's client the message ends with the code.
    const code = /"code":"(\w+)"|\((\w+)\)"/.exec(body)?.slice(1).find(Boolean) ?? null;
    return { status: response.status, code, challenge: response.headers.get('WWW-Authenticate') };
  };

  it(access === 'public' ? 'operation is public' : 'operation requires a token', async () => {
    const answer = await call({});
    if (access === 'public') expect(answer).toMatchObject({ challenge: null });
    else expect(answer).toEqual({ status: 401, code: 'AUTH003', challenge: 'Bearer realm="touchstone"' });
  });

  if (method === 'POST' && !path.endsWith('/data-proxy'))
    it('operation rejects a body that is too large', async () => {
      const url = `${addresses()[service]}${path.replaceAll(/\{\w+\}/g, 'x')}`;
      const headers = { 'content-type': 'application/json', ...bearer('admin') };
      const response = await fetch(url, { method, headers, body: ' '.repeat(1024 * 1024 + 1) });
      expect([response.status, await response.text()]).toEqual([413, expect.stringContaining('HTTP413')]);
    });

  if (access !== 'public')
    it('operation rejects an invalid token and roles below its own', async () => {
      expect(await call({ authorization: 'Bearer abc' })).toMatchObject({ status: 401, code: 'AUTH002' });
      for (const [rank, role] of ROLES.entries()) {
        const answer = await call(bearer(role));
        if (rank < ROLES.indexOf(access)) expect(answer).toMatchObject({ status: 403, code: 'AUTH004' });
        else expect([200, 201, 204, 400, 404, 409]).toContain(answer.status);
      }
    });
});

it('getMe of a platform with --auth says that tokens are required', async () => {
  const response = await fetch(`${addresses().backend}/api/v1/me`, { headers: bearer('researcher') });
  expect(await response.json()).toMatchObject({ roles: ['viewer', 'researcher'], enforced: true });
});

describe('platform with tokens', () => {
  it('backtest by command line collects through the proxy and completes with a token', async () => {
    const args = ['backtest', 'buy_and_hold', '--pairs', 'BTC/USDT:USDT', '--timeframe', '1h'];
    const range = ['--start', '2026-03-01', '--end', '2026-03-08'];
    const [rejected, viewer] = await Promise.all([
      touchstone([...args, ...range]),
      touchstone([...args, ...range], { TOUCHSTONE_TOKEN: tokens.get('viewer')! }),
    ]);
    expect(rejected.code).toBe(1);
    expect(rejected.err).toMatch(/AUTH003: Missing token\. Set TOUCHSTONE_TOKEN to a token/);
    expect(viewer.err).toContain('AUTH004');
    const done = await touchstone([...args, ...range], { TOUCHSTONE_TOKEN: tokens.get('researcher')! });
    expect(done.err).not.toMatch(/Error/);
    expect([done.code, done.out]).toEqual([0, expect.stringContaining('Total profit')]);
  });

  it('backend calls data collection with its service token', async () => {
    const response = await fixture.platform.request('/api/v1/data/symbols', { headers: bearer('viewer') });
    expect([response.status, await response.json()]).toMatchObject([200, { exchange: 'sim' }]);
  });
});

describe('issuer key', () => {
  it('issuer key is readable only by its owner', () => {
    expect(statSync(join(home, 'issuer-key.pem')).mode & 0o777).toBe(0o600);
  });

  it('issuer serves its public key and nothing else', async () => {
    const base = fixture.platform.info.issuer_url!;
    const keys = await fetch(`${base}/xx-local-1_touchstone/.well-known/jwks.json`);
    expect(await keys.json()).toEqual({ keys: [openIssuerKey(home).jwk] });
    expect(Object.keys(openIssuerKey(home).jwk).sort()).toEqual(['alg', 'e', 'kid', 'kty', 'n', 'use']);
    for (const path of ['/', '/issuer-key.pem', '/..%2fissuer-key.pem']) {
      expect((await fetch(base + path)).status).toBe(404);
    }
  });
});

it('dashboard configuration needs no token and names no pages to sign in at', async () => {
  const response = await fetch(`${addresses().backend}/config.json`);
  expect([response.status, await response.json()]).toMatchObject([200, { stage: 'local', auth: null }]);
});

describe('touchstone open', () => {
  it('prints an address of the dashboard with a token of the role', async () => {
    const { code, out, err } = await touchstone(['open', '--role', 'approver', '--user', 'ada']);
    expect([code, err]).toEqual([0, '']);
    const { origin, hash } = new URL(out.trim());
    expect(origin).toBe(addresses().backend);
    const token = new URLSearchParams(hash.slice(1)).get('token');
    const me = await fetch(`${origin}/api/v1/me`, { headers: { authorization: `Bearer ${token}` } });
    expect(await me.json()).toMatchObject({ subject: 'ada', roles: ['viewer', 'researcher', 'approver'] });
  });

  it.skipIf(process.platform !== 'linux')('hands the token to a browser in a file of its user', async () => {
    const bin = join(home, 'bin');
    const seen = join(home, 'opened');
    mkdirSync(bin);
    writeFileSync(join(bin, 'xdg-open'), `#!/bin/sh\necho "$@" > ${seen}.part && mv ${seen}.part ${seen}\n`, {
      mode: 0o755,
    });
    const { out } = await touchstone(['open', '--browser'], { PATH: `${bin}:${process.env.PATH}` });
    const page = fileURLToPath(
      await vi.waitUntil(() => existsSync(seen) && readFileSync(seen, 'utf8').trim()),
    );
    expect(page).toBe(join(home, 'open.html'));
    expect(readFileSync(page, 'utf8')).toContain(`url=${out.trim()}"`);
    expect(statSync(page).mode & 0o777).toBe(0o600);
  });

  it('says how to start a platform where none runs', async () => {
    const { code, err } = await touchstone(['open'], { TOUCHSTONE_HOME: join(home, 'elsewhere') });
    expect(code).toBe(1);
    expect(err).toContain('npm start');
  });
});
