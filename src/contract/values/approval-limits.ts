import { DAY_MS } from './durations.ts';

/** Start of the IDs of requests for approval. */
export const APPROVAL_ID_PREFIX = 'ap-';

/** Transitions that a user can request. */
export const APPROVAL_ACTIONS = ['stage', 'promote', 'rollback', 'stop'] as const;
export type ApprovalAction = (typeof APPROVAL_ACTIONS)[number];

/** Role that decides about a request: the role of the transition itself. */
export const DECIDING_ROLES = {
  stage: 'researcher',
  promote: 'approver',
  rollback: 'approver',
  stop: 'approver',
} as const satisfies Record<ApprovalAction, 'researcher' | 'approver'>;

export const APPROVAL_STATUSES = ['requested', 'approved', 'declined', 'withdrawn', 'expired'] as const;
export type ApprovalStatus = (typeof APPROVAL_STATUSES)[number];

/** Open requests per model: its item lists them. Time from a request to `due_at`, ms. */
export const APPROVAL_LIMITS = {
  open: 20,
  due: { min: 60_000, max: 30 * DAY_MS, default: 7 * DAY_MS },
} as const;
