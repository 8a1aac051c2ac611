import type { StoredAuditCall, StoredAuditOutcome } from '#contract/audit.ts';

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
 * Calls that could change something, and how they ended. What is stored is never changed. Every method throws SVC005
 * when the registry is down, where it is kept.
 */
export interface AuditTrail {
  /** Stores a call before it changes anything. Throws when one of its key exists. */
  begin(call: StoredAuditCall): Promise<void>;
  /** Stores how it ended, once. */
  end(call: StoredAuditCall, outcome: StoredAuditOutcome): Promise<void>;
  /** Newest first, each with its outcome as far as one is stored. */
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
