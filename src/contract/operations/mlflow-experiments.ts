import {
  MlflowExperimentAnswer,
  MlflowExperimentList,
  MlflowExperimentNameQuery,
  MlflowExperimentQuery,
  MlflowExperimentsQuery,
  MlflowExperimentsRequest,
} from '../registry/mlflow-api.ts';
import type { Operation } from '../values/operation.ts';
import { READ, SEARCH } from './mlflow-rows.ts';

const experiments = '/api/2.0/mlflow/experiments';

/** Rows of MLflow's experiments. */
export const MLFLOW_EXPERIMENT_OPERATIONS = [
  {
    id: 'mlflowSearchExperiments',
    ...SEARCH,
    path: `${experiments}/search`,
    summary: 'search_experiments: experiments of the caller',
    description: 'The default experiment, with the ID `0`, has the jobs without an experiment.',
    body: MlflowExperimentsRequest,
    success: { 200: { description: 'One page', schema: MlflowExperimentList } },
    errors: ['VAL005', 'VAL006', 'DATA005'],
  },
  {
    id: 'mlflowListExperiments',
    ...READ,
    method: 'GET',
    path: `${experiments}/search`,
    summary: 'search_experiments by a query',
    query: MlflowExperimentsQuery,
    success: { 200: { description: 'One page', schema: MlflowExperimentList } },
    errors: ['VAL006', 'DATA005'],
  },
  {
    id: 'mlflowGetExperiment',
    ...READ,
    method: 'GET',
    path: `${experiments}/get`,
    summary: 'get_experiment',
    query: MlflowExperimentQuery,
    success: { 200: { description: 'The experiment', schema: MlflowExperimentAnswer } },
    errors: ['RES004', 'DATA005'],
  },
  {
    id: 'mlflowGetExperimentByName',
    ...READ,
    method: 'GET',
    path: `${experiments}/get-by-name`,
    summary: 'get_experiment_by_name',
    query: MlflowExperimentNameQuery,
    success: { 200: { description: 'The experiment', schema: MlflowExperimentAnswer } },
    errors: ['RES004', 'DATA005'],
  },
] as const satisfies readonly Operation[];
