import type { ResponseOf } from '../../api/client.ts';
import { oneOf, present, type Raw, text } from '../../ui/url.ts';

export const OUTCOMES = ['succeeded', 'refused', 'failed', 'unknown'] as const;

/** Milliseconds of a day. */
const DAY = 86_400_000;

/** Filters, page and selected entry of the audit trail, in the URL. */
export function readAuditSearch(raw: Raw) {
  return present({
    /** Days, UTC, `YYYY-MM-DD`, both inclusive. Links of before have one `day`. */
    from: day(raw.from) ?? day(raw.day),
    to: day(raw.to) ?? day(raw.day),
    principal: text(raw.principal),
    operation: text(raw.operation),
    resource: text(raw.resource),
    outcome: oneOf(OUTCOMES, raw.outcome),
    /** True: with the calls that programs make all the time. */
    routine: raw.routine === true ? (true as const) : undefined,
    cursor: text(raw.cursor),
    entry: text(raw.entry),
  });
}

export type AuditSearch = ReturnType<typeof readAuditSearch>;

function day(value: unknown): string | undefined {
  const found = text(value);
  return found !== undefined && /^\d{4}-\d\d-\d\d$/.test(found) && !Number.isNaN(Date.parse(found))
    ? found
    : undefined;
}

/** Filters of the API for those of the page, without its place in the list. */
export function auditQuery({ from, to, routine, cursor: _, entry: __, ...filters }: AuditSearch) {
  return {
    ...filters,
    routine: routine ?? false,
    ...(from === undefined ? {} : { from: `${from}T00:00:00Z` }),
    ...(to === undefined ? {} : { to: new Date(Date.parse(to) + DAY).toISOString() }),
  };
}

export type AuditEntry = ResponseOf<'listAudit'>['items'][number];
