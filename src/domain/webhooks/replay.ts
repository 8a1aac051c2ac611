import type { StoredDelivery, StoredWebhook } from '#contract/platform/stored-webhook.ts';
import type { ReplayRequest } from '#contract/platform/webhook-api.ts';
import type { Digest } from '#contract/values/digest.ts';
import { DAY_MS } from '#contract/values/durations.ts';
import { CodedError } from '#contract/values/errors.ts';
import { EVENT_LOG_DAYS } from '#contract/values/event-types.ts';
import { WEBHOOK_LIMITS } from '#contract/values/webhook-limits.ts';
import { parseRange } from '../data/time-range.ts';
import type { EventLog } from '../events/event-log.ts';
import type { Clock, Ids } from '../ports.ts';
import { isoTime } from '../shared/iso-time.ts';
import { retryConflicts } from '../shared/retry-conflicts.ts';
import { type DeliveredEvent, newDelivery, receives, started, testEvent } from './deliveries.ts';
import { getWebhook, unknownDelivery } from './read-webhooks.ts';
import type { DeliveryDeps, WebhookWaker } from './webhook-ports.ts';

export interface ReplayDeps extends Pick<DeliveryDeps, 'webhooks' | 'deliveries' | 'ownership'> {
  readonly events: Pick<EventLog, 'after'>;
  readonly waker: WebhookWaker;
  readonly ids: Ids;
  readonly digest: Digest;
  /** CloudEvents' `source` of this platform. */
  readonly eventSource: string;
  readonly clock: Clock;
  /** Events of one replay. Default: the limit of the contract. */
  readonly maxReplayed?: number;
}

/** Events of one read of the log. */
const PAGE = 250;
/** Events of the log that one call looks at: a selection may have few of them. */
const MAX_READ = 5_000;
const MAX_ATTEMPTS = 3;

/** Sends a test event. Throws HOOK001, RES005 for a webhook that is not active, DATA005. */
export async function testWebhook(deps: ReplayDeps, id: string): Promise<StoredDelivery> {
  await activeWebhook(deps, id);
  const event = testEvent(deps.eventSource, id, deps.ids.ulid(), deps.clock.now());
  const delivery = newDelivery(deps.digest, id, event, deps.clock.now());
  await deps.deliveries.add(delivery);
  await deps.waker.wake(id);
  return delivery;
}

/** Throws HOOK001, HOOK002, RES005 for a webhook that is not active, DATA005. */
export async function replayDelivery(
  deps: ReplayDeps,
  id: string,
  deliveryId: string,
): Promise<StoredDelivery> {
  await activeWebhook(deps, id);
  const replayed = await restart(deps, id, deliveryId);
  if (!replayed) throw unknownDelivery(deliveryId);
  await deps.waker.wake(id);
  return replayed;
}

/**
 * Delivers the events of a time range again that the webhook selects and its owner may see.
 * Throws HOOK001, VAL001, RES005 for a webhook that is not active, DATA005, SVC005.
 */
export async function replayWebhook(
  deps: ReplayDeps,
  id: string,
  request: ReplayRequest,
): Promise<{ readonly replayed: number; readonly next_since: string | null }> {
  const { since, until } = rangeOf(request, deps.clock.now());
  const webhook = await activeWebhook(deps, id);
  let after = isoTime(since);
  let read = 0;
  const max = deps.maxReplayed ?? WEBHOOK_LIMITS.replay;
  const replayed = new Set<string>();
  const result = (next_since: string | null) => ({ replayed: replayed.size, next_since });
  try {
    for (;;) {
      const rows = await deps.events.after(after, PAGE);
      for (const { position, event } of rows) {
        const at = position.split('#')[0]!;
        if (Date.parse(at) >= until) return result(null);
        // The next call reads the events of this moment again, which is harmless.
        if (replayed.size >= max || read++ >= MAX_READ) return result(at);
        // The log has an event again that was delivered again.
        if (!replayed.has(event.id) && (await replayEvent(deps, webhook, event))) replayed.add(event.id);
        after = position;
      }
      if (rows.length < PAGE) return result(null);
    }
  } finally {
    if (replayed.size > 0) await deps.waker.wake(id);
  }
}

async function replayEvent(
  deps: ReplayDeps,
  webhook: StoredWebhook,
  event: DeliveredEvent,
): Promise<boolean> {
  if (!(await receives(deps.ownership, webhook, event))) return false;
  const delivery = newDelivery(deps.digest, webhook.webhook_id, event, deps.clock.now());
  if (!(await deps.deliveries.add(delivery))) {
    await restart(deps, webhook.webhook_id, delivery.delivery_id);
  }
  return true;
}

/** The delivery with new attempts; unchanged if it waits for its first one. Undefined for an unknown one. Throws RES005. */
function restart(deps: ReplayDeps, id: string, deliveryId: string): Promise<StoredDelivery | undefined> {
  return retryConflicts<StoredDelivery | undefined>({ attempts: MAX_ATTEMPTS }, async () => {
    const delivery = await deps.deliveries.find(id, deliveryId);
    if (!delivery || (delivery.status === 'pending' && delivery.tries === 0)) return { result: delivery };
    const again = { ...delivery, ...started(deps.clock.now()), revision: delivery.revision + 1 };
    if (await deps.deliveries.save(again)) return { result: again };
    const message = 'Write conflict: the delivery is being attempted: retry the request';
    return { conflict: new CodedError('RES005', { message, field: 'delivery_id' }) };
  });
}

async function activeWebhook(deps: Pick<ReplayDeps, 'webhooks'>, id: string): Promise<StoredWebhook> {
  const webhook = await getWebhook(deps, id);
  if (webhook.status === 'active') return webhook;
  throw new CodedError('RES005', {
    message: `The webhook is ${webhook.status}: set its status to active first`,
    field: 'webhook_id',
    context: { status: webhook.status },
  });
}

function rangeOf(request: ReplayRequest, now: number): { readonly since: number; readonly until: number } {
  const { start, end: until = now } = parseRange({ start: request.since, end: request.until }, [
    'since',
    'until',
  ]);
  const since = start!;
  if (since >= until) {
    throw new CodedError('VAL001', {
      message: 'since must be in the past',
      field: 'since',
      context: { since: request.since },
    });
  }
  return { since: Math.max(since, now - EVENT_LOG_DAYS * DAY_MS), until };
}
