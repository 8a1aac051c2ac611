import { describe, expect, it } from 'vitest';
import type { BacktestResult } from '#contract/backtests/backtest.ts';
import type { Metrics } from '#contract/backtests/report-metrics.ts';
import { runBacktest } from '#engine/backtest.ts';
import { emaCrossover } from '#engine/strategies/ema-crossover.ts';
import { OBJECTIVES, objectiveValue } from '#engine/walk-forward/objectives.ts';
import { runWalkForward } from '#engine/walk-forward/run-walk-forward.ts';
import {
  type CompleteWalkForward,
  createWindowCache,
  type WalkForwardOptions,
  type WindowReport,
} from '#engine/walk-forward/trial.ts';
import { sha256 } from '../backtest-sample.ts';
import { learningInput, type SampleOptions } from './sample.ts';

const runOn = async (options: SampleOptions = {}, more: Partial<WalkForwardOptions> = {}) =>
  (await runWalkForward(learningInput(options), {
    digest: sha256,
    objective: 'sharpe_ratio',
    ...more,
  })) as CompleteWalkForward;

describe('runWalkForward', () => {
  it('runWalkForward returns exactly the numbers of the equivalent backtest', async () => {
    for (const strategy of [undefined, emaCrossover]) {
      const options = { ...(strategy && { strategy, params: { slow: 50, fast: 5 }, history: 30 }) };
      const { report, result, equity } = runBacktest(learningInput(options), { digest: sha256 });
      const run = await runOn(options);
      expect(run.value).toBe(report.metrics.equity.sharpe_ratio);
      expect(run.metrics).toEqual(report.metrics);
      expect(run.result).toEqual(result);
      expect(run.provenance).toEqual(report.provenance);
      expect(run.firstDay).toBe(equity.dates[0]);
      expect(run.dailyReturns).toHaveLength(equity.dates.length);
      expect([...run.equity].map((value) => value.toFixed(6))).toEqual(
        equity.equity.map((value) => value.toFixed(6)),
      );
    }
  });

  it('runWalkForward reports each window like a separate backtest', async () => {
    const reported: WindowReport[] = [];
    const run = await runOn({}, { onWindow: (window) => (reported.push(window) > 0 ? 'continue' : 'prune') });
    expect(reported.map(({ of: _, ...window }) => window)).toEqual(run.windows);
    expect(reported.map((window) => window.of)).toEqual([4, 4, 4, 4]);
    const input = learningInput();
    const range = { start: run.windows[1]!.from, end: run.windows[1]!.to };
    const config = { ...input.config, date_range: range, ml_engine: { ...input.config.ml_engine! } };
    // Seeds depend on the window index; without sampling they have no effect.
    const { report } = runBacktest({ ...input, config }, { digest: sha256 });
    expect(run.windows[1]!.value).toBe(report.metrics.equity.sharpe_ratio);
    const mean = run.windows[1]!.meanDailyReturn * 3;
    expect(mean).toBeCloseTo(report.metrics.account.total_profit_pct / 100, 2);
  });

  it('runWalkForward stops at the window where the pruner says prune', async () => {
    const run = await runOn({}, { onWindow: ({ index }) => (index === 1 ? 'prune' : 'continue') });
    expect(run).toMatchObject({ state: 'pruned', value: null, windows: [{ index: 0 }, { index: 1 }] });
    const whole = await runOn();
    expect(run.windows).toEqual(whole.windows.slice(0, 2));
    const atTheEnd = await runOn(
      {},
      { onWindow: ({ index, of }) => (index === of - 1 ? 'prune' : 'continue') },
    );
    expect(atTheEnd).toEqual(whole);
  });

  it('walk-forward efficiency divides the out-of-sample by the in-sample return', async () => {
    const run = await runOn({ ml: { n_estimators: 60, max_depth: 4 } });
    expect(run.inSample).toHaveLength(4);
    expect(run.inSample[0]).toMatchObject({
      from: '2023-12-22T00:00:00.000Z',
      to: '2024-01-01T00:00:00.000Z',
    });
    const promised = run.inSample.reduce((sum, window) => sum + window.annualizedReturnPct, 0) / 4;
    expect(run.inSample[0]!.annualizedReturnPct).toBeCloseTo(run.inSample[0]!.returnPct * 36.5, 9);
    expect(promised).toBeGreaterThan(0);
    expect(run.efficiency).toBeCloseTo(run.annualizedReturnPct / promised, 12);
  });

  it('runWalkForward returns the same with pauses and a shared cache, which avoids binning again', async () => {
    const cache = createWindowCache();
    let made = 0;
    const counting: typeof cache = {
      get: (key, make, bytes) =>
        cache.get(
          key,
          () => {
            made++;
            return make();
          },
          bytes,
        ),
    };
    let pauses = 0;
    const trial = (learning_rate: number, shared?: typeof cache, enter_probability = 0.58) =>
      runOn(
        { ml: { learning_rate }, params: { enter_probability } },
        { ...(shared && { cache: shared }), pause: async () => void pauses++ },
      );
    expect(await trial(0.05, counting)).toEqual(await trial(0.05));
    const first = made;
    expect(await trial(0.2, counting)).toEqual(await trial(0.2));
    expect(first).toBe(2 * (2 + 4 + 1));
    expect(made).toBe(first);
    expect(pauses).toBe(4 * 8);
    // Another strategy parameter: columns and labels are computed again, the bins are reused.
    expect(await trial(0.2, counting, 0.6)).toEqual(await trial(0.2, undefined, 0.6));
    expect(made).toBe(first + 2 * 2);
  });

  it('runWalkForward has a null value when the objective is undefined without trades', async () => {
    const params = { enter_probability: 0.8 };
    const ml = { n_estimators: 1, learning_rate: 0.001 };
    const run = await runOn({ params, ml });
    expect(run).toMatchObject({ state: 'complete', value: null, result: { total_trades: 0 } });
    expect(run.windows[0]).toMatchObject({ value: null, meanDailyReturn: 0 });
    expect((await runOn({ params, ml }, { objective: 'total_profit' })).value).toBe(0);
  });

  it('runWalkForward rejects an unknown objective, a missing ml_engine and missing data', async () => {
    await expect(runOn({}, { objective: 'profit' })).rejects.toThrow('"profit" is not a metric');
    const input = learningInput();
    const { ml_engine: _, ...config } = input.config;
    const options = { digest: sha256, objective: 'sharpe_ratio' };
    await expect(runWalkForward({ ...input, config }, options)).rejects.toThrow('with ml_engine');
    await expect(runOn({ history: 1, days: 3 })).rejects.toThrow('has no window with a trained model');
  });
});

