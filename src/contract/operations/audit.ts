import { AuditEntryList, AuditQuery } from '../platform/audit.ts';
import { formatInteger } from '../values/format-count.ts';
import type { Operation } from '../values/operation.ts';
import { AUDIT_LIMITS } from '../values/request-limits.ts';

/** Operations of the audit trail, on the backend. */
export const AUDIT_OPERATIONS = [
  {
    id: 'listAudit',
    service: 'backend',
    method: 'GET',
    path: '/api/v1/audit',
    tag: 'Audit',
    summary: 'Audit trail: every call that can change state, newest first',
    description: `A page reads up to ${formatInteger(AUDIT_LIMITS.read)} entries. With selective filters it may be short or empty while \`next_cursor\` is not null.`,
    query: AuditQuery,
    success: { 200: { description: 'One page', schema: AuditEntryList } },
    errors: ['VAL001', 'VAL006', 'SVC005'],
    access: 'admin',
  },
] as const satisfies readonly Operation[];
