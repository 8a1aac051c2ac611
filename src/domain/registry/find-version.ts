import { CodedError } from '#contract/errors.ts';
import type { StoredModel, StoredVersion } from '#contract/stored-registry.ts';
import type { RegistryStore } from './registry-store.ts';

/** Where a request names a version. */
export interface VersionReference {
  readonly model: string;
  /** A number, or one of the aliases `latest` and `champion`. */
  readonly version: string;
  /** Of the request, for the error. */
  readonly field: string;
}

const NUMBER = /^[1-9]\d{0,8}$/;

/** The version named. Throws RES002 for an unknown model, RES003 for a version that it does not have. */
export async function findVersion(
  registry: RegistryStore,
  { model: modelName, version, field }: VersionReference,
): Promise<StoredVersion> {
  const { model, versions } = await registry.read(modelName, NUMBER.test(version) ? [version] : []);
  if (!model) {
    throw new CodedError('RES002', {
      message: 'No version of this strategy is registered',
      field: 'name',
      context: { name: modelName },
    });
  }
  const aliased = numberOf(version, model);
  const found = aliased
    ? (await registry.read(modelName, [aliased])).versions.get(aliased)
    : versions.get(version);
  if (found) return found;
  throw new CodedError('RES003', {
    field,
    context: { model_name: modelName, version, latest_version: String(model.latest_version) },
  });
}

/** The number that an alias stands for; null when it is none, or stands for no version now. */
function numberOf(alias: string, model: StoredModel): string | null {
  if (alias === 'latest') return String(model.latest_version);
  return alias === 'champion' ? model.production_version : null;
}
