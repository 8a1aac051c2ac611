import { describe, expect, it } from 'vitest';
import { MARKET, runHyperopt } from '../support/hyperopt-jobs.ts';
import { strategyFilesFixture, weekOf } from './strategy-files-fixture.ts';

describe('robustness', () => {
  const fixture = strategyFilesFixture({});

  it('the tests of config.robustness are in the configuration and in the report', async () => {
    const { platform } = fixture;
    const robustness = { cost_sweep: true, random_entries: 19, permutations: 19, capacity: true } as const;
    const { job_id, config, look_ahead } = await platform.run({ ...weekOf('ema_crossover'), robustness });
    expect(config.robustness).toEqual(robustness);
    // They take much longer than the run, and leave its look-ahead cuts their share.
    expect(look_ahead.state).toBe('sampled');
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
      strategy: 'ema_crossover',
      pairs: [pair],
      timeframe: '1d',
      date_range: { start: '2025-11-01T00:00:00Z', end: '2026-03-01T00:00:00Z' },
    });
    await platform.run(daily('BTC/USDT:USDT'));
    const { job_id } = await platform.run(daily('ETH/USDT:USDT'));
    const { body } = await platform.get(`/api/v1/backtests/${job_id}/report-data?trades=false`);
    const [, btc] = body.robustness.benchmarks;
    expect(btc).toMatchObject({ pair: 'BTC/USDT:USDT', source: { timeframe: '1d', candles: 120 } });
    expect(body.data.map(({ pair }: { pair: string }) => pair)).toEqual(['ETH/USDT:USDT']);
  });

  it('a search is repeated on permuted candles', async () => {
    const { platform } = fixture;
    const request = {
      ...MARKET,
      models: 'none',
      n_trials: 4,
      permutations: 19,
      objective_metric: 'total_profit_pct',
    };
    const { job, result } = await runHyperopt(platform, request);
    expect(job).toMatchObject({
      config: { permutations: 19 },
      permutations: { ended: 19, total: 19 },
      total_trials: 4,
    });
    const { permutations } = result;
    expect(permutations).toMatchObject({ searches: 19, undefined_searches: 0, reason: null });
    expect(permutations.p_value * 20).toBeCloseTo(Math.round(permutations.p_value * 20), 5);
    expect(permutations.chance.low).toBeLessThan(permutations.chance.high);
  });

  it.each([
    [{ permutations: 5 }, 'permutations must be'],
    [{ permutations: 200, n_trials: 300 }, 'permutations times n_trials must be at most 50000, and is 60000'],
    [
      { permutations: 19, strategy: 'ml_classifier', models: undefined },
      'Every permutation would train all models',
    ],
  ])('permuted searches of %j are refused', async (changes, text) => {
    const { platform } = fixture;
    const request = { ...MARKET, models: 'none', n_trials: 4, ...changes };
    const { status, body } = await platform.strategy.post('/api/v1/hyperopt', request);
    expect(status).toBe(400);
    expect(body.detail).toMatchObject({ code: 'VAL005', field: 'permutations' });
    expect(JSON.stringify(body)).toContain(text);
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
