import type { PlatformEvent } from '#contract/platform/events.ts';
import type { StoredDelivery, StoredWebhook } from '#contract/platform/stored-webhook.ts';
import type { Digest } from '#contract/values/digest.ts';
import { HOUR_MS } from '#contract/values/durations.ts';
import { BUS_SOURCE, type EventType, selects } from '#contract/values/event-types.ts';
import { PLATFORM } from '#contract/values/names.ts';
import { DELIVERY_HOURS, DELIVERY_LOG_DAYS, TEST_EVENT_TYPE } from '#contract/values/webhook-limits.ts';
import type { Caller } from '../access/access.ts';
import { maySeeEvents } from '../events/visible-events.ts';
import { isoTime } from '../shared/iso-time.ts';
import type { DeliveryDeps } from './webhook-ports.ts';

/** Webhooks to which events are added at the same time: one by one, a batch for hundreds of them would exceed its time limit. */
const CONCURRENT_WEBHOOKS = 20;
/** Characters of the hash in IDs: 128 bits. */
const HASH_LENGTH = 32;

/** An event that webhooks deliver: of the catalogue, or a test. */
export type DeliveredEvent = Pick<PlatformEvent, 'id' | 'source' | 'subject' | 'time' | 'sequence'> & {
  readonly type: EventType | typeof TEST_EVENT_TYPE;
};

/** The event that tests a webhook. */
export function testEvent(source: string, webhookId: string, id: string, now: number): DeliveredEvent {
  const subject = `webhooks/${webhookId}`;
  const event = {
    specversion: '1.0',
    id: `${subject}#${id}#${TEST_EVENT_TYPE}`,
    source,
    type: TEST_EVENT_TYPE,
    subject,
    time: isoTime(now),
    actor: PLATFORM,
    datacontenttype: 'application/json',
    // Milliseconds order the tests of a webhook.
    sequence: now,
    data: { webhook_id: webhookId },
  } as const;
  return event;
}

/**
 * The delivery of an event to a webhook. Its IDs follow from the event: adding it again finds it, and a receiver sees the same message
 * ID each time, which no event of another platform has. IDs ascend with the time of the event.
 */
export function newDelivery(
  digest: Digest,
  webhookId: string,
  event: DeliveredEvent,
  now: number,
): StoredDelivery {
  // An event that was logged before sources named the platform keeps the ID of its delivery.
  const named = event.source === BUS_SOURCE ? event.id : `${event.source}#${event.id}`;
  const hash = digest(named).slice(0, HASH_LENGTH);
  return {
    schema_version: 1,
    webhook_id: webhookId,
    delivery_id: `${event.time.replaceAll(/[-:.]/g, '')}-${hash}`,
    message_id: `msg_${hash}`,
    revision: 0,
    type: event.type,
    subject: event.subject,
    sequence: event.sequence,
    event_id: event.id,
    event: JSON.stringify(event),
    created_at: isoTime(now),
    attempts: 0,
    last_attempts: [],
    ...started(now),
  };
}

/** Attributes of a delivery whose attempts begin, for the first time or again. */
export function started(now: number) {
  return {
    status: 'pending',
    tries: 0,
    next_attempt_at: isoTime(now),
    deadline_at: isoTime(now + DELIVERY_HOURS * HOUR_MS),
    expires_at: Math.ceil(now / 1_000) + DELIVERY_LOG_DAYS * 24 * 60 * 60,
  } as const;
}

/**
 * The owner of a webhook as a caller, with the groups of its last request: a delivery has no token. An admin has decided that a webhook
 * receives all events.
 */
function ownerOf({ owner, groups = [], all }: Pick<StoredWebhook, 'owner' | 'groups' | 'all'>): Caller {
  return { id: owner, groups, isAdmin: all };
}

/** True when a webhook selects the type of an event and its owner may see the subject. Throws DATA005, SVC005. */
export async function receives(
  ownership: DeliveryDeps['ownership'],
  webhook: Pick<StoredWebhook, 'owner' | 'groups' | 'all' | 'types'>,
  { type, subject }: DeliveredEvent,
): Promise<boolean> {
  if (type === TEST_EVENT_TYPE) return true;
  return selects(webhook.types.join(','), type) && maySeeEvents(ownership, ownerOf(webhook), subject);
}

/**
 * Adds the deliveries of events to the active webhooks that receive them, and returns the IDs of these webhooks. Repeating it adds no
 * delivery twice. Throws DATA005, SVC005.
 */
export async function addDeliveries(
  deps: Pick<DeliveryDeps, 'webhooks' | 'deliveries' | 'ownership' | 'clock'> & { readonly digest: Digest },
  events: readonly DeliveredEvent[],
): Promise<readonly string[]> {
  const webhooks = (await deps.webhooks.list()).filter(({ status }) => status === 'active');
  const ids = new Set<string>();
  const addTo = async (webhook: StoredWebhook) => {
    const { webhook_id: id } = webhook;
    for (const event of events) {
      if (!(await receives(deps.ownership, webhook, event))) continue;
      await deps.deliveries.add(newDelivery(deps.digest, id, event, deps.clock.now()));
      ids.add(id);
    }
  };
  for (let from = 0; from < webhooks.length; from += CONCURRENT_WEBHOOKS)
    await Promise.all(webhooks.slice(from, from + CONCURRENT_WEBHOOKS).map(addTo));
  return [...ids];
}
