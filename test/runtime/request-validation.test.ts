import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { FreshnessQuery } from '#contract/market-data/market-data.ts';
import { operationsOf } from '#contract/operations/operations.ts';
import { readQuery } from '#runtime/request-schemas.ts';
import { accepted, backendApp, post } from '../support/backend.ts';
import { pendingJob } from '../support/jobs.ts';

interface ArrayError {
  detail: { type: string; loc: (string | number)[]; msg: string; input: unknown }[];
}

const submitted: { config: Record<string, unknown> }[] = [];
const { app, lines } = backendApp({
  submitBacktest: async ({ body }) => {
    submitted.push(body as never);
    return accepted(pendingJob('bt-1'));
  },
});

async function submit(body: unknown, headers: Record<string, string> = {}) {
  const response = await app.request('/api/v1/backtests', post(body, headers));
  return { status: response.status, body: (await response.json()) as ArrayError };
}

async function get(path: string) {
  const response = await app.request(path);
  return { status: response.status, body: await response.json() };
}

const config = { strategy: 'demo' };

it('every optional query parameter that is empty counts as absent', () => {
  const queries = (['backend', 'strategy', 'data_collection'] as const).flatMap((service) =>
    operationsOf(service).flatMap(({ id, query }) => (query ? [{ id, query }] : [])),
  );
  let checked = 0;
  for (const { id, query } of queries) {
    for (const [name, parameter] of Object.entries(query.shape)) {
      if (!parameter.safeParse(undefined).success) continue;
      const only = z.object({ [name]: parameter });
      expect(readQuery(only, new URLSearchParams({ [name]: '' })), `${id} ${name}`).toEqual(
        readQuery(only, new URLSearchParams()),
      );
      checked++;
    }
  }
  expect(checked).toBeGreaterThan(80);
});

it('interrupted body is not a server error', async () => {
  const body = new ReadableStream({
    pull(controller) {
      if (controller.desiredSize === 1) controller.enqueue(Buffer.from('{"config":'));
      controller.error(new Error('aborted'));
    },
  });
  const init = { ...post(''), body, duplex: 'half' } as RequestInit;
  const response = await app.request('/api/v1/backtests', init);
  expect(response.status).toBe(400);
  expect(await response.json()).toMatchObject({ detail: [{ type: 'json_invalid' }] });
  expect(lines.filter(({ level }) => level === 'error')).toEqual([]);
});

