import type { ResponseOf } from '../api/client.ts';
import { useCall } from '../api/queries.ts';

/** The caller; undefined until it is known. */
export function useMe(): ResponseOf<'getMe'> | undefined {
  return useCall('getMe', {}).data;
}
