import * as z from 'zod';
import { Health } from '../common/health.ts';
import { stringParameter } from '../common/parameters.ts';
import { BrokenStrategyFile, StrategyConfiguration } from '../config/strategy.ts';
import { ProxyRequest, ProxyResponse } from '../market-data/data-proxy.ts';
import { DataFreshnessQuery, ExchangeQuery, Freshness, Symbols } from '../market-data/market-data.ts';
import { Overview } from '../platform/overview-api.ts';
import type { Operation } from '../values/operation.ts';
import { ACCESS_OPERATIONS } from './access.ts';
import { AUDIT_OPERATIONS } from './audit.ts';
import { documentationOperations } from './documentation.ts';

const STRATEGIES = 'Strategies';
const MARKET_DATA = 'Market data';

/** Rows of the backend that have no file of their own. */
export const BACKEND_OPERATIONS = [
  {
    id: 'getHealth',
    service: 'backend',
    method: 'GET',
    path: '/api/v1/health',
    tag: 'Health',
    summary: 'Health of the service and of what it depends on',
    success: { 200: { description: 'The service is running', schema: Health } },
    errors: [],
    access: 'public',
  },
  {
    id: 'getOverview',
    service: 'backend',
    method: 'GET',
    path: '/api/v1/overview',
    tag: 'Overview',
    summary: 'What runs, what ended, and the state of models, challenges and data',
    description:
      'Contains only what the caller may see. A part that fails or takes longer than 4 s is named in `missing`; the others are complete. The health of dependencies is that of `GET /api/v1/health`.',
    success: { 200: { description: 'The overview', schema: Overview } },
    errors: [],
    access: 'viewer',
    agent: 'read',
  },
  {
    id: 'listStrategies',
    service: 'backend',
    method: 'GET',
    path: '/api/v1/strategies',
    tag: STRATEGIES,
    summary: 'All strategy configurations',
    success: {
      200: {
        description: 'Ascending by name, and the strategy files that cannot be used',
        schema: z
          .object({ items: z.array(StrategyConfiguration), broken: z.array(BrokenStrategyFile) })
          .meta({ id: 'StrategyConfigurationList' }),
      },
    },
    errors: [],
    access: 'viewer',
    agent: 'read',
  },
  {
    id: 'getStrategy',
    service: 'backend',
    method: 'GET',
    path: '/api/v1/strategies/{name}',
    tag: STRATEGIES,
    summary: 'A strategy configuration',
    params: z.object({ name: stringParameter(100, 'Name of the configuration') }),
    success: { 200: { description: 'The configuration', schema: StrategyConfiguration } },
    errors: ['RES004'],
    access: 'viewer',
    agent: 'read',
  },
  {
    id: 'listSymbols',
    service: 'backend',
    method: 'GET',
    path: '/api/v1/data/symbols',
    tag: MARKET_DATA,
    summary: 'Symbols with stored candles',
    query: ExchangeQuery,
    success: { 200: { description: 'Ascending', schema: Symbols } },
    errors: ['SVC002', 'SVC004', 'DATA004', 'DATA005'],
    access: 'viewer',
  },
  {
    id: 'checkFreshness',
    service: 'backend',
    method: 'GET',
    path: '/api/v1/data/freshness',
    tag: MARKET_DATA,
    summary: 'Freshness of the stored candles',
    description:
      'A symbol is fresh when its last closed candle is not older than the threshold. A symbol without stored candles is stale.',
    query: DataFreshnessQuery,
    success: { 200: { description: 'Per symbol and for all', schema: Freshness } },
    errors: ['VAL002', 'VAL003', 'SVC002', 'SVC004', 'DATA003', 'DATA004', 'DATA005'],
    access: 'viewer',
    agent: 'read',
  },
  {
    id: 'callDataProxy',
    service: 'backend',
    method: 'POST',
    path: '/api/v1/data-proxy',
    tag: MARKET_DATA,
    summary: 'Call the data-collection proxy',
    description:
      'One of the five operations with its parameters. A failure of data collection is a safe result with `error` and status 200, unless `safe` is false. Stages that enforce authentication take requests signed for IAM (`execute-api:Invoke`) here, not tokens.',
    body: ProxyRequest,
    success: { 200: { description: 'Response of data collection, or a safe result', schema: ProxyResponse } },
    errors: [
      'VAL001',
      'VAL002',
      'VAL003',
      'VAL004',
      'VAL005',
      'DATA003',
      'DATA004',
      'DATA005',
      'SVC002',
      'SVC004',
    ],
    access: 'viewer',
    changesState: false,
    integration: { function: 'data_proxy', rejection: ProxyResponse },
  },
  ...ACCESS_OPERATIONS,
  ...AUDIT_OPERATIONS,
  ...documentationOperations('backend', ''),
] as const satisfies readonly Operation[];