describe('objectives', () => {
  it('every objective is a number or null and states its better direction', async () => {
    const run = await runOn({ days: 3 });
    const names = OBJECTIVES.map(({ name }) => name);
    expect(new Set(names).size).toBe(names.length);
    const constant = ['trade_stats', 'market_change_pct', 'backtest_days', 'short_run', 'undefined_metrics'];
    const metrics = Object.keys(run.result).filter((name) => !constant.includes(name));
    expect(names).toEqual(expect.arrayContaining(metrics));
    for (const { name } of OBJECTIVES) {
      const { value } = await runOn({ days: 3 }, { objective: name });
      expect(value === null || Number.isFinite(value), name).toBe(true);
    }
    const better = Object.fromEntries(OBJECTIVES.map((each) => [each.name, each.better]));
    expect(better).toMatchObject({ sharpe_ratio: 'maximize', max_drawdown_pct: 'minimize' });
    expect(better).toMatchObject({ total_trades: null, fees: 'minimize', profit_factor: 'maximize' });
  });

  it('objectives are the headline figures, also by the names of earlier engines', async () => {
    const { metrics } = await runOn({ days: 3 });
    const { equity } = metrics;
    for (const [name, value] of [
      ['sortino_ratio', equity.sortino_ratio],
      ['sortino_ratio_downside', equity.sortino_ratio],
      ['freqtrade_sortino_ratio', equity.freqtrade_sortino_ratio],
      ['calmar_ratio', equity.calmar_ratio],
      ['cagr_to_drawdown', equity.calmar_ratio],
    ] as const)
      expect([name, (await runOn({ days: 3 }, { objective: name })).value]).toEqual([name, value]);
  });

  it('a profit factor without losses is an objective from 30 trades on', () => {
    const metrics = { closed_trades: { profit_factor: null } } as unknown as Metrics;
    const result = { profit_factor: 999, winning_trades: 30, losing_trades: 0 } as unknown as BacktestResult;
    const undefined_metrics = { profit_factor: 'no_losses' } as const;
    const factorOf = (total_trades: number) =>
      objectiveValue('profit_factor', metrics, { ...result, total_trades, undefined_metrics });
    expect([factorOf(29), factorOf(30)]).toEqual([null, 999]);
  });
});
