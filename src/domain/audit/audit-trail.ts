import type { StoredAuditCall, StoredAuditOutcome } from '#contract/platform/audit.ts';

/** An interval of one day's calls; bounds are ISO times, or keys of calls. */
export interface AuditInterval {
  /** `YYYY-MM-DD`, UTC. */
  readonly day: string;
  /** ISO time, inclusive. */
  readonly from: string;
  /** ISO time or the key of a call, exclusive. */
  readonly before: string;
}

/**
 * Calls that can change state, and their outcomes. Stored entries are never changed. Every method throws SVC005 while the
 * registry's storage is down, because the trail is stored there.
 */
export interface AuditTrail {
  /** Stores a call before it changes anything. Throws when a call with the same key exists. */
  begin(call: StoredAuditCall): Promise<void>;
  /** Stores the outcome of a call, once. */
  end(call: StoredAuditCall, outcome: StoredAuditOutcome): Promise<void>;
  /** Newest first, each with its outcome if one is stored. */
  calls(interval: AuditInterval): AsyncIterable<StoredAuditCall>;
}

/** Sort key of a call: time, then ID. */
export function auditKey({ at, id }: Pick<StoredAuditCall, 'at' | 'id'>): string {
  return `${at}#${id}`;
}

/** True for a key that {@link auditKey} can have made. */
export function isAuditKey(text: string): boolean {
  return /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z#[0-9A-HJKMNP-TV-Z]{26}$/.test(text);
}
