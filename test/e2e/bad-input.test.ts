import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestPlatform, type TestPlatform } from '../support/platform.ts';

/** Every malformed request gets a documented response, never a 5xx, and stores nothing. */

let platform: TestPlatform;
beforeAll(async () => {
  platform = await startTestPlatform();
});
afterAll(async () => {
  const { body } = await platform.get('/api/v1/backtests?limit=100');
  expect(body.items).toEqual([]);
  await platform.stop();
});

const submit = (config: Record<string, unknown>, more: Record<string, unknown> = {}) =>
  platform.post('/api/v1/backtests', { config: { strategy: 'ema_crossover', ...config }, ...more });

describe('body that does not match its schema', () => {
  it.each([
    [{}, ['body', 'config'], 'missing'],
    [{ config: {} }, ['body', 'config', 'strategy'], 'missing'],
    [{ config: { strategy: 5 } }, ['body', 'config', 'strategy'], 'string_type'],
    [{ config: { strategy: 'ema_crossover', pairs: 'BTC' } }, ['body', 'config', 'pairs'], 'list_type'],
    [{ config: { strategy: 'ema_crossover' }, priority: 'high' }, ['body', 'priority'], 'int_type'],
  ])('%j is rejected at %j as %s', async (body, loc, type) => {
    const answer = await platform.post('/api/v1/backtests', body);
    expect(answer.status).toBe(400);
    expect(answer.body.detail).toEqual(expect.arrayContaining([expect.objectContaining({ loc, type })]));
    for (const issue of answer.body.detail)
      expect(Object.keys(issue).sort()).toEqual(['input', 'loc', 'msg', 'type']);
  });

  it('body that is not JSON is rejected with json_invalid', async () => {
    const response = await platform.request('/api/v1/backtests', {
      method: 'POST',
      body: '{"config":',
      headers: { 'content-type': 'application/json' },
    });
    expect(response.status).toBe(400);
    expect(((await response.json()) as any).detail[0].type).toBe('json_invalid');
    expect(response.headers.get('x-correlation-id')).toBeTruthy();
  });
});

describe('string with a lone surrogate', () => {
  it.each([
    '{"config":{"strategy":"ema_crossover"},"experiment_name":"\\ud800"}',
    '{"config":{"strategy":"\\uDfff"}}',
    '{"\\udc00":1}',
  ])('body %s is rejected with json_invalid', async (text) => {
    const response = await platform.request('/api/v1/backtests', {
      method: 'POST',
      body: text,
      headers: { 'content-type': 'application/json' },
    });
    expect(response.status).toBe(400);
    expect(((await response.json()) as any).detail[0].type).toBe('json_invalid');
  });
});

describe('value out of range', () => {
  it.each([
    ['VAL001', { date_range: { start: '2026-02-01', end: '2026-01-01' } }, 'config.date_range'],
    ['VAL001', { date_range: { start: '2026-01-01', end: '2026-01-01' } }, 'config.date_range'],
    ['VAL001', { date_range: { start: 'yesterday' } }, 'config.date_range'],
    ['VAL001', { date_range: { start: '2026-02-30' } }, 'config.date_range'],
    ['VAL002', { pairs: ['BTCUSDT'] }, 'config.pairs.0'],
    ['VAL002', { pairs: ['BTC/USDT:USDT', '../../etc'] }, 'config.pairs.1'],
    ['VAL003', { timeframe: '3m' }, 'config.timeframe'],
    ['VAL003', { timeframe_detail: '7m' }, 'config.timeframe_detail'],
    ['VAL004', { trailing: { only_offset_is_reached: true } }, 'config.trailing.offset'],
    ['VAL005', { pairs: [] }, 'config.pairs'],
    ['VAL005', { pairs: ['BTC/USDT:USDT', 'BTC/USDT:USDT'] }, 'config.pairs.1'],
    ['VAL005', { stake_amount: 0 }, 'config.stake_amount'],
    ['VAL005', { stake_amount: 'all' }, 'config.stake_amount'],
    ['VAL005', { stake_amount: 2000 }, 'config.stake_amount'],
    ['VAL005', { dry_run_wallet: -1 }, 'config.dry_run_wallet'],
    ['VAL005', { max_open_trades: 0 }, 'config.max_open_trades'],
    ['VAL005', { fee: 0.5 }, 'config.fee'],
    ['VAL005', { slippage: -0.1 }, 'config.slippage'],
    ['VAL005', { leverage: 0.5 }, 'config.leverage'],
    ['VAL005', { stoploss: 0.1 }, 'config.stoploss'],
    ['VAL005', { minimal_roi: { 0: -2 } }, 'config.minimal_roi.0'],
    ['VAL005', { timeframe: '1m', timeframe_detail: '5m' }, 'config.timeframe_detail'],
    ['VAL005', { strategy: 'rsi_mean_reversion', timeframe: '1d' }, 'config.timeframe'],
    ['VAL005', { fill_model: 'hopeful' }, 'config.fill_model'],
    ['VAL001', { date_range: { start: '1970-01-01', end: '1971-01-01' } }, 'config.date_range'],
    ['VAL005', { stake_amount: 1e-300 }, 'config.stake_amount'],
    ['VAL005', { fee: 1e-200 }, 'config.fee'],
    ['VAL005', { stoploss: -1e-300 }, 'config.stoploss'],
    ['VAL005', { minimal_roi: { 0: 1e-300 } }, 'config.minimal_roi.0'],
    ['VAL005', { minimal_roi: { soon: 0.1 } }, 'config.minimal_roi.soon'],
    ['VAL005', { minimal_roi: { '-5': 0.1 } }, 'config.minimal_roi.-5'],
    ['VAL005', { trailing: { positive: 1e-300 } }, 'config.trailing.positive'],
    ['VAL005', { seed: -1 }, 'config.seed'],
    ['VAL005', { exchange: '../sim' }, 'config.exchange'],
    ['VAL005', { params: { nonsense: 1 } }, 'config.params.nonsense'],
    ['VAL005', { stoplos: -0.05 }, 'config.stoplos'],
    ['VAL005', { max_opne_trade: 1 }, 'config.max_opne_trade'],
    ['VAL005', { fees: 0.001 }, 'config.fees'],
    ['VAL005', { parameters: { fast: 5 } }, 'config.parameters'],
    ['VAL005', { parameters: { fast: 5 }, params: { fast: 6 } }, 'config.parameters'],
    ['VAL001', { date_range: { start: '20260230' } }, 'config.date_range'],
    ['VAL001', { date_range: { start: '20260101T2460' } }, 'config.date_range'],
    ['VAL005', { stoplos: -0.05, stoploss: null }, 'config.stoplos'],
  ])('rejects with %s: %j', async (code, config, field) => {
    const { status, body } = await submit(config);
    expect(status).toBe(400);
    expect(body.detail).toMatchObject({ code, field });
    expect(Object.keys(body.detail).sort()).toEqual(['code', 'context', 'field', 'message']);
  });

  it('error for a misspelled key suggests the right key', async () => {
    const { body } = await submit({ timefrmae: '5m' });
    expect(body.detail).toMatchObject({
      message: 'Unknown key config.timefrmae: did you mean config.timeframe?',
      context: { value: 'timefrmae', nearest: 'timeframe' },
    });
  });

  it('config.parameters is refused with params as the nearest name', async () => {
    const { body } = await submit({ parameters: { fast: 5 } });
    expect(body.detail).toMatchObject({
      message: 'Unknown key config.parameters: did you mean config.params?',
      context: { value: 'parameters', nearest: 'params' },
    });
  });

  it('VAL001 contains the start and end', async () => {
    const { body } = await submit({ date_range: { start: '2026-02-01', end: '2026-01-01' } });
    expect(body.detail.context).toMatchObject({ start: '2026-02-01', end: '2026-01-01' });
  });

  it.each([0, 11, -1])('rejects priority %i with VAL005', async (priority) => {
    const { status, body } = await submit({}, { priority });
    expect(status).toBe(400);
    expect(body.detail).toMatchObject({ code: 'VAL005', field: 'priority' });
  });

  it('RES002 lists the known strategies', async () => {
    const { status, body } = await submit({ strategy: 'get_rich' });
    expect(status).toBe(404);
    expect(body.detail.code).toBe('RES002');
    expect(body.detail.context.known).toContain('ema_crossover');
  });
});

