import * as z from 'zod';
import { paginated } from '../common/page.ts';
import { PAGE_FIELDS, stringParameter } from '../common/parameters.ts';
import { Timestamp } from '../common/time.ts';
import { EVENT_SELECTION } from '../values/event-types.ts';
import {
  DELIVERY_LOG_DAYS,
  DELIVERY_STATUSES,
  ROTATION_HOURS,
  WEBHOOK_LIMITS,
} from '../values/webhook-limits.ts';
import { DeliveryAttempt, StoredDelivery, StoredWebhook } from './stored-webhook.ts';

/** Requests and responses of webhooks. */

const webhookId = stringParameter(64, 'ID of the webhook, `wh-...`');

export const WebhookParams = z.object({ webhook_id: webhookId });

export const DeliveryParams = z.object({
  webhook_id: webhookId,
  delivery_id: stringParameter(100, 'ID of the delivery'),
});

export const DeliveriesQuery = z.object({
  ...PAGE_FIELDS,
  status: z.enum(DELIVERY_STATUSES).optional().meta({ description: 'Only deliveries with this status' }),
});

const fields = {
  url: z.string().meta({
    description:
      'Receiver of the POST requests: `https`, port 443 or 1024 and above, without user and password, at a public address',
    maxLength: WEBHOOK_LIMITS.url,
    format: 'uri',
  }),
  types: z.array(z.string().meta({ pattern: EVENT_SELECTION.source })).meta({
    description: 'Types of events: `backtest.completed`, `version.*` for all of a kind, `*` for all',
    minItems: 1,
    maxItems: WEBHOOK_LIMITS.types,
  }),
  description: z.string().meta({
    description: 'Note for the people who read the list; an empty one removes it',
    maxLength: WEBHOOK_LIMITS.description,
  }),
};

export const WebhookRequest = z
  .looseObject({
    url: fields.url,
    types: fields.types.optional().meta({ description: 'Default: all types', default: ['*'] }),
    description: fields.description.optional(),
    all: z.boolean().optional().meta({
      description:
        'Deliver the events of all resources, regardless of who owns them. Only for admins. By default only events of resources that its owner may read, by the groups of its last request',
      default: false,
    }),
  })
  .meta({
    id: 'WebhookRequest',
    examples: [{ url: 'https://hooks.example/touchstone', types: ['version.*', 'backtest.failed'] }],
  });
export type WebhookRequest = z.infer<typeof WebhookRequest>;

export const WebhookChange = z
  .looseObject({
    url: fields.url.optional(),
    types: fields.types.optional(),
    description: fields.description.optional(),
    status: z
      .string()
      .optional()
      .meta({
        description: '`paused` stops deliveries. `active` continues, also after the platform has disabled it',
        enum: ['active', 'paused'],
      }),
  })
  .meta({ id: 'WebhookChange', examples: [{ status: 'paused' }, { types: ['challenge.*'] }] });
export type WebhookChange = z.infer<typeof WebhookChange>;

const { shape: stored } = StoredWebhook;

export const Webhook = z
  .object({
    webhook_id: stored.webhook_id,
    owner: stored.owner,
    groups: z.array(z.string()).meta({
      description:
        'Groups of the owner at its last request that changed them: the webhook receives what is shared with them',
    }),
    groups_at: Timestamp.nullable().meta({ description: 'Time of that request; null before it' }),
    url: stored.url,
    types: stored.types,
    description: stored.description,
    all: stored.all.meta({ description: 'true: events of all resources' }),
    status: stored.status.meta({
      description: '`disabled`: the platform has stopped it after days of failures',
    }),
    disabled_reason: stored.disabled_reason,
    created_at: stored.created_at,
    updated_at: stored.updated_at,
    failing_since: stored.failing_since.meta({ description: 'First failure since the last success' }),
    last_success_at: stored.last_success_at,
    previous_secret_expires_at: Timestamp.nullable().meta({
      description: 'Until then the previous secret signs too; null without one',
    }),
  })
  .meta({ id: 'Webhook' });
export type Webhook = z.infer<typeof Webhook>;

export const WebhookList = z.object({ items: z.array(Webhook) }).meta({ id: 'WebhookList' });

const secret = z.string().meta({
  description: 'Key of the signatures. No other response contains it: store it now',
});

export const WebhookWithSecret = z.object({ ...Webhook.shape, secret }).meta({
  id: 'WebhookWithSecret',
  description: `After a rotation both secrets sign for ${ROTATION_HOURS} h.`,
});

const { shape: delivery } = StoredDelivery;

export const WebhookDelivery = z
  .object({
    webhook_id: delivery.webhook_id,
    delivery_id: delivery.delivery_id,
    message_id: delivery.message_id.meta({
      description: 'Header `webhook-id`: the same for each delivery of an event',
    }),
    event_id: delivery.event_id,
    type: delivery.type,
    subject: delivery.subject,
    sequence: delivery.sequence,
    status: delivery.status,
    created_at: delivery.created_at,
    next_attempt_at: delivery.next_attempt_at,
    attempts: delivery.attempts.meta({ description: 'Number of attempts' }),
    last_attempts: z
      .array(DeliveryAttempt)
      .meta({ description: `The last ${WEBHOOK_LIMITS.attempts} attempts, oldest first` }),
  })
  .meta({ id: 'WebhookDelivery' });
export type WebhookDelivery = z.infer<typeof WebhookDelivery>;

export const WebhookDeliveryList = paginated(WebhookDelivery).meta({
  id: 'WebhookDeliveryList',
  description: `Deliveries of the last ${DELIVERY_LOG_DAYS} days`,
});

export const ReplayRequest = z
  .looseObject({
    since: z.string().meta({ description: 'Replay the events since this time, ISO 8601, up to 7 days back' }),
    until: z.string().optional().meta({ description: 'Default: now' }),
  })
  .meta({ id: 'WebhookReplayRequest', examples: [{ since: '2026-11-20T00:00:00Z' }] });
export type ReplayRequest = z.infer<typeof ReplayRequest>;

export const WebhookReplay = z
  .object({
    replayed: z.int().meta({ description: 'Events that are delivered again' }),
    next_since: Timestamp.nullable().meta({
      description: `Time at which the next call continues: one call replays up to ${WEBHOOK_LIMITS.replay} events. null: all were replayed`,
    }),
  })
  .meta({ id: 'WebhookReplay' });
