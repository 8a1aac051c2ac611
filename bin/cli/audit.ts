import type * as z from 'zod';
import type { AuditEntry, AuditEntryList } from '#contract/audit-api.ts';
import type { ApiClient } from './client.ts';
import { second, table } from './format.ts';

export interface AuditOptions {
  readonly day?: string;
  readonly from?: string;
  readonly to?: string;
  readonly user?: string;
  readonly operation?: string;
  readonly resource?: string;
  readonly outcome?: string;
  readonly limit: number;
}

/** Prints who did what when, newest first. */
export async function printAudit(client: ApiClient, options: AuditOptions): Promise<void> {
  const { user, limit, ...filters } = options;
  const query = new URLSearchParams({ ...filters, ...(user ? { principal: user } : {}) });
  const entries: AuditEntry[] = [];
  let cursor: string | null = null;
  do {
    query.set('limit', String(Math.min(limit - entries.length, 100)));
    if (cursor) query.set('cursor', cursor);
    const page: z.infer<typeof AuditEntryList> = await client.get(`/api/v1/audit?${query}`);
    entries.push(...page.items);
    cursor = page.next_cursor;
  } while (cursor && entries.length < limit);
  console.log(entries.length > 0 ? auditTable(entries) : 'No such call.');
  if (cursor) console.log('More exist: raise --limit, or narrow by time, --user, --operation or --resource.');
}

function auditTable(entries: readonly AuditEntry[]): string {
  return table(
    ['When (UTC)', 'Who', 'As', 'What', 'Resource', 'Outcome', 'From', 'Correlation id'],
    entries.map((entry) => [
      second(entry.at),
      entry.principal,
      entry.roles.at(-1) ?? '-',
      entry.operation,
      `${entry.resource.kind} ${entry.resource.id ?? '-'}`,
      [entry.outcome, entry.code].filter(Boolean).join(' '),
      entry.source_ip,
      entry.correlation_id,
    ]),
  );
}
