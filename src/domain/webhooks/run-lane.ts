import type { DeliveryAttempt, StoredDelivery, StoredWebhook } from '#contract/platform/stored-webhook.ts';
import { HOUR_MS, MINUTE_MS } from '#contract/values/durations.ts';
import { DISABLED_AFTER_HOURS, WEBHOOK_LIMITS } from '#contract/values/webhook-limits.ts';
import { isoTime } from '../shared/iso-time.ts';
import { type DeliveredEvent, receives } from './deliveries.ts';
import type { DeliveryDeps, PendingDelivery, WebhookHealth, WebhookResponse } from './webhook-ports.ts';

/** Duration of a lease. A turn ends long before: it starts no attempt after {@link TURN_MS}, and an attempt takes up to 10 s. */
const LEASE_MS = 40_000;
/** Time after which a turn starts no further attempt. Others that wait for the same worker have their turn then. */
const TURN_MS = 10_000;
/** Pause before a worker that found the lane in use looks again. */
const HELD_MS = 2_000;
/**
 * Pending deliveries that a turn looks at, those of the oldest events: beyond them a delivery waits for others. An entry has some 150
 * bytes, so they are one page of DynamoDB (1 MB).
 */
const MAX_PENDING = 5_000;

/** Pause after the first, second, ... failed attempt of a delivery; the last one repeats. */
const BACK_OFF_MS = [5_000, 30_000, 2 * MINUTE_MS, 10 * MINUTE_MS, 30 * MINUTE_MS, HOUR_MS, 2 * HOUR_MS];
const MAX_BACK_OFF_MS = 4 * HOUR_MS;
/** Each pause is up to so much shorter or longer, as a part of it. */
const JITTER = 0.2;

/** Failed attempts in a row, of any delivery, after which the whole webhook pauses: a time-out of each would keep its lane busy. */
const FAILURES_BEFORE_PAUSE = 5;
const MAX_PAUSE_MS = 5 * MINUTE_MS;
/** HTTP status by which a receiver ends its subscription, by the Standard Webhooks specification. */
const GONE = 410;

/** What follows a turn. */
interface LaneTurn {
  /** Time of the next turn, Unix ms; absent without a pending delivery. */
  readonly next?: number | undefined;
  /** Time for which a turn is planned, as the worker found it. */
  readonly planned?: number | undefined;
}

/**
 * A turn of a webhook: attempts its deliveries that are due, one after the other. Only one worker has the lane of a webhook, so a slow
 * receiver delays its own deliveries only.
 *
 * @param worker name of the worker; it may take a lane again that it had when it died
 */
export async function runLane(deps: DeliveryDeps, id: string, worker: string): Promise<LaneTurn> {
  const start = deps.clock.now();
  const lease = await deps.webhooks.lease(id, worker, start, start + LEASE_MS);
  if (lease === 'gone') return {};
  const { webhook, planned } = lease;
  if (webhook === null) return { next: start + HELD_MS, planned };
  try {
    return { next: await new Turn(deps, webhook).run(start + TURN_MS), planned };
  } finally {
    await deps.webhooks.release(id, worker);
  }
}

class Turn {
  readonly #deps: DeliveryDeps;
  readonly #webhook: StoredWebhook;
  #health: WebhookHealth;
  /** Entries whose delivery is gone. */
  readonly #orphans = new Set<string>();

  constructor(deps: DeliveryDeps, webhook: StoredWebhook) {
    this.#deps = deps;
    this.#webhook = webhook;
    this.#health = webhook;
  }

