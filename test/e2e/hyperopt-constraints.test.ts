import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runInProcess } from '../support/command.ts';
import { MARKET, runHyperopt } from '../support/hyperopt-jobs.ts';
import { startTestPlatform, type TestPlatform } from '../support/platform.ts';

/** Grids, constraints and expressions of hyperopt jobs, run over HTTP. */

let platform: TestPlatform;
beforeAll(async () => {
  platform = await startTestPlatform();
});
afterAll(() => platform.stop());

const GRID = {
  ...MARKET,
  models: 'none',
  sampler: 'grid',
  pruner: 'none',
  search: { slow: { min: 50, max: 90, step: 20 }, fast: { min: 5, max: 25, step: 10 } },
};
type Outcome = Awaited<ReturnType<typeof runHyperopt>>;
const FIGURES = ['total_trades', 'total_profit_pct', 'max_drawdown_pct', 'profit_factor'] as const;

/** The same trials for every job on the grid. */
const figuresOf = (trial: any) => FIGURES.map((name) => trial[name]);

describe('grid search', () => {
  let plain: Outcome;
  beforeAll(async () => {
    plain = await runHyperopt(platform, GRID);
  });

  it('runs each point once, the first parameter slowest', () => {
    const points = plain.trials.map(({ params: { slow, fast } }) => [slow, fast]);
    expect(points).toEqual([50, 70, 90].flatMap((slow) => [5, 15, 25].map((fast) => [slow, fast])));
    expect(plain.job).toMatchObject({ total_trials: 9, feasible: true });
    expect(plain.result.feasible).toBe(true);
  });

  it('trial has the figures of the backtest with its parameters', async () => {
    const [, trial] = plain.trials;
    const { model_type: _, ...params } = trial.params;
    const run = await platform.run({ ...MARKET, params });
    expect(figuresOf(trial)).toEqual(FIGURES.map((name) => run.result[name]));
    expect(trial.violation).toBe(0);
  });

  it('best trial is the best feasible one, and the violation is the sum of relative misses', async () => {
    const trades = plain.trials.map(({ total_trades }) => total_trades as number).sort((a, b) => a - b);
    // The median: some trials keep it.
    const constraints = { min_trades: trades[4], max_drawdown_pct: 1000 };
    const { trials, result, job } = await runHyperopt(platform, { ...GRID, constraints });
    expect(trials.map(figuresOf)).toEqual(plain.trials.map(figuresOf));
    for (const trial of trials) {
      const missed = Math.max(0, trades[4]! - trial.total_trades) / trades[4]!;
      expect(trial.violation).toBeCloseTo(missed, 9);
    }
    const feasible = trials.filter(({ total_trades }) => total_trades >= trades[4]!);
    const values = feasible.map(({ value }) => value);
    expect(result.best_value).toBe(Math.max(...values));
    expect(feasible.map(({ number }) => number)).toContain(result.best_trial);
    expect(result.best_trials.slice(0, feasible.length).map(({ value }: any) => value)).toEqual(
      values.toSorted((a, b) => b - a),
    );
    expect([result.feasible, job.feasible, job.best_value]).toEqual([true, true, result.best_value]);
  });

  it('without a feasible trial the best one misses least, and the command says so', async () => {
    const constraints = [{ metric: 'total_trades', min: 1_000_000 }];
    const { trials, result, job } = await runHyperopt(platform, { ...GRID, constraints });
    const most = Math.max(...trials.map(({ total_trades }) => total_trades));
    expect(trials[result.best_trial].total_trades).toBe(most);
    expect([result.feasible, job.feasible]).toEqual([false, false]);
    const { out } = await runInProcess(platform.home, ['hyperopt', 'result', job.job_id]);
    expect(out).toContain('No trial keeps the constraints');
    const table = await runInProcess(platform.home, ['hyperopt', 'trials', job.job_id]);
    expect(table.out).toMatch(/Trades.*Profit.*Drawdown.*Profit factor.*Violation/);
  });

  it('objective is the value of the expression', async () => {
    const objective_metric = 'total_profit_pct - 2 * max_drawdown_pct + log(total_trades)';
    const { trials } = await runHyperopt(platform, { ...GRID, objective_metric, direction: 'maximize' });
    for (const { value, total_profit_pct, max_drawdown_pct, total_trades } of trials)
      expect(value).toBeCloseTo(total_profit_pct - 2 * max_drawdown_pct + Math.log(total_trades), 6);
  });

  it('a trial whose expression is not finite fails with the reason', async () => {
    const id = (
      await platform.strategy.post('/api/v1/hyperopt', {
        ...GRID,
        objective_metric: 'sharpe_ratio / (draws - draws)',
        direction: 'maximize',
      })
    ).body.job_id;
    const job = await platform.until(id, 'failed');
    expect(job.error).toContain('sharpe_ratio / (draws - draws) is not finite');
  });
});
