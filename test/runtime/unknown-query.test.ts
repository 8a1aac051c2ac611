import { describe, expect, it } from 'vitest';
import { operationsOf } from '#contract/operations/operations.ts';
import { CodedError } from '#contract/values/errors.ts';
import { pathsOf, type ServiceName } from '#contract/values/operation.ts';
import { withoutIdentityProvider } from '#runtime/authenticate.ts';
import type { Handlers } from '#runtime/handler.ts';
import { createService } from '#runtime/service.ts';
import { memoryAudit } from '../support/audit.ts';
import { fakeOwnership, memoryLog } from '../support/backend.ts';
import { cursorKey } from '../support/cursors.ts';

const SERVICES: readonly ServiceName[] = ['backend', 'strategy', 'data_collection'];

/** A service whose handlers all respond with SVC003: the request has passed its checks. */
function serviceOf(service: ServiceName) {
  const reached = async () => {
    throw new CodedError('SVC003');
  };
  const handlers = new Proxy({}, { get: () => new Proxy({}, { get: () => reached }) });
  return createService(service, handlers as Handlers<ServiceName>, {
    ownership: fakeOwnership,
    log: memoryLog().log,
    authenticate: withoutIdentityProvider({ enforced: false }),
    audit: memoryAudit().audit,
    cursorKey,
    checkResponses: true,
  });
}

const READS = SERVICES.flatMap((service) => {
  const app = serviceOf(service);
  return operationsOf(service)
    .filter(({ method }) => method === 'GET')
    .flatMap((operation) =>
      pathsOf(operation).map((path) => ({ service, app, operation, path, name: `${service} ${path}` })),
    );
});
const isStrict = (path: string) => /^\/(api\/v1|challenges)\//.test(path) && path !== '/api/v1/health';
const STRICT = READS.filter(({ path }) => isStrict(path));
const OTHERS = READS.filter(({ path }) => !isStrict(path));

describe('unknown query parameter', () => {
  it('is looked for on every read of the operation table', () => {
    expect(STRICT.length).toBeGreaterThan(50);
    expect(OTHERS.map(({ path }) => path).filter((path) => !path.startsWith('/api/2.0/mlflow'))).toEqual(
      SERVICES.flatMap(() => ['/api/v1/health', '/docs', '/docs/{asset}', '/openapi.json']),
    );
  });

  it.each(STRICT)('is VAL005 with its name and the known ones: $name', async ({ app, operation, path }) => {
    const known = Object.keys(operation.query?.shape ?? {}).map((name) =>
      name === 'params' ? 'params.<name>' : name,
    );
    for (const method of ['GET', 'HEAD']) {
      const url = `${path.replaceAll(/\{\w+\}/g, 'bt-1')}?limt=5&__proto__=1`;
      const response = await app.request(url, { method });
      expect(response.status).toBe(400);
      if (method === 'HEAD') continue;
      expect(await response.json()).toMatchObject({
        detail: { code: 'VAL005', field: 'limt', context: { known } },
      });
    }
  });

  it.each(OTHERS)('is ignored by $name', async ({ app, path }) => {
    const response = await app.request(`${path.replaceAll(/\{\w+\}/g, '1')}?limt=5`);
    expect(await response.text()).not.toContain('limt');
  });

  const { app } = STRICT.find(({ path }) => path === '/api/v1/backtests')!;
  const rejection = async (query: string) => {
    const response = await app.request(`/api/v1/backtests?${query}`);
    return ((await response.json()) as { detail: Record<string, unknown> }).detail;
  };

  it('names the nearest known parameter', async () => {
    const { message, context } = await rejection('stategy=ema');
    expect(message).toContain('stategy is not a query parameter of listBacktests (did you mean strategy?)');
    expect(context).toMatchObject({ nearest: 'strategy' });
  });

  it.each(['__proto__', 'constructor', 'toString', 'hasOwnProperty'])('%s is unknown', async (name) => {
    expect(await rejection(`${name}=1`)).toMatchObject({ code: 'VAL005', field: name });
  });

  it('is found among known ones and shortened', async () => {
    const { field } = await rejection(`limit=5&${'x'.repeat(3000)}=1`);
    expect(field).toBe('x'.repeat(100));
  });
});
