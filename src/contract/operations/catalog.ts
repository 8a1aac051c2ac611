import {
  CatalogQuery,
  CatalogStrategyList,
  CompareParams,
  CompareQuery,
  VersionComparison,
} from '../registry/catalog-api.ts';
import { COMPARISON_MINIMUMS } from '../values/challenge-limits.ts';
import type { Operation } from '../values/operation.ts';

const CATALOG = 'Catalog';

/** Rows of the backend that read across models. */
export const CATALOG_OPERATIONS = [
  {
    id: 'listCatalog',
    service: 'backend',
    method: 'GET',
    path: '/api/v1/catalog/strategies',
    tag: CATALOG,
    summary: 'Versions in Production and Staging',
    description:
      'Pages by `limit` and `offset`, or by `cursor`. `total` counts the versions that pass the filters on all pages.',
    query: CatalogQuery,
    success: { 200: { description: 'One page', schema: CatalogStrategyList } },
    errors: ['VAL003', 'VAL006', 'SVC005'],
    access: 'viewer',
    agent: 'read',
  },
  {
    id: 'compareVersions',
    service: 'backend',
    method: 'GET',
    path: '/api/v1/catalog/strategies/{name}/compare',
    tag: CATALOG,
    summary: 'Compare a challenger with a champion on their registered backtests',
    description: `PROMOTE needs a Sharpe ratio that is at least ${COMPARISON_MINIMUMS.sharpe_improvement_pct} % better, no broken guardrail, ${COMPARISON_MINIMUMS.trades} trades and a confidence of ${COMPARISON_MINIMUMS.confidence}. A broken guardrail is REJECT, everything else INCONCLUSIVE. Archived versions may be compared.`,
    params: CompareParams,
    query: CompareQuery,
    success: { 200: { description: 'The comparison', schema: VersionComparison } },
    errors: ['RES002', 'RES003', 'SVC005'],
    access: 'viewer',
    agent: 'read',
    resource: { kind: 'model', id: 'name', level: 'read' },
  },
] as const satisfies readonly Operation[];
