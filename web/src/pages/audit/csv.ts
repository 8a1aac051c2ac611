import type { AuditEntry } from './search.ts';

const COLUMNS: Readonly<Record<string, (entry: AuditEntry) => unknown>> = {
  at: ({ at }) => at,
  ended_at: ({ ended_at }) => ended_at,
  outcome: ({ outcome }) => outcome,
  status: ({ status }) => status,
  code: ({ code }) => code,
  operation: ({ operation }) => operation,
  principal: ({ principal }) => principal,
  roles: ({ roles }) => roles.join(' '),
  model_name: ({ model_name }) => model_name,
  version: ({ version }) => version,
  resource_kind: ({ resource }) => resource.kind,
  resource_id: ({ resource }) => resource.id,
  method: ({ method }) => method,
  path: ({ path }) => path,
  source_ip: ({ source_ip }) => source_ip,
  user_agent: ({ user_agent }) => user_agent,
  correlation_id: ({ correlation_id }) => correlation_id,
  request: ({ request }) => request && JSON.stringify(request),
};

/**
 * A value as a cell of CSV (RFC 4180). A text that a spreadsheet would take for a formula has an apostrophe before it: callers write
 * some of these texts.
 */
export function csvCell(value: unknown): string {
  if (value === null || value === undefined) return '';
  const text = String(value);
  const safe = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

/** Calls as CSV with a line of names. */
export function csvOf(entries: readonly AuditEntry[]): string {
  const lines = entries.map((entry) => Object.values(COLUMNS).map((of) => csvCell(of(entry))));
  return [Object.keys(COLUMNS), ...lines].map((line) => `${line.join(',')}\r\n`).join('');
}
