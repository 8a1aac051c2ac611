import type * as z from 'zod';
import { type LookAhead, lookAheadOf } from '#contract/config/look-ahead.ts';
import type { RetentionDays } from '#contract/env/retention.ts';
import type { StoredHyperoptJob, StoredTrial } from '#contract/hyperopt/hyperopt.ts';
import {
  HyperoptAccount,
  type HyperoptJob,
  type HyperoptResult,
  type HyperoptStart,
  type HyperoptSummary,
  type HyperoptTrial,
} from '#contract/hyperopt/hyperopt-api.ts';
import type { QueueState } from '#contract/jobs/queue.ts';

import { foundParams } from '#domain/hyperopt/found-params.ts';
import type { HyperoptResultData } from '#domain/hyperopt/get-hyperopt.ts';
import type { HyperoptRow } from '#domain/hyperopt/hyperopt-ports.ts';
import { type AllCounts, allTrials, bestSoFar, endedTrials } from '#domain/hyperopt/trial-counts.ts';
import { listedView } from './job-page-view.ts';
import { retentionOf } from './retention-view.ts';

/** Stored hyperopt jobs and trials as clients see them. */

export function startView(job: StoredHyperoptJob): z.input<typeof HyperoptStart> {
  const { job_id, status, config, base, warnings } = job;
  const { n_trials } = config;
  const message = `Searching ${base.strategy} with ${n_trials} trials. Progress: GET /api/v1/hyperopt/${job_id}`;
  return { job_id, status, message, n_trials, strategy: base.strategy, warnings };
}

export function rowView(row: HyperoptRow, queue: QueueState | null): z.input<typeof HyperoptSummary> {
  const { trials, permutations, permuted_searches, improvements, params, tags: _, queue: __, ...rest } = row;
  const counts = countsView({ trials, permutations, permuted_searches });
  const sparkline = bestSoFar(improvements, counts.current_trial);
  return { ...rest, ...listedView(row), ...counts, queue, sparkline, params: params && foundParams(params) };
}

export function jobView(
  job: StoredHyperoptJob,
  queue: QueueState | null,
  retention: RetentionDays,
): z.input<typeof HyperoptJob> {
  const { trials, base, permuted_searches } = job;
  const { complete, pruned, failed } = trials;
  return {
    job_id: job.job_id,
    status: job.status,
    strategy: base.strategy,
    experiment_name: job.experiment_name,
    created_at: job.created_at,
    updated_at: job.updated_at,
    ...countsView({ ...job.config, trials, permuted_searches }),
    queue,
    started_at: ('started_at' in job && job.started_at) || null,
    finished_at: 'finished_at' in job ? job.finished_at : null,
    error: job.status === 'failed' ? job.error : null,
    error_code: job.status === 'failed' ? job.error_code : null,
    stalled: (job.status === 'running' && job.stalled) || null,
    trials: { complete, pruned, failed },
    // In jobs of the previous version the range includes the training days.
    config: { ...job.config, date_range: base.date_range },
    exchange: base.exchange,
    collect: job.execution_input.collect ?? 'if_stale',
    account: HyperoptAccount.parse(base),
    precision: base.precision,
    ...(base.trading_mode && { trading_mode: base.trading_mode }),
    pairs: base.pairs,
    timeframe: base.timeframe,
    look_ahead: lookAheadOfSearch(job),
    warnings: job.warnings,
    session: job.session ?? null,
    resumed_from: job.resumed_from,
    collection: job.collection,
    ...retentionOf(job, retention),
  };
}

function countsView({ trials, permutations, permuted_searches }: AllCounts) {
  const { total, best_value, best_trial, best_violation = 0 } = trials;
  return {
    progress: progressOf({ trials, permutations, permuted_searches }),
    current_trial: endedTrials(trials),
    total_trials: total,
    permutations: permutations === undefined ? null : { ended: permuted_searches ?? 0, total: permutations },
    best_value,
    best_trial,
    feasible: best_trial === null ? null : best_violation === 0,
  };
}

/** Progress in percent, by the number of finished trials, with those of permuted searches. */
export function progressOf(counts: AllCounts): number {
  const { ended, total } = allTrials(counts);
  return Math.floor((100 * ended) / total);
}

export function resultView({ job, equity }: HyperoptResultData): z.input<typeof HyperoptResult> {
  const { job_id, trials } = job;
  const { best_violation = 0, ...outcome } = job.outcome;
  return {
    job_id,
    ...outcome,
    feasible: best_violation === 0,
    best_params: foundParams(outcome.best_params),
    best_trials: outcome.best_trials.map((trial) => ({ ...trial, params: foundParams(trial.params) })),
    distinct_runs: outcome.distinct_runs ?? null,
    look_ahead: lookAheadOf(outcome),
    warnings: outcome.warnings ?? [],
    permutations: outcome.permutations ?? null,
    n_trials_completed: trials.complete,
    out_of_sample: {
      ...equity,
      dates: [...equity.dates],
      equity: [...equity.equity],
      drawdown: [...equity.drawdown],
    },
  };
}

/** Look-ahead check of a job; null until it is completed. */
function lookAheadOfSearch(job: StoredHyperoptJob): LookAhead | null {
  return job.status === 'completed' ? lookAheadOf(job.outcome) : null;
}

export function trialView(trial: StoredTrial, job: StoredHyperoptJob): z.input<typeof HyperoptTrial> {
  const { number, state, params, started_at, attempt, worker } = trial;
  const ended = trial.state === 'running' ? null : trial;
  const complete = trial.state === 'complete' ? trial : null;
  return {
    number,
    state,
    params: foundParams(params),
    value: complete?.value ?? null,
    total_trades: complete?.figures?.total_trades ?? null,
    total_profit_pct: complete?.figures?.total_profit_pct ?? null,
    max_drawdown_pct: complete?.figures?.max_drawdown_pct ?? null,
    profit_factor: complete?.figures?.profit_factor ?? null,
    violation: complete && (complete.violation ?? 0),
    windows: 'windows' in trial ? trial.windows : [],
    duplicate_of: ended?.same_as ?? null,
    same_as: ended?.same_as ?? null,
    error: trial.state === 'failed' ? trial.error : null,
    started_at,
    finished_at: ended?.finished_at ?? null,
    attempt,
    worker,
    look_ahead: lookAheadOfSearch(job)?.state ?? null,
  };
}
