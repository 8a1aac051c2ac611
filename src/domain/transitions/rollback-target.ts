import type { RegistryEvent, StoredModel, StoredVersion } from '#contract/registry/stored-registry.ts';
import { CodedError } from '#contract/values/errors.ts';
import { TOUCHSTONE } from '#contract/values/names.ts';
import type { RegistryStore } from './registry-store.ts';

/** Part of an event that changed the version in Production. */
export type ProductionChange = Pick<RegistryEvent, 'action' | 'production' | 'previous_production'>;

/** Versions that a rollback can return to. */
interface RollbackTargets {
  /** The version that was in Production last before the present one and was never rolled back or stopped; null without one. */
  readonly target: string | null;
  /** Versions that were in Production and are not now, the last one first. */
  readonly named: readonly string[];
}

/** Most versions that the error of a rollback lists. */
const MAX_LISTED = 20;

/**
 * The version to which a rollback returns by default, and those that it can name.
 *
 * @param changes all changes of Production, newest first
 * @param production version in Production now; null after a stop, whose version then counts as the present one
 */
export function rollbackTargets(
  changes: readonly ProductionChange[],
  production: string | null,
): RollbackTargets {
  const present = production ?? changes[0]?.previous_production ?? null;
  const ended = new Set(
    changes
      .filter(({ action }) => action === 'rollback' || action === 'stop')
      .map(({ previous_production }) => previous_production),
  );
  const entered = changes.map((change) => change.production).filter((version) => version !== null);
  const versions = [...new Set(entered)];
  return {
    target: versions.find((version) => version !== present && !ended.has(version)) ?? null,
    named: versions.filter((version) => version !== production),
  };
}

/**
 * The version to which a rollback of the model returns by default.
 * Throws RES005 with the versions that can be named, SVC005.
 */
export async function rollbackTarget(
  registry: Pick<RegistryStore, 'productionChanges' | 'read'>,
  model: StoredModel,
): Promise<StoredVersion> {
  const { model_name, production_version } = model;
  const changes: ProductionChange[] = [];
  for await (const event of registry.productionChanges(model_name, null)) changes.push(event);
  const { target, named } = rollbackTargets(changes, production_version);
  if (target === null) throw noTarget(model, named.slice(0, MAX_LISTED));
  return (await registry.read(model_name, [target])).versions.get(target)!;
}

function noTarget({ model_name, production_version }: StoredModel, versions: readonly string[]): CodedError {
  const message =
    versions.length > 0
      ? `Each earlier version in Production was rolled back or stopped. Name the one to return to: ${versions.join(', ')}`
      : production_version === null
        ? `No version of ${model_name} was ever in Production. Stage and promote one instead`
        : `Version ${production_version} is the first in Production: there is none to return to. To leave Production empty: ${TOUCHSTONE} stop ${model_name}`;
  const context = { model_name, current_production: production_version, versions };
  return new CodedError('RES005', { message, field: 'version', context });
}
