import type { StoredModel, StoredVersion } from '#contract/registry/stored-registry.ts';
import { CodedError, type ErrorCode } from '#contract/values/errors.ts';
import { MAX_ID_LENGTH } from '#contract/values/request-limits.ts';
import { unknownModel } from '../shared/unknown-resources.ts';
import type { IdempotencyKey, IdempotencyRecord } from './apply-transition.ts';
import type { RegistryStore } from './registry-store.ts';

/** A version that a request names, and the fields that name it. */
export interface RequestedVersion {
  readonly model: string;
  /** A number, or an alias: `latest`, `champion`, or one that users gave. */
  readonly version: string;
  /** Field of the request, for the error. */
  readonly field: string;
  /** Field that names the model. Default `model_name`. */
  readonly modelField?: string;
}

/** A version that exists, with its model. */
export interface FoundVersion {
  readonly model: StoredModel;
  readonly version: StoredVersion;
}

/** A version that may exist, its model, and the record stored under an Idempotency-Key. */
interface LookedUp {
  readonly model: StoredModel | undefined;
  readonly version: StoredVersion | undefined;
  readonly idempotencyRecord: IdempotencyRecord | undefined;
}

/** More digits than a model can have versions. */
const NUMBER = /^[1-9]\d{0,8}$/;

/** The version named. Throws RES002 for an unknown model, RES003 for a version that it does not have. */
export async function findVersion(
  registry: RegistryStore,
  reference: RequestedVersion,
): Promise<StoredVersion> {
  return (await readVersion(registry, reference)).version;
}

/** The version named and its model. Throws as {@link findVersion}. */
export async function readVersion(
  registry: RegistryStore,
  reference: RequestedVersion,
): Promise<FoundVersion> {
  return existing(reference, await lookUpVersion(registry, reference, null));
}

/** Looks up the named version and an idempotency record: one read for a number, two for an alias. */
export async function lookUpVersion(
  registry: RegistryStore,
  { model: name, version: named }: RequestedVersion,
  key: IdempotencyKey | null,
): Promise<LookedUp> {
  // A body may name anything; a key of a table is limited.
  if (name.length > MAX_ID_LENGTH)
    return { model: undefined, version: undefined, idempotencyRecord: undefined };
  const { model, versions, idempotencyRecord } = await registry.read(
    name,
    NUMBER.test(named) ? [named] : [],
    key,
  );
  const aliased = model && numberOf(named, model);
  const version = aliased
    ? (await registry.read(name, [aliased])).versions.get(aliased)
    : versions.get(named);
  return { model, version, idempotencyRecord };
}

/** The version that was looked up. Throws as {@link findVersion}. */
export function existing(reference: RequestedVersion, { model, version }: LookedUp): FoundVersion {
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

/** Aliases that the platform sets: `latest` is the newest version, `champion` the one in Production. */
export const OWN_ALIASES: readonly string[] = ['latest', 'champion'];

/** All aliases of a model with their versions, those of the platform first. */
export function aliasesOf(model: StoredModel): StoredModel['aliases'] {
  const { latest_version, production_version, aliases } = model;
  return [
    { alias: 'latest', version: String(latest_version) },
    ...(production_version === null ? [] : [{ alias: 'champion', version: production_version }]),
    ...aliases,
  ];
}

/** Names of the aliases of a version, those of the platform first. */
export function aliasNames(model: StoredModel, { version }: Pick<StoredVersion, 'version'>): string[] {
  return aliasesOf(model)
    .filter((each) => each.version === version)
    .map(({ alias }) => alias);
}

/** The version number of an alias; null for other names, and for an alias without a version. */
export function numberOf(alias: string, model: StoredModel): string | null {
  return aliasesOf(model).find((each) => each.alias === alias)?.version ?? null;
}

interface Rejected {
  readonly model: StoredModel;
  readonly version: StoredVersion;
  /** Field that names the version. Default `version`. */
  readonly field?: string;
}

/** The error of a transition that a version's state forbids: RES005, or RES006 for an archived version. */
export function rejection(
  code: Extract<ErrorCode, 'RES005' | 'RES006'>,
  { model, version, field = 'version' }: Rejected,
  message: string,
  context: Readonly<Record<string, unknown>> = {},
): CodedError {
  return new CodedError(code, {
    message,
    field,
    context: {
      model_name: model.model_name,
      version: version.version,
      stage: version.stage,
      current_production: model.production_version,
      ...context,
    },
  });
}

/** Throws RES005 when another version than `expected`, a number or an alias, is in Production; undefined expects nothing. */
export function checkExpectedProduction(model: StoredModel, expected: string | null | undefined): void {
  const number = expected && (numberOf(expected, model) ?? expected);
  if (number === undefined || number === model.production_version) return;
  const shown = expected?.slice(0, 100) ?? null;
  throw new CodedError('RES005', {
    message: `${model.production_version === null ? 'No version' : `Version ${model.production_version}`} is in Production, not ${shown ?? 'none'}`,
    field: 'expected_production',
    context: { expected_production: shown, current_production: model.production_version },
  });
}
