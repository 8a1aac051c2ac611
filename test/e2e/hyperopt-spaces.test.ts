import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openStores } from '#adapters/open-stores.ts';
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
    const stores = openStores(platform.info.storage);
    const found = await stores.ownerTrials.read('anonymous', []);
    stores.dynamo.destroy();
    const counted = new Set(found.trials.map(({ digest }) => digest));
    expect(counted.size).toBeGreaterThan(20);
    const byHand = await platform.run({ ...MARKET, ...ACCOUNT, ...pasted(result.best_params) });
    expect(byHand.result.sharpe_ratio).toBe(result.best_value);
    expect(byHand.config.ml_engine).toBeUndefined();
    // It has the daily returns of the best trial, so it is no further one.
    expect(byHand.trials.owner).toBe(counted.size);
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
});
