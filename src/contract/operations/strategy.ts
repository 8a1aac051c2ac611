import { Health } from '../common/health.ts';
import { RegisterRequest, RegisterResponse, StrategyNameParams } from '../registry/registry-api.ts';
import type { Operation } from '../values/operation.ts';
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
    success: { 200: { description: 'The service is running', schema: Health } },
    errors: [],
    access: 'public',
  },
  {
    id: 'registerStrategy',
    service: 'strategy',
    method: 'POST',
    path: '/api/v1/strategies/{name}/register',
    tag: 'Registry',
    summary: 'Register a completed backtest as the next version of a strategy',
    description:
      'The backtest must reach every given threshold; equality passes and drawdowns are compared by magnitude. A rejected registration does not use a version number. `context.failures` of VAL005 lists every failed threshold. A backtest with a found look-ahead bias is RES005, unless an admin waives it.',
    params: StrategyNameParams,
    body: RegisterRequest,
    success: { 201: { description: 'Registered', schema: RegisterResponse } },
    errors: [
      'VAL004',
      'VAL005',
      'VAL006',
      'AUTH005',
      'RES001',
      'RES002',
      'RES005',
      'RES006',
      'DATA005',
      'SVC005',
    ],
    access: 'researcher',
    agent: 'decide',
    fieldRoles: { skip_validation: 'admin', waive: 'admin' },
  },
  ...documentationOperations('strategy', 'StrategyService'),
] as const satisfies readonly Operation[];
