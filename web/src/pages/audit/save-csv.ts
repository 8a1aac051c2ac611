import { call } from '../../api/client.ts';
import { saveFile } from '../../api/download.ts';
import { csvOf } from './csv.ts';
import { type AuditEntry, type AuditSearch, auditQuery } from './search.ts';

/** Calls in a file, in steps of 100. */
export const CSV_ROWS = 10_000;

/**
 * Saves every call that passes the filters, newest first, as CSV; the newest {@link CSV_ROWS} where there are more.
 *
 * @throws ApiError as `call`
 */
export async function saveCsv(search: AuditSearch): Promise<void> {
  const entries: AuditEntry[] = [];
  let cursor: string | undefined;
  do {
    const page = await call('listAudit', { query: { ...auditQuery(search), limit: 100, cursor } });
    entries.push(...page.items);
    cursor = page.next_cursor ?? undefined;
  } while (cursor !== undefined && entries.length < CSV_ROWS);
  saveFile('audit.csv', new Blob([csvOf(entries)], { type: 'text/csv' }));
}
