import type { Approval } from '#contract/registry/approval-api.ts';
import type { StoredApproval } from '#contract/registry/stored-approval.ts';
import type { ApprovalStatus } from '#contract/values/approval-limits.ts';
import type { AccessLevel } from '#contract/values/sharing.ts';
import { type Caller, mayAccess } from '../access/access.ts';
import type { Clock, Page } from '../ports.ts';
import type { Cursors } from '../shared/cursors.ts';
import { unknownApproval, unknownModel } from '../shared/unknown-resources.ts';
import type { RegistryStore } from '../transitions/registry-store.ts';
import { approvalView, type Decider, type FourEyes, isWaitingFor, statusAt } from './approval-rules.ts';
import { oldestOpen } from './expire-approvals.ts';

export interface ReadApprovalsDeps extends FourEyes {
  readonly registry: Pick<RegistryStore, 'approvals' | 'read'> & {
    readonly sharing: Pick<RegistryStore['sharing'], 'findMany'>;
  };
  readonly clock: Clock;
  readonly cursors: Cursors;
}

export interface ListApprovalsInput {
  readonly caller: Decider;
  readonly status?: ApprovalStatus | undefined;
  /** `me`: only open requests that the caller may approve. */
  readonly waiting_for?: 'me' | undefined;
  readonly limit: number;
  readonly cursor: string | null;
}

/** Maximum requests read per page, and those whose models are read together. */
const MAX_READ = 1_000;
const PART = 100;

/** Throws APR001, SVC005. */
export async function getApproval(
  { registry, clock }: Pick<ReadApprovalsDeps, 'registry' | 'clock'>,
  id: string,
): Promise<Approval> {
  const approval = await registry.approvals.read(id);
  if (!approval) throw unknownApproval(id);
  return approvalView(approval, clock.now());
}

/** One page of a model's requests, newest first. Throws RES002, VAL006, SVC005. */
export async function listModelApprovals(
  { registry, clock }: Pick<ReadApprovalsDeps, 'registry' | 'clock'>,
  {
    model,
    status,
    ...range
  }: Pick<ListApprovalsInput, 'status' | 'limit' | 'cursor'> & { readonly model: string },
): Promise<Page<Approval>> {
  if (!(await registry.read(model, [])).model) throw unknownModel(model);
  const now = clock.now();
  const passes = (approval: StoredApproval) => !status || statusAt(approval, now) === status;
  const { items, next } = await registry.approvals.ofModel(model, { ...range, passes });
  return { items: items.map((approval) => approvalView(approval, now)), next };
}

/**
 * One page of the requests of all models that the caller may read, newest first. A page reads up to 1,000 requests, so it may be short
 * while more follow. Throws VAL006, SVC005.
 */
export async function listApprovals(
  deps: ReadApprovalsDeps,
  input: ListApprovalsInput,
): Promise<Page<Approval>> {
  const { caller, status, waiting_for, limit, cursor } = input;
  const visibleTo = caller.isAdmin && !waiting_for ? null : caller.id;
  const scope = {
    list: 'all-approvals',
    status: status ?? null,
    waiting_for: waiting_for ?? null,
    visible_to: visibleTo,
  };
  const now = deps.clock.now();
  const pageAfter = (id: string) => deps.cursors.encode([id], scope);
  const page = (items: readonly StoredApproval[], last: string | undefined): Page<Approval> => ({
    items: items.map((approval) => approvalView(approval, now)),
    next: last === undefined ? null : pageAfter(last),
  });
  const isVisible = visibility(deps, caller, waiting_for ? 'write' : 'read');
  const passes = (approval: StoredApproval) =>
    (!status || statusAt(approval, now) === status) &&
    (!waiting_for || isWaitingFor(caller, approval, deps, now));
  const onlyOpen = waiting_for !== undefined || status === 'requested';
  const oldest = onlyOpen ? oldestOpen(now) : '';
  const items: StoredApproval[] = [];
  let read = 0;
  const below = cursor === null ? null : deps.cursors.decode(cursor, scope, 1)[0]!;
  for await (const part of inParts(deps.registry.approvals.rows(below), oldest)) {
    for (const approval of await isVisible(part.filter(passes))) {
      if (items.length === limit) return page(items, items.at(-1)!.approval_id);
      items.push(approval);
    }
    read += part.length;
    if (read >= MAX_READ) return page(items, part.at(-1)!.approval_id);
  }
  return page(items, undefined);
}

/** Requests in parts, up to the first one that was made before a time. */
async function* inParts(
  all: AsyncIterable<StoredApproval>,
  oldest: string,
): AsyncGenerator<readonly StoredApproval[]> {
  let part: StoredApproval[] = [];
  for await (const each of all) {
    if (each.requested_at < oldest) break;
    part.push(each);
    if (part.length < PART) continue;
    yield part;
    part = [];
  }
  if (part.length > 0) yield part;
}

/** Filter of the requests whose models the caller may use at that level. Each model is read once. */
function visibility({ registry }: Pick<ReadApprovalsDeps, 'registry'>, caller: Caller, level: AccessLevel) {
  const known = new Map<string, boolean>();
  return async (approvals: readonly StoredApproval[]): Promise<readonly StoredApproval[]> => {
    if (caller.isAdmin) return approvals;
    const unknown = approvals.map(({ model_name }) => model_name).filter((name) => !known.has(name));
    const models = await registry.sharing.findMany(unknown);
    for (const name of unknown) {
      const model = models.get(name);
      known.set(name, model !== undefined && mayAccess(caller, model, level));
    }
    return approvals.filter(({ model_name }) => known.get(model_name));
  };
}
