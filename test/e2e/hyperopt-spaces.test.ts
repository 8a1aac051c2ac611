import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestPlatform, TERMINAL, type TestPlatform } from '../support/platform.ts';

/** Studies of a strategy's own parameters and of its exits, from the outside. */

const MARKET = {
  strategy: 'ema_crossover',
  pairs: ['BTC/USDT:USDT', 'ETH/USDT:USDT'],
  timeframe: '4h',
  date_range: { start: '2026-01-01T00:00:00Z', end: '2026-04-01T00:00:00Z' },
};
const ACCOUNT = {
  dry_run_wallet: 5_000,
  stake_amount: 400,
  max_open_trades: 1,
  fee: 0.001,
  slippage: 0.0002,
  leverage: 2,
};

let platform: TestPlatform;
beforeAll(async () => {
  platform = await startTestPlatform();
});
afterAll(() => platform.stop());

const get = async (path: string) => (await platform.strategy.get(`/api/v1/hyperopt/${path}`)).body;

async function study(request: object): Promise<{ job: any; trials: any[]; result: any }> {
  const { status, body } = await platform.strategy.post('/api/v1/hyperopt', request);
  expect(status, JSON.stringify(body)).toBe(200);
  const job = await platform.until(body.job_id, ...TERMINAL);
  expect(job.error).toBeNull();
  const trials = (await get(`${body.job_id}/trials?limit=100`)).items;
  return { job, trials, result: await get(`${body.job_id}/result`) };
}

/** What must be the same whoever ran the trials. */
const essence = ({ started_at, finished_at, worker, attempt, ...trial }: any) => trial;

/** The config that a person would write who pastes the best parameters. */
function pasted({ model_type, n_estimators, learning_rate, ...found }: any, ml?: object) {
  const { stoploss, minimal_roi, trailing, ...params } = found;
  return {
    params,
    ...(stoploss !== undefined && { stoploss }),
    ...(minimal_roi && { minimal_roi }),
    ...(trailing && { trailing }),
    ...(ml && { ml_engine: { ...ml, model_type, n_estimators, learning_rate } }),
  };
}

describe('a study without models', () => {
  const request = { ...MARKET, ...ACCOUNT, models: 'none', n_trials: 30, seed: 3, backtest_period_days: 10 };
  let one: Awaited<ReturnType<typeof study>>;
  beforeAll(async () => {
    one = await study(request);
  });

  it('searches the parameters of the strategy alone', () => {
    const { trials, result } = one;
    expect(result.best_params.model_type).toBe('none');
    for (const { params, windows, state } of trials) {
      expect(Object.keys(params).sort()).toEqual(['fast', 'model_type', 'slow']);
      // 90 days in windows of ten.
      if (state === 'complete') expect(windows).toHaveLength(9);
    }
    expect(new Set(trials.map(({ params }) => params.fast)).size).toBeGreaterThan(5);
    // Nothing is trained, so nothing was promised in sample.
    expect(result.overfitting).toMatchObject({ trials: 30, days: 90, walk_forward_efficiency: null });
    expect(result.overfitting.pbo).toMatchObject({ blocks: 16, splits: 12_870 });
    expect(result.overfitting.deflated_sharpe_ratio).toBeLessThan(
      result.overfitting.probabilistic_sharpe_ratio,
    );
  });

  it('has as its value what a backtest of the best answers, to the last bit', async () => {
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

  it('trades each window as a backtest of those days does', async () => {
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

  it('is the same for any number of workers', async () => {
    const { trials, result } = await study({ ...request, workers: 3 });
    expect(trials.map(essence)).toEqual(one.trials.map(essence));
    expect({ ...result, job_id: '', study_name: '' }).toEqual({ ...one.result, job_id: '', study_name: '' });
  });
});

describe('the exits', () => {
  it('are searched as freqtrade does, and found in the shapes of a configuration', async () => {
    const { job, trials, result } = await study({
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

  it('are searched with models too, and traded as a backtest of the best', async () => {
    const ml = { train_period_days: 30, backtest_period_days: 15 };
    const market = { ...MARKET, strategy: 'ml_classifier', pairs: ['BTC/USDT:USDT'] };
    const { result } = await study({
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
  it('of equal parameters are named, and cost no run', async () => {
    const { trials } = await study({
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

  it('of other parameters that had no effect are told', async () => {
    // A model only holds back entries here, of which there are few.
    const { result, trials } = await study({
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
