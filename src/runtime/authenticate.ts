import { CodedError } from '#contract/errors.ts';
import type { Access } from '#contract/operation.ts';

type Role = Exclude<Access, 'public'>;

/** Who is calling. */
export interface Principal {
  readonly id: string;
  readonly roles: readonly Role[];
}

/**
 * Tells who sent a request from its Authorization header, null when it has none.
 * Throws AUTH001 (expired), AUTH002 (invalid) or AUTH003 (missing where it is enforced).
 * HTTP503 when whoever issued the token must be asked and does not answer.
 */
export type Authenticate = (authorization: string | null) => Promise<Principal>;

/** Lowest first: each role may do what those before it may. */
const ROLES: readonly Role[] = ['viewer', 'researcher', 'approver', 'admin'];

/** The roles that groups of a token give: those of their names; other groups are none of our business. */
export function rolesOf(groups: unknown): readonly Role[] {
  return Array.isArray(groups) ? ROLES.filter((role) => groups.includes(role)) : [];
}

export const ANONYMOUS: Principal = { id: 'anonymous', roles: ROLES };

/**
 * Where no identity provider is configured: without a token the caller is anonymous with all roles, unless
 * authentication is enforced; a token that is sent cannot be verified and so is invalid.
 */
export function withoutIdentityProvider(options: { readonly enforced: boolean }): Authenticate {
  return async (authorization) => {
    if (authorization !== null) throw new CodedError('AUTH002', { field: 'Authorization' });
    if (options.enforced) throw new CodedError('AUTH003', { field: 'Authorization' });
    return ANONYMOUS;
  };
}

/** Throws AUTH004 when none of the principal's roles reaches the one that the operation asks for. */
export function authorize(principal: Principal, access: Access): void {
  if (access === 'public') return;
  const needed = ROLES.indexOf(access);
  if (principal.roles.some((role) => ROLES.indexOf(role) >= needed)) return;
  throw new CodedError('AUTH004', { context: { required: access } });
}
