import type { AuditTrail } from '#domain/audit/audit-trail.ts';
import { lazy } from '#domain/shared/lazy.ts';

interface AuditEnv {
  readonly REGISTRY_TABLE: string;
  readonly DYNAMODB_ENDPOINT?: string | undefined;
  readonly RETENTION_AUDIT_DAYS?: number | undefined;
}

/** Audit trail of a service. Its module is loaded at the first call that is recorded. */
export function openAuditTrail(env: AuditEnv): AuditTrail {
  return lazy(async () => {
    const { openAudit } = await import('./audit-trail.ts');
    return openAudit(env.REGISTRY_TABLE, env.DYNAMODB_ENDPOINT, env.RETENTION_AUDIT_DAYS);
  });
}