describe('body validation against its schema', () => {
  it('missing config.strategy has the error of the contract', async () => {
    expect(await submit({ config: {} })).toEqual({
      status: 400,
      body: {
        detail: [
          { type: 'missing', loc: ['body', 'config', 'strategy'], msg: 'Field required', input: null },
        ],
      },
    });
  });

  it.each<[string, unknown, string, (string | number)[], unknown]>([
    ['no config', {}, 'missing', ['config'], null],
    ['no body', '', 'missing', [], null],
    ['null for the body', null, 'dict_type', [], null],
    ['a list for the body', [], 'dict_type', [], []],
    ['a string for the body', '"x"', 'dict_type', [], 'x'],
    ['a string for config', { config: 'x' }, 'dict_type', ['config'], 'x'],
    ['null for the strategy', { config: { strategy: null } }, 'string_type', ['config', 'strategy'], null],
    ['a number for the strategy', { config: { strategy: 7 } }, 'string_type', ['config', 'strategy'], 7],
    ['a string for pairs', { config: { ...config, pairs: 'X' } }, 'list_type', ['config', 'pairs'], 'X'],
    [
      'a number in pairs',
      { config: { ...config, pairs: ['A', 1] } },
      'string_type',
      ['config', 'pairs', 1],
      1,
    ],
    [
      'a string for the wallet',
      { config: { ...config, dry_run_wallet: '5' } },
      'float_type',
      ['config', 'dry_run_wallet'],
      '5',
    ],
    ['a string for an integer', { config, priority: '5' }, 'int_type', ['priority'], '5'],
    ['a fraction for an integer', { config, priority: 1.5 }, 'int_from_float', ['priority'], 1.5],
    [
      'an integer too large',
      `{"config":{"strategy":"d"},"priority":1e300}`,
      'int_parsing_size',
      ['priority'],
      1e300,
    ],
    [
      'an infinite number',
      `{"config":{"strategy":"d","fee":1e999}}`,
      'finite_number',
      ['config', 'fee'],
      null,
    ],
    ['a boolean for a number', { config: { ...config, fee: true } }, 'float_type', ['config', 'fee'], true],
    [
      'a number for a date',
      { config: { ...config, date_range: { start: 5 } } },
      'string_type',
      ['config', 'date_range', 'start'],
      5,
    ],
    [
      'a list for an object',
      { config: { ...config, date_range: [] } },
      'dict_type',
      ['config', 'date_range'],
      [],
    ],
    [
      'a string in a table',
      { config: { ...config, minimal_roi: { 0: 'x' } } },
      'float_type',
      ['config', 'minimal_roi', '0'],
      'x',
    ],
    [
      'a number for a flag',
      { config: { ...config, trailing: { only_offset_is_reached: 1 } } },
      'bool_type',
      ['config', 'trailing', 'only_offset_is_reached'],
      1,
    ],
  ])('type error contains its location: %s', async (_, body, type, path, input) => {
    const { status, body: answer } = await submit(body);
    expect(status).toBe(400);
    expect(answer.detail).toHaveLength(1);
    expect(answer.detail[0]).toMatchObject({ type, loc: ['body', ...path], input });
    expect(answer.detail[0]!.msg).not.toBe('');
  });

  it('null in an optional field means absent, unless null has a meaning', async () => {
    const nulls = { fee: null, pairs: null, ml_engine: null, minimal_roi: null };
    const inner = {
      date_range: { start: null, end: '2026-01-01' },
      trailing: { positive: null, offset: 0.1 },
    };
    const sent = { config: { ...config, ...nulls, ...inner }, priority: null, model_version: null };
    expect((await submit(sent)).status).toBe(201);
    expect(submitted.at(-1)).toEqual({
      config: { ...config, date_range: { end: '2026-01-01' }, trailing: { offset: 0.1 } },
    });
    expect((await submit({ config: { ...config, trailing: null } })).status).toBe(201);
    expect(submitted.at(-1)).toEqual({ config: { ...config, trailing: null } });
  });

  it('rejection lists every error and each branch of a union', async () => {
    const { body } = await submit({ config: { stake_amount: [] }, experiment_name: 1 });
    expect(body.detail.map(({ type, loc }) => [type, loc.join('.')])).toEqual([
      ['missing', 'body.config.strategy'],
      ['float_type', 'body.config.stake_amount'],
      ['string_type', 'body.config.stake_amount'],
      ['string_type', 'body.experiment_name'],
    ]);
  });

  it('rejection lists at most 50 errors and truncates large values', async () => {
    const { body } = await submit({ config: { ...config, pairs: Array(1000).fill(1) } });
    expect(body.detail).toHaveLength(50);
    const large = await submit({ config: 'x'.repeat(5000) });
    expect(large.body.detail[0]).toMatchObject({ type: 'dict_type', input: null });
  });

  it('bounds, lists and formats are left to the use case', async () => {
    const odd = { strategy: '', timeframe: '7x', pairs: [], fee: -5, stake_amount: 'all', leverage: 0 };
    expect((await submit({ config: odd, priority: 99 })).status).toBe(201);
  });

  it('unknown keys are passed on for a warning', async () => {
    submitted.length = 0;
    await submit({ config: { ...config, pair: 'x' }, extra: 1 });
    expect(submitted).toEqual([{ config: { strategy: 'demo', pair: 'x' }, extra: 1 }]);
  });

  it.each(['constructor', 'prototype', 'toString'])('key %s does not pollute the prototype', async (key) => {
    submitted.length = 0;
    const { status } = await submit(
      `{"${key}":{"polluted":1},"config":{"strategy":"d","${key}":{"polluted":1}}}`,
    );
    expect(status).toBe(201);
    expect(Object.getPrototypeOf(submitted[0])).toBe(Object.prototype);
    expect(Object.getPrototypeOf(submitted[0]!.config)).toBe(Object.prototype);
    expect(({} as { polluted?: number }).polluted).toBeUndefined();
  });
});

