import * as z from 'zod';

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
