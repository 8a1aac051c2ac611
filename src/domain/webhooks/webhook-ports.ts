import type { DeliveryAttempt, StoredDelivery, StoredWebhook } from '#contract/platform/stored-webhook.ts';
import type { Ownership } from '../access/access.ts';
import type { Clock, Log } from '../ports.ts';

/** Attributes that deliveries change. Changes by users have a revision. */
export type WebhookHealth = Pick<
  StoredWebhook,
  'failures' | 'failing_since' | 'last_success_at' | 'resume_at' | 'status' | 'disabled_reason'
>;

export interface WebhookStore {
  /** Number of webhooks that were ever created, strongly consistent. */
  created(): Promise<number>;
  /** `conflict`: that number is another one; nothing was stored. */
  create(webhook: StoredWebhook, created: number): Promise<'done' | 'conflict'>;
  /** Strongly consistent; undefined for an unknown ID. */
  find(id: string): Promise<StoredWebhook | undefined>;
  /** All webhooks of the stage, oldest first. */
  list(): Promise<readonly StoredWebhook[]>;
  /** Replaces attributes. `conflict`: the revision is another one, or the webhook is gone. */
  change(id: string, revision: number, changed: Partial<StoredWebhook>): Promise<'done' | 'conflict'>;
  /** Records results of attempts; nothing if the webhook is gone. */
  record(id: string, health: Partial<WebhookHealth>): Promise<void>;
  remove(id: string): Promise<void>;
  /** Takes the lane of a webhook from now until a time, Unix ms. An owner may take it again. */
  lease(id: string, owner: string, now: number, until: number): Promise<Lease | 'gone'>;
  release(id: string, owner: string): Promise<void>;
  /** Records that the webhook will be woken at a time, Unix ms. */
  plan(id: string, at: number): Promise<void>;
}

/** State of a lane that a worker asked for. */
export interface Lease {
  /** null: another worker has the lane. */
  readonly webhook: StoredWebhook | null;
  /** Time of its next wake-up that is planned, Unix ms. */
  readonly planned: number | undefined;
}

/** A delivery that waits for an attempt. */
export interface PendingDelivery {
  readonly delivery_id: string;
  /** Unix ms. */
  readonly due: number;
}

export interface DeliveryStore {
  /** False: the delivery exists. */
  add(delivery: StoredDelivery): Promise<boolean>;
  find(webhookId: string, deliveryId: string): Promise<StoredDelivery | undefined>;
  /** Newest first, after a delivery. */
  list(webhookId: string, after: string | undefined, limit: number): Promise<readonly StoredDelivery[]>;
  /** Up to `limit` pending deliveries, those of the oldest events first. Strongly consistent. */
  pending(webhookId: string, limit: number): Promise<readonly PendingDelivery[]>;
  /** Replaces a delivery with the revision before. False: another write came first. */
  save(delivery: StoredDelivery): Promise<boolean>;
}

/** A request to a receiver. */
export interface WebhookRequest {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export interface WebhookResponse extends Omit<DeliveryAttempt, 'at'> {
  /** Value of Retry-After, ms. */
  readonly retryAfterMs?: number | undefined;
}

/** Sends requests to receivers. It never throws. */
export interface WebhookSender {
  /** Reason for which a URL cannot be a receiver; undefined if it can. */
  urlProblem(url: string): Promise<string | undefined>;
  send(request: WebhookRequest): Promise<WebhookResponse>;
}

export interface WebhookSignatures {
  /** `whsec_` and 32 random bytes in base64. */
  newSecret(): string;
  /** `v1,` and the signature in base64, by the Standard Webhooks specification. */
  sign(secret: string, id: string, timestamp: number, body: string): string;
}

/** Dependencies of deliveries. */
export interface DeliveryDeps {
  readonly webhooks: WebhookStore;
  readonly deliveries: DeliveryStore;
  readonly ownership: Pick<Ownership, 'backtest' | 'hyperopt' | 'model' | 'challenge' | 'approval'>;
  readonly sender: WebhookSender;
  readonly signatures: WebhookSignatures;
  readonly clock: Clock;
  /** From 0 to 1. */
  readonly random: () => number;
  readonly log: Log;
}

/** Message that wakes a webhook. */
export interface WakeUp {
  readonly webhook_id: string;
  /** Unix ms. */
  readonly at: number;
}

/** Starts deliveries of a webhook that are due. */
export interface WebhookWaker {
  wake(webhookId: string): Promise<void>;
}
