import type { OperationOf } from '#contract/operations/operations.ts';
import { MAX_ID_LENGTH } from '#contract/values/request-limits.ts';
import { findAccessible, type Ownership } from '#domain/access/access.ts';
import { type MlflowModelsDeps, versionView } from '#domain/mlflow/models.ts';
import { type LabelVersionDeps, labelVersion, type VersionLabels } from '#domain/registry/label-version.ts';
import { getVersion } from '#domain/registry/read-models.ts';
import { unknownModel } from '#domain/shared/unknown-resources.ts';
import { callerOf, type Principal } from '../authenticate.ts';
import type { HandlerRequest } from '../handler.ts';
import { transitionCallOf } from './registry.ts';

/** Response of a change. */
export const DONE = { status: 200, body: {} } as const;

/** What handlers of MLflow's models and of their versions share. */
export function mlflowModelCalls(deps: MlflowModelsDeps & LabelVersionDeps, ownership: Ownership) {
  /** Throws RES002, or AUTH005 unless the caller may do that with the model. */
  const checkModel = async (principal: Principal, name: string, level: 'read' | 'write') => {
    // A body may name anything; a key of a table is limited.
    if (name.length > MAX_ID_LENGTH) throw unknownModel(name, 'name');
    await findAccessible(ownership, callerOf(principal), { kind: 'model', id: name, field: 'name', level });
  };
  return {
    checkModel,
    /** Response with a version. Throws RES002, RES003. */
    versionOf: async (model: string, version: string) => {
      const found = await getVersion(deps, { model, version });
      return { status: 200 as const, body: { model_version: versionView(model, found) } };
    },
    /** Changes the aliases or tags of a version. */
    label: async (
      request: Pick<HandlerRequest<unknown>, 'principal' | 'headers' | 'correlationId'>,
      operation: OperationOf<'mlflowModels' | 'mlflowVersions'>['id'],
      input: { readonly name: string; readonly version: string; readonly alias?: string },
      change: (labels: VersionLabels) => Partial<VersionLabels>,
    ) => {
      const { name, version } = input;
      await checkModel(request.principal, name, 'write');
      const reference = { model: name, version, field: 'version', modelField: 'name', operation, input };
      const labelled = await labelVersion(deps, transitionCallOf(request), reference, change);
      return { ...DONE, changed: { model_name: name, version: labelled } };
    },
  };
}