describe('job IDs', () => {
  const unknown = 'bt-00000000000000000000000000';

  it.each(['', '/equity', '/report-data'])(
    'GET {job_id}%s rejects unknown and malformed IDs',
    async (suffix) => {
      const missing = await platform.get(`/api/v1/backtests/${unknown}${suffix}`);
      expect([missing.status, missing.body.detail.code]).toEqual([404, 'RES001']);
      const malformed = await platform.get(`/api/v1/backtests/nonsense${suffix}`);
      expect(malformed.status).toBe(400);
      expect(malformed.body.detail).toMatchObject({ code: 'VAL005', field: 'job_id' });
    },
  );

  it('POST cancel rejects an unknown ID with RES001', async () => {
    const missing = await platform.post(`/api/v1/backtests/${unknown}/cancel`);
    expect([missing.status, missing.body.detail.code]).toEqual([404, 'RES001']);
  });
});

describe('HTTP errors', () => {
  it.each([
    ['GET', '/nowhere', 404, 'HTTP404'],
    ['GET', '/api/v1/backtests/a/b/c', 404, 'HTTP404'],
    ['DELETE', '/api/v1/backtests', 405, 'HTTP405'],
    ['PUT', '/api/v1/health', 405, 'HTTP405'],
  ])('%s %s returns %i', async (method, path, status, code) => {
    const response = await platform.request(path, { method });
    expect(response.status).toBe(status);
    expect(((await response.json()) as any).detail.code).toBe(code);
    expect(response.headers.get('x-correlation-id')).toBeTruthy();
    if (status === 405) expect(response.headers.get('allow')).toContain('GET');
  });

  it('another media type returns 415', async () => {
    const response = await platform.request('/api/v1/backtests', {
      method: 'POST',
      body: 'a=b',
      headers: { 'content-type': 'text/plain' },
    });
    expect([response.status, ((await response.json()) as any).detail.code]).toEqual([415, 'HTTP415']);
  });

  it('body over 1 MiB returns 413', async () => {
    const { status, body } = await submit({ params: { long: 'x'.repeat(1_100_000) } });
    expect([status, body.detail.code]).toEqual([413, 'HTTP413']);
  });

  it.each(['limit=0', 'limit=101', 'limit=ten', 'status=done'])('query ?%s returns 400', async (query) => {
    const { status, body } = await platform.get(`/api/v1/backtests?${query}`);
    expect([status, body.detail.code]).toEqual([400, 'VAL005']);
    expect(body.detail.field).toBe(query.split('=')[0]);
  });

  it('response keeps a valid correlation ID and replaces an invalid one', async () => {
    const kept = await platform.request('/api/v1/health', { headers: { 'X-Correlation-ID': 'my-trace.1' } });
    expect(kept.headers.get('x-correlation-id')).toBe('my-trace.1');
    const replaced = await platform.request('/nowhere', { headers: { 'X-Correlation-ID': 'a b"c' } });
    expect(replaced.headers.get('x-correlation-id')).toMatch(/^[\w.:-]+$/);
  });
});
