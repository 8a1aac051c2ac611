import type { ResponseOf } from '../../api/client.ts';
import { oneOf, present, type Raw, text } from '../../ui/url.ts';

export const OUTCOMES = ['succeeded', 'refused', 'failed', 'unknown'] as const;

/** Filters, page and selected entry of the audit trail, in the URL. */
export function readAuditSearch(raw: Raw) {
  return present({
    /** `YYYY-MM-DD`, UTC. */
    day: text(raw.day),
    principal: text(raw.principal),
    operation: text(raw.operation),
    resource: text(raw.resource),
    outcome: oneOf(OUTCOMES, raw.outcome),
    cursor: text(raw.cursor),
    entry: text(raw.entry),
  });
}

export type AuditSearch = ReturnType<typeof readAuditSearch>;

export type AuditEntry = ResponseOf<'listAudit'>['items'][number];
