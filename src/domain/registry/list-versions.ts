import { lookAheadStateOf } from '#contract/look-ahead.ts';
import type { ModelVersion, ModelVersionDetail } from '#contract/registry-api.ts';
import type { StoredModel, StoredVersion } from '#contract/stored-registry.ts';
import { readVersion, unknownModel } from './find-version.ts';
import type { RegistryStore } from './registry-store.ts';
import type { StagingChecks } from './staging-checks.ts';
import { currentValidation } from './validation.ts';

export interface ReadVersionsDeps {
  readonly registry: RegistryStore;
  readonly stagingChecks: Pick<StagingChecks, 'outcome'> | null;
}

/** Versions of a model, newest number first. Throws RES002 for an unknown model, SVC005. */
export async function listVersions(
  deps: ReadVersionsDeps,
  input: { readonly model: string; readonly includeArchived: boolean },
): Promise<ModelVersion[]> {
  const [{ model }, all] = await Promise.all([
    deps.registry.read(input.model, []),
    deps.registry.versions(input.model),
  ]);
  if (!model) throw unknownModel(input.model);
  const shown = input.includeArchived ? all : all.filter(({ stage }) => stage !== 'Archived');
  return Promise.all(shown.map(async (version) => view(model, await asItIsNow(deps, version))));
}

/** One version, by number or alias. Throws RES002, RES003, SVC005. */
export async function getVersion(
  deps: ReadVersionsDeps,
  input: { readonly model: string; readonly version: string },
): Promise<ModelVersionDetail> {
  const found = await readVersion(deps.registry, { ...input, field: 'version' });
  const version = await asItIsNow(deps, found.version);
  const { model_name, config, validation } = version;
  return { model_name, ...view(found.model, version), config, validation };
}

async function asItIsNow(
  { stagingChecks }: ReadVersionsDeps,
  version: StoredVersion,
): Promise<StoredVersion> {
  return { ...version, validation: await currentValidation(stagingChecks, version) };
}

function view(model: StoredModel, version: StoredVersion): ModelVersion {
  return {
    version: version.version,
    stage: version.stage,
    created_at: version.created_at,
    updated_at: version.updated_at,
    description: version.description,
    backtest_run_id: version.backtest_run_id,
    container_image_uri: version.container_image_uri,
    image_digest: version.image_digest,
    metrics: version.metrics,
    thresholds: version.thresholds,
    validation_status: version.validation.status,
    look_ahead: lookAheadStateOf(version.validation.checks),
    created_by: version.created_by,
    staged_at: version.staged_at,
    promoted_at: version.promoted_at,
    archived_at: version.archived_at,
    rolled_back: version.rolled_back,
    rolled_back_reason: version.rolled_back_reason,
    aliases: aliasesOf(model, version),
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

function aliasesOf(model: StoredModel, { version }: StoredVersion): string[] {
  return [
    ...(version === String(model.latest_version) ? ['latest'] : []),
    ...(version === model.production_version ? ['champion'] : []),
  ];
}
