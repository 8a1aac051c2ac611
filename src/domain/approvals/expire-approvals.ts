import { APPROVAL_LIMITS } from '#contract/values/approval-limits.ts';
import { DAY_MS } from '#contract/values/durations.ts';
import type { Clock } from '../ports.ts';
import { isoTime } from '../shared/iso-time.ts';
import type { ApprovalStore } from '../transitions/approval-store.ts';
import { statusAt } from './approval-rules.ts';

export interface ExpireApprovalsDeps {
  readonly registry: { readonly approvals: Pick<ApprovalStore, 'rows' | 'end'> };
  readonly clock: Clock;
}

/** Age beyond which no request is open: the longest time to `due_at`, and a day for clocks that differ, ms. */
const MAX_OPEN_MS = APPROVAL_LIMITS.due.max + DAY_MS;

/** Time before which no request that is still open was made, ISO 8601. */
export function oldestOpen(now: number): string {
  return isoTime(now - MAX_OPEN_MS);
}

/**
 * Stores that requests have expired, for the event of it: reads show it from `due_at` on. It reads the requests of the last 31 days. An
 * error of one does not stop the others.
 */
export async function expireApprovals(
  { registry, clock }: ExpireApprovalsDeps,
  onError: (id: string, error: unknown) => void,
): Promise<void> {
  const now = clock.now();
  const oldest = oldestOpen(now);
  for await (const approval of registry.approvals.rows(null)) {
    if (approval.requested_at < oldest) return;
    if (approval.status !== 'requested' || statusAt(approval, now) === 'requested') continue;
    const { approval_id } = approval;
    const set = {
      status: 'expired',
      decided_by: null,
      decided_at: null,
      decision_reason: null,
      written_at: isoTime(now),
    } as const;
    await registry.approvals.end({ approval_id, set }).catch((error: unknown) => onError(approval_id, error));
  }
}
