import { MLFLOW_LIMITS } from '#contract/values/registry-limits.ts';
import type { Ownership } from '#domain/access/access.ts';
import { findStrategy } from '#domain/config/find-strategy.ts';
import { artifactUri, registeredRun } from '#domain/mlflow/artifacts.ts';
import { equalTo } from '#domain/mlflow/filter.ts';
import {
  type MlflowModelsDeps,
  modelNames,
  readVersions,
  searchableVersion,
  VERSION_FIELDS,
} from '#domain/mlflow/models.ts';
import { searchPage } from '#domain/mlflow/pages.ts';
import type { MlflowRunsDeps } from '#domain/mlflow/search-runs.ts';
import {
  type TransitionStageDeps,
  transitionStage,
  transitionTarget,
} from '#domain/mlflow/transition-stage.ts';
import { registrationTags, withoutTag, withTag } from '#domain/mlflow/version-tags.ts';
import type { LabelVersionDeps } from '#domain/registry/label-version.ts';
import { getVersion } from '#domain/registry/read-models.ts';
import { type RegisterStrategyDeps, registerStrategy } from '#domain/registry/register-strategy.ts';
import { authorize, callerOf } from '../authenticate.ts';
import type { GroupHandlers } from '../handler.ts';
import { VERSION } from '../version.ts';
import { mlflowModelCalls } from './mlflow-model-calls.ts';
import { transitionCallOf } from './registry.ts';

const SEARCHED = {
  fields: VERSION_FIELDS,
  searchable: searchableVersion,
  most: MLFLOW_LIMITS.max_results.max,
};

/**
 * Handlers of the versions of MLflow's registered models. Those that write obey the rules of the registry's own operations. Long
 * because it is their table.
 */
export function mlflowVersionHandlers(
  deps: MlflowModelsDeps &
    LabelVersionDeps &
    RegisterStrategyDeps &
    TransitionStageDeps &
    Pick<MlflowRunsDeps, 'cursors'>,
  ownership: Ownership,
): GroupHandlers<'mlflowVersions'> {
  const { checkModel, versionOf, label } = mlflowModelCalls(deps, ownership);
  return {
    mlflowSearchVersions: async ({ query, principal }) => {
      const named = equalTo(query.filter, VERSION_FIELDS, { group: 'attributes', name: 'name' });
      const { items, next_page_token } = await searchPage(deps.cursors, query, SEARCHED, async () => {
        const names = await modelNames(deps, callerOf(principal), named);
        return (await Promise.all(names.map((name) => readVersions(deps, name)))).flat();
      });
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
    mlflowCreateVersion: async ({ body, ...request }) => {
      const { name, description } = body;
      // A body may name anything; a key of a table is limited.
      await findStrategy(deps.strategies, name, { field: 'name', unknown: 'RES002', key: 'name' });
      const { tags, image } = registrationTags(body.tags ?? []);
      const registered = await registerStrategy(deps, transitionCallOf(request), {
        model: name,
        backtest_run_id: registeredRun(body),
        description,
        tags,
        container_image_uri: image ?? `touchstone:${VERSION}`,
      });
      return versionOf(name, registered.body.version);
    },
    mlflowSetVersionTag: async ({ body, ...request }) => {
      const { key, value = '' } = body;
      return label(request, 'mlflowSetVersionTag', body, ({ tags }) => ({
        tags: withTag(tags, { key, value }),
      }));
    },
    mlflowDeleteVersionTag: async ({ body, ...request }) =>
      label(request, 'mlflowDeleteVersionTag', body, ({ tags }) => ({ tags: withoutTag(tags, body.key) })),
    mlflowTransitionStage: async ({ body, ...request }) => {
      const { name, version, archive_existing_versions = true } = body;
      const stage = transitionTarget(body.stage);
      if (stage !== 'Staging') authorize(request.principal, { id: 'promoteVersion', access: 'approver' });
      await checkModel(request.principal, name, 'write');
      const transition = { model: name, version, stage, archivesExisting: archive_existing_versions };
      return versionOf(name, await transitionStage(deps, transitionCallOf(request), transition));
    },
  };
}
