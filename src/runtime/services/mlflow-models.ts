import type { MlflowModel } from '#contract/registry/mlflow-api.ts';
import { MLFLOW_LIMITS } from '#contract/values/registry-limits.ts';
import type { Ownership } from '#domain/access/access.ts';
import { findStrategy } from '#domain/config/find-strategy.ts';
import {
  latestVersions,
  type MlflowModelsDeps,
  MODEL_FIELDS,
  modelExists,
  modelNames,
  newModelView,
  readModel,
  searchableModel,
} from '#domain/mlflow/models.ts';
import { searchPage } from '#domain/mlflow/pages.ts';
import type { MlflowRunsDeps } from '#domain/mlflow/search-runs.ts';
import { checkAliasIsFree, type LabelVersionDeps } from '#domain/registry/label-version.ts';
import { numberOf } from '#domain/transitions/find-version.ts';
import { callerOf, type Principal } from '../authenticate.ts';
import type { GroupHandlers } from '../handler.ts';
import { DONE, mlflowModelCalls } from './mlflow-model-calls.ts';

const SEARCHED = { fields: MODEL_FIELDS, searchable: searchableModel, most: MLFLOW_LIMITS.max_results.max };

/**
 * Handlers of MLflow's registered models and their aliases. Those that write obey the rules of the registry's own operations. Long
 * because it is their table.
 */
export function mlflowModelHandlers(
  deps: MlflowModelsDeps & LabelVersionDeps & Pick<MlflowRunsDeps, 'cursors'>,
  ownership: Ownership,
): GroupHandlers<'mlflowModels'> {
  const { checkModel, versionOf, label } = mlflowModelCalls(deps, ownership);
  const newestVersions = async (
    principal: Principal,
    { name, stages }: { readonly name: string; readonly stages?: readonly string[] | undefined },
  ) => {
    await checkModel(principal, name, 'read');
    return { status: 200 as const, body: { model_versions: await latestVersions(deps, name, stages) } };
  };
  return {
    mlflowSearchModels: async ({ query, principal }) => {
      const { items, next_page_token } = await searchPage(deps.cursors, query, SEARCHED, async () => {
        const names = await modelNames(deps, callerOf(principal));
        return Promise.all(names.map((name) => readModel(deps, name)));
      });
      return { status: 200, body: { registered_models: items, next_page_token } };
    },
    mlflowGetModel: async ({ query: { name }, principal }) => {
      await checkModel(principal, name, 'read');
      return { status: 200, body: { registered_model: await readModel(deps, name) } };
    },
    mlflowGetLatestVersions: async ({ body, principal }) => newestVersions(principal, body),
    mlflowLatestVersions: async ({ query, principal }) => newestVersions(principal, query),
    mlflowGetVersionByAlias: async ({ query: { name, alias }, principal }) => {
      await checkModel(principal, name, 'read');
      return versionOf(name, alias);
    },
    mlflowSetAlias: async ({ body, ...request }) =>
      label(request, 'mlflowSetAlias', body, ({ aliases }) => {
        checkAliasIsFree(body.alias, 'alias');
        return { aliases: [...aliases, body.alias] };
      }),
    mlflowDeleteAlias: async ({ body: { name, alias }, ...request }) => {
      await checkModel(request.principal, name, 'write');
      checkAliasIsFree(alias, 'alias');
      const { model } = await deps.registry.read(name, []);
      const version = model && numberOf(alias, model);
      if (!version) return DONE;
      return label(request, 'mlflowDeleteAlias', { name, version, alias }, ({ aliases }) => ({
        aliases: aliases.filter((each) => each !== alias),
      }));
    },
    mlflowCreateModel: async ({ body, principal }) => {
      const { name } = body;
      await findStrategy(deps.strategies, name, { field: 'name', unknown: 'RES002', key: 'name' });
      const { model } = await deps.registry.read(name, []);
      if (model) {
        await checkModel(principal, name, 'read');
        throw modelExists(name);
      }
      const registered_model: MlflowModel = newModelView(deps.clock, callerOf(principal), body);
      return { status: 200, body: { registered_model } };
    },
  };
}
