import type { Ownership } from '#domain/access/access.ts';
import { type MlflowRunsDeps, readRun, searchRuns } from '#domain/mlflow/search-runs.ts';
import { afterOtherSearches } from '#domain/shared/search-work.ts';
import { callerOf } from '../authenticate.ts';
import type { GroupHandlers } from '../handler.ts';

/** Handlers of MLflow's runs. */
export function mlflowRunHandlers(deps: MlflowRunsDeps, ownership: Ownership): GroupHandlers<'mlflowRuns'> {
  return {
    mlflowSearchRuns: async ({ body, principal }) => ({
      status: 200,
      body:
        body.run_view_type === 'DELETED_ONLY'
          ? { runs: [], next_page_token: '' }
          : await afterOtherSearches(() => searchRuns(deps, ownership, callerOf(principal), body)),
    }),
    mlflowGetRun: async ({ query: { run_id }, principal }) => ({
      status: 200,
      body: { run: await readRun(deps, ownership, callerOf(principal), run_id) },
    }),
    mlflowGetMetricHistory: async ({ query: { run_id, metric_key }, principal }) => {
      const { data } = await readRun(deps, ownership, callerOf(principal), run_id);
      const metrics = data.metrics.filter(({ key }) => key === metric_key);
      return { status: 200, body: { metrics, next_page_token: '' } };
    },
    mlflowSearchLoggedModels: async () => ({ status: 200, body: { models: [], next_page_token: '' } }),
  };
}
