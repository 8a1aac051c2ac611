import * as z from 'zod';
import { paginated } from '../common/page.ts';
import { booleanParameter, PAGE_FIELDS, stringParameter } from '../common/parameters.ts';
import { Timestamp } from '../common/time.ts';
import { ROUTINE_OPERATIONS } from '../values/audit-routine.ts';
import { AUDIT_DEFAULTS, AUDIT_LIMITS } from '../values/request-limits.ts';

/** Resource of a call: the collection in the path, and its ID. */
export const AuditResource = z
  .object({
    kind: z.string().meta({ description: 'As in the path: `backtests`, `models`, `collections`' }),
    id: z.string().nullable().meta({ description: 'null while a request that makes one has made none' }),
  })
  .meta({ id: 'AuditResource' });
export type AuditResource = z.infer<typeof AuditResource>;

/** Outcome of a call; test/contract pins the hash of this shape and of the next. */
export const StoredAuditOutcome = z.object({
  outcome: z.enum(['succeeded', 'refused', 'failed']),
  status: z.int(),
  /** Error code; null without one. */
  code: z.string().nullable(),
  /** Resource that the call created; absent otherwise. */
  created: AuditResource.nullable(),
  /** Model and version that the response names; absent without them. */
  model_name: z.string().optional(),
  version: z.string().optional(),
  ended_at: z.iso.datetime(),
});
export type StoredAuditOutcome = z.infer<typeof StoredAuditOutcome>;

/** A state-changing call, stored before anything is changed. */
export const StoredAuditCall = z.object({
  schema_version: z.literal(1),
  id: z.string(),
  at: z.iso.datetime(),
  principal: z.string(),
  roles: z.array(z.string()),
  service: z.string(),
  operation: z.string(),
  resource: AuditResource,
  method: z.string(),
  path: z.string(),
  correlation_id: z.string(),
  /** JSON of a summary. */
  request: z.string().nullable(),
  source_ip: z.string().nullable(),
  user_agent: z.string().nullable(),
  /** Present for a call that was rejected before any change; otherwise an item of its own. */
  outcome: StoredAuditOutcome.nullable(),
});
export type StoredAuditCall = z.infer<typeof StoredAuditCall>;

const AuditOutcome = z.enum(['succeeded', 'refused', 'failed', 'unknown']);

export const AuditEntry = z
  .object({
    id: z.string(),
    at: Timestamp,
    principal: z.string().meta({
      description:
        "The token's `sub`; `service` is a service of Touchstone, `platform` a change without a call",
    }),
    roles: z.array(z.string()),
    service: z.string(),
    operation: z.string().meta({
      description:
        "Operation id, as in the OpenAPI documents; of a change without a call the action of the model's or challenge's history",
    }),
    resource: AuditResource.meta({ description: 'Created resource, or the resource in the path' }),
    model_name: z.string().nullable().meta({
      description: 'Model that the call is about; null for another resource',
    }),
    version: z.string().nullable().meta({
      description:
        'Version of it that the response names, or else the request; of a challenge the challenger. null without one',
    }),
    method: z.string().meta({ description: 'Empty for a change without a call, like `path`' }),
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
  day: stringParameter(10, 'A day, UTC, such as 2026-11-21: instead of `from` and `to`').optional(),
  from: stringParameter(
    40,
    `ISO 8601, inclusive. Default: ${AUDIT_DEFAULTS.days} days before \`to\``,
  ).optional(),
  to: stringParameter(
    40,
    `ISO 8601, exclusive, at most ${AUDIT_LIMITS.days} days after \`from\`. Default: now`,
  ).optional(),
  principal: stringParameter(200, 'Only calls of this principal').optional(),
  operation: stringParameter(100, 'Only calls of this operation ID').optional(),
  resource: stringParameter(
    200,
    'Only calls about the resource with this ID, such as bt-…. For the name of a model also those about its versions and challenges, and what the platform did with them itself',
  ).optional(),
  outcome: AuditOutcome.meta({ description: 'Only calls with this outcome' }).optional(),
  routine: booleanParameter(
    `\`false\`: without the calls of programs that come all the time: ${ROUTINE_OPERATIONS.join(', ')}. With \`operation\` it does nothing`,
  ).default(true),
  ...PAGE_FIELDS,
});
