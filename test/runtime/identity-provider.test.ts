import { createHmac, createPublicKey, sign } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { CANARY_OWNER } from '#contract/values/names.ts';
import {
  type IdentityProvider,
  IssuerKeys,
  readJson,
  withIdentityProvider,
} from '#runtime/identity-provider.ts';
import { type RunningServer, serve } from '#runtime/serve.ts';
import { type Issuer, localPool, startIssuer } from '../../src/local/access.ts';
import { accessClaims, LOCAL_POOL, openIssuerKey, signToken } from '../../src/local/issuer-key.ts';
import { accepted, backendApp, type LogLine, memoryLog, post } from '../support/backend.ts';
import { pendingJob } from '../support/jobs.ts';

const home = mkdtempSync(join(tmpdir(), 'touchstone-issuer-'));
const foreignHome = mkdtempSync(join(tmpdir(), 'touchstone-issuer-'));
const clock = { at: Date.now(), now: () => clock.at };
const servers: RunningServer[] = [];
const logs: (readonly LogLine[])[] = [];
const sent = new Set<string>();
let issuer: Issuer;
let pool: IdentityProvider;
let url: string;
let optionalUrl: string;
const callers: string[] = [];

/** Backend over HTTP that records the submitting callers. */
async function start(provider: IdentityProvider, enforced: boolean): Promise<string> {
  const { app, lines } = backendApp(
    {
      submitBacktest: async ({ principal }) => {
        callers.push(principal.id);
        return accepted(pendingJob('bt-1'));
      },
    },
    { authenticate: withIdentityProvider(provider, { enforced }) },
  );
  const server = await serve(app, { port: 0, hostname: '127.0.0.1', log: memoryLog().log });
  servers.push(server);
  logs.push(lines);
  return server.url;
}

beforeAll(async () => {
  issuer = await startIssuer(home, memoryLog().log);
  pool = { ...localPool(issuer.url, clock), machineClientIds: ['nightly', 'canary'] };
  url = await start(pool, true);
  optionalUrl = await start(pool, false);
});
afterAll(async () => {
  await Promise.all([issuer.stop(), ...servers.map((server) => server.close())]);
  for (const folder of [home, foreignHome]) rmSync(folder, { recursive: true });
});
beforeEach(() => {
  // Past the minimum interval between two key requests.
  clock.at += 60_000;
  callers.length = 0;
});

const nowS = () => Math.floor(Date.now() / 1000);
const claims = (changes: Record<string, unknown> = {}) => ({
  ...accessClaims({ user: 'ada', role: 'viewer', lifetime: 600, now: Date.now() }),
  ...changes,
});
const token = (changes: Record<string, unknown> = {}) => signToken(openIssuerKey(home), claims(changes));
const encode = (part: unknown) => Buffer.from(JSON.stringify(part)).toString('base64url');

async function call(
  base: string,
  authorization?: string,
  path = '/api/v1/strategies',
  init: RequestInit = {},
) {
  if (authorization) sent.add(authorization.slice(authorization.indexOf(' ') + 1));
  const response = await fetch(`${base}${path}`, {
    ...init,
    headers: { ...init.headers, ...(authorization === undefined ? {} : { authorization }) },
  });
  return {
    status: response.status,
    challenge: response.headers.get('WWW-Authenticate'),
    retryAfter: response.headers.get('Retry-After'),
    body: (await response.json()) as any,
  };
}

const INVALID = 'Bearer realm="touchstone", error="invalid_token", error_description="Invalid token"';
const EXPIRED = 'Bearer realm="touchstone", error="invalid_token", error_description="Token expired"';

