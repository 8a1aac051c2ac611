import type { StoredDelivery, StoredWebhook } from '#contract/platform/stored-webhook.ts';
import { CodedError } from '#contract/values/errors.ts';
import type { Caller } from '../access/access.ts';
import type { Page } from '../ports.ts';
import type { Cursors } from '../shared/cursors.ts';
import { unknownWebhook } from '../shared/unknown-resources.ts';
import type { DeliveryStore, WebhookStore } from './webhook-ports.ts';

export interface ReadWebhooksDeps {
  readonly webhooks: Pick<WebhookStore, 'find' | 'list'>;
  readonly deliveries: Pick<DeliveryStore, 'list'>;
  readonly cursors: Cursors;
}

/** Deliveries that one page looks at, for a filter that few pass. */
const MAX_READ = 1_000;
const PAGE = 100;

/** Webhooks of the caller; all for an admin. Throws DATA005. */
export async function listWebhooks(
  { webhooks }: Pick<ReadWebhooksDeps, 'webhooks'>,
  { id, isAdmin }: Caller,
): Promise<readonly StoredWebhook[]> {
  const all = await webhooks.list();
  return isAdmin ? all : all.filter(({ owner }) => owner === id);
}

/** Throws HOOK001, DATA005. */
export async function getWebhook(
  { webhooks }: { readonly webhooks: Pick<WebhookStore, 'find'> },
  id: string,
): Promise<StoredWebhook> {
  const webhook = await webhooks.find(id);
  if (!webhook) throw unknownWebhook(id);
  return webhook;
}

/** One page, newest events first. Throws HOOK001, VAL006 (a cursor of another list), DATA005. */
export async function listDeliveries(
  deps: ReadWebhooksDeps,
  id: string,
  query: {
    readonly limit: number;
    readonly cursor?: string | undefined;
    readonly status?: StoredDelivery['status'] | undefined;
  },
): Promise<Page<StoredDelivery>> {
  await getWebhook(deps, id);
  const scope = { webhook: id, status: query.status ?? null };
  let [after] = query.cursor === undefined ? [] : deps.cursors.decode(query.cursor, scope, 1);
  const items: StoredDelivery[] = [];
  for (let read = 0; read < MAX_READ; read += PAGE) {
    const page = await deps.deliveries.list(id, after, PAGE);
    for (const delivery of page) {
      after = delivery.delivery_id;
      if (query.status !== undefined && delivery.status !== query.status) continue;
      items.push(delivery);
      if (items.length === query.limit) return { items, next: deps.cursors.encode([after], scope) };
    }
    if (page.length < PAGE) return { items, next: null };
  }
  return { items, next: deps.cursors.encode([after!], scope) };
}

/** Throws HOOK002 for a delivery that is not in the log. */
export function unknownDelivery(id: string): CodedError {
  return new CodedError('HOOK002', {
    message: 'Delivery not found: the log keeps deliveries for 7 days',
    field: 'delivery_id',
    context: { delivery_id: id.slice(0, 100) },
  });
}
