import { describe, expect, it } from 'vitest';
import { openApiDocument } from '#contract/operations/openapi.ts';
import { parseDocument } from './document.ts';
import { type Exchange, Oracle } from './oracle.ts';
import { curlCommand } from './send.ts';

/** Each response here is valid except for one error, which the oracle must report. */

const service = parseDocument(
  'http://127.0.0.1:1',
  JSON.parse(JSON.stringify(openApiDocument('backend', '1'))),
);
const operation = service.operations.find(({ id }) => id === 'listSymbols')!;

interface Answer {
  readonly status?: number;
  readonly headers?: Record<string, string | undefined>;
  readonly body?: unknown;
}

const symbols = { exchange: 'sim', symbols: ['BTC/USDT:USDT'], count: 1 };
const coded = (code: string, more: object = {}) => ({
  detail: { code, message: 'm', field: '', context: {}, ...more },
});

function problems({ status = 200, headers = {}, body = symbols }: Answer, more: Partial<Exchange> = {}) {
  const all = { 'content-type': 'application/json', 'x-correlation-id': 'c-1', ...headers };
  return new Oracle().problems({
    service,
    request: { method: 'GET', base: service.base, path: '/', headers: {}, body: undefined },
    received: {
      status,
      headers: Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined)),
      body: Buffer.from(typeof body === 'string' ? body : JSON.stringify(body)),
    },
    operations: [operation],
    odd: false,
    trusted: true,
    ...more,
  });
}

describe('Oracle', () => {
  it('oracle accepts documented responses', () => {
    expect(problems({})).toEqual([]);
    expect(problems({ status: 400, body: coded('VAL005') })).toEqual([]);
    expect(problems({ status: 503, headers: { 'retry-after': '1' }, body: coded('DATA004') })).toEqual([]);
    expect(problems({ status: 404, body: coded('HTTP404') }, { odd: true, operations: [] })).toEqual([]);
  });

  it.each<[string, Answer, RegExp]>([
    ['an undocumented status', { status: 418 }, /does not document status 418/],
    ['a success status of another operation', { status: 201 }, /does not document status 201/],
    ['an error of another operation', { status: 409, body: coded('RES005') }, /does not document status 409/],
    ['an undocumented field', { body: { ...symbols, extra: 1 } }, /additionalProperty":"extra/],
    ['a missing field', { body: { symbols: [], exchange: 'sim' } }, /required property 'count'/],
    ['a wrong type', { body: { ...symbols, count: '1' } }, /\/count must be integer/],
    ['a wrong code', { status: 400, body: coded('RES001') }, /is not documented for this status/],
    [
      'an undocumented key of an error',
      { status: 400, body: coded('VAL005', { hint: 'h' }) },
      /additionalProperty":"hint/,
    ],
    ['an error without its shape', { status: 400, body: { error: 'no' } }, /does not fit/],
    ['invalid JSON', { body: '<html>' }, /not JSON/],
    ['a wrong content type', { headers: { 'content-type': 'text/plain' } }, /text\/plain is not documented/],
    ['a missing header', { headers: { 'x-correlation-id': undefined } }, /X-Correlation-ID is missing/],
    ['an invalid header', { headers: { 'x-correlation-id': 'a b' } }, /X-Correlation-ID is a b/],
    ['an unhandled error', { status: 500, body: coded('SVC001') }, /500 SVC001: a server error/],
    [
      'an unavailable dependency',
      { status: 503, headers: { 'retry-after': '1' }, body: coded('DATA005') },
      /503 DATA005/,
    ],
    ['a 503 without Retry-After', { status: 503, body: coded('DATA004') }, /503 without retry-after/],
    [
      'a 401 without WWW-Authenticate',
      { status: 401, body: coded('AUTH003') },
      /401 without www-authenticate/,
    ],
    ['a general error for a valid request', { status: 405, body: coded('HTTP405') }, /does not document/],
    ['a stack trace', { body: { ...symbols, exchange: 'x\n    at f (/a.js:1:2)' } }, /exposes internals/],
    [
      'an exception',
      { body: { ...symbols, exchange: 'TypeError: x is not' } },
      /exposes internals: TypeError/,
    ],
  ])('oracle reports %s', (_, response, problem) => {
    expect(problems(response).join('\n')).toMatch(problem);
  });

  it('oracle reports a wrong authentication status', () => {
    const rejected = { headers: { 'www-authenticate': 'Bearer' }, status: 401, body: coded('AUTH002') };
    expect(problems(rejected, { trusted: false, only: 401 })).toEqual([]);
    expect(problems({}, { trusted: false, only: 401 })).toEqual(['401 was due, not 200']);
    expect(problems({}, { trusted: false, only: 403 })).toEqual(['403 was due, not 200']);
    expect(problems(rejected)).toEqual(['401 with a token that holds']);
  });

  it('oracle reports a rejected body that the document allows', () => {
    const submit = service.operations.find(({ id }) => id === 'submitBacktest')!;
    const detail = [{ type: 'float_type', loc: ['body', 'config', 'fee'], msg: 'm', input: null }];
    const rejection = (fee: unknown, type = 'float_type') => {
      const body = Buffer.from(JSON.stringify({ config: { strategy: 'demo', fee } }));
      const request = { method: 'POST', base: '', path: '/', headers: {}, body };
      const response = { status: 400, body: { detail: [{ ...detail[0], type }] } };
      return problems(response, { request, operations: [submit] });
    };
    const rejected = 'the body fits its schema, and is rejected as float_type at body.config.fee';
    expect(rejection(null)).toEqual([rejected]);
    expect(rejection(0.1)).toEqual([rejected]);
    expect(rejection('0.1')).toEqual([]);
    expect(rejection(0.1, 'json_invalid')).toEqual([]);
  });

  it('oracle reports a changed correlation ID', () => {
    const request = {
      method: 'GET',
      base: '',
      path: '/',
      headers: { 'X-Correlation-ID': 'mine' },
      body: undefined,
    };
    expect(problems({}, { request })).toEqual(['X-Correlation-ID mine came back as c-1']);
  });

  it('oracle reports 405 without Allow', () => {
    const response = { status: 405, body: coded('HTTP405') };
    expect(problems(response, { odd: true })).toEqual(['405 without Allow']);
    expect(problems({ ...response, headers: { allow: 'GET' } }, { odd: true })).toEqual([]);
  });
});

it('curlCommand quotes a request for the shell', () => {
  const request = {
    method: 'POST',
    base: '',
    path: '/a/../%00?x=y',
    headers: { 'Content-Type': 'application/json', Authorization: 'Bearer secret', 'X-Correlation-ID': '' },
    body: Buffer.from(`{"it's":1}`),
  };
  expect(
    curlCommand(request, 'http://127.0.0.1:8000', 'Bearer $(npx --no-install touchstone token --role admin)'),
  ).toBe(
    [
      "curl -sS -i -g --path-as-is -X POST 'http://127.0.0.1:8000/a/../%00?x=y' -H 'Content-Type: application/json'",
      `-H 'X-Correlation-ID;' -H "Authorization: Bearer $(npx --no-install touchstone token --role admin)"`,
      `--data-binary '{"it'\\''s":1}'`,
    ].join(' '),
  );
});
