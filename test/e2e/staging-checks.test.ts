import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestPlatform, type TestPlatform } from '../support/platform.ts';

const IMAGE = 'registry.example/touchstone:1.0.0';
const strategies = mkdtempSync(join(tmpdir(), 'touchstone-staging-'));

/** Strategy file with `body` as its signals; `body` reads `candles` and sets `enterLong`. */
function strategy(name: string, body: string): void {
  writeFileSync(
    join(strategies, `${name}.ts`),
    `export default {
  name: '${name}', description: 'For staging checks.', timeframe: '1h', pairs: ['BTC/USDT:USDT'], stakeAmount: 100,
  parameters: {}, startupCandles: () => 5, stoploss: -0.99,
  indicators: () => ({}),
  signals({ close, open }) {
    const length = close.length;
    const enterLong = new Uint8Array(length);
    const exitLong = new Uint8Array(length);
    for (let row = 1; row < length; row++) { ${body} }
    return { enterLong, exitLong };
  },
};
`,
  );
}

strategy('honest', 'if (close[row] > close[row - 1]) enterLong[row] = 1; else exitLong[row] = 1;');
strategy('prophet', 'if (close[row + 1] > close[row]) enterLong[row] = 1; else exitLong[row] = 1;');

let platform: TestPlatform;
beforeAll(async () => {
  platform = await startTestPlatform({ strategiesDirectory: strategies, stagingDryRunRequired: true });
});
afterAll(async () => {
  await platform.stop();
  rmSync(strategies, { recursive: true, force: true });
});

/** Runs and registers a backtest of a strategy. Returns the version. */
async function register(name: string, on = platform): Promise<string> {
  const config = { strategy: name, date_range: { start: '2025-01-01', end: '2025-03-01' } };
  const job = await on.run(config);
  expect(job.status, job.error).toBe('completed');
  const { status, body } = await on.strategy.post(`/api/v1/strategies/${name}/register`, {
    backtest_run_id: job.job_id,
    container_image_uri: IMAGE,
    thresholds: { max_drawdown: 100 },
  });
  expect(status, JSON.stringify(body)).toBe(201);
  return body.version;
}

const stage = (name: string, version: string) =>
  platform.post(`/api/v1/strategies/${name}/stage`, { version });
const promote = (name: string, version: string, more = {}) =>
  platform.post(`/api/v1/strategies/${name}/promote`, { version, ...more });

const check = (validation: any, name: string) => validation.checks.find((each: any) => each.name === name);

describe('staged version', () => {
  it('staged version waits for its validation, passes it and records the code that ran', async () => {
    const version = await register('honest');
    const { status, body } = await stage('honest', version);
    expect(status, JSON.stringify(body)).toBe(200);
    expect(body).toMatchObject({ previous_stage: 'None', new_stage: 'Staging' });
    expect(body.validation).toMatchObject({ status: 'pending', job_id: expect.stringMatching(/^va-/) });
    const waiting = await promote('honest', version);
    expect([waiting.status, waiting.body.detail.code]).toEqual([409, 'RES005']);

    const validation = await platform.validated('honest', version);
    expect(validation.status).toBe('passed');
    expect(check(validation, 'smoke_run')).toMatchObject({
      status: 'passed',
      message: expect.stringMatching(/^1000 candles of 1 pairs up to .*: \d+ trades, all well-formed$/),
    });
    const { body: shown } = await platform.get(`/api/v1/models/honest/versions/${version}`);
    expect(shown.look_ahead).toBe('certified');
    expect(check(validation, 'smoke_run').value).toBeGreaterThan(100);
    expect(check(validation, 'determinism').status).toBe('passed');
    expect(check(validation, 'look_ahead')).toMatchObject({
      ...{ status: 'passed', value: 'certified', threshold: 'certified' },
      message: expect.stringMatching(/^certified: 20 cuts of 1000 candles of 1 pair, .*, no callback$/),
    });
    expect(check(validation, 'code').message).toBe(
      `Registered with image ${IMAGE}; the current code of this machine ran, with the registered source of the strategy`,
    );

    expect((await promote('honest', version)).status).toBe(200);
  });

  it('staged version fails validation when its signals read later candles', async () => {
    const version = await register('prophet');
    expect((await stage('prophet', version)).status).toBe(200);
    const validation = await platform.validated('prophet', version);
    expect(validation.status).toBe('failed');
    expect(check(validation, 'look_ahead')).toMatchObject({
      status: 'failed',
      message: expect.stringMatching(/^look_ahead: (enter|exit)Long of BTC\/USDT:USDT at 20.* was \d when/),
    });
    const { status, body } = await promote('prophet', version);
    expect([status, body.detail.code]).toEqual([409, 'RES005']);
    expect((await promote('prophet', version, { force: true })).status).toBe(200);
  });
});

describe('backtest of a registered version', () => {
  it('backtest runs the registered configuration with overrides and records the code', async () => {
    const registered = await platform.run({
      strategy: 'honest',
      date_range: { start: '2025-01-01', end: '2025-02-01' },
      fee: 0.001,
      max_open_trades: 3,
    });
    const { body } = await platform.strategy.post('/api/v1/strategies/honest/register', {
      backtest_run_id: registered.job_id,
      container_image_uri: IMAGE,
    });
    const job = await platform.run(
      { strategy: 'honest', date_range: { start: '2025-02-01', end: '2025-03-01' }, max_open_trades: 1 },
      { model_version: Number(body.version) },
    );
    expect(job.status, job.error).toBe('completed');
    expect(job.config).toEqual({
      ...registered.config,
      date_range: { start: '2025-02-01T00:00:00.000Z', end: '2025-03-01T00:00:00.000Z' },
      max_open_trades: 1,
    });
    expect(job.registered).toMatchObject({ version: body.version, container_image_uri: IMAGE });
    const report = await platform.get(`/api/v1/backtests/${job.job_id}/report-data`);
    expect(report.body.warnings).toContain(
      `Registered with image ${IMAGE}; the current code of this machine ran, with the registered source of the strategy`,
    );
    expect(registered.registered).toBeNull();
  });

  it.each([
    ['honest', '999', 404, 'RES003'],
    ['ema_crossover', 'latest', 404, 'RES002'],
    ['honest', 'best', 404, 'RES003'],
  ])('backtest of %s %s is rejected', async (strategy, model_version, status, code) => {
    const reply = await platform.post('/api/v1/backtests', { config: { strategy }, model_version });
    expect(reply).toMatchObject({ status, body: { detail: { code, field: 'model_version' } } });
  });
});
