import type { StoredWebhook } from '#contract/platform/stored-webhook.ts';
import type { Caller } from '../access/access.ts';
import type { Clock, Log } from '../ports.ts';
import { isoTime } from '../shared/iso-time.ts';
import type { WebhookStore } from './webhook-ports.ts';

interface Deps {
  readonly webhooks: Pick<WebhookStore, 'list' | 'change'>;
  readonly clock: Clock;
  readonly log: Pick<Log, 'warn'>;
}

/** Time for which the list of webhooks is used again: requests are far more frequent than changes of membership. */
const LISTED_MS = 30_000;
/** Callers whose groups are remembered: beyond them they are read again. */
const MAX_SEEN = 1_000;

/**
 * Keeps the groups of callers with their webhooks, where they have changed. A delivery has no token, so what is shared with a group
 * reaches a webhook by the membership that its owner's last request had. The result never throws: no request fails because of it.
 */
export function webhookMembership({ webhooks, clock, log }: Deps): (caller: Caller) => Promise<void> {
  let listed: { readonly at: number; readonly webhooks: Promise<readonly StoredWebhook[]> } | undefined;
  const list = () => {
    const now = clock.now();
    if (!listed || now - listed.at >= LISTED_MS) listed = { at: now, webhooks: webhooks.list() };
    return listed.webhooks;
  };
  const seen = new Map<string, string>();
  return async ({ id, groups }) => {
    try {
      const membership = JSON.stringify(groups);
      // Webhooks may have been created since they were listed, with the groups before.
      if (seen.get(id) !== membership) listed = undefined;
      if (seen.size >= MAX_SEEN) seen.clear();
      seen.set(id, membership);
      const stale = (await list()).filter((each) => each.owner === id && !isEqual(each.groups, groups));
      for (const { webhook_id, revision } of stale) {
        const changed = { groups: [...groups], groups_at: isoTime(clock.now()), revision: revision + 1 };
        await webhooks.change(webhook_id, revision, changed);
      }
      if (stale.length > 0) listed = undefined;
    } catch (error) {
      // The next requests do not wait for a table that does not answer.
      listed = { at: clock.now(), webhooks: Promise.resolve([]) };
      log.warn('failed to record the groups of a webhook', { error: error as Error });
    }
  };
}

function isEqual(stored: readonly string[] | undefined, groups: readonly string[]): boolean {
  return JSON.stringify([...(stored ?? [])].sort()) === JSON.stringify([...groups].sort());
}
