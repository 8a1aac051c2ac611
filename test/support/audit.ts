import { ulids } from '#adapters/ids.ts';
import type { StoredAuditCall, StoredAuditOutcome } from '#contract/platform/audit.ts';
import type { AuditDeps } from '#runtime/audit.ts';

export interface MemoryAudit {
  readonly audit: AuditDeps;
  readonly calls: StoredAuditCall[];
  readonly outcomes: StoredAuditOutcome[];
}

/** Audit trail that keeps its writes in memory; its list is empty. */
export function memoryAudit(): MemoryAudit {
  const calls: StoredAuditCall[] = [];
  const outcomes: StoredAuditOutcome[] = [];
  const trail: AuditDeps['trail'] = {
    begin: async (call) => {
      calls.push(call);
    },
    end: async (_, outcome) => {
      outcomes.push(outcome);
    },
    async *calls() {},
  };
  return { audit: { trail, clock: Date, ids: ulids }, calls, outcomes };
}
