import type { AuditTrail } from '#domain/audit/audit-trail.ts';
import { DynamoAuditTrail } from './dynamo-audit-trail.ts';
import { createDocumentClient } from './dynamo-client.ts';

/** The audit trail in the Registry table: storage that cannot be reached is DATA005. */
export function openAudit(table: string, endpoint: string | undefined): AuditTrail {
  return new DynamoAuditTrail(createDocumentClient({ endpoint }), table);
}
