import type { OperationId } from '../../api/client.ts';

/** Operations whose data a transition of a version or a request for one changes. */
export const CHANGED_BY_TRANSITIONS: readonly OperationId[] = [
  'listCatalog',
  'listVersions',
  'getVersion',
  'getHistory',
  'getProduction',
  'getOverview',
  'listModelApprovals',
  'listApprovals',
];
