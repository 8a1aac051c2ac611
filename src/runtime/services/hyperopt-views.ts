import type * as z from 'zod';
import type { StoredStudy, StoredTrial, TrialCounts } from '#contract/hyperopt.ts';
import type {
  HyperoptJob,
  HyperoptResult,
  HyperoptStart,
  HyperoptSummary,
  HyperoptTrial,
} from '#contract/hyperopt-api.ts';
import { foundParams } from '#domain/hyperopt/found-params.ts';
import type { HyperoptResult as StoredResult } from '#domain/hyperopt/get-hyperopt.ts';
import type { StudyRow } from '#domain/hyperopt/study-ports.ts';

/** Stored hyperopt jobs and trials as clients see them. */

export function startView(study: StoredStudy): z.input<typeof HyperoptStart> {
  const { job_id, status, config, base, warnings } = study;
  const { n_trials } = config;
  const message = `Searching ${base.strategy} with ${n_trials} trials: GET /api/v1/hyperopt/${job_id} tells how far it is`;
  return { job_id, status, message, n_trials, strategy: base.strategy, warnings };
}

export function studyRowView(row: StudyRow): z.input<typeof HyperoptSummary> {
  const { trials, ...rest } = row;
  return { ...rest, ...progressOf(trials) };
}

export function studyView(study: StoredStudy): z.input<typeof HyperoptJob> {
  const { trials, base } = study;
  const { complete, pruned, failed } = trials;
  return {
    job_id: study.job_id,
    status: study.status,
    strategy: base.strategy,
    experiment_name: study.experiment_name,
    created_at: study.created_at,
    updated_at: study.updated_at,
    ...progressOf(trials),
    started_at: ('started_at' in study && study.started_at) || null,
    finished_at: 'finished_at' in study ? study.finished_at : null,
    error: study.status === 'failed' ? study.error : null,
    error_code: study.status === 'failed' ? study.error_code : null,
    stalled: (study.status === 'running' && study.stalled) || null,
    trials: { complete, pruned, failed },
    // Studies of the version before had in theirs the days that models learned from too.
    config: { ...study.config, date_range: base.date_range },
    exchange: base.exchange,
    precision: base.precision,
    pairs: base.pairs,
    timeframe: base.timeframe,
    warnings: study.warnings,
    resumed_from: study.resumed_from,
    collection: study.collection,
  };
}

function progressOf({ total, complete, pruned, failed, best_value, best_trial }: TrialCounts) {
  const ended = complete + pruned + failed;
  return {
    progress: progressAt(ended, total),
    current_trial: ended,
    total_trials: total,
    best_value,
    best_trial,
  };
}

/** Percent of the trials when so many have ended. */
export function progressAt(ended: number, total: number): number {
  return Math.floor((100 * ended) / total);
}

export function resultView({ study, equity }: StoredResult): z.input<typeof HyperoptResult> {
  const { job_id, outcome, trials } = study;
  return {
    job_id,
    ...outcome,
    best_params: foundParams(outcome.best_params),
    best_trials: outcome.best_trials.map((trial) => ({ ...trial, params: foundParams(trial.params) })),
    distinct_runs: outcome.distinct_runs ?? null,
    warnings: outcome.warnings ?? [],
    n_trials_completed: trials.complete,
    out_of_sample: {
      ...equity,
      dates: [...equity.dates],
      equity: [...equity.equity],
      drawdown: [...equity.drawdown],
    },
  };
}

export function trialView(trial: StoredTrial): z.input<typeof HyperoptTrial> {
  const { number, state, params, started_at, attempt, worker } = trial;
  const ended = trial.state === 'running' ? null : trial;
  return {
    number,
    state,
    params: foundParams(params),
    value: trial.state === 'complete' ? trial.value : null,
    windows: 'windows' in trial ? trial.windows : [],
    duplicate_of: ended?.same_as ?? null,
    same_as: ended?.same_as ?? null,
    error: trial.state === 'failed' ? trial.error : null,
    started_at,
    finished_at: ended?.finished_at ?? null,
    attempt,
    worker,
  };
}
