import type { BacktestResult, JobStatus, StoredBacktestJob } from '#contract/backtests/backtest.ts';
import { lookAheadOf } from '#contract/config/look-ahead.ts';
import type { StoredHyperoptJob, StoredTrial } from '#contract/hyperopt/hyperopt.ts';
import {
  DEFAULT_EXPERIMENT,
  type KeyValue,
  type MlflowMetric,
  type MlflowRun,
  type MlflowRunStatus,
} from '#contract/registry/mlflow-api.ts';
import { lowestDeflation } from '#contract/values/deflated-ratio.ts';
import {
  comparableValue,
  PROFIT_FACTOR_WITHOUT_LOSSES,
  UNDEFINED_REASONS,
} from '#contract/values/undefined-metrics.ts';
import type { HyperoptRow } from '../hyperopt/hyperopt-ports.ts';
import type { JobRow } from '../jobs/job-list-ports.ts';
import { artifactUri } from './artifacts.ts';
import type { Attributes, KnownFields, Searchable } from './filter.ts';
import { allTags, asRecord, ownTags } from './models.ts';

/** Backtests, hyperopt jobs and trials as MLflow's runs. */

const STATUSES: Readonly<Record<JobStatus, MlflowRunStatus>> = {
  pending: 'SCHEDULED',
  running: 'RUNNING',
  completed: 'FINISHED',
  failed: 'FAILED',
  cancelled: 'KILLED',
};

const TRIAL_STATUSES: Readonly<Record<StoredTrial['state'], MlflowRunStatus>> = {
  running: 'RUNNING',
  complete: 'FINISHED',
  pruned: 'KILLED',
  failed: 'FAILED',
};

/** ID of the experiment with a name. The prefix keeps a name that is `0` apart from the default experiment. */
export function experimentId(name: string | null): string {
  return name === null ? DEFAULT_EXPERIMENT.id : `e-${name}`;
}

/** Name of the experiment with an ID, null for the default one; undefined: no experiment has such an ID. */
export function experimentName(id: string): string | null | undefined {
  if (id === DEFAULT_EXPERIMENT.id) return null;
  return id.startsWith('e-') ? id.slice(2) : undefined;
}

/** ID of a trial as a run. The client accepts letters, digits, `_` and `-`. */
const trialId = (jobId: string, number: number) => `${jobId}_${number}`;

type Row = JobRow | HyperoptRow;

/** Fields of a run by which a search filters and orders. */
export const RUN_FIELDS = {
  of: 'runs',
  attributes: [
    'run_id',
    'run_name',
    'experiment_id',
    'status',
    'user_id',
    'start_time',
    'end_time',
    'artifact_uri',
    // Names that MLflow accepts too.
    'created',
    'Created',
    'run name',
    'Run name',
    'Run Name',
  ],
  groups: ['metrics', 'params', 'tags'],
} as const satisfies KnownFields;

/** Attributes and metrics of a run, which its row in the list of jobs has. */
export function searchableRow(row: Row): Searchable {
  const { job_id, strategy, owner, status, experiment_name } = row;
  return {
    attributes: attributesOf({
      run_id: job_id,
      run_name: strategy,
      user_id: owner,
      status: STATUSES[status],
      experiment_id: experimentId(experiment_name),
      artifact_uri: artifactUri(job_id),
      ...periodOf(row),
    }),
    metrics: earnedBy(
      row.look_ahead,
      'result' in row ? comparedMetrics(row.result ?? {}) : bestOf(row.trials.best_value),
    ),
  };
}

/** A run as a search reads it. */
export function searchableRun({ info, data }: MlflowRun): Searchable {
  const tags = asRecord(data.tags);
  return {
    attributes: attributesOf(info),
    metrics: earnedBy(tags['touchstone.look_ahead'], withInfinite(asRecord(data.metrics))),
    params: asRecord(data.params),
    tags,
  };
}

/** Metrics for filters and orders: a run with a found look-ahead bias has none, so it passes no filter and comes last. */
function earnedBy(
  lookAhead: string | null | undefined,
  metrics: Record<string, number>,
): Record<string, number> {
  return lookAhead === 'found' ? {} : metrics;
}