describe('valid token', () => {
  it('token is accepted with any case of the scheme', async () => {
    expect((await call(url, `Bearer ${token()}`)).status).toBe(200);
    expect((await call(url, `bearer ${token()}`)).status).toBe(200);
    expect((await call(optionalUrl, `Bearer ${token()}`)).status).toBe(200);
  });

  it('token identifies the caller and the roles', async () => {
    const submit = (groups: unknown) =>
      call(
        url,
        `Bearer ${token({ 'cognito:groups': groups })}`,
        '/api/v1/backtests',
        post({ config: { strategy: 'demo' } }),
      );
    expect((await submit(['researcher', 'traders'])).status).toBe(201);
    expect((await submit(['admin'])).status).toBe(201);
    expect(callers).toEqual(['ada', 'ada']);
    for (const groups of [
      ['viewer'],
      ['viewer', 'admin\n', 'admin '],
      ['traders'],
      [],
      undefined,
      'admin',
      { admin: 1 },
    ]) {
      expect(await submit(groups)).toMatchObject({
        status: 403,
        body: { detail: { code: 'AUTH004', context: { required: 'researcher' } } },
      });
    }
    expect(callers).toHaveLength(2);
  });

  it.each([
    ['expired within the clock tolerance', { exp: nowS() - 10 }],
    ['not yet valid within the clock tolerance', { nbf: nowS() + 10 }],
  ])('token is accepted when %s', async (_, changes) => {
    expect((await call(url, `Bearer ${token(changes)}`)).status).toBe(200);
  });
});

describe('token of a program', () => {
  const program = (scope: unknown, changes: Record<string, unknown> = {}) =>
    token({ sub: 'nightly', client_id: 'nightly', 'cognito:groups': undefined, scope, ...changes });
  const submit = (bearer: string) =>
    call(url, `Bearer ${bearer}`, '/api/v1/backtests', post({ config: { strategy: 'demo' } }));

  it('scopes of the resource server are the roles, and the client is the caller', async () => {
    for (const scope of ['touchstone/researcher', 'openid touchstone/viewer touchstone/admin']) {
      expect((await submit(program(scope))).status).toBe(201);
    }
    expect(callers).toEqual(['nightly', 'nightly']);
  });

  it.each<[string, () => string]>([
    ['scope of a lower role', () => program('touchstone/viewer')],
    ['scope of another resource server', () => program('other/researcher researcher')],
    ['scope with a suffix', () => program('touchstone/researcher/x xtouchstone/researcher')],
    ['no scope', () => program(undefined)],
    ['groups instead of scopes', () => program('touchstone/viewer', { 'cognito:groups': ['admin'] })],
    ['scope in the token of a user', () => token({ scope: 'touchstone/admin' })],
  ])('%s does not give the role', async (_, create) => {
    expect(await submit(create())).toMatchObject({ status: 403, body: { detail: { code: 'AUTH004' } } });
  });

  it.each([
    ['a user who signed in with the client', () => program('touchstone/admin', { sub: 'ada' }), 'grant'],
    [
      'a client that is not configured',
      () => program('touchstone/admin', { sub: 'other', client_id: 'other' }),
      'client',
    ],
  ])('token of %s is invalid', async (_, create, reason) => {
    expect(await submit(create())).toMatchObject({
      status: 401,
      body: { detail: { code: 'AUTH002', context: { reason } } },
    });
  });
});

