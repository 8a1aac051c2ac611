import type { StoredApproval } from '#contract/registry/stored-approval.ts';

const AT = '2026-05-01T00:00:00.000Z';

/** An open request for the promotion of version 2. */
export function storedApproval(changes: Partial<StoredApproval> = {}): StoredApproval {
  return {
    schema_version: 1,
    approval_id: 'ap-1',
    model_name: 'ema_crossover',
    action: 'promote',
    version: '2',
    status: 'requested',
    reason: 'Won the challenge',
    requested_by: 'ann',
    requested_at: AT,
    due_at: '2026-05-08T00:00:00.000Z',
    decided_by: null,
    decided_at: null,
    decision_reason: null,
    expected_production: '1',
    registered_by: 'bob',
    written_at: AT,
    ...changes,
  };
}