function attributesOf(
  info: Omit<MlflowRun['info'], 'run_uuid' | 'lifecycle_stage'>,
): Attributes<typeof RUN_FIELDS> {
  const { run_id, run_name, user_id, status, start_time, end_time, artifact_uri, experiment_id } = info;
  const end = end_time === 0 ? undefined : end_time;
  const texts = { run_id, run_name, user_id, status, artifact_uri, experiment_id };
  const names = { 'run name': run_name, 'Run name': run_name, 'Run Name': run_name };
  return { ...texts, ...names, start_time, created: start_time, Created: start_time, end_time: end };
}

interface Period {
  readonly created_at: string;
  readonly started_at?: string | null | undefined;
  readonly finished_at?: string | null | undefined;
}

function periodOf({ created_at, started_at, finished_at }: Period) {
  return {
    start_time: Date.parse(started_at ?? created_at),
    end_time: finished_at ? Date.parse(finished_at) : 0,
  };
}

export function backtestRun(job: StoredBacktestJob): MlflowRun {
  const completed = job.status === 'completed' ? job : null;
  const { notes = '', tags = [], registered, found_by } = job;
  const deflation = completed?.trial_record && lowestDeflation(completed.trial_record);
  return runOf({
    id: job.job_id,
    name: job.config.strategy,
    owner: job.owner,
    experiment: job.experiment_name,
    status: STATUSES[job.status],
    period: periodOf(job),
    metrics: numbersOf(completed?.result ?? {}),
    params: flat(job.config, ''),
    tags: [
      ...(notes === '' ? [] : [{ key: 'mlflow.note.content', value: notes }]),
      ...ownTags({
        kind: 'backtest',
        error: job.status === 'failed' ? job.error : undefined,
        undefined_metrics: completed && undefinedOf(completed.result),
        short_run: completed?.result.short_run,
        look_ahead: completed && lookAheadOf(completed)?.state,
        session: job.session,
        trials: completed?.trial_record?.owner,
        deflated_sharpe_ratio: deflation?.deflated_sharpe_ratio,
        deflated_sharpe_scope: deflation?.scope,
        results_digest: completed?.results.digest,
        strategy_digest: job.strategy_digest,
        model_name: registered?.model_name,
        version: registered?.version,
        hyperopt_job_id: found_by?.hyperopt_job_id,
        trial: found_by?.trial,
      }),
    ],
    userTags: tags,
  });
}

export function hyperoptRun(job: StoredHyperoptJob): MlflowRun {
  const { best_value, total, complete, pruned, failed } = job.trials;
  const outcome = job.status === 'completed' ? job.outcome : null;
  const { n_trials, objective_metric, direction, sampler } = job.config;
  return runOf({
    id: job.job_id,
    name: job.base.strategy,
    owner: job.owner,
    experiment: job.experiment_name,
    status: STATUSES[job.status],
    period: periodOf(job),
    metrics: { ...bestOf(best_value), trials: total, complete, pruned, failed },
    params: [
      ...flat(job.base, ''),
      ...Object.entries({ n_trials, objective_metric, direction, sampler }).map(([key, value]) => ({
        key: `hyperopt.${key}`,
        value: String(value),
      })),
    ],
    tags: ownTags({
      kind: 'hyperopt',
      error: job.status === 'failed' ? job.error : undefined,
      best_run_id: outcome && trialId(job.job_id, outcome.best_trial),
      look_ahead: outcome && lookAheadOf(outcome).state,
      deflated_sharpe_ratio: outcome?.overfitting.deflated_sharpe_ratio,
      strategy_digest: job.strategy_digest,
    }),
  });
}

