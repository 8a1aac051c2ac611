import { MLFLOW_LIMITS } from '#contract/values/registry-limits.ts';
import { MAX_ID_LENGTH } from '#contract/values/request-limits.ts';
import { findAccessible, type Ownership } from '#domain/access/access.ts';
import { artifactUri } from '#domain/mlflow/artifacts.ts';
import { equalTo } from '#domain/mlflow/filter.ts';
import {
  latestVersions,
  type MlflowModelsDeps,
  MODEL_FIELDS,
  modelNames,
  readModel,
  readVersions,
  searchableModel,
  searchableVersion,
  VERSION_FIELDS,
  versionView,
} from '#domain/mlflow/models.ts';
import { pageOf, select } from '#domain/mlflow/pages.ts';
import type { MlflowRunsDeps } from '#domain/mlflow/search-runs.ts';
import {
  type TransitionStageDeps,
  transitionStage,
  transitionTarget,
} from '#domain/mlflow/transition-stage.ts';
import { getVersion } from '#domain/registry/read-models.ts';
import { afterOtherSearches } from '#domain/shared/search-work.ts';
import { unknownModel } from '#domain/shared/unknown-resources.ts';
import { authorize, callerOf, type Principal } from '../authenticate.ts';
import type { GroupHandlers } from '../handler.ts';
import { transitionCallOf } from './registry.ts';

/** Reads that several handlers of MLflow's API have. */
export interface ModelReads {
  /** Throws RES002, or AUTH005 unless the caller may do that with the model. */
  readonly checkModel: (principal: Principal, name: string, level: 'read' | 'write') => Promise<void>;
  /** Response with a version. Throws RES002, RES003. */
  readonly versionOf: (
    model: string,
    version: string,
  ) => ReturnType<GroupHandlers<'mlflow'>['mlflowCreateVersion']>;
}

export function modelReads(deps: MlflowModelsDeps, ownership: Ownership): ModelReads {
  return {
    checkModel: async (principal, name, level) => {
      // A body may name anything; a key of a table is limited.
      if (name.length > MAX_ID_LENGTH) throw unknownModel(name, 'name');
      await findAccessible(ownership, callerOf(principal), { kind: 'model', id: name, field: 'name', level });
    },
    versionOf: async (model, version) => {
      const found = await getVersion(deps, { model, version });
      return { status: 200 as const, body: { model_version: versionView(model, found) } };
    },
  };
}

type ModelOperation = 'mlflowSearchModels' | 'mlflowGetModel' | `mlflow${'Get' | ''}LatestVersions`;

/** Handlers of MLflow's registered models. */
export function mlflowModelHandlers(
  deps: MlflowModelsDeps & Pick<MlflowRunsDeps, 'cursors'>,
  { checkModel }: ModelReads,
): Pick<GroupHandlers<'mlflow'>, ModelOperation> {
  const newestVersions = async (
    principal: Principal,
    { name, stages }: { readonly name: string; readonly stages?: readonly string[] | undefined },
  ) => {
    await checkModel(principal, name, 'read');
    return { status: 200 as const, body: { model_versions: await latestVersions(deps, name, stages) } };
  };
  return {
    mlflowSearchModels: async ({ query, principal }) => {
      const found = await afterOtherSearches(async () => {
        const names = await modelNames(deps, callerOf(principal));
        const models = await Promise.all(names.map((name) => readModel(deps, name)));
        return select(models, query, MODEL_FIELDS, searchableModel);
      });
      const { items, next_page_token } = pageOf(
        deps.cursors,
        found,
        'models',
        query,
        MLFLOW_LIMITS.max_results.max,
      );
      return { status: 200, body: { registered_models: items, next_page_token } };
    },
    mlflowGetModel: async ({ query: { name }, principal }) => {
      await checkModel(principal, name, 'read');
      return { status: 200, body: { registered_model: await readModel(deps, name) } };
    },
    mlflowGetLatestVersions: async ({ body, principal }) => newestVersions(principal, body),
    mlflowLatestVersions: async ({ query, principal }) => newestVersions(principal, query),
  };
}

type VersionOperation =
  | `mlflowGetVersion${'' | 'ByAlias'}`
  | 'mlflowSearchVersions'
  | 'mlflowGetDownloadUri'
  | 'mlflowTransitionStage';

/** Handlers of the versions of MLflow's registered models. */
export function mlflowVersionHandlers(
  deps: MlflowModelsDeps & TransitionStageDeps & Pick<MlflowRunsDeps, 'cursors'>,
  { checkModel, versionOf }: ModelReads,
): Pick<GroupHandlers<'mlflow'>, VersionOperation> {
  return {
    mlflowGetVersionByAlias: async ({ query: { name, alias }, principal }) => {
      await checkModel(principal, name, 'read');
      return versionOf(name, alias);
    },
    mlflowSearchVersions: async ({ query, principal }) => {
      const named = equalTo(query.filter, VERSION_FIELDS, { group: 'attributes', name: 'name' });
      const found = await afterOtherSearches(async () => {
        const names = await modelNames(deps, callerOf(principal), named);
        const versions = (await Promise.all(names.map((name) => readVersions(deps, name)))).flat();
        return select(versions, query, VERSION_FIELDS, searchableVersion);
      });
      const { items, next_page_token } = pageOf(
        deps.cursors,
        found,
        'versions',
        query,
        MLFLOW_LIMITS.max_results.max,
      );
      return { status: 200, body: { model_versions: items, next_page_token } };
    },
    mlflowGetVersion: async ({ query: { name, version }, principal }) => {
      await checkModel(principal, name, 'read');
      return versionOf(name, version);
    },
    mlflowGetDownloadUri: async ({ query: { name, version }, principal }) => {
      await checkModel(principal, name, 'read');
      const { backtest_run_id } = await getVersion(deps, { model: name, version });
      return { status: 200, body: { artifact_uri: artifactUri(backtest_run_id) } };
    },
    mlflowTransitionStage: async ({ body, ...request }) => {
      const { name, version, archive_existing_versions = true } = body;
      const stage = transitionTarget(body.stage);
      if (stage === 'Production') authorize(request.principal, { id: 'promoteVersion', access: 'approver' });
      await checkModel(request.principal, name, 'write');
      const transition = { model: name, version, stage, archivesExisting: archive_existing_versions };
      await transitionStage(deps, transitionCallOf(request), transition);
      return versionOf(name, version);
    },
  };
}
