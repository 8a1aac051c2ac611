import { describe, expect, it } from 'vitest';
import { LocalEnv } from '#contract/env/env.ts';
import { operationsOf } from '#contract/operations/operations.ts';
import { CodedError } from '#contract/values/errors.ts';
import { checkError } from '#runtime/conformance.ts';
import { readEnv } from '#runtime/env.ts';
import { platformOptions } from '../../src/local/platform-options.ts';
import { backendApp, post } from '../support/backend.ts';

/** Undocumented responses are detected in every layer. */

const row = (id: string) => operationsOf('backend').find((operation) => operation.id === id)!;
const notFound = { code: 'RES001', message: 'm', field: '', context: { job_id: 'bt-1' } };

describe('checkError', () => {
  const check = (detail: unknown, code: string | null = 'RES001', status = 404, id = 'getBacktest') =>
    checkError(row(id), { status, code, body: { detail } as never });

  it('checkError accepts documented errors', () => {
    expect(() => check(notFound)).not.toThrow();
    const issue = { type: 'missing', loc: ['body', 'config'], msg: 'Field required', input: null };
    expect(() => check([issue], null, 400, 'submitBacktest')).not.toThrow();
  });

  it.each([
    [{ ...notFound, stack: 'at x' }, 'does not name'],
    [{ ...notFound, message: undefined }, 'detail.message'],
    [{ ...notFound, context: 'text' }, 'detail.context'],
    [[], 'detail'],
  ])('checkError rejects the error body %j', (detail, message) => {
    expect(() => check(detail)).toThrow(message);
  });

  it('checkError rejects an undocumented status, and an array for an operation without a body', () => {
    expect(() => check(notFound, 'RES001', 410)).toThrow('does not document RES001 with status 410');
    expect(() => check([], null, 400)).toThrow('does not document null with status 400');
  });

  it('checkError checks errors outside operations too', () => {
    expect(() => checkError(undefined, { status: 404, code: 'HTTP404', body: {} as never })).toThrow(
      'no operation: detail',
    );
  });

  it('undocumented error becomes a 500 without its content', async () => {
    const { app } = backendApp({
      getBacktest: async () => {
        throw Object.assign(new CodedError('RES001'), { field: 7 });
      },
    });
    const response = await app.request('/api/v1/backtests/bt-1');
    expect([response.status, await response.json()]).toMatchObject([500, { detail: { code: 'SVC001' } }]);
  });
});

describe('response check of a function', () => {
  const ask = async (status: number, body: unknown, checkResponses = true) => {
    const answer = async () => Response.json(body, { status });
    const { app } = backendApp({}, { functions: { data_proxy: answer }, checkResponses });
    const response = await app.request('/api/v1/data-proxy', post({ operation: 'symbols' }));
    return response.status;
  };
  const fine = { success: true, data: { operation: 'symbols', result: {} } };
  const rejection = { ...fine, success: false, error: { code: 'VAL005', message: 'm', field: '' } };

  it.each([
    [200, fine, 200],
    [400, rejection, 400],
    [200, { ...fine, extra: 1 }, 500],
    [400, { ...rejection, error: 'text' }, 500],
    [418, rejection, 500],
  ])('response %i with %j returns %i', async (status, body, answered) => {
    expect(await ask(status, body)).toBe(answered);
  });

  it('response is passed on unchecked when the check is off', async () => {
    expect(await ask(418, { anything: true }, false)).toBe(418);
  });
});

it.each([
  ['development', true],
  ['test', true],
  ['production', false],
])('local mode in %s: response check %s, open without tokens', (ENVIRONMENT, open) => {
  const { checkResponses, auth } = platformOptions(readEnv(LocalEnv, { ENVIRONMENT }));
  expect([checkResponses, auth]).toEqual([open, !open]);
});