describe('invalid token, also with optional authentication', () => {
  const key = () => openIssuerKey(home);
  const unsigned = (header: object, signature = '') => `${encode(header)}.${encode(claims())}.${signature}`;
  const forged = () => {
    const [header, , signature] = token().split('.');
    return `${header}.${encode(claims({ 'cognito:groups': ['admin'] }))}.${signature}`;
  };
  /** Token signed with the public key as a shared secret. */
  const confused = () => {
    const content = `${encode({ alg: 'HS256', kid: key().kid })}.${encode(claims())}`;
    const secret = createPublicKey(key().privateKey).export({ type: 'spki', format: 'pem' });
    return `${content}.${createHmac('sha256', secret).update(content).digest('base64url')}`;
  };
  /** Correctly signed: only its critical extension makes it invalid. */
  const critical = () => {
    const content = `${encode({ alg: 'RS256', kid: key().kid, crit: ['b64'], b64: true })}.${encode(claims())}`;
    return `${content}.${sign('RSA-SHA256', Buffer.from(content), key().privateKey).toString('base64url')}`;
  };
  const foreign = (kid: string) => signToken({ ...openIssuerKey(foreignHome), kid }, claims());
  const ISSUER = 'https://cognito-idp.eu-west-1.amazonaws.com/eu-west-1_Other';

  it.each<[string, () => string, string]>([
    ['another issuer', () => token({ iss: ISSUER }), 'issuer'],
    ['no issuer', () => token({ iss: undefined }), 'issuer'],
    ['another client', () => token({ client_id: 'other' }), 'client'],
    ['no client', () => token({ client_id: undefined, aud: LOCAL_POOL.clientId }), 'client'],
    ['an ID token', () => token({ token_use: 'id', aud: LOCAL_POOL.clientId }), 'token_use'],
    ['no token_use', () => token({ token_use: undefined }), 'token_use'],
    ['not yet valid', () => token({ nbf: nowS() + 120 }), 'not_yet_valid'],
    ['no expiry', () => token({ exp: undefined }), 'claims'],
    ['without a sub', () => token({ sub: undefined }), 'claims'],
    ['an empty sub', () => token({ sub: '' }), 'claims'],
    ['a sub longer than a key', () => token({ sub: 'a'.repeat(129) }), 'claims'],
    ['a sub with a control character', () => token({ sub: 'ada\u202e' }), 'claims'],
    ['the name of the platform as sub', () => token({ sub: 'platform' }), 'claims'],
    ['its name in earlier histories as sub', () => token({ sub: 'touchstone' }), 'claims'],
    ['the name of its services as sub', () => token({ sub: 'service' }), 'claims'],
    ['the name of callers without a token as sub', () => token({ sub: 'anonymous' }), 'claims'],
    ['the name of the canary as sub', () => token({ sub: CANARY_OWNER }), 'claims'],
    ['the name of operators as sub', () => token({ sub: 'operator' }), 'claims'],
    ['the pseudonym of an erased user as sub', () => token({ sub: 'erased-0123456789abcdef' }), 'claims'],
    ['changed after it was signed', forged, 'signature'],
    ['signed with a foreign key under a known key ID', () => foreign(key().kid), 'signature'],
    ['signed with a key that the issuer does not have', () => foreign('unknown'), 'key'],
    ['no key ID', () => unsigned({ alg: 'RS256' }, 'AAAA'), 'key'],
    ['with an unknown critical extension', critical, 'critical_extension'],
    ['algorithm none', () => unsigned({ alg: 'none', kid: key().kid }, 'AAAA'), 'algorithm'],
    ['algorithm none, no signature', () => unsigned({ alg: 'none', kid: key().kid }), 'malformed'],
    ['algorithm HS256 with the public key', confused, 'algorithm'],
    ['not a JWT', () => 'abc', 'malformed'],
    ['not JSON', () => 'AAAA.AAAA.AAAA', 'malformed'],
    ['claims that are not an object', () => signToken(key(), [] as never), 'malformed'],
    ['times that are not numbers', () => token({ exp: 'tomorrow' }), 'malformed'],
  ])('invalid token is rejected with AUTH002: %s', async (_, make, reason) => {
    for (const base of [url, optionalUrl]) {
      const answer = await call(base, `Bearer ${make()}`);
      expect(answer).toMatchObject({
        status: 401,
        challenge: INVALID,
        body: {
          detail: {
            code: 'AUTH002',
            message: 'Invalid token',
            field: 'Authorization',
            context: { reason },
          },
        },
      });
    }
  });

  it.each(['Basic YWRhOnNlY3JldA==', 'Bearer', 'Bearer a b', 'x'])(
    'header %s is rejected with AUTH002',
    async (header) => {
      for (const base of [url, optionalUrl]) {
        expect(await call(base, header)).toMatchObject({
          status: 401,
          challenge: INVALID,
          body: { detail: { code: 'AUTH002', context: { reason: 'scheme' } } },
        });
      }
    },
  );

  it('expired token is rejected with AUTH001', async () => {
    for (const base of [url, optionalUrl]) {
      expect(await call(base, `Bearer ${token({ exp: nowS() - 120 })}`)).toMatchObject({
        status: 401,
        challenge: EXPIRED,
        body: { detail: { code: 'AUTH001', message: 'Token expired', field: 'Authorization', context: {} } },
      });
    }
  });
});

