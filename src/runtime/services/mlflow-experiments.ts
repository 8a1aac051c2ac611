import { DEFAULT_EXPERIMENT, type MlflowExperiment } from '#contract/registry/mlflow-api.ts';
import { CodedError } from '#contract/values/errors.ts';
import { MLFLOW_LIMITS } from '#contract/values/registry-limits.ts';
import type { Caller } from '#domain/access/access.ts';
import { listExperiments } from '#domain/jobs/experiments.ts';
import type { Attributes, KnownFields, Searchable } from '#domain/mlflow/filter.ts';
import { asRecord } from '#domain/mlflow/models.ts';
import { checkQuery, type ListQuery, searchPage } from '#domain/mlflow/pages.ts';
import { experimentId, experimentName } from '#domain/mlflow/runs.ts';
import type { MlflowRunsDeps } from '#domain/mlflow/search-runs.ts';
import { callerOf, type Principal } from '../authenticate.ts';
import type { GroupHandlers } from '../handler.ts';

/** Handlers of MLflow's experiments. */
export function mlflowExperimentHandlers(deps: MlflowRunsDeps): GroupHandlers<'mlflowExperiments'> {
  const searchExperiments = async (
    principal: Principal,
    query: ListQuery & { readonly view_type?: string | undefined },
  ) => {
    checkQuery(query);
    const { items, next_page_token } = await searchPage(deps.cursors, query, SEARCHED, async () =>
      query.view_type === 'DELETED_ONLY' ? [] : experimentsOf(deps, callerOf(principal)),
    );
    return { status: 200 as const, body: { experiments: items, next_page_token } };
  };
  return {
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
  };
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

const SEARCHED = {
  fields: EXPERIMENT_FIELDS,
  searchable: searchableExperiment,
  most: MLFLOW_LIMITS.experiments,
};

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
