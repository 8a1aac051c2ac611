import { createHmac, randomBytes } from 'node:crypto';
import { SECRET_PREFIX } from '#contract/values/webhook-limits.ts';
import type { WebhookSignatures } from '#domain/webhooks/webhook-ports.ts';

/** Bytes of a key; the Standard Webhooks specification allows 24 to 64. */
const KEY_BYTES = 32;

/** Signatures by the Standard Webhooks specification: HMAC-SHA256 of ID, time (Unix s) and body. */
export const webhookSignatures: WebhookSignatures = {
  newSecret: () => `${SECRET_PREFIX}${randomBytes(KEY_BYTES).toString('base64')}`,
  sign: (secret, id, timestamp, body) => {
    const key = Buffer.from(secret.slice(SECRET_PREFIX.length), 'base64');
    return `v1,${createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')}`;
  },
};
