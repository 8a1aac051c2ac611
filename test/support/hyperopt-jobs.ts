import { readdirSync, readFileSync } from 'node:fs';
import { TERMINAL, type TestPlatform } from './platform.ts';

/** A hyperopt job of forty short trials with models. */
export const HYPEROPT_REQUEST = {
  strategy: 'ml_classifier',
  pairs: ['BTC/USDT:USDT'],
  timeframe: '4h',
  n_trials: 40,
  train_period_days: 30,
  backtest_period_days: 10,
  date_range: { start: '2026-01-31T00:00:00Z', end: '2026-03-22T00:00:00Z' },
  model_types: ['logistic_regression', 'XGBoostClassifier'],
  n_estimators_range: [3, 8],
  learning_rate_range: [0.05, 0.3],
  objective_metric: 'total_profit_pct',
  pruner: 'median',
  seed: 11,
};

/** Strategy, pairs and range of a hyperopt job without models. */
export const MARKET = {
  strategy: 'ema_crossover',
  pairs: ['BTC/USDT:USDT', 'ETH/USDT:USDT'],
  timeframe: '4h',
  date_range: { start: '2026-01-01T00:00:00Z', end: '2026-04-01T00:00:00Z' },
};

export const ACCOUNT = {
  dry_run_wallet: 5_000,
  stake_amount: 400,
  max_open_trades: 1,
  fee: 0.001,
  slippage: 0.0002,
  leverage: 2,
};

/** Config of a backtest with the best parameters of a job. */
export function pasted({ model_type, n_estimators, learning_rate, ...found }: any, ml?: object) {
  const { stoploss, minimal_roi, trailing, ...params } = found;
  return {
    params,
    ...(stoploss !== undefined && { stoploss }),
    ...(minimal_roi && { minimal_roi }),
    ...(trailing && { trailing }),
    ...(ml && { ml_engine: { ...ml, model_type, n_estimators, learning_rate } }),
  };
}

/** Submits a hyperopt job and returns its id. */
export async function startHyperopt(platform: TestPlatform, request: object): Promise<string> {
  const { status, body } = await platform.strategy.post('/api/v1/hyperopt', request);
  if (status !== 200) throw new Error(`${status} ${JSON.stringify(body)}`);
  return body.job_id;
}

/** Submits a hyperopt job, waits for its completion and returns it with its trials and its result. */
export async function runHyperopt(
  platform: TestPlatform,
  request: object,
): Promise<{ job: any; trials: any[]; result: any }> {
  const job = await platform.until(await startHyperopt(platform, request), ...TERMINAL);
  if (job.status !== 'completed') throw new Error(`${job.job_id} ${job.status}: ${job.error}`);
  return { job, ...(await readOutcome(platform, job.job_id)) };
}

export async function readOutcome(platform: TestPlatform, jobId: string) {
  const { body } = await platform.strategy.get(`/api/v1/hyperopt/${jobId}/trials?limit=100`);
  const { body: result } = await platform.strategy.get(`/api/v1/hyperopt/${jobId}/result`);
  return { trials: body.items as any[], result: result as any };
}

/** Part of an outcome that must not depend on workers and attempts. How many cuts a look-ahead search had time for may. */
export function reproducible({ trials, result }: { trials: readonly any[]; result: any }) {
  const { job_id: _, study_name: __, look_ahead, ...rest } = result;
  return {
    trials: trials.map(({ started_at, finished_at, worker, attempt, ...trial }) => trial),
    result: { ...rest, look_ahead: { state: look_ahead.state, findings: look_ahead.findings } },
  };
}

/** Process IDs of the workers of a job. */
export function workerProcesses(jobId: string): number[] {
  return readdirSync('/proc')
    .filter((entry) => /^\d+$/.test(entry))
    .filter((pid) => {
      try {
        const environment = readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0');
        const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8');
        // The shell that supervises a worker has the same arguments.
        const isWorker = command.includes('tasks/hyperopt.ts') && !command.startsWith('/bin/sh');
        return environment.includes(`JOB_ID=${jobId}`) && isWorker;
      } catch {
        return false;
      }
    })
    .map(Number);
}
