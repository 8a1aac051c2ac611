import type { ModelVersion, ModelVersionDetail, ProductionAt } from '#contract/registry/registry-api.ts';
import type { RegistryEvent, StoredModel, StoredVersion } from '#contract/registry/stored-registry.ts';
import { CodedError } from '#contract/values/errors.ts';
import { MAX_RESPONSE_BYTES } from '#contract/values/request-limits.ts';
import type { Clock, Page } from '../ports.ts';
import type { Cursors } from '../shared/cursors.ts';
import { ACCEPTED_TIMES, isoTime, parseTime } from '../shared/iso-time.ts';
import { unknownModel } from '../shared/unknown-resources.ts';
import type { StagingChecks } from '../transitions/check-status.ts';
import { currentValidation, lookAheadStateOfVersion } from '../transitions/check-status.ts';
import { aliasNames, readVersion } from '../transitions/find-version.ts';
import type { EndedVersion, RegistryStore } from '../transitions/registry-store.ts';
import { sameRunIn } from '../transitions/same-run.ts';

/** Bytes of a response around its versions: names and the cursor. */
const ROOM_FOR_ENVELOPE = 8_192;

export interface ReadModelsDeps {
  readonly registry: RegistryStore;
  readonly clock: Clock;
  readonly stagingChecks: Pick<StagingChecks, 'outcome'> | null;
}

interface ListVersionsInput {
  readonly model: string;
  readonly includeArchived: boolean;
  readonly limit: number;
  readonly cursor: string | null;
}

/** One page of the versions of a model, newest number first. Throws RES002 for an unknown model, VAL006, SVC005. */
export async function listVersions(
  deps: ReadModelsDeps & { readonly cursors: Cursors },
  input: ListVersionsInput,
): Promise<Page<ModelVersion>> {
  const { includeArchived, limit, cursor } = input;
  const scope = { list: 'versions', model: input.model, include_archived: String(includeArchived) };
  const below = cursor === null ? null : deps.cursors.decode(cursor, scope, 1)[0]!;
  const { model } = await deps.registry.read(input.model, []);
  if (!model) throw unknownModel(input.model);
  // One version more than the limit shows that another page follows.
  const found: StoredVersion[] = [];
  for await (const version of deps.registry.versionsBelow(input.model, below, limit + 1)) {
    if (includeArchived || version.stage !== 'Archived') found.push(version);
    if (found.length > limit) break;
  }
  const items = upToBytes(await viewsOf(deps, model, found.slice(0, limit)));
  const more = items.length < found.length;
  return { items, next: more ? deps.cursors.encode([items.at(-1)!.version], scope) : null };
}

/** The first of the versions that fit into a response; at least one. */
function upToBytes(versions: readonly ModelVersion[]): ModelVersion[] {
  let bytes = 0;
  return versions.filter((version, index) => {
    bytes += Buffer.byteLength(JSON.stringify(version)) + 1;
    return index === 0 || bytes < MAX_RESPONSE_BYTES - ROOM_FOR_ENVELOPE;
  });
}

/** A model and all of its versions, newest number first. Throws RES002 for an unknown model, SVC005. */
export async function modelWithVersions(
  deps: ReadModelsDeps,
  name: string,
): Promise<{ readonly model: StoredModel; readonly versions: readonly ModelVersion[] }> {
  const [{ model }, all] = await Promise.all([deps.registry.read(name, []), deps.registry.versions(name)]);
  if (!model) throw unknownModel(name);
  return { model, versions: await viewsOf(deps, model, all) };
}

async function viewsOf(
  deps: ReadModelsDeps,
  model: StoredModel,
  versions: readonly StoredVersion[],
): Promise<ModelVersion[]> {
  const ended = await deps.registry.endedVersions(model.model_name);
  return Promise.all(versions.map(async (version) => view(model, await asItIsNow(deps, version), ended)));
}

