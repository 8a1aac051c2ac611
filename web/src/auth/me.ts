import type { ResponseOf } from '../api/client.ts';
import { useCall } from '../api/queries.ts';

export type Role = ResponseOf<'getMe'>['roles'][number];

/** The caller; undefined until it is known. */
export function useMe(): ResponseOf<'getMe'> | undefined {
  return useCall('getMe', {}).data;
}

/** Undefined when the caller may use operations of the role, or is not known yet; else what is missing. */
export function useMissingRole(needed: Role): string | undefined {
  const me = useMe();
  return me && !me.roles.includes(needed) ? `Needs the role ${needed}` : undefined;
}
