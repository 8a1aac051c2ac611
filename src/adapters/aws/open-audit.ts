import type { AuditTrail } from '#domain/audit/audit-trail.ts';
import { DynamoAuditTrail } from './dynamo-audit-trail.ts';
import { createDocumentClient } from './dynamo-client.ts';

/** The audit trail in the Registry table: one that cannot be reached is SVC005. */
export function openAudit(table: string, endpoint: string | undefined): AuditTrail {
  return new DynamoAuditTrail(createDocumentClient({ endpoint, unavailable: 'SVC005' }), table);
}