/** A trial: a child of the run of its job. */
export function trialRun(job: StoredHyperoptJob, trial: StoredTrial): MlflowRun {
  const { number, state, params, started_at } = trial;
  return runOf({
    id: trialId(job.job_id, number),
    name: `trial ${number}`,
    owner: job.owner,
    experiment: job.experiment_name,
    status: TRIAL_STATUSES[state],
    period: periodOf({ created_at: started_at, finished_at: state === 'running' ? null : trial.finished_at }),
    metrics: state === 'complete' ? { [job.config.objective_metric]: trial.value } : {},
    params: Object.entries(params).map(([key, value]) => ({ key, value: String(value) })),
    tags: [
      { key: 'mlflow.parentRunId', value: job.job_id },
      ...ownTags({
        kind: 'trial',
        state,
        error: state === 'failed' ? trial.error : undefined,
        look_ahead: job.status === 'completed' ? lookAheadOf(job.outcome).state : undefined,
      }),
    ],
  });
}

function runOf(run: {
  readonly id: string;
  readonly name: string;
  readonly owner: string;
  readonly experiment: string | null;
  readonly status: MlflowRunStatus;
  readonly period: ReturnType<typeof periodOf>;
  readonly metrics: Readonly<Record<string, number>>;
  readonly params: readonly KeyValue[];
  readonly tags: readonly KeyValue[];
  readonly userTags?: readonly string[];
}): MlflowRun {
  const { id, period } = run;
  return {
    info: {
      run_id: id,
      run_uuid: id,
      run_name: run.name,
      experiment_id: experimentId(run.experiment),
      user_id: run.owner,
      status: run.status,
      ...period,
      artifact_uri: artifactUri(id),
      lifecycle_stage: 'active',
    },
    data: {
      // The database keeps no order of keys.
      metrics: Object.entries(run.metrics)
        .map(
          ([key, value]): MlflowMetric => ({
            key,
            value,
            step: 0,
            timestamp: period.end_time || period.start_time,
          }),
        )
        .sort(byKey),
      params: run.params.toSorted(byKey),
      tags: allTags(
        [{ key: 'mlflow.runName', value: run.name }, { key: 'mlflow.user', value: run.owner }, ...run.tags],
        run.userTags ?? [],
      ),
    },
  };
}

function byKey(a: { readonly key: string }, b: { readonly key: string }): number {
  return a.key < b.key ? -1 : 1;
}

const bestOf = (value: number | null): Record<string, number> =>
  value === null ? {} : { best_value: value };

/** The numbers of a result, without those that stand for an undefined value: a run lacks these metrics, and its tags say why. */
function numbersOf(result: Partial<BacktestResult>): Record<string, number> {
  return Object.fromEntries(
    Object.entries(result).filter(
      (entry): entry is [string, number] =>
        Number.isFinite(entry[1]) && comparableValue(result, entry[0]) !== null,
    ),
  );
}

/** Metrics as filters and orders compare them: the profit factor of a run without losses, which is stored as a number, is infinite. */
function withInfinite(metrics: Record<string, number>): Record<string, number> {
  if (metrics.profit_factor !== PROFIT_FACTOR_WITHOUT_LOSSES) return metrics;
  return { ...metrics, profit_factor: Number.POSITIVE_INFINITY };
}

const comparedMetrics = (result: Partial<BacktestResult>) => withInfinite(numbersOf(result));

/** `profit_factor: no losses; sortino_ratio: no losing day`; undefined where every metric has a value. */
function undefinedOf({ undefined_metrics: reasons = {} }: Partial<BacktestResult>): string | undefined {
  const parts = Object.entries(reasons).map(([name, reason]) => `${name}: ${UNDEFINED_REASONS[reason]}`);
  return parts.length > 0 ? parts.sort().join('; ') : undefined;
}

/** A configuration as parameters, with dotted names; the strategy's own have the prefix `params.`. */
function flat(value: object, prefix: string): KeyValue[] {
  return Object.entries(value).flatMap(([name, each]): KeyValue[] => {
    const key = `${prefix}${name}`;
    if (each === null || each === undefined) return [];
    if (Array.isArray(each)) return [{ key, value: each.join(',') }];
    return typeof each === 'object' ? flat(each, `${key}.`) : [{ key, value: String(each) }];
  });
}
