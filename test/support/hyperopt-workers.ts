import { setTimeout as sleep } from 'node:timers/promises';
import { DynamoHyperoptStore } from '#adapters/dynamo/hyperopt-store.ts';
import { DynamoOwnerTrials } from '#adapters/dynamo/owner-trials.ts';
import { DynamoTrialLedger } from '#adapters/dynamo/trial-ledger.ts';
import { sha256 } from '#adapters/sha256.ts';

import { notChecked } from '#contract/config/look-ahead.ts';
import type { HyperoptJobConfig, HyperoptJobIn, StoredTrial } from '#contract/hyperopt/hyperopt.ts';
import type { RunHyperoptWorkerDeps, TrialRunner } from '#domain/hyperopt/run-hyperopt-worker.ts';
import type { TrialOutcome, TrialRequest } from '#domain/hyperopt/run-trial.ts';
import { mlEngineOf } from '#engine/ml/windows.ts';
import { shouldPrune } from '#engine/search/pruner.ts';
import type { TestEngine } from './engine.ts';
import { pendingJob } from './jobs.ts';

const AT = '2025-03-01T00:00:00.000Z';
const RANGE = { start: '2025-01-01T00:00:00.000Z', end: '2025-03-01T00:00:00.000Z' };

/** Valid pending job of 40 trials; `config` overrides its config. */
export function pendingHyperopt(
  jobId: string,
  config: Partial<HyperoptJobConfig> = {},
): HyperoptJobIn<'pending'> {
  const job = pendingJob(jobId);
  const searched: HyperoptJobConfig = {
    n_trials: 40,
    train_period_days: 30,
    backtest_period_days: 7,
    objective_metric: 'sharpe_ratio',
    direction: 'maximize',
    model_types: ['xgboost', 'LightGBMClassifier', 'catboost'],
    n_estimators_range: [10, 40],
    learning_rate_range: [0.01, 0.3],
    search: {},
    date_range: RANGE,
    sampler: 'tpe',
    pruner: 'wilcoxon',
    seed: 7,
    workers: 1,
    ...config,
  };
  return {
    schema_version: 3,
    kind: 'hyperopt',
    status: 'pending',
    job_id: jobId,
    owner: 'anonymous',
    revision: 1,
    created_at: AT,
    updated_at: AT,
    experiment_name: null,
    config: searched,
    base: { ...job.config, ml_engine: mlEngineOf({}) },
    warnings: [],
    execution_input: {
      job_id: jobId,
      correlation_id: 'c-1',
      workers: Array.from({ length: searched.workers }, (_, worker) => worker),
      exchange: 'sim',
      symbols: ['BTC/USDT:USDT'],
      timeframe: '5m',
      ...RANGE,
    },
    runs: 0,
    queue: { since: AT, deferrals: 0 },
    request_digest: 'd',
    resumed_from: null,
    collection: null,
    trials: {
      total: searched.n_trials,
      complete: 0,
      pruned: 0,
      failed: 0,
      best_value: null,
      best_trial: null,
    },
    tasks: {},
  };
}

/** Trial without candles: a pure function of the request. Some trials are pruned and some fail. */
export async function computeTrial({ config, search, past }: TrialRequest): Promise<TrialOutcome> {
  const { n_estimators, learning_rate, model_type } = config.ml_engine!;
  if (n_estimators % 9 === 4) return { state: 'failed', error: `${n_estimators} trees are not liked` };
  const peak = model_type === 'xgboost' ? 3 : 2;
  const value = peak - Math.log(learning_rate / 0.08) ** 2 - ((n_estimators - 25) / 20) ** 2;
  const windows: number[] = [];
  for (let i = 0; i < 8; i++) {
    windows.push(value + Math.sin(i * n_estimators) / 4);
    if (shouldPrune(search.pruner, windows, past, search.direction)) return { state: 'pruned', windows };
  }
  const returns = Float64Array.from(
    { length: 30 },
    (_, day) => value / 1000 + Math.sin(day * n_estimators) / 100,
  );
  return { state: 'complete', value, windows, efficiency: 0.5, returns: { firstDay: '2025-02-01', returns } };
}

export const computing: TrialRunner = {
  codeDigest: 'c',
  dataDigest: 'd',
  warnings: [],
  run: computeTrial,
  sample: async () => notChecked('not_checked: these trials have no candles'),
  close: async () => undefined,
};

/** Dependencies of a worker in this process; `runner` runs its trials. */
export function workerDeps(
  engine: Pick<TestEngine, 'client' | 'tables'>,
  runner: TrialRunner = computing,
): RunHyperoptWorkerDeps {
  return {
    hyperoptJobs: new DynamoHyperoptStore(engine.client, engine.tables.jobs),
    ledger: new DynamoTrialLedger(engine.client, engine.tables.jobs),
    ownerTrials: new DynamoOwnerTrials(engine.client, engine.tables.jobs),
    clock: Date,
    digest: sha256,
    openRunner: async () => runner,
    concurrency: () => 1,
    sleep: (ms, signal) => sleep(ms, undefined, { signal }),
  };
}

/** Part of a trial that must not depend on its worker and time. */
export function essence(trial: StoredTrial) {
  const { number, state, params, ...rest } = trial;
  const { value = null, windows = [], error = null, same_as = null } = rest as Record<string, unknown>;
  return { number, state, params, value, windows, error, same_as };
}
