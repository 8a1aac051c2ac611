import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { APIGatewayProxyEvent } from 'aws-lambda';
import { afterAll, afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { accessClaims, LOCAL_POOL, openIssuerKey, signToken } from '../../src/local/issuer-key.ts';
import { gatewayEvent, headerOf, LAMBDA_CONTEXT } from '../support/gateway.ts';
import { BACKEND_ENVIRONMENT, SCHEDULES } from '../support/lambda-environment.ts';

/** Deployed entry points in production, with the pool's keys at Cognito's address. */

const home = mkdtempSync(join(tmpdir(), 'touchstone-lambda-auth-'));
const KEYS = `https://cognito-idp.xx-local-1.amazonaws.com/${LOCAL_POOL.userPoolId}/.well-known/jwks.json`;
const ENVIRONMENT = {
  ...BACKEND_ENVIRONMENT,
  HYPEROPT_STATE_MACHINE_ARN: 'arn:aws:states:us-east-1:123456789012:stateMachine:hyperopt',
  ...SCHEDULES,
  ENVIRONMENT: 'production',
};
const token = (clientId: string = LOCAL_POOL.clientId) =>
  signToken(openIssuerKey(home), {
    ...accessClaims({ user: 'ada', role: 'researcher', lifetime: 600, now: Date.now() }),
    client_id: clientId,
  });

let asked: string[];
let response: () => Promise<Response>;
beforeEach(() => {
  asked = [];
  response = async () => Response.json({ keys: [openIssuerKey(home).jwk] });
  vi.resetModules();
  vi.stubGlobal('fetch', async (uri: string) => {
    asked.push(uri);
    return response();
  });
  vi.spyOn(process.stdout, 'write').mockReturnValue(true);
  vi.spyOn(process.stderr, 'write').mockReturnValue(true);
  for (const [name, value] of Object.entries(ENVIRONMENT)) vi.stubEnv(name, value);
});
afterEach(() => {
  vi.unstubAllEnvs();
  vi.unstubAllGlobals();
  vi.restoreAllMocks();
});
afterAll(() => rmSync(home, { recursive: true }));

const post = (path: string): Partial<APIGatewayProxyEvent> => ({ httpMethod: 'POST', path, body: '{}' });

describe.each([
  ['BACKEND', () => import('#lambdas/backend.ts'), post('/api/v1/backtests')],
  ['STRATEGY', () => import('#lambdas/strategy.ts'), post('/api/v1/strategies/ema_crossover/register')],
] as const)('tokens of the %s function', (prefix, load, request) => {
  const start = async () => {
    vi.stubEnv(`${prefix}_IDP_USER_POOL_ID`, LOCAL_POOL.userPoolId);
    vi.stubEnv(`${prefix}_IDP_CLIENT_ID`, LOCAL_POOL.clientId);
    vi.stubEnv(`${prefix}_IDP_REGION`, 'xx-local-1');
    const { handler } = await load();
    return async (authorization?: string) => {
      const headers = {
        'Content-Type': 'application/json',
        ...(authorization ? { Authorization: authorization } : {}),
      };
      const result = await handler(gatewayEvent({ ...request, headers }), LAMBDA_CONTEXT);
      const challenge = headerOf(result, 'WWW-Authenticate');
      const { detail } = JSON.parse(result.body) as { detail: { code?: string; type?: string }[] };
      return { status: result.statusCode, challenge, detail };
    };
  };

  it("function accepts tokens of its pool and fetches the pool's keys once", async () => {
    const call = await start();
    expect(await call()).toMatchObject({ status: 401, detail: { code: 'AUTH003' } });
    expect(asked).toEqual([]);
    // After authentication the body is validated.
    for (let i = 0; i < 3; i++) {
      expect(await call(`Bearer ${token()}`)).toMatchObject({
        status: 400,
        detail: expect.arrayContaining([expect.objectContaining({ type: 'missing' })]),
      });
    }
    expect(asked).toEqual([KEYS]);
    expect(await call(`Bearer ${token('other')}`)).toMatchObject({
      status: 401,
      challenge: expect.stringContaining('error="invalid_token"'),
      detail: { code: 'AUTH002', context: { reason: 'client' } },
    });
  });

  it('function returns 503 when the pool does not respond', async () => {
    const call = await start();
    response = () => Promise.reject(new Error('down'));
    expect(await call(`Bearer ${token()}`)).toMatchObject({ status: 503, detail: { code: 'HTTP503' } });
  });

  it('function does not start without its pool', async () => {
    await expect(load()).rejects.toThrow(
      `${prefix}_IDP_USER_POOL_ID is missing, ${prefix}_IDP_CLIENT_ID is missing`,
    );
  });
});

it('data collection does not start without its pool, with or without a service token', () => {
  const { status, stderr } = spawnSync(process.execPath, ['src/tasks/data-collection.ts'], {
    env: { ...ENVIRONMENT, SERVICE_TOKEN: 'a-secret-of-the-platform', PORT: '0' },
    encoding: 'utf8',
  });
  expect(status).toBe(1);
  expect(stderr).toContain('DATA_COLLECTION_IDP_USER_POOL_ID is missing');
  expect(stderr).not.toContain('a-secret');
});
