import { Health } from '../common.ts';
import type { Operation } from '../operation.ts';
import { documentationOperations } from './documentation.ts';

/** Rows of the strategy service. */
export const STRATEGY_OPERATIONS = [
  {
    id: 'getStrategyServiceHealth',
    service: 'strategy',
    method: 'GET',
    path: '/api/v1/health',
    tag: 'Health',
    summary: 'Health of the service and of what it depends on',
    success: { 200: { description: 'The service answers', schema: Health } },
    errors: [],
    access: 'public',
  },
  ...documentationOperations('strategy', 'StrategyService'),
] as const satisfies readonly Operation[];
