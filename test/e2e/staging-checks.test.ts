import { describe, expect, it } from 'vitest';
import { check, IMAGE, stagingFixture } from './staging-checks-fixture.ts';

const fixture = stagingFixture();
const { strategy, register, stage } = fixture;

strategy('prophet', 'if (close[row + 1] > close[row]) enterLong[row] = 1; else exitLong[row] = 1;');

const promote = (name: string, version: string, more = {}) =>
  fixture.platform.post(`/api/v1/strategies/${name}/promote`, { version, ...more });

describe('staged version', () => {
  it('staged version waits for its validation, passes it and records the code that ran', async () => {
    const version = await register('honest');
    const { status, body } = await stage('honest', version);
    expect(status, JSON.stringify(body)).toBe(200);
    expect(body).toMatchObject({ previous_stage: 'None', new_stage: 'Staging' });
    expect(body.validation).toMatchObject({ status: 'pending', job_id: expect.stringMatching(/^va-/) });
    const waiting = await promote('honest', version);
    expect([waiting.status, waiting.body.detail.code]).toEqual([409, 'RES005']);

    const validation = await fixture.platform.validated('honest', version);
    expect(validation.status).toBe('passed');
    expect(check(validation, 'smoke_run')).toMatchObject({
      status: 'passed',
      message: expect.stringMatching(/^1000 candles of 1 pair up to .*: \d+ trades, all well-formed$/),
    });
    const { body: shown } = await fixture.platform.get(`/api/v1/models/honest/versions/${version}`);
    expect(shown.look_ahead).toBe('certified');
    expect(check(validation, 'smoke_run').value).toBeGreaterThan(100);
    expect(check(validation, 'determinism').status).toBe('passed');
    expect(check(validation, 'look_ahead')).toMatchObject({
      status: 'passed',
      value: 'certified',
      threshold: 'certified',
      message: expect.stringMatching(
        /^certified: 20 cuts of 1000 candles of 1 pair, .*, no callback; searched in one process: .* which touchstone check finds$/,
      ),
    });
    expect(check(validation, 'code').message).toBe(
      `Registered with image ${IMAGE}; the current code of this machine ran, with the registered source of the strategy`,
    );

    expect((await promote('honest', version)).status).toBe(200);
  });

  it('staged version fails validation when its signals read later candles', async () => {
    const version = await register('prophet');
    expect((await stage('prophet', version)).status).toBe(200);
    const validation = await fixture.platform.validated('prophet', version);
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
    const registered = await fixture.platform.run({
      strategy: 'honest',
      date_range: { start: '2025-01-01', end: '2025-02-01' },
      fee: 0.001,
      max_open_trades: 3,
    });
    const { body } = await fixture.platform.strategy.post('/api/v1/strategies/honest/register', {
      backtest_run_id: registered.job_id,
      container_image_uri: IMAGE,
    });
    const job = await fixture.platform.run(
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
    const report = await fixture.platform.get(`/api/v1/backtests/${job.job_id}/report-data`);
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
    const reply = await fixture.platform.post('/api/v1/backtests', { config: { strategy }, model_version });
    expect(reply).toMatchObject({ status, body: { detail: { code, field: 'model_version' } } });
  });
});
