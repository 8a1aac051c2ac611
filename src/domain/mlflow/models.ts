import type { KeyValue, MlflowModel, MlflowVersion } from '#contract/registry/mlflow-api.ts';
import type { ModelVersion } from '#contract/registry/registry-api.ts';
import { STAGES, type Stage } from '#contract/registry/stored-registry.ts';
import { CodedError } from '#contract/values/errors.ts';
import { MAX_ID_LENGTH } from '#contract/values/request-limits.ts';
import { type Caller, mayAccess } from '../access/access.ts';
import type { Strategies } from '../config/strategy-ports.ts';
import type { Clock } from '../ports.ts';
import { modelWithVersions, type ReadModelsDeps } from '../registry/read-models.ts';
import { isoTime } from '../shared/iso-time.ts';
import { isOwnTag, OWN_TAGS } from '../shared/validate.ts';
import { aliasesOf } from '../transitions/find-version.ts';
import { artifactUri } from './artifacts.ts';
import type { Attributes, KnownFields, Searchable } from './filter.ts';

/** The registry as MLflow's clients see it: a registered model is a strategy. */

export interface MlflowModelsDeps extends ReadModelsDeps {
  readonly strategies: Strategies;
}

/** Names of the models that the caller may read, ascending; of one name at most that. Throws SVC005. */
export async function modelNames(
  { registry, strategies }: Pick<MlflowModelsDeps, 'registry' | 'strategies'>,
  caller: Caller,
  named?: string,
): Promise<string[]> {
  const names = new Set<string>();
  if (named === undefined) {
    for (const { definition } of (await strategies.list()).strategies) names.add(definition.name);
    // The file of a released strategy may be gone.
    for await (const { row } of registry.catalog({}, { field: 'name', order: 'asc' }, null))
      names.add(row.model_name);
  } else if (named !== '' && named.length <= MAX_ID_LENGTH) {
    // A key of a table has a length; no model has another name.
    names.add(named);
  }
  const models = await registry.sharing.findMany([...names]);
  return [...models]
    .filter(([, model]) => mayAccess(caller, model, 'read'))
    .map(([name]) => name)
    .sort();
}

/** A model with the newest version of each stage. Throws RES002, SVC005. */
export async function readModel(deps: MlflowModelsDeps, name: string): Promise<MlflowModel> {
  const { model, versions } = await modelWithVersions(deps, name);
  return {
    ...times(model),
    name,
    user_id: model.owner,
    description: '',
    latest_versions: newestOf(name, versions, STAGES),
    tags: [],
    aliases: aliasesOf(model),
  };
}

/** Error of the creation of a model that exists; the client of MLflow then creates a version. */
export function modelExists(name: string): CodedError {
  return new CodedError('RES005', {
    message: `${name} has versions already: create another one`,
    field: 'name',
    context: { exists: true },
  });
}

/** A strategy without a version as a model. Throws VAL005 for what is stored with versions only. */
export function newModelView(
  clock: Clock,
  caller: Caller,
  asked: {
    readonly name: string;
    readonly description?: string | undefined;
    readonly tags?: readonly unknown[] | undefined;
  },
): MlflowModel {
  const { name, description = '', tags = [] } = asked;
  const field = tags.length > 0 ? 'tags' : 'description';
  if (tags.length > 0 || description !== '') {
    const message = `Models have no ${field}: give it to the version`;
    throw new CodedError('VAL005', { message, field });
  }
  const at = isoTime(clock.now());
  const lists = { latest_versions: [], tags: [], aliases: [] };
  return { ...times({ created_at: at, updated_at: at }), name, user_id: caller.id, description, ...lists };
}

/** Versions of a model, newest number first. Throws RES002, SVC005. */
export async function readVersions(deps: MlflowModelsDeps, name: string): Promise<MlflowVersion[]> {
  const { versions } = await modelWithVersions(deps, name);
  return versions.map((version) => versionView(name, version));
}

/** Newest version of each of the stages. */
function newestOf(
  name: string,
  versions: readonly ModelVersion[],
  stages: readonly string[],
): MlflowVersion[] {
  return stages.flatMap((stage) => {
    const newest = versions.find((version) => version.stage === stage);
    return newest ? [versionView(name, newest)] : [];
  });
}

/** Newest version of each of the stages of a model; without stages of every one. Throws VAL005, RES002, SVC005. */
export async function latestVersions(
  deps: MlflowModelsDeps,
  name: string,
  stages: readonly string[] = [],
): Promise<MlflowVersion[]> {
  const wanted = stages.map((stage) => stageOf(stage, 'stages'));
  const { versions } = await modelWithVersions(deps, name);
  return newestOf(
    name,
    versions,
    stages.length > 0 ? STAGES.filter((each) => wanted.includes(each)) : STAGES,
  );
}

