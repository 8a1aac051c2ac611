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
  return Promise.all(shown.map((version) => view(deps, model, version)));
}

/** One version, by number or alias. Throws RES002, RES003, SVC005. */
export async function getVersion(
  deps: ReadVersionsDeps,
  input: { readonly model: string; readonly version: string },
): Promise<ModelVersionDetail> {
  const { model, version } = await readVersion(deps.registry, { ...input, field: 'version' });
  const validation = await currentValidation(deps.stagingChecks, version);
  return {
    model_name: model.model_name,
    ...(await view(deps, model, { ...version, validation })),
    config: version.config,
    validation,
  };
}

async function view(
  { stagingChecks }: ReadVersionsDeps,
  model: StoredModel,
  version: StoredVersion,
): Promise<ModelVersion> {
  const { status } = await currentValidation(stagingChecks, version);
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
    validation_status: status,
    created_by: version.created_by,
    staged_at: version.staged_at,
    promoted_at: version.promoted_at,
    archived_at: version.archived_at,
    rolled_back: version.rolled_back,
    rolled_back_reason: version.rolled_back_reason,
    aliases: aliasesOf(model, version),
    tags: version.tags,
    trials: version.trials,
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
