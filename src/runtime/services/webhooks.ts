import type { StoredDelivery, StoredWebhook } from '#contract/platform/stored-webhook.ts';
import type { Webhook, WebhookDelivery } from '#contract/platform/webhook-api.ts';
import {
  getWebhook,
  listDeliveries,
  listWebhooks,
  type ReadWebhooksDeps,
} from '#domain/webhooks/read-webhooks.ts';
import { type ReplayDeps, replayDelivery, replayWebhook, testWebhook } from '#domain/webhooks/replay.ts';
import {
  createWebhook,
  deleteWebhook,
  rotateWebhookSecret,
  updateWebhook,
  type WriteWebhookDeps,
} from '#domain/webhooks/write-webhook.ts';
import { callerOf } from '../authenticate.ts';
import type { GroupHandlers } from '../handler.ts';

export type WebhookHandlerDeps = WriteWebhookDeps & ReplayDeps & ReadWebhooksDeps;

/** Handlers of the rows of webhooks. */
export function webhookHandlers(deps: WebhookHandlerDeps): GroupHandlers<'webhooks'> {
  return {
    createWebhook: async ({ body, principal }) => {
      const webhook = withSecret(await createWebhook(deps, callerOf(principal), body));
      return { status: 201, body: webhook, headers: { Location: `webhooks/${webhook.webhook_id}` } };
    },
    listWebhooks: async ({ principal }) => ({
      status: 200,
      body: { items: (await listWebhooks(deps, callerOf(principal))).map(webhookView) },
    }),
    getWebhook: async ({ params }) => ({
      status: 200,
      body: webhookView(await getWebhook(deps, params.webhook_id)),
    }),
    updateWebhook: async ({ params, body }) => ({
      status: 200,
      body: webhookView(await updateWebhook(deps, params.webhook_id, body)),
    }),
    deleteWebhook: async ({ params }) => {
      await deleteWebhook(deps, params.webhook_id);
      return { status: 204, body: '' };
    },
    rotateWebhookSecret: async ({ params }) => ({
      status: 200,
      body: withSecret(await rotateWebhookSecret(deps, params.webhook_id)),
    }),
    testWebhook: async ({ params }) => ({
      status: 202,
      body: deliveryView(await testWebhook(deps, params.webhook_id)),
    }),
    listDeliveries: async ({ params, query }) => {
      const { items, next } = await listDeliveries(deps, params.webhook_id, query);
      return { status: 200, body: { items: items.map(deliveryView), next_cursor: next } };
    },
    replayDelivery: async ({ params }) => ({
      status: 202,
      body: deliveryView(await replayDelivery(deps, params.webhook_id, params.delivery_id)),
    }),
    replayWebhook: async ({ params, body }) => ({
      status: 202,
      body: await replayWebhook(deps, params.webhook_id, body),
    }),
  };
}

/** A webhook as callers see it: without its secrets. */
function webhookView(webhook: StoredWebhook): Webhook {
  const { webhook_id, owner, url, types, description, all, status, disabled_reason } = webhook;
  const { groups = [], groups_at = null } = webhook;
  const { created_at, updated_at, failing_since, last_success_at, secrets } = webhook;
  const previous = secrets[1]?.expires_at ?? null;
  return {
    webhook_id,
    owner,
    groups,
    groups_at,
    url,
    types,
    description,
    all,
    status,
    disabled_reason,
    created_at,
    updated_at,
    failing_since,
    last_success_at,
    previous_secret_expires_at: previous,
  };
}

function withSecret(webhook: StoredWebhook) {
  return { ...webhookView(webhook), secret: webhook.secrets[0]!.secret };
}

function deliveryView(delivery: StoredDelivery): WebhookDelivery {
  const { webhook_id, delivery_id, message_id, event_id, type, subject, sequence, status } = delivery;
  const { created_at, next_attempt_at, attempts, last_attempts } = delivery;
  return {
    webhook_id,
    delivery_id,
    message_id,
    event_id,
    type,
    subject,
    sequence,
    status,
    created_at,
    next_attempt_at,
    attempts,
    last_attempts,
  };
}
