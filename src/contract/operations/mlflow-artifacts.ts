import { MlflowArtifactParams, MlflowArtifactsQuery, MlflowFileList } from '../registry/mlflow-api.ts';
import type { Operation } from '../values/operation.ts';
import { OF_RUN, READ } from './mlflow-rows.ts';

const artifacts = '/api/2.0/mlflow-artifacts/artifacts';

/** A file of a backtest. */
const FILE = {
  ...READ,
  method: 'GET',
  params: MlflowArtifactParams,
  success: {
    200: { description: 'The file', contentType: '*/*' },
    302: { description: 'The file is at the address in `Location`: it is over 5 MB, or stored as it is' },
  },
  errors: ['RES001', 'RES005', 'RES006', 'VAL005', 'SVC002', 'SVC004', 'DATA004', 'DATA005', 'HTTP503'],
  resource: { kind: 'backtest', id: 'job_id', level: 'read' },
} as const;

/** Rows of the files of MLflow's runs. */
export const MLFLOW_ARTIFACT_OPERATIONS = [
  {
    id: 'mlflowListArtifacts',
    ...READ,
    method: 'GET',
    path: artifacts,
    summary: 'list_artifacts: files of a backtest',
    description:
      'With `MLmodel`, so that a run is a model for MLflow. The folder `model` has the same files: `mlflow.register_model` names a model by a folder of its run.',
    query: MlflowArtifactsQuery,
    success: {
      200: {
        description: 'The files; a run that is not a completed backtest has none',
        schema: MlflowFileList,
      },
    },
    errors: OF_RUN,
  },
  {
    id: 'mlflowGetArtifact',
    ...FILE,
    path: `${artifacts}/{job_id}/{file}`,
    summary: 'download_artifacts: a file of a completed backtest',
  },
  {
    id: 'mlflowGetModelFile',
    ...FILE,
    path: `${artifacts}/{job_id}/model/{file}`,
    summary: 'download_artifacts of `runs:/<job>/model`: the same files',
  },
] as const satisfies readonly Operation[];
