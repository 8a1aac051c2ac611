import { describe, expect, it } from 'vitest';
import { CORRELATION_HEADER } from '#contract/values/names.ts';
import { withoutIdentityProvider } from '#runtime/authenticate.ts';
import { serviceLambda } from '#runtime/lambda.ts';
import { memoryAudit } from '../support/audit.ts';
import { accepted, fakeHandlers, fakeOwnership } from '../support/backend.ts';
import { capturedOutput } from '../support/captured-output.ts';
import { gatewayEvent, headerOf, LAMBDA_CONTEXT } from '../support/gateway.ts';
import { pendingJob } from '../support/jobs.ts';

const GATEWAY_ID = 'c6af9ac6-7b61-11e6-9a41-93e8deadbeef';
const submitted: unknown[] = [];
const handler = serviceLambda(
  'backend',
  fakeHandlers({
    submitBacktest: async ({ body }) => {
      submitted.push(body);
      return accepted(pendingJob('bt-1'));
    },
    getStrategy: () => {
      throw new Error('secret detail');
    },
  }),
  {
    authenticate: withoutIdentityProvider({ enforced: false }),
    audit: memoryAudit().audit,
    ownership: fakeOwnership,
    environment: 'test',
    logLevel: 'INFO',
    checkResponses: true,
  },
);
const call = (changes: Parameters<typeof gatewayEvent>[0]) => handler(gatewayEvent(changes), LAMBDA_CONTEXT);

const { lines } = capturedOutput();

describe('REST API event', () => {
  it("response has the gateway's request ID when the caller sent no correlation ID", async () => {
    const result = await call({});
    expect(result).toMatchObject({ statusCode: 200, isBase64Encoded: false });
    expect(JSON.parse(result.body)).toMatchObject({ status: 'healthy' });
    expect(headerOf(result, CORRELATION_HEADER)).toBe(GATEWAY_ID);
    expect(headerOf(result, 'content-type')).toBe('application/json');
  });

  it("response keeps the caller's correlation ID", async () => {
    expect(headerOf(await call({ headers: { 'x-correlation-id': 'mine' } }), CORRELATION_HEADER)).toBe(
      'mine',
    );
  });

  it('body may be plain or base64', async () => {
    submitted.length = 0;
    const body = JSON.stringify({ config: { strategy: 'démo' } });
    const post = {
      httpMethod: 'POST',
      path: '/api/v1/backtests',
      headers: { 'Content-Type': 'application/json' },
    };
    const asText = await call({ ...post, body });
    const asBase64 = await call({
      ...post,
      body: Buffer.from(body).toString('base64'),
      isBase64Encoded: true,
    });
    expect([asText.statusCode, asBase64.statusCode]).toEqual([201, 201]);
    expect(submitted).toEqual([{ config: { strategy: 'démo' } }, { config: { strategy: 'démo' } }]);
  });

  it.each<[string, number, string | undefined, Parameters<typeof gatewayEvent>[0]]>([
    [
      'unknown path by {proxy+}',
      404,
      'HTTP404',
      { path: '/a/b', resource: '/{proxy+}', pathParameters: { proxy: 'a/b' } },
    ],
    ['the root', 404, 'HTTP404', { path: '/' }],
    ['wrong method by ANY', 405, 'HTTP405', { httpMethod: 'DELETE' }],
    [
      'malformed JSON',
      400,
      undefined,
      {
        httpMethod: 'POST',
        path: '/api/v1/backtests',
        headers: { 'content-type': 'application/json' },
        body: '{',
      },
    ],
    ['no body', 400, undefined, { httpMethod: 'POST', path: '/api/v1/backtests' }],
    [
      'a form',
      415,
      'HTTP415',
      {
        httpMethod: 'POST',
        path: '/api/v1/backtests',
        body: 'a=1',
        headers: { 'content-type': 'application/x-www-form-urlencoded' },
      },
    ],
    [
      'too large',
      413,
      'HTTP413',
      {
        httpMethod: 'POST',
        path: '/api/v1/backtests',
        body: 'x'.repeat(1024 * 1024 + 1),
        headers: { 'content-type': 'application/json' },
      },
    ],
    ['a body with GET', 200, undefined, { body: '{}' }],
    [
      'a repeated parameter',
      400,
      'VAL005',
      {
        path: '/api/v1/backtests',
        multiValueQueryStringParameters: { limit: ['1', '2'] },
        queryStringParameters: { limit: '2' },
      },
    ],
    ['a path of two slashes', 404, 'HTTP404', { path: '//evil.example/api' }],
    ['a bare percent sign', 400, 'VAL005', { path: '/api/v1/backtests/%' }],
    ['an invalid method', 400, 'HTTP400', { httpMethod: 'TRACE' }],
    ['an unhandled error', 500, 'SVC001', { path: '/api/v1/strategies/demo' }],
  ])('event is handled with its status and correlation ID: %s', async (_, status, code, changes) => {
    const result = await call(changes);
    expect(result.statusCode).toBe(status);
    expect(headerOf(result, CORRELATION_HEADER)).toBe(GATEWAY_ID);
    if (code) expect(JSON.parse(result.body)).toMatchObject({ detail: { code } });
    expect(result.body).not.toContain('secret');
  });

  it('documentation is returned as a string, which needs no binary types in the gateway', async () => {
    const result = await call({ path: '/docs/swagger-ui-bundle.js' });
    expect(result).toMatchObject({ statusCode: 200, isBase64Encoded: false });
    // Lambda truncates a response at 6 MB.
    expect(result.body.length).toBeLessThan(5_000_000);
  });
});

describe('function log', () => {
  it('log has the correlation ID on every line, and the stack of an unhandled error', async () => {
    await call({ path: '/api/v1/strategies/demo', headers: { 'x-correlation-id': 'trace-me' } });
    const logged = lines().filter((line) => 'level' in line);
    expect(logged.map((line) => line.correlation_id)).toEqual(['trace-me', 'trace-me']);
    expect(logged[0]).toMatchObject({ level: 'ERROR', service: 'backend', code: 'SVC001' });
    expect((logged[0]!.error as { stack: string }).stack).toContain('secret detail');
    expect(logged[1]).toMatchObject({
      level: 'INFO',
      message: 'request',
      operation: 'getStrategy',
      status: 500,
    });
  });

  it('log has RequestFaults, also 0, under the total and under the operation', async () => {
    await call({});
    await call({ path: '/api/v1/strategies/demo' });
    const metrics = lines().filter((line) => '_aws' in line);
    expect(metrics.map(({ operation, RequestFaults }) => [operation, RequestFaults])).toEqual([
      ['getHealth', 0],
      ['getStrategy', 1],
    ]);
    const { _aws } = metrics[0] as { _aws: { CloudWatchMetrics: { Dimensions: string[][] }[] } };
    expect(_aws.CloudWatchMetrics[0]!.Dimensions).toEqual([
      ['service', 'stage'],
      ['service', 'operation'],
    ]);
  });
});

it('function returns 401 without a token where it is enforced', async () => {
  const production = serviceLambda('backend', fakeHandlers(), {
    authenticate: withoutIdentityProvider({ enforced: true }),
    audit: memoryAudit().audit,
    ownership: fakeOwnership,
    environment: 'production',
    logLevel: 'ERROR',
  });
  const result = await production(gatewayEvent({ path: '/api/v1/backtests' }), LAMBDA_CONTEXT);
  expect(result.statusCode).toBe(401);
  expect(JSON.parse(result.body)).toMatchObject({ detail: { code: 'AUTH003' } });
});