/** The stage with a name, in any case: MLflow's client accepts either. Throws VAL005 for one that does not exist. */
export function stageOf(name: string, field: string): Stage {
  const stage = STAGES.find((each) => each.toLowerCase() === name.toLowerCase());
  if (stage) return stage;
  throw new CodedError('VAL005', {
    message: `No stage is named ${JSON.stringify(name.slice(0, 40))}: the stages are ${STAGES.join(', ')}`,
    field,
    context: { value: name.slice(0, 40), allowed: STAGES },
  });
}

export function versionView(name: string, version: ModelVersion): MlflowVersion {
  return {
    ...times(version),
    name,
    version: version.version,
    user_id: version.created_by,
    current_stage: version.stage,
    description: version.description,
    source: artifactUri(version.backtest_run_id),
    run_id: version.backtest_run_id,
    // A version exists once it is whole.
    status: 'READY',
    tags: versionTags(version),
    aliases: version.aliases,
  };
}

function versionTags(version: ModelVersion): KeyValue[] {
  const { evidence, image_digest } = version;
  return allTags(
    ownTags({
      validation_status: version.validation_status,
      look_ahead: version.look_ahead,
      container_image_uri: version.container_image_uri,
      image_digest,
      trials: version.trials,
      deflated_sharpe_ratio: evidence?.deflated_sharpe_ratio,
      candle_digest: version.candle_digest,
      strategy_digest: version.strategy_digest,
      engine_version: version.engine_version,
      content_hash: version.content_hash,
      rolled_back: version.rolled_back,
      stopped: version.stopped,
    }),
    version.tags,
  );
}

/**
 * Tags of the platform, then those of users as pairs: `desk=fx` is the tag `desk` with the value `fx`. A user's tag that is, or
 * reads as, one of the platform is left out, so a filter on it sees the platform's only.
 */
export function allTags(own: readonly KeyValue[], tags: readonly string[]): KeyValue[] {
  const keys = new Set(own.map(({ key }) => key));
  const pairs = tags.map((tag) => {
    const at = tag.indexOf('=');
    return at < 1 ? { key: tag, value: '' } : { key: tag.slice(0, at), value: tag.slice(at + 1) };
  });
  return [...own, ...pairs.filter(({ key }) => !keys.has(key) && !isOwnTag(key))];
}

/** Tags with what Touchstone knows of a version or run, without those that have no value. */
export function ownTags(values: Readonly<Record<string, unknown>>): KeyValue[] {
  return Object.entries(values)
    .filter(([, value]) => value !== null && value !== undefined)
    .map(([key, value]) => ({ key: `${OWN_TAGS}${key}`, value: String(value) }));
}

function times({ created_at, updated_at }: { readonly created_at: string; readonly updated_at: string }) {
  return { creation_timestamp: Date.parse(created_at), last_updated_timestamp: Date.parse(updated_at) };
}

/** Fields of a model by which a search filters and orders. */
export const MODEL_FIELDS = {
  of: 'models',
  attributes: ['name', 'creation_timestamp', 'last_updated_timestamp', 'timestamp'],
  groups: ['tags'],
} as const satisfies KnownFields;

/** A model as a search reads it. */
export function searchableModel({ tags, ...model }: MlflowModel): Searchable {
  const { name, creation_timestamp, last_updated_timestamp } = model;
  const attributes: Attributes<typeof MODEL_FIELDS> = {
    name,
    creation_timestamp,
    last_updated_timestamp,
    timestamp: last_updated_timestamp,
  };
  return { attributes, tags: asRecord(tags) };
}

/** Fields of a version by which a search filters and orders. */
export const VERSION_FIELDS = {
  of: 'versions',
  attributes: [
    'name',
    'version_number',
    'run_id',
    'source_path',
    'creation_timestamp',
    'last_updated_timestamp',
    'current_stage',
    'stage',
    'version',
  ],
  groups: ['tags'],
} as const satisfies KnownFields;

/** A version as a search reads it. */
export function searchableVersion(version: MlflowVersion): Searchable {
  const { name, run_id, source, current_stage, creation_timestamp, last_updated_timestamp } = version;
  const number = Number(version.version);
  const attributes: Attributes<typeof VERSION_FIELDS> = {
    name,
    version_number: number,
    version: number,
    run_id,
    source_path: source,
    current_stage,
    stage: current_stage,
    creation_timestamp,
    last_updated_timestamp,
  };
  return { attributes, tags: asRecord(version.tags) };
}

/** Pairs by key; the first of a key holds. */
export function asRecord<T>(
  pairs: readonly { readonly key: string; readonly value: T }[],
): Record<string, T> {
  return Object.fromEntries(pairs.toReversed().map(({ key, value }) => [key, value]));
}
