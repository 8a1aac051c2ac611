import { CodedError } from '#contract/values/errors.ts';
import type { Access, Operation } from '#contract/values/operation.ts';
import { PRINCIPAL_NAME } from '#contract/values/sharing.ts';
import { type Caller, findAccessible, type Ownership } from '#domain/access/access.ts';
import { ANONYMOUS_ID } from '#domain/access/own-principals.ts';
import type { Decider } from '#domain/approvals/approval-rules.ts';

type Role = Exclude<Access, 'public'>;

/** Authenticated caller. */
export interface Principal {
  readonly id: string;
  readonly roles: readonly Role[];
  /** All groups of the token, including roles: resources can be shared with any group. */
  readonly groups: readonly string[];
  /** True for the canary. Absent: false. */
  readonly isCanary?: boolean;
}

/**
 * Identifies the caller by the Authorization header, null if absent. Throws AUTH001 (expired), AUTH002 (invalid), AUTH003
 * (missing but required), or HTTP503 when the issuer's keys are needed and the issuer does not respond.
 */
export type Authenticate = (authorization: string | null) => Promise<Principal>;

/** Lowest first: each role includes the permissions of the lower ones. */
const ROLES: readonly Role[] = ['viewer', 'researcher', 'approver', 'admin'];

/** Principal of a token. Groups named like a role give that role, and resources can be shared with groups. */
export function membershipOf(groups: unknown): Pick<Principal, 'roles' | 'groups'> {
  const names = Array.isArray(groups) ? groups.filter(isPrincipalName) : [];
  return { roles: ROLES.filter((role) => names.includes(role)), groups: names };
}

/** True for a claim that is a valid name of a user or group. */
export function isPrincipalName(claim: unknown): claim is string {
  return typeof claim === 'string' && PRINCIPAL_NAME.test(claim);
}

export const ANONYMOUS: Principal = { id: ANONYMOUS_ID, roles: ROLES, groups: [] };

/** Caller for the use cases. */
export function callerOf({ id, roles, groups, isCanary }: Principal): Caller {
  return { id, groups, isAdmin: roles.includes('admin'), ...(isCanary && { isCanary }) };
}

/** Caller that decides about requests, with its roles. */
export function deciderOf(principal: Principal): Decider {
  return { ...callerOf(principal), roles: includedRoles(principal) };
}

/**
 * Authentication without an identity provider. Without a token the caller is anonymous with all roles, unless authentication
 * is enforced. Any token is invalid, because it cannot be verified.
 */
export function withoutIdentityProvider(options: { readonly enforced: boolean }): Authenticate {
  return async (authorization) => {
    if (authorization !== null) throw new CodedError('AUTH002', { field: 'Authorization' });
    return withoutToken(options);
  };
}

/** Caller of a request without a token. Throws AUTH003 where authentication is enforced. */
export function withoutToken(options: { readonly enforced: boolean }): Principal {
  if (options.enforced) throw new CodedError('AUTH003', { field: 'Authorization' });
  return ANONYMOUS;
}

/** Throws AUTH004 when the body sets a field for which the principal's role is too low. */
export function authorizeFields(
  principal: Principal,
  { fieldRoles = {} }: Pick<Operation, 'fieldRoles'>,
  body: unknown,
): void {
  for (const [field, role] of Object.entries(fieldRoles)) {
    if (!isAsked((body as Readonly<Record<string, unknown>>)[field]) || reaches(principal, role)) continue;
    const message = `${field} needs the role ${role}`;
    throw new CodedError('AUTH004', { message, field, context: { required: role } });
  }
}

/** True for a set flag or an object; `null` and `false` request nothing. */
function isAsked(value: unknown): boolean {
  return value === true || (typeof value === 'object' && value !== null);
}

/** Roles of which the principal may use every operation, lowest first. */
export function includedRoles(principal: Principal): Role[] {
  return ROLES.filter((role) => reaches(principal, role));
}

function reaches({ roles }: Principal, needed: Role): boolean {
  return roles.some((role) => ROLES.indexOf(role) >= ROLES.indexOf(needed));
}

/** Operations of the canary: its token opens no other. */
const CANARY_OPERATIONS: readonly string[] = ['submitBacktest', 'getBacktest', 'cancelBacktest'];

/** True for a call of the canary for its own backtests. */
export function isCanaryCall({ isCanary }: Principal, { id }: Pick<Operation, 'id'>): boolean {
  return isCanary === true && CANARY_OPERATIONS.includes(id);
}

/**
 * Throws AUTH004 when all roles of the principal are below the role that the operation requires, or when the operation is
 * not one of the canary's and the canary calls.
 */
export function authorize(principal: Principal, operation: Pick<Operation, 'id' | 'access'>): void {
  const { access } = operation;
  if (access === 'public') return;
  if (principal.isCanary && !isCanaryCall(principal, operation)) {
    throw new CodedError('AUTH004', { message: `The canary may not call ${operation.id}` });
  }
  if (reaches(principal, access)) return;
  throw new CodedError('AUTH004', { context: { required: access } });
}

/**
 * Throws unless the caller has the access to the path's resource that the operation requires: the 404 of its kind if it does
 * not exist, AUTH005 if the caller has no grant. Not checked for an admin: the use case reports a missing resource.
 */
export async function checkOwnership(
  { resource }: Operation,
  principal: Principal,
  params: Readonly<Record<string, string>> | undefined,
  ownership: Partial<Ownership> | undefined,
): Promise<void> {
  const caller = callerOf(principal);
  if (!resource || caller.isAdmin) return;
  const { kind, id: field, level, evidence } = resource;
  await findAccessible(ownership as Ownership, caller, {
    kind,
    id: params![field]!,
    field,
    level,
    evidence,
  });
}
