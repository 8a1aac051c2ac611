import type * as z from 'zod';
import { Sharing, SharingRequest } from '../common/sharing-schemas.ts';
import type { ServiceName } from '../values/operation.ts';
import { OWNED_RESOURCES, type ResourceKind } from '../values/sharing.ts';

/**
 * The rows by which resources of a kind are shared, for its service's operations. `name` makes their ids: `getBacktestSharing`,
 * `shareBacktest`.
 */
export function sharingOperations<
  S extends ServiceName,
  N extends string,
  P extends string,
  I extends string,
  T extends string,
  V extends z.ZodObject,
>(
  service: S,
  of: {
    readonly kind: ResourceKind;
    readonly name: N;
    /** Level of the resource itself. */
    readonly path: P;
    /** Path variable with its id. */
    readonly id: I;
    readonly params: V;
    readonly tag: T;
  },
) {
  const { kind, name, path, id, params, tag } = of;
  const { noun } = OWNED_RESOURCES[kind];
  return [
    {
      id: `get${name}Sharing`,
      service,
      method: 'GET',
      path: `${path}/sharing`,
      tag,
      summary: `Whose a ${noun} is, and with whom it is shared`,
      params,
      success: { 200: { description: 'Its sharing', schema: Sharing } },
      errors: [],
      access: 'viewer',
      resource: { kind, id, level: 'read' },
    },
    {
      id: `share${name}`,
      service,
      method: 'PUT',
      path: `${path}/sharing`,
      tag,
      summary: `Share a ${noun}, or stop sharing it`,
      description:
        'For the owner and admins. Replaces the whole list: principals that are not in it lose access immediately. A grant does not replace a role: a caller needs both.',
      params,
      body: SharingRequest,
      success: { 200: { description: 'Its sharing now', schema: Sharing } },
      errors: ['VAL005', 'RES005'],
      access: 'researcher',
      resource: { kind, id, level: 'owner' },
    },
  ] as const;
}
