import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  HYPEROPT_REQUEST,
  readOutcome,
  reproducible,
  startHyperopt,
  workerProcesses,
} from '../support/hyperopt-jobs.ts';
import { startTestPlatform, TERMINAL, type TestPlatform } from '../support/platform.ts';
import { poll } from '../support/poll.ts';

/** Hyperopt jobs over HTTP, with worker processes. */

let platform: TestPlatform;
beforeAll(async () => {
  platform = await startTestPlatform({ processes: true });
});
afterAll(() => platform.stop());

const start = (changes: object = {}) => startHyperopt(platform, { ...HYPEROPT_REQUEST, ...changes });
const until = (what: (job: any) => boolean, jobId: string) => platform.untilJob(jobId, what);
const ended = ({ status }: any) => TERMINAL.includes(status);

let one: ReturnType<typeof reproducible>;
describe('hyperopt job with one worker', () => {
  let jobId: string;
  beforeAll(async () => {
    jobId = await start();
  });

  it('result of a running job is rejected with RES005 and the status', async () => {
    const { status, body } = await platform.strategy.get(`/api/v1/hyperopt/${jobId}/result`);
    expect(status).toBe(409);
    expect(body.detail).toMatchObject({ code: 'RES005', field: 'job_id' });
    expect(['pending', 'running']).toContain(body.detail.context.status);
  });

  it('job status moves pending, running, completed and never backwards', async () => {
    const first = await until(() => true, jobId);
    expect(first).toMatchObject({ total_trials: 40 });
    let last = 0;
    const job = await until((each) => {
      expect(each.progress).toBeGreaterThanOrEqual(last);
      expect(each.progress).toBe(Math.floor((100 * each.current_trial) / 40));
      expect(each.best_value === null).toBe(each.best_trial === null);
      last = each.progress;
      return ended(each);
    }, jobId);
    expect(job).toMatchObject({ status: 'completed', progress: 100, current_trial: 40, error: null });
    expect(Date.parse(job.started_at)).toBeGreaterThanOrEqual(Date.parse(job.created_at));
  });

  it('result contains the best of the trials', async () => {
    one = reproducible(await readOutcome(platform, jobId));
    const { trials, result } = one;
    expect(trials.map(({ number }) => number)).toEqual(trials.map((_, i) => i));
    const complete = trials.filter(({ state }) => state === 'complete');
    const best = complete.reduce((a, b) => (b.value > a.value ? b : a));
    expect(result).toMatchObject({
      best_value: best.value,
      best_params: best.params,
      best_trial: best.number,
    });
    expect(result.n_trials_completed).toBe(complete.length);
    expect(complete.length).toBeLessThan(40);
    for (const { params } of trials) {
      expect(HYPEROPT_REQUEST.model_types).toContain(params.model_type);
      expect(params.n_estimators).toBeGreaterThanOrEqual(3);
      expect(params.n_estimators).toBeLessThanOrEqual(8);
    }
  });

  it('list item has market, objective and the improvement of its best value', async () => {
    const { body } = await platform.strategy.get(`/api/v1/hyperopt?sort=best_value&count=1&q=${jobId}`);
    expect(body).toMatchObject({ searched: { complete: true }, count: { value: 1, relation: 'exact' } });
    const [item] = body.items;
    expect(item).toMatchObject({
      pairs: ['BTC/USDT:USDT'],
      timeframe: '4h',
      exchange: 'sim',
      objective_metric: 'total_profit_pct',
      direction: 'maximize',
      progress: 100,
      best_value: one.result.best_value,
      date_range: { start: '2026-01-31T00:00:00.000Z', end: '2026-03-22T00:00:00.000Z' },
    });
    const { sparkline } = item;
    expect(sparkline).toHaveLength(32);
    expect(sparkline.at(-1)).toBe(one.result.best_value);
    expect(sparkline).toEqual(sparkline.toSorted((a: number, b: number) => a - b));
    expect(one.trials.map(({ value }) => value)).toEqual(expect.arrayContaining(sparkline));
    expect(new Set(sparkline).size).toBeGreaterThan(1);
  });

  it('conditional request returns 304 while the job is unchanged', async () => {
    const path = `/api/v1/hyperopt/${jobId}`;
    const full = await platform.strategy.request(path);
    const tag = full.headers.get('ETag')!;
    expect(tag).toMatch(/^"\d+"$/);
    const again = await platform.strategy.request(path, { headers: { 'If-None-Match': `"x", W/${tag}` } });
    expect(again.status).toBe(304);
    expect(await again.text()).toBe('');
    expect(again.headers.get('ETag')).toBe(tag);
    const other = await platform.strategy.request(path, { headers: { 'If-None-Match': '"0"' } });
    expect(other.status).toBe(200);
  });

  it('result equals the backtest of its best parameters in every metric', async () => {
    const { best_params, best_value, best_trial, overfitting, out_of_sample } = one.result;
    const { model_type, n_estimators, learning_rate } = best_params;
    const { train_period_days, backtest_period_days, strategy } = HYPEROPT_REQUEST;
    const job = await platform.run({ strategy }, { hyperopt_job_id: jobId });
    expect(job.found_by).toEqual({ hyperopt_job_id: jobId, trial: best_trial, trials: 40 });
    expect(job.config).toMatchObject({
      pairs: HYPEROPT_REQUEST.pairs,
      timeframe: HYPEROPT_REQUEST.timeframe,
      date_range: { start: '2026-01-31T00:00:00.000Z', end: '2026-03-22T00:00:00.000Z' },
      ml_engine: { model_type, n_estimators, learning_rate, train_period_days, backtest_period_days },
    });
    expect(job.result.total_profit_pct).toBe(best_value);
    const pasted = await platform.run({
      strategy,
      pairs: HYPEROPT_REQUEST.pairs,
      timeframe: HYPEROPT_REQUEST.timeframe,
      date_range: HYPEROPT_REQUEST.date_range,
      ml_engine: { model_type, n_estimators, learning_rate, train_period_days, backtest_period_days },
    });
    expect(pasted.result).toEqual(job.result);
    const { body } = await platform.get(`/api/v1/backtests/${job.job_id}/equity`);
    expect(out_of_sample.dates).toEqual(body.dates);
    for (const [day, value] of out_of_sample.equity.entries()) {
      expect(value).toBeCloseTo(body.equity[day], 8);
    }
    expect(overfitting).toMatchObject({ trials: 40, days: body.dates.length });
    const registered = await platform.strategy.post(`/api/v1/strategies/${strategy}/register`, {
      backtest_run_id: job.job_id,
      container_image_uri: 'registry.example/touchstone:1',
    });
    expect(registered.status).toBe(201);
    const { body: version } = await platform.get(`/api/v1/models/${strategy}/versions/1`);
    // Those of the job: the backtest is one of them. As trials of the owner, those with equal returns count once, and of those
    // without returns the ones with other parameters.
    expect(version.trials).toBe(40);
    const without = one.trials.filter(({ state }) => state !== 'complete').map(({ params }) => params);
    const tried = new Set(without.map((params) => JSON.stringify(Object.entries(params).sort())));
    const owner = one.result.distinct_runs + tried.size;
    expect(owner).toBeLessThan(40);
    expect(version.evidence.trial_record).toMatchObject({ owner, strategy: owner, session: null });
    expect(version.evidence.deflated_sharpe_ratio).toBeLessThanOrEqual(overfitting.deflated_sharpe_ratio);
  });

  it('backtest of the best parameters requires the same strategy and a completed job', async () => {
    const submit = (body: object) => platform.post('/api/v1/backtests', body);
    const config = { strategy: HYPEROPT_REQUEST.strategy };
    const cases = [
      [{ config, hyperopt_job_id: 'ho-none' }, 404, 'OPT001'],
      [{ config, hyperopt_job_id: 'bt-1' }, 400, 'VAL005'],
      [{ config: { strategy: 'buy_and_hold' }, hyperopt_job_id: jobId }, 400, 'VAL005'],
      [{ config, hyperopt_job_id: jobId, model_version: 1 }, 400, 'VAL005'],
    ] as const;
    for (const [body, status, code] of cases) {
      const response = await submit(body);
      expect(response.status).toBe(status);
      expect(response.body.detail).toMatchObject({ code, field: 'hyperopt_job_id' });
    }
  });
});

