import { WebhookQueue } from '#adapters/aws/webhook-queue.ts';
import { createDocumentClient } from '#adapters/dynamo/client.ts';
import { DynamoJobStore } from '#adapters/dynamo/job-store.ts';
import { openRegistry } from '#adapters/dynamo/open-registry.ts';
import { DynamoDeliveryStore, DynamoWebhookStore } from '#adapters/dynamo/webhook-store.ts';
import { sha256 } from '#adapters/sha256.ts';
import { HttpsSender } from '#adapters/webhooks/https-sender.ts';
import { webhookSignatures } from '#adapters/webhooks/signatures.ts';
import { WebhooksEnv } from '#contract/env/webhooks-env.ts';
import { ownershipOf } from '#domain/ownership.ts';
import { readEnv } from '#runtime/env.ts';
import { createLogger } from '#runtime/log.ts';
import { VERSION } from '#runtime/version.ts';
import { webhooksLambda } from '#runtime/webhooks.ts';

const env = readEnv(WebhooksEnv);
const dynamo = createDocumentClient(env.DYNAMODB_ENDPOINT ? { endpoint: env.DYNAMODB_ENDPOINT } : {});
const jobs = new DynamoJobStore(dynamo, env.JOBS_TABLE);

export const handler = webhooksLambda({
  webhooks: new DynamoWebhookStore(dynamo, env.JOBS_TABLE),
  deliveries: new DynamoDeliveryStore(dynamo, env.JOBS_TABLE, Date),
  ownership: ownershipOf({ jobs, ...openRegistry(env.REGISTRY_TABLE, env.DYNAMODB_ENDPOINT) }),
  sender: new HttpsSender({ userAgent: `touchstone/${VERSION}` }),
  signatures: webhookSignatures,
  queue: new WebhookQueue(env.WEBHOOK_QUEUE_URL, dynamo),
  clock: Date,
  random: Math.random,
  digest: sha256,
  logger: createLogger('webhooks', env.LOG_LEVEL),
});
