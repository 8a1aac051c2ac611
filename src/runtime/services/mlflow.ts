import { BACKTEST_ID_PREFIX } from '#contract/backtests/backtest.ts';
import { DEFAULT_EXPERIMENT, type MlflowExperiment } from '#contract/registry/mlflow-api.ts';
import { CodedError } from '#contract/values/errors.ts';
import { MLFLOW_LIMITS } from '#contract/values/registry-limits.ts';
import { MAX_ID_LENGTH } from '#contract/values/request-limits.ts';
import { type Caller, findAccessible, type Ownership } from '#domain/access/access.ts';
import { type ExportBacktestDeps, exportBacktest } from '#domain/backtests/export-backtest.ts';
import { getCompletedBacktest } from '#domain/backtests/get-backtest.ts';
import { listExperiments } from '#domain/jobs/experiments.ts';
import { artifactUri, filesBelow, formatOf, MODEL_FILE, modelFile } from '#domain/mlflow/artifacts.ts';
import { type Attributes, equalTo, type KnownFields, type Searchable } from '#domain/mlflow/filter.ts';
import {
  asRecord,
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
import { checkQuery, type ListQuery, pageOf, select } from '#domain/mlflow/pages.ts';
import { experimentId, experimentName } from '#domain/mlflow/runs.ts';
import { type MlflowRunsDeps, readRun, searchRuns } from '#domain/mlflow/search-runs.ts';
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
import type { BacktestsDeps } from './backtests.ts';
import { type MlflowWriteDeps, mlflowWriteHandlers } from './mlflow-writes.ts';
import { transitionCallOf } from './registry.ts';

interface MlflowDeps extends MlflowModelsDeps, MlflowRunsDeps, Pick<BacktestsDeps, 'downloads' | 'results'> {}

type FileRequest = Pick<
  Parameters<GroupHandlers<'mlflow'>['mlflowGetArtifact']>[0],
  'params' | 'correlationId'
>;

/** Handlers of MLflow's API. */
export function mlflowHandlers(
  deps: MlflowDeps & MlflowWriteDeps & TransitionStageDeps & ExportBacktestDeps,
  ownership: Ownership,
): GroupHandlers<'mlflow'> {
  /** Throws RES002, or AUTH005 unless the caller may do that with the model. */
  const checkModel = async (principal: Principal, name: string, level: 'read' | 'write'): Promise<void> => {
    // A body may name anything; a key of a table is limited.
    if (name.length > MAX_ID_LENGTH) throw unknownModel(name, 'name');
    await findAccessible(ownership, callerOf(principal), { kind: 'model', id: name, field: 'name', level });
  };
  const versionOf = async (model: string, version: string) => {
    const found = await getVersion(deps, { model, version });
    return { status: 200 as const, body: { model_version: versionView(model, found) } };
  };
  const newestVersions = async (
    principal: Principal,
    { name, stages }: { readonly name: string; readonly stages?: readonly string[] | undefined },
  ) => {
    await checkModel(principal, name, 'read');
    return { status: 200 as const, body: { model_versions: await latestVersions(deps, name, stages) } };
  };
  const searchExperiments = async (
    principal: Principal,
    query: ListQuery & { readonly view_type?: string | undefined },
  ) => {
    checkQuery(query);
    const found = await afterOtherSearches(async () => {
      const all = query.view_type === 'DELETED_ONLY' ? [] : await experimentsOf(deps, callerOf(principal));
      return select(all, query, EXPERIMENT_FIELDS, searchableExperiment);
    });
    const page = pageOf(deps.cursors, found, 'experiments', query, MLFLOW_LIMITS.experiments);
    return {
      status: 200 as const,
      body: { experiments: page.items, next_page_token: page.next_page_token },
    };
  };
  const fileOf = async ({ params, correlationId }: FileRequest) => {
    const { job_id, file } = params;
    const answer = (body: string, contentType: string) => {
      const headers: Record<string, string> = { 'Content-Type': contentType };
      return { status: 200 as const, body, headers };
    };
    if (file === MODEL_FILE)
      return answer(modelFile(await getCompletedBacktest(deps, job_id)), 'application/yaml');
    const exported = await exportBacktest(deps, job_id, { format: formatOf(file), correlationId });
    if ('file' in exported) return answer(exported.content, exported.file.contentType);
    const headers: Record<string, string> = { Location: exported.link.url };
    return { status: 302 as const, body: '', headers };
  };
  return {
    ...mlflowWriteHandlers(deps, { checkModel, versionOf }),
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
    mlflowSearchExperiments: async ({ body, principal }) => searchExperiments(principal, body),
    mlflowListExperiments: async ({ query, principal }) => searchExperiments(principal, query),
    mlflowGetExperiment: async ({ query: { experiment_id }, principal }) => {
      const name = experimentName(experiment_id);
      if (name === undefined) throw unknownExperiment('experiment_id');
      return oneExperiment(deps, callerOf(principal), name, 'experiment_id');
    },
    mlflowGetExperimentByName: async ({ query: { experiment_name }, principal }) => {
      const name = experiment_name === DEFAULT_EXPERIMENT.name ? null : experiment_name;
      return oneExperiment(deps, callerOf(principal), name, 'experiment_name');
    },
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
    mlflowListArtifacts: async ({ query: { path = '' }, principal }) => {
      const files = path === '' ? [] : await filesOf(deps, ownership, callerOf(principal), path);
      return { status: 200, body: { root_uri: artifactUri(path), files } };
    },
    mlflowGetArtifact: fileOf,
    mlflowGetModelFile: fileOf,
  };
}

/** Files of a run, of which only a completed backtest has some. */
async function filesOf(deps: MlflowRunsDeps, ownership: Ownership, caller: Caller, path: string) {
  const [id = '', ...below] = path.split('/');
  const { info } = await readRun(deps, ownership, caller, id);
  if (info.status !== 'FINISHED' || !id.startsWith(BACKTEST_ID_PREFIX)) return [];
  return filesBelow(below.join('/')).map((name) => ({ path: name, is_dir: false }));
}

/** Fields of an experiment by which a search filters and orders. */
const EXPERIMENT_FIELDS = {
  of: 'experiments',
  attributes: ['name', 'experiment_id', 'last_update_time'],
  groups: ['tags'],
} as const satisfies KnownFields;

function searchableExperiment({ name, experiment_id, last_update_time, tags }: MlflowExperiment): Searchable {
  const attributes: Attributes<typeof EXPERIMENT_FIELDS> = { name, experiment_id, last_update_time };
  return { attributes, tags: asRecord(tags) };
}

function experiment(name: string | null, lastSubmitted: string | undefined): MlflowExperiment {
  return {
    experiment_id: experimentId(name),
    name: name ?? DEFAULT_EXPERIMENT.name,
    artifact_location: 'mlflow-artifacts:/',
    lifecycle_stage: 'active',
    last_update_time: lastSubmitted === undefined ? 0 : Date.parse(lastSubmitted),
    tags: [],
  };
}

/** Experiments of the caller, newest first, after the default one. */
async function experimentsOf(deps: MlflowRunsDeps, caller: Caller): Promise<MlflowExperiment[]> {
  const found = [experiment(null, undefined)];
  let cursor: string | undefined;
  do {
    const { items, next } = await listExperiments(deps, { caller, limit: 100, ...(cursor && { cursor }) });
    found.push(...items.map(({ name, last }) => experiment(name, last.created_at)));
    cursor = next ?? undefined;
  } while (cursor !== undefined && found.length < MLFLOW_LIMITS.experiments);
  return found;
}

/** The experiment of a name. It exists for the caller who sees a job of it. */
async function oneExperiment(deps: MlflowRunsDeps, caller: Caller, name: string | null, field: string) {
  if (name === null) return { status: 200 as const, body: { experiment: experiment(null, undefined) } };
  const filter = { ...(!caller.isAdmin && { visibleTo: caller }), experiment_name: name };
  const newest = await Promise.all(
    [deps.jobs, deps.hyperoptJobs].map(
      async (jobs) => (await jobs.list(filter, 1, null)).items[0]?.created_at,
    ),
  );
  const times = newest.filter((each) => each !== undefined).sort();
  if (times.length === 0) throw unknownExperiment(field);
  return { status: 200 as const, body: { experiment: experiment(name, times.at(-1)) } };
}

function unknownExperiment(field: string): CodedError {
  return new CodedError('RES004', { message: 'No job that you may read has this experiment', field });
}
