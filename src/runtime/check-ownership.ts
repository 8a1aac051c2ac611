import type { Operation } from '#contract/operation.ts';
import { findAccessible, type Ownership } from '#domain/access.ts';
import { callerOf, type Principal } from './authenticate.ts';

/**
 * Throws unless the caller may do with the resource that the path names what the operation's row says: the 404 of its
 * kind when there is none, AUTH005 when it is another's. Nothing is read for an admin: what there is not, the use case says.
 */
export async function checkOwnership(
  { resource }: Operation,
  principal: Principal,
  params: Readonly<Record<string, string>> | undefined,
  ownership: Partial<Ownership> | undefined,
): Promise<void> {
  const caller = callerOf(principal);
  if (!resource || caller.isAdmin) return;
  const { kind, id: field, level } = resource;
  await findAccessible(ownership as Ownership, caller, { kind, id: params![field]!, field, level });
}
