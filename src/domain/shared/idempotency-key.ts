import type { Digest } from '#contract/values/digest.ts';
import { CodedError } from '#contract/values/errors.ts';
import type { Ids } from '../ports.ts';

/**
 * The part of a new resource's id after its prefix. With an Idempotency-Key it derives from owner and key, so that a
 * repeated request finds the resource of the first one. Throws VAL005 for a malformed key.
 */
export function idFromKey(
  deps: { readonly ids: Ids; readonly digest: Digest },
  owner: string,
  key: string | null,
): string {
  if (key === null) return deps.ids.ulid();
  const digest = deps.digest(JSON.stringify([owner, checkIdempotencyKey(key)]));
  return `K${digest.slice(0, 25).toUpperCase()}`;
}

/** Throws VAL005 for an Idempotency-Key that is malformed. */
export function checkIdempotencyKey(key: string): string {
  if (/^[\x21-\x7e]{1,255}$/.test(key)) return key;
  throw new CodedError('VAL005', {
    message: 'Idempotency-Key must be 1 to 255 printable ASCII characters without spaces',
    field: 'Idempotency-Key',
  });
}

/**
 * Throws RES005 when what a repeated request finds was transferred to another user, who need not have shared it, or was deleted: its
 * status would say that it can be read.
 */
export function checkStillOwn(
  found: { readonly owner: string; readonly expired_at?: string | undefined },
  owner: string,
): void {
  if (found.owner === owner && found.expired_at === undefined) return;
  if (found.owner === owner) {
    throw new CodedError('RES005', {
      message: 'What this Idempotency-Key created was deleted: use a new key',
      field: 'Idempotency-Key',
    });
  }
  throw new CodedError('RES005', {
    message: 'What this Idempotency-Key created belongs to another user now: use a new key',
    field: 'Idempotency-Key',
  });
}

/** RES005 for a key that another request has used. `context` names what that request created. */
export function keyUsedAgain(context: Readonly<Record<string, string>> = {}): CodedError {
  return new CodedError('RES005', {
    message: 'This Idempotency-Key was used with another request: use a new key',
    field: 'Idempotency-Key',
    context,
  });
}
