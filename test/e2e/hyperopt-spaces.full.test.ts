import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ACCOUNT, MARKET, pasted, reproducible, runHyperopt } from '../support/hyperopt-jobs.ts';
import { startTestPlatform, type TestPlatform } from '../support/platform.ts';

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

  it('trials and result are the same for any number of workers', async () => {
    const several = await runHyperopt(platform, { ...request, workers: 3 });
    expect(reproducible(several)).toEqual(reproducible(one));
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

  it('exits are searched together with models, and the best equals its backtest', async () => {
    const ml = { train_period_days: 30, backtest_period_days: 15 };
    const market = { ...MARKET, strategy: 'ml_classifier', pairs: ['BTC/USDT:USDT'] };
    const { result } = await runHyperopt(platform, {
      ...market,
      ...ml,
      spaces: ['stoploss', 'trailing', 'ml'],
      n_estimators_range: [3, 6],
      n_trials: 6,
    });
    const byHand = await platform.run({ ...market, ...pasted(result.best_params, ml) });
    expect(byHand.result.sharpe_ratio).toBe(result.best_value);
    expect(byHand.config.date_range.start).toBe('2026-01-01T00:00:00.000Z');
    expect(Object.keys(result.best_params)).toEqual([
      'model_type',
      'n_estimators',
      'learning_rate',
      'stoploss',
      'trailing',
    ]);
  });
});

describe('equal trials', () => {
  it('trial with equal parameters references its duplicate and is not run', async () => {
    const { trials } = await runHyperopt(platform, {
      ...MARKET,
      models: 'none',
      search: { fast: { min: 10, max: 12 } },
      n_trials: 40,
      workers: 4,
    });
    const first = new Map<number, any>();
    for (const trial of trials) {
      const original = first.get(trial.params.fast);
      if (original === undefined) first.set(trial.params.fast, trial);
      expect(trial.duplicate_of).toBe(original === undefined ? null : original.number);
      if (original) expect([trial.value, trial.state]).toEqual([original.value, original.state]);
    }
    expect(first.size).toBe(3);
  });

  it('result warns of parameters without effect', async () => {
    // The model only filters entries here, and there are few.
    const { result, trials } = await runHyperopt(platform, {
      strategy: 'ema_crossover',
      pairs: ['BTC/USDT:USDT'],
      timeframe: '1h',
      date_range: { start: '2026-10-25T17:00:00Z', end: '2026-11-22T17:00:00Z' },
      n_trials: 6,
    });
    const values = new Set(trials.map(({ value }) => value));
    expect(new Set(trials.map(({ params }) => JSON.stringify(params))).size).toBe(6);
    expect(values.size).toBe(1);
    expect(result.distinct_runs).toBe(1);
    expect(result.warnings).toEqual([
      '5 of 6 complete trials traded exactly as an earlier one with other parameters: trials 1, 2, 3, 4, 5 as trial 0. ' +
        'Without effect among them: model_type, n_estimators, learning_rate. ema_crossover does not read predictions: ' +
        'a model only holds back entries that it rates below entry_threshold 0.5. Search the strategy itself with models: none.',
    ]);
  });
});