describe('hyperopt job', () => {
  it('cancelled job keeps its trials and ends its workers', async () => {
    const jobId = await start({ n_trials: 10_000 });
    await until(({ current_trial }) => current_trial > 0, jobId);
    const { status, body } = await platform.strategy.post(`/api/v1/hyperopt/${jobId}/cancel`);
    expect(status).toBe(200);
    expect(body.status).toBe('cancelled');
    await poll(() => workerProcesses(jobId).length === 0);
    const after = await until(() => true, jobId);
    expect(after.current_trial).toBe(body.current_trial);
    const again = await platform.strategy.post(`/api/v1/hyperopt/${jobId}/cancel`);
    expect(again.status).toBe(409);
    expect(again.body.detail.code).toBe('RES005');
  });

  it('list returns jobs newest first and filters by experiment', async () => {
    const jobId = await start({ n_trials: 1, experiment_name: 'listed' });
    await until(ended, jobId);
    const { body } = await platform.strategy.get('/api/v1/hyperopt?experiment_name=listed');
    expect(body.items).toMatchObject([
      { job_id: jobId, progress: 100, total_trials: 1, status: 'completed' },
    ]);
    const page = await platform.strategy.get('/api/v1/hyperopt?limit=1&status=completed');
    expect(page.body.items[0].job_id).toBe(jobId);
    const next = await platform.strategy.get(
      `/api/v1/hyperopt?limit=1&status=completed&cursor=${page.body.next_cursor}`,
    );
    expect(next.body.items[0].created_at < page.body.items[0].created_at).toBe(true);
  });

  it('same Idempotency-Key returns the same job', async () => {
    const headers = { 'Idempotency-Key': 'once' };
    const body = { ...HYPEROPT_REQUEST, n_trials: 1 };
    const first = await platform.strategy.post('/api/v1/hyperopt', body, headers);
    const second = await platform.strategy.post('/api/v1/hyperopt', body, headers);
    expect(second.body.job_id).toBe(first.body.job_id);
    const other = await platform.strategy.post('/api/v1/hyperopt', { ...body, n_trials: 2 }, headers);
    expect(other.status).toBe(409);
    await until(ended, first.body.job_id);
  });

  it('unknown job returns OPT001', async () => {
    for (const path of ['', '/result', '/trials']) {
      const { status, body } = await platform.strategy.get(`/api/v1/hyperopt/ho-none${path}`);
      expect(status).toBe(404);
      expect(body.detail).toMatchObject({ code: 'OPT001', field: 'job_id' });
    }
  });
});