  async run(end: number): Promise<number | undefined> {
    const { clock, deliveries } = this.#deps;
    const { webhook_id: id } = this.#webhook;
    // A delivery that becomes due later is still listed: the turn needs the time of the next one.
    let waiting: readonly PendingDelivery[] = [];
    while (this.#pausedUntil() === undefined) {
      const pending = await deliveries.pending(id, MAX_PENDING);
      waiting = pending.filter(({ delivery_id }) => !this.#orphans.has(delivery_id));
      const due = waiting.filter((each) => each.due <= clock.now()).sort((a, b) => a.due - b.due);
      if (due.length === 0) break;
      for (const { delivery_id } of due) {
        if (clock.now() >= end || this.#pausedUntil() !== undefined) break;
        await this.#deliver(delivery_id);
      }
      if (clock.now() >= end) return this.#health.status === 'active' ? clock.now() : undefined;
    }
    if (this.#health.status !== 'active') return undefined;
    return (
      this.#pausedUntil() ?? (waiting.length > 0 ? Math.min(...waiting.map(({ due }) => due)) : undefined)
    );
  }

  /** Time before which the webhook makes no attempt; Infinity when it is not active. */
  #pausedUntil(): number | undefined {
    if (this.#health.status !== 'active') return Number.POSITIVE_INFINITY;
    const { resume_at } = this.#health;
    if (resume_at === null) return undefined;
    const resume = Date.parse(resume_at);
    return resume > this.#deps.clock.now() ? resume : undefined;
  }

  async #deliver(deliveryId: string): Promise<void> {
    const { deliveries, ownership, clock } = this.#deps;
    const delivery = await deliveries.find(this.#webhook.webhook_id, deliveryId);
    if (delivery?.status !== 'pending') {
      this.#orphans.add(deliveryId);
      return;
    }
    const event = JSON.parse(delivery.event) as DeliveredEvent;
    if (!(await receives(ownership, this.#webhook, event))) {
      const error =
        'Not sent: the owner of the webhook may not see the resource, or the type is not selected';
      const attempt = { at: isoTime(clock.now()), status: null, error, duration_ms: 0 };
      await this.#save(delivery, attempt, 'failed', null);
      return;
    }
    const at = clock.now();
    const { retryAfterMs = 0, ...response } = await this.#send(delivery, at);
    const attempt = { at: isoTime(at), ...response };
    if (response.error === null) {
      await this.#save(delivery, attempt, 'delivered', null);
      await this.#succeeded();
      return;
    }
    const next = this.#nextAttempt(delivery, retryAfterMs);
    await this.#save(delivery, attempt, next === null ? 'failed' : 'pending', next);
    await this.#failed(response);
  }

  #send(delivery: StoredDelivery, now: number): Promise<WebhookResponse> {
    const { sender, signatures } = this.#deps;
    const { url, secrets } = this.#webhook;
    const timestamp = Math.floor(now / 1_000);
    const signed = secrets
      .filter(({ expires_at }) => expires_at === null || Date.parse(expires_at) > now)
      .map(({ secret }) => signatures.sign(secret, delivery.message_id, timestamp, delivery.event));
    const headers = {
      'webhook-id': delivery.message_id,
      'webhook-timestamp': String(timestamp),
      'webhook-signature': signed.join(' '),
    };
    return sender.send({ url, headers, body: delivery.event });
  }

  /** Null: this was the last attempt. */
  #nextAttempt({ tries, deadline_at }: StoredDelivery, retryAfterMs: number): string | null {
    const now = this.#deps.clock.now();
    const deadline = Date.parse(deadline_at);
    if (now >= deadline) return null;
    const pause = BACK_OFF_MS[tries] ?? MAX_BACK_OFF_MS;
    const jittered = pause * (1 - JITTER + 2 * JITTER * this.#deps.random());
    const wanted = Math.max(jittered, Math.min(retryAfterMs, MAX_BACK_OFF_MS));
    return isoTime(Math.min(now + wanted, deadline));
  }

  async #save(
    delivery: StoredDelivery,
    attempt: DeliveryAttempt,
    status: StoredDelivery['status'],
    next: string | null,
  ): Promise<void> {
    const { webhook_id, delivery_id, type } = delivery;
    if (status === 'failed')
      this.#deps.log.warn('webhook delivery failed', { webhook_id, delivery_id, type, error: attempt.error });
    // A replay in the meantime has started it again.
    await this.#deps.deliveries.save({
      ...delivery,
      revision: delivery.revision + 1,
      status,
      tries: delivery.tries + 1,
      attempts: delivery.attempts + 1,
      last_attempts: [...delivery.last_attempts, attempt].slice(-WEBHOOK_LIMITS.attempts),
      next_attempt_at: next,
    });
  }

  async #succeeded(): Promise<void> {
    const at = isoTime(this.#deps.clock.now());
    await this.#record({ failures: 0, failing_since: null, resume_at: null, last_success_at: at });
  }

  async #failed({ status, error }: WebhookResponse): Promise<void> {
    const now = this.#deps.clock.now();
    const failures = this.#health.failures + 1;
    const failing_since = this.#health.failing_since ?? isoTime(now);
    const beyond = failures - FAILURES_BEFORE_PAUSE;
    const pause = beyond < 0 ? 0 : Math.min(5_000 * 2 ** Math.min(beyond, 20), MAX_PAUSE_MS);
    const disabled = disabledReason(now - Date.parse(failing_since), failing_since, status, error);
    await this.#record({
      failures,
      failing_since,
      resume_at: pause === 0 ? null : isoTime(now + pause),
      ...(disabled !== undefined && { status: 'disabled', disabled_reason: disabled }),
    });
    if (disabled === undefined) return;
    const { webhook_id } = this.#webhook;
    this.#deps.log.warn('webhook disabled', { webhook_id, reason: disabled });
  }

  async #record(health: Partial<WebhookHealth>): Promise<void> {
    this.#health = { ...this.#health, ...health };
    await this.#deps.webhooks.record(this.#webhook.webhook_id, health);
  }
}

function disabledReason(
  failingMs: number,
  since: string,
  status: number | null,
  error: string | null,
): string | undefined {
  if (status === GONE) return 'The receiver responded with 410 Gone: it wants no more events';
  if (failingMs < DISABLED_AFTER_HOURS * HOUR_MS) return undefined;
  return `No delivery has succeeded since ${since}. Last failure: ${error}`;
}
