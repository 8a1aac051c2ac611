import * as z from 'zod';
import { paginated, Timestamp } from './common.ts';
import { AUDIT_DEFAULTS, AUDIT_LIMITS } from './limits.ts';
import { pageLimit, textParameter } from './parameters.ts';
import { AuditResource } from './stored-audit.ts';

const AuditOutcome = z.enum(['succeeded', 'refused', 'failed', 'unknown']);

export const AuditEntry = z
  .object({
    id: z.string(),
    at: Timestamp,
    principal: z.string().meta({ description: "The token's `sub`; `service` is Touchstone itself" }),
    roles: z.array(z.string()),
    service: z.string(),
    operation: z.string().meta({ description: 'Operation id, as in the OpenAPI documents' }),
    resource: AuditResource.meta({ description: 'Created resource, or the resource in the path' }),
    method: z.string(),
    path: z.string(),
    outcome: AuditOutcome.meta({
      description:
        '`refused`: status 4xx. `failed`: 5xx. `unknown`: still running, or the service crashed; check the resource',
    }),
    status: z.int().nullable(),
    code: z.string().nullable().meta({ description: 'Error code; null on success' }),
    ended_at: Timestamp.nullable(),
    correlation_id: z.string(),
    request: z.record(z.string(), z.unknown()).nullable().meta({
      description: 'Summary of query and body: long strings and lists are truncated, secrets removed',
    }),
    source_ip: z.string().nullable(),
    user_agent: z.string().nullable(),
  })
  .meta({ id: 'AuditEntry' });
export type AuditEntry = z.infer<typeof AuditEntry>;

export const AuditEntryList = paginated(AuditEntry).meta({ id: 'AuditEntryList' });

export const AuditQuery = z.object({
  day: textParameter(10, 'A day, UTC, such as 2026-11-21: instead of `from` and `to`').optional(),
  from: textParameter(
    40,
    `ISO 8601, inclusive. Default: ${AUDIT_DEFAULTS.days} days before \`to\``,
  ).optional(),
  to: textParameter(
    40,
    `ISO 8601, exclusive, at most ${AUDIT_LIMITS.days} days after \`from\`. Default: now`,
  ).optional(),
  principal: textParameter(200, 'Only calls of this principal').optional(),
  operation: textParameter(100, 'Only calls of this operation ID').optional(),
  resource: textParameter(200, 'Only calls about the resource with this ID, such as bt-…').optional(),
  outcome: AuditOutcome.meta({ description: 'Only calls with this outcome' }).optional(),
  limit: pageLimit,
  cursor: textParameter(4096, '`next_cursor` of the previous page').optional(),
});
