import type { Grant, Sharing } from '#contract/common/sharing-schemas.ts';
import { CodedError } from '#contract/values/errors.ts';
import { MAX_GRANTS, OWNED_RESOURCES, PRINCIPAL, SHARE_LEVELS } from '#contract/values/sharing.ts';
import { retryConflicts } from '../shared/retry-conflicts.ts';
import { checkOneOf } from '../shared/validate.ts';
import { type AccessRequest, type Caller, findAccessible, type Ownership, userPrincipal } from './access.ts';

/** The resource to share, and the field that names it in the request. */
export type SharedResource = Omit<AccessRequest, 'level'>;

interface GivenGrant {
  readonly principal: string;
  /** Default `read`. */
  readonly level?: string | undefined;
}

export interface GivenSharing {
  readonly shared_with: readonly GivenGrant[];
  /** Grants that the request replaces, as its caller read them. Absent: any. */
  readonly expected_shared_with?: readonly GivenGrant[] | undefined;
}

const MAX_ATTEMPTS = 5;

/** Owner and grants, for callers with read access. Throws the error of an unknown resource, AUTH005. */
export async function getSharing(
  ownership: Ownership,
  caller: Caller,
  resource: SharedResource,
): Promise<Sharing> {
  const { owner, shared_with = [] } = await findAccessible(ownership, caller, { ...resource, level: 'read' });
  return { owner, shared_with: [...shared_with] };
}

/**
 * Replaces all grants of a resource: principals that are not named lose access immediately. Allowed for its owner and
 * admins.
 * Throws the error of an unknown resource, AUTH005, VAL005 (an invalid principal, one named twice, too many), RES005
 * (the grants are not the expected ones, or other calls keep changing them).
 */
export async function shareResource(
  ownership: Ownership,
  caller: Caller,
  resource: SharedResource,
  { shared_with: given, expected_shared_with: expected }: GivenSharing,
): Promise<Sharing> {
  const { sharing } = ownership[resource.kind];
  return retryConflicts<Sharing>({ attempts: MAX_ATTEMPTS }, async () => {
    const found = await findAccessible(ownership, caller, { ...resource, level: 'owner' });
    const before = found.shared_with ?? [];
    if (expected && !areEqual(expected, before)) throw otherGrants(before);
    const grants = checkGrants(given, found.owner);
    const saved = await sharing.share(resource.id, before, grants, found.owner);
    return saved === 'done'
      ? { result: { owner: found.owner, shared_with: grants } }
      : { conflict: writeConflict(resource) };
  });
}

/** True for the same levels of the same principals, in any order. */
function areEqual(expected: readonly GivenGrant[], grants: readonly Grant[]): boolean {
  const texts = (list: readonly GivenGrant[]) =>
    list.map(({ principal, level = 'read' }) => `${level} ${principal}`).sort();
  return texts(expected).join('\n') === texts(grants).join('\n');
}

function otherGrants(before: readonly Grant[]): CodedError {
  return new CodedError('RES005', {
    message: 'The grants are not the expected ones: another request changed them. Read them again',
    field: 'expected_shared_with',
    context: { shared_with: before },
  });
}

function writeConflict({ kind }: SharedResource): CodedError {
  return new CodedError('RES005', {
    message: `Write conflict: other requests changed the sharing of this ${OWNED_RESOURCES[kind].noun}: read it again and retry the request`,
    field: 'shared_with',
  });
}

function checkGrants(given: readonly GivenGrant[], owner: string): Grant[] {
  if (given.length > MAX_GRANTS) {
    throw new CodedError('VAL005', {
      message: `shared_with must be at most ${MAX_GRANTS}: share with a group instead`,
      field: 'shared_with',
      context: { count: given.length, max: MAX_GRANTS },
    });
  }
  const seen = new Set([userPrincipal(owner)]);
  return given.map(({ principal, level = 'read' }, index) => {
    const field = `shared_with.${index}`;
    if (!PRINCIPAL.test(principal)) {
      const problem = 'is not a principal: pass user:<id>, group:<name> or everyone';
      throw invalidGrant(`${field}.principal`, principal, problem);
    }
    if (seen.has(principal)) {
      throw invalidGrant(`${field}.principal`, principal, 'is the owner or named twice: remove it');
    }
    seen.add(principal);
    return { principal, level: checkOneOf(level, `${field}.level`, SHARE_LEVELS) };
  });
}

function invalidGrant(field: string, value: string, problem: string): CodedError {
  const shown = value.slice(0, 150);
  return new CodedError('VAL005', {
    message: `${JSON.stringify(shown)} ${problem}`,
    field,
    context: { value: shown },
  });
}
