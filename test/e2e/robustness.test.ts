import { describe, expect, it } from 'vitest';
import { strategyFilesFixture, weekOf } from './strategy-files-fixture.ts';

describe('robustness', () => {
  const fixture = strategyFilesFixture({});

  it('the tests of config.robustness are in the configuration and in the report', async () => {
    const { platform } = fixture;
    const robustness = { cost_sweep: true, random_entries: 19, permutations: 19, capacity: true } as const;
    const { job_id, config } = await platform.run({ ...weekOf('ema_crossover'), robustness });
    expect(config.robustness).toEqual(robustness);
    const { body } = await platform.get(`/api/v1/backtests/${job_id}/report-data?trades=false`);
    expect(body.settings.robustness).toEqual(robustness);
    expect(body.robustness.cost_sweep.cells).toHaveLength(21);
    expect(body.robustness.permutations.samples).toBe(19);
    expect(body.robustness.bootstrap.reason).toMatch(/days; 90 are needed\.$/);
    expect(body.definitions).toHaveProperty(['robustness.p_value']);
    expect(body.robustness.capacity).toMatchObject({ impact: 1, steps: expect.any(Array) });
    expect(body.definitions).toHaveProperty(['robustness.aum_zero']);
  });

  it('a run is compared with bitcoin that another run has stored', async () => {
    const { platform } = fixture;
    const daily = (pair: string) => ({
      ...{ strategy: 'ema_crossover', pairs: [pair], timeframe: '1d' },
      date_range: { start: '2025-11-01T00:00:00Z', end: '2026-03-01T00:00:00Z' },
    });
    await platform.run(daily('BTC/USDT:USDT'));
    const { job_id } = await platform.run(daily('ETH/USDT:USDT'));
    const { body } = await platform.get(`/api/v1/backtests/${job_id}/report-data?trades=false`);
    const [, btc] = body.robustness.benchmarks;
    expect(btc).toMatchObject({ pair: 'BTC/USDT:USDT', source: { timeframe: '1d', candles: 120 } });
    expect(body.data.map(({ pair }: { pair: string }) => pair)).toEqual(['ETH/USDT:USDT']);
  });

  it.each([
    [{ random_entries: 5 }, 'config.robustness.random_entries'],
    [{ permutations: 2_000 }, 'config.robustness.permutations'],
    [{ permutations: 20.5 }, 'config.robustness.permutations'],
  ])('%j is refused with its field', async (robustness, field) => {
    const { status, body } = await fixture.platform.post('/api/v1/backtests', {
      config: { ...weekOf('ema_crossover'), robustness },
    });
    expect(status).toBe(400);
    expect(JSON.stringify(body)).toContain(field);
  });
});
