import {
  MlflowLoggedModelList,
  MlflowLoggedModelsRequest,
  MlflowMetricList,
  MlflowMetricQuery,
  MlflowRunAnswer,
  MlflowRunList,
  MlflowRunQuery,
  MlflowRunsRequest,
} from '../registry/mlflow-api.ts';
import type { Operation } from '../values/operation.ts';
import { OF_RUN, READ, SEARCH } from './mlflow-rows.ts';

const runs = '/api/2.0/mlflow/runs';

/** Rows of MLflow's runs. */
export const MLFLOW_RUN_OPERATIONS = [
  {
    id: 'mlflowSearchRuns',
    ...SEARCH,
    path: `${runs}/search`,
    summary: 'search_runs: backtests, hyperopt jobs and trials',
    description:
      "Covers the newest 2,000 backtests and 2,000 hyperopt jobs that the caller may read. Trials are found with the filter `tags.mlflow.parentRunId = '<hyperopt job>'`. A page has at most 200 runs.",
    body: MlflowRunsRequest,
    success: { 200: { description: 'One page', schema: MlflowRunList } },
    errors: ['VAL005', 'VAL006', ...OF_RUN],
  },
  {
    id: 'mlflowGetRun',
    ...READ,
    method: 'GET',
    path: `${runs}/get`,
    summary: 'get_run',
    query: MlflowRunQuery,
    success: { 200: { description: 'The run', schema: MlflowRunAnswer } },
    errors: OF_RUN,
  },
  {
    id: 'mlflowGetMetricHistory',
    ...READ,
    method: 'GET',
    path: '/api/2.0/mlflow/metrics/get-history',
    summary: 'get_metric_history: one value, that of the end of the run',
    query: MlflowMetricQuery,
    success: { 200: { description: 'The values', schema: MlflowMetricList } },
    errors: ['VAL006', ...OF_RUN],
  },
  {
    id: 'mlflowSearchLoggedModels',
    ...SEARCH,
    path: '/api/2.0/mlflow/logged-models/search',
    summary: 'search_logged_models: none',
    description:
      'Runs log no models: a backtest is registered by its artifacts. `mlflow.register_model` asks after it found no model there.',
    body: MlflowLoggedModelsRequest,
    success: { 200: { description: 'An empty page', schema: MlflowLoggedModelList } },
    errors: ['VAL006'],
  },
] as const satisfies readonly Operation[];
