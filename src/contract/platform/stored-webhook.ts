import * as z from 'zod';
import { Timestamp } from '../common/time.ts';
import { DELIVERY_STATUSES, WEBHOOK_STATUSES } from '../values/webhook-limits.ts';

/** Webhooks and their deliveries, as they are stored. */

const WebhookSecret = z.object({
  secret: z.string().meta({ description: '`whsec_` and the key in base64' }),
  expires_at: Timestamp.nullable().meta({ description: 'null: the current secret' }),
});

export const StoredWebhook = z.object({
  schema_version: z.literal(1),
  webhook_id: z.string(),
  /** Counts the changes by users. */
  revision: z.int(),
  owner: z.string(),
  /** Groups of the owner's last request, and its time. Absent: created by an earlier version, and no request since. */
  groups: z.array(z.string()).optional(),
  groups_at: Timestamp.optional(),
  url: z.string(),
  types: z.array(z.string()),
  description: z.string().nullable(),
  all: z.boolean(),
  status: z.enum(WEBHOOK_STATUSES),
  disabled_reason: z.string().nullable(),
  secrets: z.array(WebhookSecret),
  created_at: Timestamp,
  updated_at: Timestamp,
  /** Failed attempts since the last success. */
  failures: z.int(),
  failing_since: Timestamp.nullable(),
  last_success_at: Timestamp.nullable(),
  /** No attempt before this time: several attempts have failed. */
  resume_at: Timestamp.nullable(),
});
export type StoredWebhook = z.infer<typeof StoredWebhook>;

export const DeliveryAttempt = z
  .object({
    at: Timestamp,
    status: z.int().nullable().meta({ description: 'HTTP status; null without a response' }),
    error: z.string().nullable().meta({ description: 'Reason of the failure; null after a success' }),
    duration_ms: z.int(),
  })
  .meta({ id: 'WebhookAttempt' });
export type DeliveryAttempt = z.infer<typeof DeliveryAttempt>;

export const StoredDelivery = z.object({
  schema_version: z.literal(1),
  webhook_id: z.string(),
  delivery_id: z.string(),
  message_id: z.string(),
  revision: z.int(),
  type: z.string(),
  subject: z.string(),
  sequence: z.int(),
  event_id: z.string(),
  /** The event as JSON: the body of each attempt. */
  event: z.string(),
  status: z.enum(DELIVERY_STATUSES),
  created_at: Timestamp,
  /** Attempts since the delivery was created or replayed. */
  tries: z.int(),
  /** Attempts in total. */
  attempts: z.int(),
  last_attempts: z.array(DeliveryAttempt),
  next_attempt_at: Timestamp.nullable(),
  /** Time of the last attempt. */
  deadline_at: Timestamp,
  /** TTL, Unix s. */
  expires_at: z.int(),
});
export type StoredDelivery = z.infer<typeof StoredDelivery>;
