import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ACCOUNT, MARKET, pasted, runHyperopt } from '../support/hyperopt-jobs.ts';
import { startTestPlatform, type TestPlatform } from '../support/platform.ts';

/** Hyperopt jobs over strategy parameters and exits, over HTTP. */

let platform: TestPlatform;
beforeAll(async () => {
  platform = await startTestPlatform();
});
afterAll(() => platform.stop());

describe('hyperopt job without models', () => {
  const request = { ...MARKET, ...ACCOUNT, models: 'none', n_trials: 30, seed: 3, backtest_period_days: 10 };
  let one: Awaited<ReturnType<typeof runHyperopt>>;
  beforeAll(async () => {
    one = await runHyperopt(platform, request);
  });

  it('job searches only the parameters of the strategy', () => {
    const { trials, result } = one;
    expect(result.best_params.model_type).toBe('none');
    for (const { params, windows, state } of trials) {
      expect(Object.keys(params).sort()).toEqual(['fast', 'model_type', 'slow']);
      // 90 days in windows of ten.
      if (state === 'complete') expect(windows).toHaveLength(9);
    }
    expect(new Set(trials.map(({ params }) => params.fast)).size).toBeGreaterThan(5);
    // Without training there is no in-sample value.
    expect(result.overfitting).toMatchObject({ trials: 30, days: 90, walk_forward_efficiency: null });
    expect(result.overfitting.pbo).toMatchObject({ blocks: 16, splits: 12_870 });
    expect(result.overfitting.deflated_sharpe_ratio).toBeLessThan(
      result.overfitting.probabilistic_sharpe_ratio,
    );
  });

  it('best value equals the backtest of the best parameters to the last bit', async () => {
    const { job, result } = one;
    const byHand = await platform.run({ ...MARKET, ...ACCOUNT, ...pasted(result.best_params) });
    expect(byHand.result.sharpe_ratio).toBe(result.best_value);
    expect(byHand.config.ml_engine).toBeUndefined();
    const again = await platform.run({ strategy: MARKET.strategy }, { hyperopt_job_id: job.job_id });
    expect(again.config).toEqual(byHand.config);
    expect(again.result).toEqual(byHand.result);
    expect(again.found_by).toEqual({
      hyperopt_job_id: job.job_id,
      trial: result.best_trial,
      trials: 30,
    });
    const { body: equity } = await platform.get(`/api/v1/backtests/${again.job_id}/equity`);
    expect(result.out_of_sample.dates).toEqual(equity.dates);
    expect(equity.dates[0]).toBe('2026-01-01');
  });

  it('window of a trial equals the backtest of its days', async () => {
    const { trials } = one;
    const { params, windows } = trials.find(({ state }) => state === 'complete');
    const index = windows.findIndex((value: number | null) => value !== null);
    const day = (days: number) => new Date(Date.parse('2026-01-01') + days * 86_400_000).toISOString();
    const window = await platform.run({
      ...MARKET,
      ...ACCOUNT,
      ...pasted(params),
      date_range: { start: day(index * 10), end: day(index * 10 + 10) },
    });
    expect(window.result.total_trades).toBeGreaterThan(0);
    expect(windows[index]).toBe(window.result.sharpe_ratio);
  });
});

describe('exit spaces', () => {
  it('exits are sampled as in freqtrade and returned as configuration values', async () => {
    const { job, trials, result } = await runHyperopt(platform, {
      ...MARKET,
      models: 'none',
      spaces: ['params', 'stoploss', 'roi', 'trailing'],
      n_trials: 16,
      objective_metric: 'total_profit_pct',
    });
    for (const { params } of trials) {
      const { fast, slow, stoploss, minimal_roi, trailing, model_type, ...rest } = params;
      expect(rest).toEqual({});
      expect([model_type, typeof fast, typeof slow]).toEqual(['none', 'number', 'number']);
      expect(stoploss).toBeGreaterThanOrEqual(-0.35);
      expect(stoploss).toBeLessThanOrEqual(-0.02);
      expect(stoploss).toBe(Number(stoploss.toFixed(3)));
      const times = Object.keys(minimal_roi).map(Number);
      const [t3, t2, t1] = [times[1]! - times[0]!, times[2]! - times[1]!, times[3]! - times[2]!];
      // freqtrade's ranges for 5m, times 48, in whole candles.
      for (const [time, most] of [
        [t1, 120],
        [t2, 60],
        [t3, 40],
      ] as const) {
        expect(time).toBeGreaterThanOrEqual(480);
        expect(time).toBeLessThanOrEqual(most * 48);
        expect(time % 240).toBe(0);
      }
      const [p3, p2, p1, zero] = Object.values(minimal_roi) as number[];
      expect(zero).toBe(0);
      // ln 241 / ln 6 = 3.0611
      const within = (value: number, most: number) => {
        expect(value).toBeGreaterThanOrEqual(0.031 - 1e-9);
        expect(value).toBeLessThanOrEqual(most + 1e-9);
      };
      within(p1!, 0.122);
      within(p2! - p1!, 0.214);
      within(p3! - p2!, 0.612);
      expect(trailing.positive).toBeGreaterThanOrEqual(0.01);
      expect(trailing.positive).toBeLessThanOrEqual(0.35);
      expect(trailing.offset - trailing.positive).toBeGreaterThanOrEqual(0.001 - 1e-9);
      expect(trailing.offset - trailing.positive).toBeLessThanOrEqual(0.1 + 1e-9);
      expect(trailing.only_offset_is_reached).toBeTypeOf('boolean');
    }
    const byHand = await platform.run({ ...MARKET, ...pasted(result.best_params) });
    expect(byHand.result.total_profit_pct).toBe(result.best_value);
    const again = await platform.run({ strategy: MARKET.strategy }, { hyperopt_job_id: job.job_id });
    expect(again.config).toEqual(byHand.config);
    expect(again.result).toEqual(byHand.result);
  });
});
