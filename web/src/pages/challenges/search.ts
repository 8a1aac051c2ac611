import type { ResponseOf } from '../../api/client.ts';
import { oneOf, present, type Raw, text } from '../../ui/url.ts';

export type Challenge = ResponseOf<'getChallenge'>;

export const STATUSES: readonly Challenge['status'][] = ['active', 'completed', 'rolled_back', 'expired'];

/** Filter and page of the list. */
export function readListSearch(raw: Raw) {
  return present({ status: oneOf(STATUSES, raw.status), cursor: text(raw.cursor) });
}

/** Pages of the events and of the trades of a challenge. */
export function readChallengeSearch(raw: Raw) {
  return present({ events: text(raw.events), trades: text(raw.trades) });
}
