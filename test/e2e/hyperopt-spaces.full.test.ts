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
  it('trials and result are the same for any number of workers', async () => {
    const one = reproducible(await runHyperopt(platform, request));
    expect(reproducible(await runHyperopt(platform, { ...request, workers: 3 }))).toEqual(one);
  });
});

describe('exit spaces', () => {
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
      ...['model_type', 'n_estimators', 'learning_rate', 'stoploss', 'trailing'],
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
