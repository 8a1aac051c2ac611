import type { ResponseOf } from '../../api/client.ts';
import { useCall } from '../../api/queries.ts';

export type Overview = ResponseOf<'getOverview'>;
export type OverviewJob = Overview['moving'][number];
export type OverviewPart = Overview['missing'][number];

/** Everything of the page but the health, in one call. */
export function useOverview() {
  return useCall('getOverview', {}, { isMoving: ({ moving }) => moving.length > 0 });
}