/** One version, by number or alias. Throws RES002, RES003, SVC005. */
export async function getVersion(
  deps: ReadModelsDeps,
  input: { readonly model: string; readonly version: string },
): Promise<ModelVersionDetail> {
  const found = await readVersion(deps.registry, { ...input, field: 'version' });
  const [version, ended] = await Promise.all([
    asItIsNow(deps, found.version),
    deps.registry.endedVersions(input.model),
  ]);
  const { model_name, config, validation } = version;
  return { model_name, ...view(found.model, version, ended), config, validation };
}

/** One page of a model's history, newest first. Throws RES002, VAL006 for a broken or foreign cursor, SVC005. */
export async function getHistory(
  { registry }: Pick<ReadModelsDeps, 'registry'>,
  input: { readonly model: string; readonly limit: number; readonly cursor: string | null },
): Promise<Page<RegistryEvent>> {
  const page = await registry.history(input.model, input.limit, input.cursor);
  // Every model has the event of its first registration: an empty first page is of none.
  if (page.items.length === 0 && input.cursor === null) throw unknownModel(input.model);
  return page;
}

/** The version in Production at a time (default: now). Throws RES002, VAL005 for an invalid or future time, SVC005. */
export async function getProduction(
  { registry, clock }: Pick<ReadModelsDeps, 'registry' | 'clock'>,
  input: { readonly model: string; readonly at?: string | undefined },
): Promise<ProductionAt> {
  const time = input.at === undefined ? clock.now() : parseTime(input.at);
  if (time === undefined) {
    throw new CodedError('VAL005', {
      message: `at must be a time: ${ACCEPTED_TIMES}`,
      field: 'at',
      context: { value: input.at },
    });
  }
  if (time > clock.now()) {
    const context = { value: input.at, max: isoTime(clock.now()) };
    const message = `at is in the future: ${input.at}. Pass a time up to now.`;
    throw new CodedError('VAL005', { message, field: 'at', context });
  }
  const at = isoTime(time);
  // Times of a history never decrease: after a clock was ahead, the last events are of times to come.
  const isNow = input.at === undefined;
  const [{ model }, event] = await Promise.all([
    registry.read(input.model, []),
    isNow ? undefined : registry.eventAt(input.model, at),
  ]);
  if (!model) throw unknownModel(input.model);
  const version = isNow ? model.production_version : (event?.production ?? null);
  return { model_name: model.model_name, at, version };
}

async function asItIsNow({ stagingChecks }: ReadModelsDeps, version: StoredVersion): Promise<StoredVersion> {
  return { ...version, validation: await currentValidation(stagingChecks, version) };
}

function view(model: StoredModel, version: StoredVersion, ended: readonly EndedVersion[]): ModelVersion {
  return {
    version: version.version,
    stage: version.stage,
    created_at: version.created_at,
    updated_at: version.updated_at,
    description: version.description,
    backtest_run_id: version.backtest_run_id,
    exchange: version.config.exchange,
    container_image_uri: version.container_image_uri,
    image_digest: version.image_digest,
    metrics: version.metrics,
    thresholds: version.thresholds,
    validation_status: version.validation.status,
    look_ahead: lookAheadStateOfVersion(version),
    created_by: version.created_by,
    staged_at: version.staged_at,
    promoted_at: version.promoted_at,
    archived_at: version.archived_at,
    rolled_back: version.rolled_back,
    rolled_back_reason: version.rolled_back_reason,
    stopped: version.stopped,
    stopped_reason: version.stopped_reason,
    same_run_as: sameRunIn(ended, version),
    aliases: aliasNames(model, version),
    tags: version.tags,
    trials: version.trials,
    evidence: version.evidence ?? null,
    waivers: version.waivers,
    candle_digest: version.candle_digest,
    strategy_digest: version.strategy_digest,
    engine_version: version.engine_version,
    content_hash: version.content_hash,
  };
}