describe('body that is not JSON', () => {
  it.each([
    ['the key __proto__', '{"config":{"strategy":"d","__proto__":{"polluted":1}}}'],
    ['a lone surrogate', '{"config":{"strategy":"\\ud800"}}'],
    ['truncated', '{"config":'],
    ['single quotes', "{'config':1}"],
    ['trailing comma', '{"a":1,}'],
    ['not a number', '{"a":NaN}'],
    ['two values', '{} {}'],
    ['only a space', ' '],
    ['deeper than 64 levels', `${'['.repeat(100_000)}${']'.repeat(100_000)}`],
    ['unclosed brackets', '['.repeat(100_000)],
    ['a megabyte of quotes', '\\"'.repeat(400_000)],
  ])('body is rejected with json_invalid: %s', async (_, text) => {
    const { status, body } = await submit(text);
    expect(status).toBe(400);
    expect(body.detail).toEqual([
      {
        type: 'json_invalid',
        loc: ['body'],
        msg: expect.stringMatching(/^JSON decode error: .{5,200}$/s),
        input: null,
      },
    ]);
  });

  it('body with invalid UTF-8 is rejected with json_invalid', async () => {
    const body = Buffer.from('{"config":{"strategy":"\xff"}}', 'latin1');
    const response = await app.request('/api/v1/backtests', { ...post(''), body });
    expect(response.status).toBe(400);
    expect(((await response.json()) as ArrayError).detail[0]!.type).toBe('json_invalid');
  });

  it('brackets inside strings do not count as nesting', async () => {
    const { status } = await submit({ config: { strategy: '[{"\\'.repeat(100) } });
    expect(status).toBe(201);
  });
});

describe('media type', () => {
  const text = JSON.stringify({ config });

  it.each([
    'application/json',
    'Application/JSON',
    'application/json; charset=utf-8',
    'application/json;charset="UTF-8"',
  ])('media type %s is accepted', async (type) => {
    expect((await submit(text, { 'content-type': type })).status).toBe(201);
  });

  it.each([
    [{ 'content-type': 'text/plain' }],
    [{ 'content-type': 'application/x-www-form-urlencoded' }],
    [{ 'content-type': 'application/json; charset=latin1' }],
    [{ 'content-type': 'application/jsonx' }],
    [{ 'content-type': '' }],
    [{ 'content-encoding': 'gzip' }],
  ])('media type of %o is rejected with 415 HTTP415', async (headers) => {
    const { status, body } = await submit(text, headers as Record<string, string>);
    expect(status).toBe(415);
    expect(body.detail).toMatchObject({
      code: 'HTTP415',
      field: 'Content-Type',
      context: { allowed: ['application/json'] },
    });
  });
});

describe('body size', () => {
  const fill = (bytes: number) => {
    const rest = JSON.stringify({ config, x: '' }).length;
    return JSON.stringify({ config, x: 'a'.repeat(bytes - rest) });
  };

  it('body of exactly 1 MiB is accepted', async () => {
    expect((await submit(fill(1024 * 1024))).status).toBe(201);
  });

  it('body of 1 MiB plus one byte is rejected with 413 HTTP413', async () => {
    const { status, body } = await submit(fill(1024 * 1024 + 1));
    expect(status).toBe(413);
    expect(body.detail).toMatchObject({ code: 'HTTP413', context: { max_bytes: 1_048_576 } });
  });

  it('body announced as larger is rejected before it is read, for every operation', async () => {
    const init = { method: 'POST', headers: { 'content-length': '1048577' } };
    expect((await app.request('/api/v1/backtests/bt-1/cancel', init)).status).toBe(413);
  });

  it('body of unknown length is read up to the limit only', async () => {
    let sent = 0;
    const body = new ReadableStream({
      pull: (controller) => {
        sent += 65_536;
        controller.enqueue(new Uint8Array(65_536));
        if (sent > 8 * 1024 * 1024) controller.close();
      },
    });
    const response = await app.request('/api/v1/backtests', {
      ...post(''),
      body,
      duplex: 'half',
    } as RequestInit);
    expect(response.status).toBe(413);
    expect(sent).toBeLessThan(2 * 1024 * 1024);
  });
});

