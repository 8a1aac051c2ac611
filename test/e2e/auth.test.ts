import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { pathsOf, type ServiceName } from '#contract/operation.ts';
import { OPERATIONS } from '#contract/operations.ts';
import { openIssuerKey } from '../../src/local/issuer-key.ts';
import { startTestPlatform, type TestPlatform } from '../support/platform.ts';

/** Platform of `npm start -- --auth`: every service, tokens of the command line, real HTTP. */

const home = mkdtempSync(join(tmpdir(), 'touchstone-auth-'));
let platform: TestPlatform;
const tokens = new Map<string, string>();

async function touchstone(args: readonly string[], environment: Readonly<Record<string, string>> = {}) {
  const child = spawn(process.execPath, ['bin/touchstone.ts', ...args], {
    env: { TOUCHSTONE_HOME: home, NO_COLOR: '1', TMPDIR: tmpdir(), ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const [out, err] = [text(child.stdout), text(child.stderr)];
  const [code] = await once(child, 'close');
  return { code: code as number | null, out: await out, err: await err };
}

beforeAll(async () => {
  const issue = async (role: string) => {
    const { code, out, err } = await touchstone(['token', '--role', role, '--user', `${role}@example.com`]);
    expect([code, err]).toEqual([0, '']);
    tokens.set(role, out.trim());
  };
  // The first token precedes the platform: the key belongs to the data folder.
  await issue('viewer');
  await Promise.all(['researcher', 'approver', 'admin'].map(issue));
  platform = await startTestPlatform({ home, auth: true });
}, 60_000);
afterAll(async () => {
  await platform?.stop();
  rmSync(home, { recursive: true, force: true });
});

const bearer = (role: string) => ({ authorization: `Bearer ${tokens.get(role)}` });
const addresses = (): Record<ServiceName, string> => ({
  backend: platform.info.backend_url,
  strategy: platform.info.strategy_service_url,
  data_collection: platform.info.data_collection_url,
});

const ROLES = ['viewer', 'researcher', 'approver', 'admin'];

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
    const code = /"code":"(\w+)"/.exec(body)?.[1] ?? null;
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
      expect([response.status, await response.json()]).toMatchObject([413, { detail: { code: 'HTTP413' } }]);
    });

  if (access !== 'public')
    it('operation rejects an invalid token and roles below its own', async () => {
      expect(await call({ authorization: 'Bearer abc' })).toMatchObject({ status: 401, code: 'AUTH002' });
      for (const [rank, role] of ROLES.entries()) {
        const answer = await call(bearer(role));
        if (rank < ROLES.indexOf(access)) expect(answer).toMatchObject({ status: 403, code: 'AUTH004' });
        else expect([200, 201, 400, 404, 409]).toContain(answer.status);
      }
    });
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
    const response = await platform.request('/api/v1/data/symbols', { headers: bearer('viewer') });
    expect([response.status, await response.json()]).toMatchObject([200, { exchange: 'sim' }]);
  });
});

describe('issuer key', () => {
  it('issuer key is readable only by its owner', () => {
    expect(statSync(join(home, 'issuer-key.pem')).mode & 0o777).toBe(0o600);
  });

  it('issuer serves its public key and nothing else', async () => {
    const base = platform.info.issuer_url!;
    const keys = await fetch(`${base}/xx-local-1_touchstone/.well-known/jwks.json`);
    expect(await keys.json()).toEqual({ keys: [openIssuerKey(home).jwk] });
    expect(Object.keys(openIssuerKey(home).jwk).sort()).toEqual(['alg', 'e', 'kid', 'kty', 'n', 'use']);
    for (const path of ['/', '/issuer-key.pem', '/..%2fissuer-key.pem']) {
      expect((await fetch(base + path)).status).toBe(404);
    }
  });
});
