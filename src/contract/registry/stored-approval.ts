import * as z from 'zod';
import { Timestamp } from '../common/time.ts';
import { APPROVAL_ACTIONS, APPROVAL_STATUSES } from '../values/approval-limits.ts';

/** A request for approval, as stored in the registry table. */
export const StoredApproval = z.object({
  schema_version: z.literal(1),
  approval_id: z.string().meta({ description: '`ap-...`' }),
  model_name: z.string(),
  action: z.enum(APPROVAL_ACTIONS),
  version: z.string().nullable().meta({ description: 'Number of the version; null for `stop`' }),
  status: z.enum(APPROVAL_STATUSES),
  reason: z.string().meta({ description: 'Reason of the request' }),
  requested_by: z.string(),
  requested_at: Timestamp,
  due_at: Timestamp.meta({ description: 'From then on the request has expired' }),
  decided_by: z
    .string()
    .nullable()
    .meta({ description: '`platform` when the transition happened otherwise; null while open or expired' }),
  decided_at: Timestamp.nullable(),
  decision_reason: z.string().nullable(),
  expected_production: z
    .string()
    .nullable()
    .meta({ description: 'Version that must be in Production at the approval; null: there must be none' }),
  registered_by: z
    .string()
    .nullable()
    .meta({ description: 'User who registered the version; null without a version' }),
  written_at: Timestamp.meta({ description: 'Time of the last write' }),
});
export type StoredApproval = z.infer<typeof StoredApproval>;
