import type { ResponseOf } from '../../api/client.ts';

export type Challenge = ResponseOf<'getChallenge'>;

export const STATUSES: readonly Challenge['status'][] = ['active', 'completed', 'rolled_back', 'expired'];

export interface ListSearch {
  readonly status?: Challenge['status'];
}

export function readListSearch({ status }: Readonly<Record<string, unknown>>): ListSearch {
  const known = STATUSES.find((each) => each === status);
  return known ? { status: known } : {};
}
