import type { Ownership } from '#domain/access/access.ts';
import type { ExportBacktestDeps } from '#domain/backtests/export-backtest.ts';
import type { MlflowRunsDeps } from '#domain/mlflow/search-runs.ts';
import type { TransitionStageDeps } from '#domain/mlflow/transition-stage.ts';
import type { GroupHandlers } from '../handler.ts';
import { mlflowExperimentHandlers } from './mlflow-experiments.ts';
import { mlflowModelHandlers, mlflowVersionHandlers, modelReads } from './mlflow-models.ts';
import { mlflowArtifactHandlers, mlflowRunHandlers } from './mlflow-runs.ts';
import { type MlflowWriteDeps, mlflowWriteHandlers } from './mlflow-writes.ts';

/** Handlers of MLflow's API. */
export function mlflowHandlers(
  deps: MlflowRunsDeps & MlflowWriteDeps & TransitionStageDeps & ExportBacktestDeps,
  ownership: Ownership,
): GroupHandlers<'mlflow'> {
  const reads = modelReads(deps, ownership);
  return {
    ...mlflowModelHandlers(deps, reads),
    ...mlflowVersionHandlers(deps, reads),
    ...mlflowWriteHandlers(deps, reads),
    ...mlflowExperimentHandlers(deps),
    ...mlflowRunHandlers(deps, ownership),
    ...mlflowArtifactHandlers(deps, ownership),
    mlflowSearchLoggedModels: async () => ({ status: 200, body: { models: [], next_page_token: '' } }),
  };
}
