import { CodedError } from '#contract/errors.ts';
import { MAX_ID_LENGTH } from '#contract/limits.ts';
import type { StoredModel, StoredVersion } from '#contract/stored-registry.ts';
import type { IdempotentReply, RegistryStore, ReplyKey } from './registry-store.ts';

/** Where a request names a version. */
export interface VersionReference {
  readonly model: string;
  /** A number, or one of the aliases `latest` and `champion`. */
  readonly version: string;
  /** Of the request, for the error. */
  readonly field: string;
  /** Where the request names the model. Default `model_name`. */
  readonly modelField?: string;
}

/** A version that exists, with its model. */
export interface FoundVersion {
  readonly model: StoredModel;
  readonly version: StoredVersion;
}

/** What there may be of a version, and what is stored under an Idempotency-Key. */
interface LookedUp {
  readonly model: StoredModel | undefined;
  readonly version: StoredVersion | undefined;
  readonly reply: IdempotentReply | undefined;
}

/** More digits than a model can have versions. */
const NUMBER = /^[1-9]\d{0,8}$/;

/** The version named. Throws RES002 for an unknown model, RES003 for a version that it does not have. */
export async function findVersion(
  registry: RegistryStore,
  reference: VersionReference,
): Promise<StoredVersion> {
  return (await readVersion(registry, reference)).version;
}

/** The version named and its model. Throws as {@link findVersion}. */
export async function readVersion(
  registry: RegistryStore,
  reference: VersionReference,
): Promise<FoundVersion> {
  return existing(reference, await lookUpVersion(registry, reference, null));
}

/** What there is of the version named, and a stored reply: one read for a number, two for an alias. */
export async function lookUpVersion(
  registry: RegistryStore,
  { model: name, version: named }: VersionReference,
  key: ReplyKey | null,
): Promise<LookedUp> {
  // A body may name anything; a key of a table is limited.
  if (name.length > MAX_ID_LENGTH) return { model: undefined, version: undefined, reply: undefined };
  const { model, versions, reply } = await registry.read(name, NUMBER.test(named) ? [named] : [], key);
  const aliased = model && numberOf(named, model);
  const version = aliased
    ? (await registry.read(name, [aliased])).versions.get(aliased)
    : versions.get(named);
  return { model, version, reply };
}

/** What was looked up, if it exists. Throws as {@link findVersion}. */
export function existing(reference: VersionReference, { model, version }: LookedUp): FoundVersion {
  if (!model) throw unknownModel(reference.model, reference.modelField);
  if (version) return { model, version };
  throw new CodedError('RES003', {
    field: reference.field,
    context: {
      model_name: reference.model,
      version: reference.version.slice(0, 100),
      latest_version: String(model.latest_version),
    },
  });
}

/** No version was ever registered under that name. */
export function unknownModel(name: string, field = 'model_name'): CodedError {
  return new CodedError('RES002', {
    message: 'No version of this strategy is registered',
    field,
    context: { name: name.slice(0, 100) },
  });
}

/** The number that an alias stands for; null when it is none, or stands for no version now. */
export function numberOf(alias: string, model: StoredModel): string | null {
  if (alias === 'latest') return String(model.latest_version);
  return alias === 'champion' ? model.production_version : null;
}
