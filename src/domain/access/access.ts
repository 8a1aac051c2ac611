import type { Grant } from '#contract/common/sharing-schemas.ts';
import { CodedError } from '#contract/values/errors.ts';
import { type AccessLevel, EVERYONE, OWNED_RESOURCES, type ResourceKind } from '#contract/values/sharing.ts';
import { expired } from '../shared/unknown-resources.ts';

/** The caller's attributes that decide access to a resource. */
export interface Caller {
  readonly id: string;
  readonly groups: readonly string[];
  /** True: all resources are accessible at every level. */
  readonly isAdmin: boolean;
  /** True for the canary, whose backtests are of their own kind. Absent: false. */
  readonly isCanary?: boolean;
}

/** The stored attributes of a resource that decide access to it. */
export interface OwnedResource {
  readonly owner: string;
  /** Absent: private to the owner. */
  readonly shared_with?: readonly Grant[] | undefined;
  /** Strategy of a job; absent for other resources. */
  readonly strategy?: string | undefined;
  /** Present: it was deleted after its retention. */
  readonly expired_at?: string | undefined;
}

/** Owner and grants after a transfer. */
export interface NewOwner {
  readonly owner: string;
  readonly shared_with: readonly Grant[];
}

/** Stored owners and grants of the resources of one kind. */
export interface StoredSharing {
  /** Strongly consistent; undefined for an unknown ID. */
  find(id: string): Promise<OwnedResource | undefined>;
  /**
   * Replaces `before` by `after`. `conflict`: the stored grants differ from `before`, the resource has another owner than the given one
   * or is gone; nothing was stored.
   *
   * @param owner absent: of any owner
   */
  share(
    id: string,
    before: readonly Grant[],
    after: readonly Grant[],
    owner?: string,
  ): Promise<'done' | 'conflict'>;
  /**
   * Replaces owner and grants. `conflict`: the stored ones differ from `before`, or the resource is gone. `unfinished`: it is a job
   * that has not ended, whose place in the queue is its owner's.
   */
  transfer(id: string, before: OwnedResource, after: NewOwner): Promise<'done' | 'conflict' | 'unfinished'>;
}

interface OwnedResources {
  readonly sharing: StoredSharing;
  /** Error of an unknown ID; `field` names it in the request. */
  unknown(id: string, field: string): CodedError;
  /** Owner and grants of the model that has a version of the resource; undefined without one. Absent: the kind is no evidence. */
  evidenceOf?(id: string): Promise<OwnedResource | undefined>;
}

export type Ownership = Readonly<Record<ResourceKind, OwnedResources>>;

/** Principals of a caller: the user, each group, `everyone`. */
export function principalsOf({ id, groups }: Pick<Caller, 'id' | 'groups'>): string[] {
  return [userPrincipal(id), ...groups.map((group) => `group:${group}`), EVERYONE];
}

export function userPrincipal(id: string): string {
  return `user:${id}`;
}

/** True when the caller may access the resource: its owner and admins always, others by a grant. */
export function mayAccess(caller: Caller, resource: OwnedResource, level: AccessLevel): boolean {
  if (caller.isAdmin || caller.id === resource.owner) return true;
  if (level === 'owner') return false;
  const principals = principalsOf(caller);
  return (resource.shared_with ?? []).some(
    (grant) => principals.includes(grant.principal) && (level === 'read' || grant.level === 'write'),
  );
}

/** Resource of a request, and the field that names it. */
export interface AccessRequest {
  readonly kind: ResourceKind;
  readonly id: string;
  readonly field: string;
  readonly level: AccessLevel;
  /** Access to the model that has a version of the resource is enough. */
  readonly evidence?: true | undefined;
}

/** Throws AUTH005 unless {@link mayAccess}. */
export function checkAccess(caller: Caller, resource: OwnedResource, request: AccessRequest): void {
  const { kind, id, field, level } = request;
  if (mayAccess(caller, resource, level)) return;
  // Names of models are shared by all users: whoever may not use one needs to know whom to ask. IDs of others are not guessed.
  const owner = kind === 'model' && { owner: resource.owner };
  const named = owner ? `its owner, ${owner.owner}, or an admin` : 'its owner, or an admin';
  throw new CodedError('AUTH005', {
    message: `${REJECTIONS[level](OWNED_RESOURCES[kind].noun)}: ask ${named}${level === 'owner' ? '' : ', to share it with you'}`,
    field,
    context: { resource: kind, id: id.slice(0, 100), required: level, ...owner },
  });
}

const REJECTIONS: Record<AccessLevel, (noun: string) => string> = {
  read: (noun) => `This ${noun} is not yours and not shared with you`,
  write: (noun) => `This ${noun} is not yours and not shared with you at level write`,
  owner: (noun) => `Only the owner of this ${noun}, or an admin, may do that`,
};

/** The resource, if the caller may do that with it. Throws the error of an unknown one, AUTH005, RES006 for an expired one. */
export async function findAccessible(
  ownership: Ownership,
  caller: Caller,
  request: AccessRequest,
): Promise<OwnedResource> {
  const resources = ownership[request.kind];
  const resource = await resources.sharing.find(request.id);
  if (!resource) throw resources.unknown(request.id, request.field);
  if (!mayAccess(caller, resource, request.level) && !(await isEvidenceFor(resources, caller, request)))
    checkAccess(caller, resource, request);
  if (resource.expired_at) {
    throw expired(`The ${OWNED_RESOURCES[request.kind].noun}`, request.id, request.field);
  }
  return resource;
}

/** True for evidence of a model that the caller may read. */
async function isEvidenceFor(
  resources: OwnedResources,
  caller: Caller,
  { id, evidence }: AccessRequest,
): Promise<boolean> {
  const model = evidence && (await resources.evidenceOf?.(id));
  return model !== undefined && mayAccess(caller, model, 'read');
}
