import type { Immutable } from '#contract/common/immutable.ts';
import type { SignalsRequest } from '#contract/market-data/signals-api.ts';
import type { StoredSignals } from '#contract/market-data/stored-signals.ts';
import type { Digest } from '#contract/values/digest.ts';
import { CodedError } from '#contract/values/errors.ts';
import { SIGNALS_FORMATS, SIGNALS_ID_PREFIX, SIGNALS_LIMITS } from '#contract/values/signals-limits.ts';
import type { Clock, Ids, Page } from '../ports.ts';
import type { Cursors } from '../shared/cursors.ts';
import { checkStillOwn, idFromKey, keyUsedAgain } from '../shared/idempotency-key.ts';
import { isoTime } from '../shared/iso-time.ts';
import { unknownSignals } from '../shared/unknown-resources.ts';
import { checkMaxLength, checkNumber, checkOneOf } from '../shared/validate.ts';
import type { RegistryStore } from '../transitions/registry-store.ts';
import { isBeingRegistered, versionsWithSignals } from './registered-signals.ts';
import type { SignalFiles, SignalsStore, UploadAddress } from './signals-ports.ts';

export interface SignalsDeps {
  readonly signals: SignalsStore;
  readonly signalFiles: SignalFiles;
  readonly cursors: Cursors;
  readonly ids: Ids;
  readonly digest: Digest;
  readonly clock: Clock;
}

interface RemovalDeps extends Pick<SignalsDeps, 'signals' | 'clock'> {
  readonly signalFiles: Pick<SignalFiles, 'remove'>;
}

export interface DeleteSignalsDeps extends RemovalDeps {
  readonly registry: Pick<RegistryStore, 'versions'>;
}

const SHA256 = /^[0-9a-f]{64}$/;

/**
 * Records a file and returns an address for its upload. With an Idempotency-Key a repeated request returns the same file with a new
 * address. Throws VAL005, RES005 (too many files, or the key was used for another one), DATA005.
 */
export async function createSignals(
  deps: SignalsDeps,
  owner: string,
  body: Immutable<SignalsRequest>,
  idempotencyKey: string | null,
): Promise<{ readonly signals: StoredSignals; readonly upload: UploadAddress }> {
  const format = checkOneOf(body.format, 'format', SIGNALS_FORMATS);
  const bytes = checkNumber(body.bytes, 'bytes', SIGNALS_LIMITS.bytes);
  const name = checkMaxLength(body.name, 'name', SIGNALS_LIMITS.name) ?? null;
  if (!SHA256.test(body.sha256)) {
    throw new CodedError('VAL005', {
      message: 'sha256 must be the SHA-256 of the file as 64 hexadecimal digits in lower case',
      field: 'sha256',
      context: { value: body.sha256.slice(0, 100) },
    });
  }
  const signals_id = `${SIGNALS_ID_PREFIX}${idFromKey(deps, owner, idempotencyKey)}`;
  await checkCount(deps, owner, signals_id);
  const stored = await deps.signals.create({
    schema_version: 1,
    signals_id,
    owner,
    name,
    format,
    bytes,
    sha256: body.sha256,
    created_at: isoTime(deps.clock.now()),
    last_used_at: null,
  });
  checkStillOwn(stored, owner);
  const isSame = stored.sha256 === body.sha256 && stored.format === format && stored.bytes === bytes;
  if (!isSame) throw keyUsedAgain({ signals_id });
  if (stored.deleted_at !== undefined) {
    throw new CodedError('RES005', {
      message: 'The file that this Idempotency-Key created is being deleted: retry later, or use a new key',
      field: 'Idempotency-Key',
      context: { signals_id },
    });
  }
  return { signals: stored, upload: await deps.signalFiles.offer(stored) };
}

/** Concurrent calls may exceed the limit, each by one: it protects the platform, not a price. */
async function checkCount({ signals }: SignalsDeps, owner: string, id: string): Promise<void> {
  const { perOwner } = SIGNALS_LIMITS;
  if ((await signals.count(owner, perOwner)) < perOwner || (await signals.find(id))) return;
  throw new CodedError('RES005', {
    message: `You have ${perOwner} files of signals, the maximum: delete one first`,
    context: { count: perOwner },
  });
}

/** Throws SIG001, DATA005. */
export async function getSignals(
  { signals }: Pick<SignalsDeps, 'signals'>,
  id: string,
): Promise<StoredSignals> {
  const found = await signals.find(id);
  if (!found) throw unknownSignals(id);
  return found;
}

/** Files of the caller, newest first. Throws VAL006 (a cursor of another list), DATA005. */
export async function listSignals(
  { signals, cursors }: Pick<SignalsDeps, 'signals' | 'cursors'>,
  owner: string,
  { limit, cursor }: { readonly limit: number; readonly cursor?: string | undefined },
): Promise<Page<StoredSignals>> {
  const scope = { signals: owner };
  const [after] = cursor === undefined ? [] : cursors.decode(cursor, scope, 1);
  const found = await signals.list(owner, after, limit);
  const last = found.length === limit ? found.at(-1) : undefined;
  return {
    items: found.map((each) => each.signals),
    next: last ? cursors.encode([last.position], scope) : null,
  };
}

/**
 * Deletes a file. Backtests that wait for it then fail; finished ones keep their results. A call that dies is finished by the
 * deletion of unused files. Throws SIG001, RES005 (a version needs the file, or is being registered), DATA005.
 */
export async function deleteSignals(deps: DeleteSignalsDeps, id: string): Promise<void> {
  const found = await getSignals(deps, id);
  if (found.registered_by !== undefined) await checkUnregistered(deps, found, found.registered_by);
  if (!(await removeSignals(deps, found))) {
    throw new CodedError('RES005', {
      message: 'Write conflict: the file was used in this moment: read it again and retry the request',
      field: 'signals_id',
    });
  }
}

async function checkUnregistered(
  { registry, clock }: DeleteSignalsDeps,
  found: StoredSignals,
  model: string,
): Promise<void> {
  const { signals_id } = found;
  const version = await versionsWithSignals(registry)(signals_id);
  if (version !== undefined) {
    throw new CodedError('RES005', {
      message: `Version ${version} of ${model} is registered from a backtest with this file, which is its evidence`,
      field: 'signals_id',
      context: { signals_id, model_name: model, version },
    });
  }
  if (isBeingRegistered(found, clock)) {
    throw new CodedError('RES005', {
      message: `A version of ${model} is being registered from a backtest with this file. Retry in an hour.`,
      field: 'signals_id',
      context: { signals_id, model_name: model },
    });
  }
}

/** Marks, then removes the object, then the record: a step that dies is repeated. False: the file was used since it was read. */
export async function removeSignals(
  { signals, signalFiles, clock }: RemovalDeps,
  found: StoredSignals,
): Promise<boolean> {
  if (found.deleted_at === undefined && !(await signals.beginDeletion(found, isoTime(clock.now()))))
    return false;
  await signalFiles.remove(found.signals_id);
  await signals.remove(found.signals_id);
  return true;
}
