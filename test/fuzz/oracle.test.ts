import { describe, expect, it } from 'vitest';
import { openApiDocument } from '#contract/openapi.ts';
import { parseDocument } from './document.ts';
import { type Exchange, Oracle } from './oracle.ts';
import { curlCommand } from './send.ts';

/** The fuzzer finds what it looks for: each answer here is a sound one with one thing wrong. */

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
    ...{ operations: [operation], odd: false, trusted: true },
    ...more,
  });
}

describe('the oracle', () => {
  it('has nothing against what is documented', () => {
    expect(problems({})).toEqual([]);
    expect(problems({ status: 400, body: coded('VAL005') })).toEqual([]);
    expect(problems({ status: 503, headers: { 'retry-after': '1' }, body: coded('DATA004') })).toEqual([]);
    expect(problems({ status: 404, body: coded('HTTP404') }, { odd: true, operations: [] })).toEqual([]);
  });

  it.each<[string, Answer, RegExp]>([
    ['a status', { status: 418 }, /does not document status 418/],
    ['a success that is none of the operation', { status: 201 }, /does not document status 201/],
    ['an error of another operation', { status: 409, body: coded('RES005') }, /does not document status 409/],
    ['a field', { body: { ...symbols, extra: 1 } }, /additionalProperty":"extra/],
    ['a missing field', { body: { symbols: [], exchange: 'sim' } }, /required property 'count'/],
    ['a type', { body: { ...symbols, count: '1' } }, /\/count must be integer/],
    ['a code', { status: 400, body: coded('RES001') }, /\/detail\/code must be equal/],
    ['a key of an error', { status: 400, body: coded('VAL005', { hint: 'h' }) }, /additionalProperty":"hint/],
    ['an error without its shape', { status: 400, body: { error: 'no' } }, /does not fit/],
    ['no JSON', { body: '<html>' }, /not JSON/],
    ['a content type', { headers: { 'content-type': 'text/plain' } }, /text\/plain is not documented/],
    ['a missing header', { headers: { 'x-correlation-id': undefined } }, /X-Correlation-ID is missing/],
    ['a header', { headers: { 'x-correlation-id': 'a b' } }, /X-Correlation-ID is a b/],
    ['a fault', { status: 500, body: coded('SVC001') }, /500 SVC001: a fault/],
    ['what is down', { status: 503, headers: { 'retry-after': '1' }, body: coded('DATA005') }, /503 DATA005/],
    ['no time to wait', { status: 503, body: coded('DATA004') }, /503 without retry-after/],
    ['no challenge', { status: 401, body: coded('AUTH003') }, /401 without www-authenticate/],
    ['a general error of a sound request', { status: 405, body: coded('HTTP405') }, /does not document/],
    ['a stack', { body: { ...symbols, exchange: 'x\n    at f (/a.js:1:2)' } }, /tells internals/],
    ['an exception', { body: { ...symbols, exchange: 'TypeError: x is not' } }, /tells internals: TypeError/],
  ])('finds %s', (_, answer, problem) => {
    expect(problems(answer).join('\n')).toMatch(problem);
  });

  it('finds who is let in, and who is not', () => {
    const refused = { headers: { 'www-authenticate': 'Bearer' }, status: 401, body: coded('AUTH002') };
    expect(problems(refused, { trusted: false, only: 401 })).toEqual([]);
    expect(problems({}, { trusted: false, only: 401 })).toEqual(['401 was due, not 200']);
    expect(problems({}, { trusted: false, only: 403 })).toEqual(['403 was due, not 200']);
    expect(problems(refused)).toEqual(['401 with a token that holds']);
  });

  it('oracle reports a rejected body that the document allows', () => {
    const submit = service.operations.find(({ id }) => id === 'submitBacktest')!;
    const detail = [{ type: 'float_type', loc: ['body', 'config', 'fee'], msg: 'm', input: null }];
    const refusal = (fee: unknown, type = 'float_type') => {
      const body = Buffer.from(JSON.stringify({ config: { strategy: 'demo', fee } }));
      const request = { method: 'POST', base: '', path: '/', headers: {}, body };
      const answer = { status: 400, body: { detail: [{ ...detail[0], type }] } };
      return problems(answer, { request, operations: [submit] });
    };
    const refused = 'the body fits its schema, and is refused as float_type at body.config.fee';
    expect(refusal(null)).toEqual([refused]);
    expect(refusal(0.1)).toEqual([refused]);
    expect(refusal('0.1')).toEqual([]);
    expect(refusal(0.1, 'json_invalid')).toEqual([]);
  });

  it('finds a correlation id that was not kept', () => {
    const request = {
      method: 'GET',
      base: '',
      path: '/',
      headers: { 'X-Correlation-ID': 'mine' },
      body: undefined,
    };
    expect(problems({}, { request })).toEqual(['X-Correlation-ID mine came back as c-1']);
  });

  it('finds 405 without Allow', () => {
    const answer = { status: 405, body: coded('HTTP405') };
    expect(problems(answer, { odd: true })).toEqual(['405 without Allow']);
    expect(problems({ ...answer, headers: { allow: 'GET' } }, { odd: true })).toEqual([]);
  });
});

it('writes a request as a command that a shell understands', () => {
  const request = {
    method: 'POST',
    base: '',
    path: '/a/../%00?x=y',
    headers: { 'Content-Type': 'application/json', Authorization: 'Bearer secret', 'X-Correlation-ID': '' },
    body: Buffer.from(`{"it's":1}`),
  };
  expect(curlCommand(request, 'http://127.0.0.1:8000', 'Bearer $(npx touchstone token --role admin)')).toBe(
    [
      "curl -sS -i -g --path-as-is -X POST 'http://127.0.0.1:8000/a/../%00?x=y' -H 'Content-Type: application/json'",
      `-H 'X-Correlation-ID;' -H "Authorization: Bearer $(npx touchstone token --role admin)"`,
      `--data-binary '{"it'\\''s":1}'`,
    ].join(' '),
  );
});