describe('query parameters', () => {
  it.each([
    ['limit=0', 'limit', { value: '0', min: 1, max: 100 }],
    ['limit=101', 'limit', { value: '101', min: 1, max: 100 }],
    ['limit=-1', 'limit', { value: '-1' }],
    ['limit=1.5', 'limit', { value: '1.5' }],
    ['limit=1e1', 'limit', { value: '1e1' }],
    ['limit=ten', 'limit', { value: 'ten', min: 1, max: 100 }],
    ['limit=%20', 'limit', { value: ' ' }],
    ['limit=99999999999999999999', 'limit', {}],
    ['limit=5&limit=6', 'limit', { value: ['5', '6'], count: 2 }],
    [
      'status=done',
      'status',
      { value: 'done', allowed: ['pending', 'running', 'completed', 'failed', 'cancelled'] },
    ],
    ['status=__proto__', 'status', { value: '__proto__' }],
    [`experiment_name=${'x'.repeat(201)}`, 'experiment_name', { value: 'x'.repeat(100), max_length: 200 }],
    [`cursor=${'x'.repeat(5000)}`, 'cursor', { max_length: 4096 }],
  ])('query ?%s is rejected with 400 VAL005', async (query, field, context) => {
    const { status, body } = await get(`/api/v1/backtests?${query}`);
    expect(status).toBe(400);
    expect(body).toMatchObject({ detail: { code: 'VAL005', field, context } });
  });

  it('rejection states the range of an integer', async () => {
    const { body } = await get('/api/v1/backtests?limit=0');
    expect(body).toMatchObject({
      detail: { code: 'VAL005', message: 'limit must be an integer from 1 to 100' },
    });
  });

  it.each(['limit=100', 'limit=007', '&&=&', 'experiment_name=%FF'])(
    'query ?%s is accepted',
    async (query) => {
      expect((await get(`/api/v1/backtests?${query}`)).status).toBe(200);
    },
  );
});

describe('list parameters', () => {
  const read = (query: string) => readQuery(FreshnessQuery, new URLSearchParams(query));

  it.each([
    ['symbols=A/B:C&symbols=D/E:F', ['A/B:C', 'D/E:F']],
    ['symbols=A/B:C,D/E:F', ['A/B:C', 'D/E:F']],
    ['symbols=A%2FB%3AC,&symbols=D/E:F', ['A/B:C', 'D/E:F']],
    ['symbols=A', ['A']],
  ])('list accepts ?%s', (query, symbols) => {
    expect(read(query)).toMatchObject({ symbols, stale_threshold_hours: 24 });
  });

  it.each(['', 'symbols=', 'symbols=,,'])('list rejects ?%s with VAL004', (query) => {
    expect(() => read(query)).toThrow(expect.objectContaining({ code: 'VAL004', field: 'symbols' }));
  });

  it.each([`symbols=${'x'.repeat(51)}`, `symbols=${'x,'.repeat(1001)}`])(
    'list beyond its bounds is rejected with VAL005',
    (query) => {
      expect(() => read(query)).toThrow(expect.objectContaining({ code: 'VAL005', field: 'symbols' }));
    },
  );
});

describe('path parameters', () => {
  it.each([
    '1',
    'bt-',
    'BT-1',
    'bt-é',
    'bt-a b',
    'bt-%2F',
    'bt-%ZZ',
    'bt-%',
    '%E0%A4%A',
    `bt-${'x'.repeat(65)}`,
    'bt-%00',
    'ho-1',
  ])('job ID %s is rejected with 400 VAL005', async (id) => {
    const { status, body } = await get(`/api/v1/backtests/${id}`);
    expect(status).toBe(400);
    expect(body).toMatchObject({
      detail: { code: 'VAL005', field: 'job_id', context: { pattern: '^bt-[A-Za-z0-9]{1,64}$' } },
    });
  });

  it('unknown well-formed job ID returns 404 RES001', async () => {
    const { status, body } = await get('/api/v1/backtests/bt-01JD0000000000000000000000');
    expect(status).toBe(404);
    expect(body).toMatchObject({ detail: { code: 'RES001' } });
  });

  it.each(['x', '%00', '%ZZ', '..%2f..', '%F0%9F%98%80', '__proto__'])(
    'unknown strategy %s returns 404 RES004',
    async (name) => {
      const { status, body } = await get(`/api/v1/strategies/${name}`);
      expect(status).toBe(404);
      expect(body).toMatchObject({ detail: { code: 'RES004' } });
    },
  );

  it('name longer than 100 characters is rejected with 400', async () => {
    expect((await get(`/api/v1/strategies/${'x'.repeat(101)}`)).status).toBe(400);
  });
});
