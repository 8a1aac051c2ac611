import type { MlflowModel } from '#contract/registry/mlflow-api.ts';
import { findStrategy } from '#domain/config/find-strategy.ts';
import { registeredRun } from '#domain/mlflow/artifacts.ts';
import { type MlflowModelsDeps, modelExists, newModelView } from '#domain/mlflow/models.ts';
import { registrationTags, withoutTag, withTag } from '#domain/mlflow/version-tags.ts';
import {
  checkAliasIsFree,
  type LabelVersionDeps,
  labelVersion,
  type VersionLabels,
} from '#domain/registry/label-version.ts';
import { type RegisterStrategyDeps, registerStrategy } from '#domain/registry/register-strategy.ts';
import { numberOf } from '#domain/transitions/find-version.ts';
import { callerOf } from '../authenticate.ts';
import type { GroupHandlers, HandlerRequest } from '../handler.ts';
import { VERSION } from '../version.ts';
import type { ModelReads } from './mlflow-models.ts';
import { transitionCallOf } from './registry.ts';

type MlflowWrite =
  | `mlflowCreate${'Model' | 'Version'}`
  | `mlflow${'Set' | 'Delete'}${'Alias' | 'VersionTag'}`;

export type MlflowWriteDeps = LabelVersionDeps & RegisterStrategyDeps & MlflowModelsDeps;

const DONE = { status: 200, body: {} } as const;

/** Handlers of the calls of MLflow's client that write. They obey the rules of the registry's own operations. Long because it is their table. */
export function mlflowWriteHandlers(
  deps: MlflowWriteDeps,
  { checkModel, versionOf }: ModelReads,
): Pick<GroupHandlers<'mlflow'>, MlflowWrite> {
  const label = async (
    request: Pick<HandlerRequest<unknown>, 'principal' | 'headers' | 'correlationId'>,
    operation: MlflowWrite,
    input: { readonly name: string; readonly version: string; readonly alias?: string },
    change: (labels: VersionLabels) => Partial<VersionLabels>,
  ) => {
    const { name, version } = input;
    await checkModel(request.principal, name, 'write');
    const reference = { model: name, version, field: 'version', modelField: 'name', operation, input };
    const labelled = await labelVersion(deps, transitionCallOf(request), reference, change);
    return { ...DONE, changed: { model_name: name, version: labelled } };
  };
  return {
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
    mlflowSetVersionTag: async ({ body, ...request }) => {
      const { key, value = '' } = body;
      return label(request, 'mlflowSetVersionTag', body, ({ tags }) => ({
        tags: withTag(tags, { key, value }),
      }));
    },
    mlflowDeleteVersionTag: async ({ body, ...request }) =>
      label(request, 'mlflowDeleteVersionTag', body, ({ tags }) => ({ tags: withoutTag(tags, body.key) })),
  };
}
