import type { Approval } from '#contract/registry/approval-api.ts';
import type { StoredApproval } from '#contract/registry/stored-approval.ts';
import type { ApprovalStatus } from '#contract/values/approval-limits.ts';
import { DECIDING_ROLES } from '#contract/values/approval-limits.ts';
import { CodedError } from '#contract/values/errors.ts';
import type { Caller } from '../access/access.ts';
import { ANONYMOUS_ID } from '../access/own-principals.ts';

/** A caller that decides about requests. */
export interface Decider extends Caller {
  /** Roles whose operations the caller may use. */
  readonly roles: readonly string[];
}

/** Status at a time: an open request has expired from `due_at` on. */
export function statusAt({ status, due_at }: StoredApproval, now: number): ApprovalStatus {
  return status === 'requested' && Date.parse(due_at) <= now ? 'expired' : status;
}

export function approvalView(stored: StoredApproval, now: number): Approval {
  const { schema_version: _, registered_by: __, written_at: ___, ...approval } = stored;
  return { ...approval, status: statusAt(stored, now) };
}

/**
 * Error for a caller who may not decide about the request, access to its model aside: without authentication, or with a role below that
 * of the transition. Null if the caller may decide.
 */
function decidingError(caller: Decider, { action }: StoredApproval): CodedError | null {
  if (caller.id === ANONYMOUS_ID) {
    return new CodedError('AUTH004', {
      message:
        'A request needs two users, and calls without a token are of none: start the platform with --auth, and decide with a token',
      context: { rule: 'authentication' },
    });
  }
  const required = DECIDING_ROLES[action];
  if (caller.roles.includes(required)) return null;
  const message = `A decision about ${action} needs the role ${required}`;
  return new CodedError('AUTH004', { message, context: { required } });
}

/** Error for a caller who may not approve the request. The registry checks the user who registered the version again. */
function approvingError(
  caller: Decider,
  approval: StoredApproval,
  { fourEyesRequired }: FourEyes,
): CodedError | null {
  const { action, requested_by, registered_by } = approval;
  const error = decidingError(caller, approval);
  if (error) return error;
  if (caller.id === requested_by) {
    return new CodedError('AUTH004', {
      message: 'Nobody approves a request of their own, admins included: ask another approver',
      context: { rule: 'four_eyes', requested_by },
    });
  }
  if (!fourEyesRequired || action !== 'promote' || caller.id !== registered_by) return null;
  return new CodedError('AUTH004', {
    message: 'The user who registered the version cannot approve its promotion: ask another approver',
    context: { rule: 'four_eyes', created_by: registered_by },
  });
}

export interface FourEyes {
  /** The user who registered a version approves no promotion of it. */
  readonly fourEyesRequired: boolean;
}

/** True for an open request that the caller may approve, access to its model aside. */
export function isWaitingFor(
  caller: Decider,
  approval: StoredApproval,
  rules: FourEyes,
  now: number,
): boolean {
  return statusAt(approval, now) === 'requested' && approvingError(caller, approval, rules) === null;
}

/** Throws AUTH004 unless the caller may approve the request. */
export function checkApproving(caller: Decider, approval: StoredApproval, rules: FourEyes): void {
  const error = approvingError(caller, approval, rules);
  if (error) throw error;
}

/** Throws AUTH004 unless the caller may decline the request. */
export function checkDeclining(caller: Decider, approval: StoredApproval): void {
  const error = decidingError(caller, approval);
  if (error) throw error;
}

/** Throws AUTH005 unless the caller requested it or is an admin. */
export function checkWithdrawing(caller: Decider, { approval_id, requested_by }: StoredApproval): void {
  if (caller.isAdmin || caller.id === requested_by) return;
  throw new CodedError('AUTH005', {
    message: `Only ${requested_by}, who made the request, or an admin, may withdraw it. An approver may decline it`,
    field: 'approval_id',
    context: { resource: 'approval', id: approval_id, required: 'owner' },
  });
}