describe('request without a token', () => {
  it.each([undefined, ''])(
    'enforced service rejects a missing token with AUTH003: %j',
    async (authorization) => {
      expect(await call(url, authorization)).toMatchObject({
        status: 401,
        challenge: 'Bearer realm="touchstone"',
        body: { detail: { code: 'AUTH003', message: 'Missing token', field: 'Authorization' } },
      });
    },
  );

  it('optional authentication makes the caller anonymous with all roles', async () => {
    const answer = await call(
      optionalUrl,
      undefined,
      '/api/v1/backtests',
      post({ config: { strategy: 'demo' } }),
    );
    expect(answer.status).toBe(201);
    expect(callers).toEqual(['anonymous']);
  });

  it.each(['/docs', '/openapi.json', '/api/v1/health'])('%s is public', async (path) => {
    for (const headers of [new Headers(), new Headers({ authorization: 'Bearer abc' })]) {
      expect((await fetch(`${url}${path}`, { headers })).status).toBe(200);
    }
  });
});

describe('keys of the issuer', () => {
  /** Issuer whose responses the test sets. */
  let answer: () => { readonly status: number; readonly body: string };
  let asked: number;
  let server: Server;
  let address: string;
  const keySet = (folder = home) => ({
    status: 200,
    body: JSON.stringify({ keys: [openIssuerKey(folder).jwk] }),
  });

  beforeAll(async () => {
    server = createServer((_, response) => {
      asked += 1;
      const { status, body } = answer();
      response.writeHead(status, { location: '/elsewhere' }).end(body);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  afterAll(() => {
    server.close();
    server.closeAllConnections();
  });
  beforeEach(() => {
    asked = 0;
    answer = keySet;
  });

  const fresh = (issuerUrl = address) => start(localPool(issuerUrl, clock), true);
  const signedBy = (folder: string) => signToken(openIssuerKey(folder), claims());

  it('keys are fetched once for concurrent requests and cached', async () => {
    const base = await fresh();
    const responses = await Promise.all(Array.from({ length: 10 }, () => call(base, `Bearer ${token()}`)));
    expect(responses.map(({ status }) => status)).toEqual(Array(10).fill(200));
    clock.at += 30 * 60_000;
    expect((await call(base, `Bearer ${token()}`)).status).toBe(200);
    expect(asked).toBe(1);
  });

  it('keys are fetched again when a token uses a new key (rotation)', async () => {
    const base = await fresh();
    expect((await call(base, `Bearer ${token()}`)).status).toBe(200);
    answer = () => keySet(foreignHome);
    clock.at += 11_000;
    expect((await call(base, `Bearer ${signedBy(foreignHome)}`)).status).toBe(200);
    expect(asked).toBe(2);
    // The withdrawn key is removed with its key set.
    expect(await call(base, `Bearer ${token()}`)).toMatchObject({
      status: 401,
      body: { detail: { code: 'AUTH002', context: { reason: 'key' } } },
    });
  });

  it('keys are fetched at most once in ten seconds for unknown key IDs', async () => {
    const base = await fresh();
    const unknown = (kid: string) =>
      call(base, `Bearer ${signToken({ ...openIssuerKey(foreignHome), kid }, claims())}`);
    for (let i = 0; i < 5; i++) expect((await unknown(`key-${i}`)).status).toBe(401);
    expect(asked).toBe(1);
    expect((await call(base, `Bearer ${token()}`)).status).toBe(200);
    clock.at += 10_001;
    expect((await unknown('key-5')).status).toBe(401);
    expect(asked).toBe(2);
  });

  it('keys expire after an hour', async () => {
    const base = await fresh();
    expect((await call(base, `Bearer ${token()}`)).status).toBe(200);
    answer = () => keySet(foreignHome);
    clock.at += 3_600_001;
    expect((await call(base, `Bearer ${token()}`)).status).toBe(401);
  });

  it.each<[string, () => { readonly status: number; readonly body: string }]>([
    ['an error', () => ({ status: 500, body: '' })],
    ['a redirect', () => ({ status: 302, body: '' })],
    ['nothing', () => ({ status: 200, body: '' })],
    ['no JSON', () => ({ status: 200, body: '<html>' })],
    ['no keys', () => ({ status: 200, body: '{}' })],
    ['null', () => ({ status: 200, body: 'null' })],
    ['invalid keys', () => ({ status: 200, body: '{"keys":[{"kid":1}]}' })],
  ])('requests return 503 until the issuer recovers from: %s', async (_, broken) => {
    answer = broken;
    const base = await fresh();
    expect(await call(base, `Bearer ${token()}`)).toMatchObject({
      status: 503,
      retryAfter: '1',
      challenge: null,
      body: { detail: { code: 'HTTP503', message: 'The identity provider does not respond' } },
    });
    answer = keySet;
    // No second request within a second.
    expect((await call(base, `Bearer ${token()}`)).status).toBe(503);
    expect(asked).toBe(1);
    clock.at += 1_001;
    expect((await call(base, `Bearer ${token()}`)).status).toBe(200);
  });

  it('requests return 503 when the issuer is down; cached keys remain valid', async () => {
    const known = await fresh();
    expect((await call(known, `Bearer ${token()}`)).status).toBe(200);
    const gone = await startIssuer(home, memoryLog().log);
    const base = await fresh(gone.url);
    await gone.stop();
    for (const sent of [token(), token({ exp: nowS() - 120 }), signedBy(foreignHome)]) {
      expect((await call(base, `Bearer ${sent}`)).status).toBe(503);
    }
    expect((await call(base)).status).toBe(401);
    expect((await call(base, 'Bearer abc')).status).toBe(401);
    answer = () => ({ status: 500, body: '' });
    clock.at += 11_000;
    expect((await call(known, `Bearer ${signedBy(foreignHome)}`)).status).toBe(503);
    expect((await call(known, `Bearer ${token()}`)).status).toBe(200);
  });

  it("requests return 503 while the local issuer's key is invalid, and the issuer keeps running", async () => {
    const own = mkdtempSync(join(tmpdir(), 'touchstone-issuer-'));
    const issuer = await startIssuer(own, memoryLog().log);
    try {
      const base = await fresh(issuer.url);
      const file = join(own, 'issuer-key.pem');
      const pem = readFileSync(file);
      writeFileSync(file, '');
      expect(await call(base, `Bearer ${token()}`)).toMatchObject({
        status: 503,
        body: { detail: { code: 'HTTP503', message: 'The identity provider does not respond' } },
      });
      await expect(startIssuer(own, memoryLog().log)).rejects.toThrow(
        `${file} does not contain a private key. Delete it`,
      );
      writeFileSync(file, pem);
      clock.at += 1_001;
      expect((await call(base, `Bearer ${signedBy(own)}`)).status).toBe(200);
    } finally {
      await issuer.stop();
      rmSync(own, { recursive: true });
    }
  });

  it('keys are fetched from the pool of the issuer at both Cognito addresses', async () => {
    const read: string[] = [];
    const keys = new IssuerKeys({
      read: async (uri) => {
        read.push(uri);
        return readJson(address);
      },
    });
    const base = await start({ ...LOCAL_POOL, keys }, true);
    const path = `${LOCAL_POOL.userPoolId}/.well-known/jwks.json`;
    const hosts = ['cognito-idp', 'issuer-cognito-idp'].map(
      (name) => `https://${name}.xx-local-1.amazonaws.com`,
    );
    for (const host of hosts) {
      const answered = await call(base, `Bearer ${token({ iss: `${host}/${LOCAL_POOL.userPoolId}` })}`);
      expect(answered.status).toBe(200);
    }
    expect(read).toEqual(hosts.map((host) => `${host}/${path}`));
  });
});

it('malformed pool ID is rejected at startup', () => {
  expect(() => withIdentityProvider({ userPoolId: 'pool', clientId: 'c' }, { enforced: true })).toThrow(
    'Invalid Cognito User Pool ID',
  );
});

it('log contains no token and no part of one', () => {
  const log = inspect(logs, { depth: 20, maxArrayLength: null, maxStringLength: null });
  expect(log).toContain('The identity provider does not respond');
  const parts = [...sent].filter((each) => each.includes('.')).flatMap((each) => each.split('.'));
  expect(parts.length).toBeGreaterThan(50);
  for (const part of parts.filter((each) => each.length > 8)) expect(log).not.toContain(part);
});
