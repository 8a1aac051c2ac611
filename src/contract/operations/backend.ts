import * as z from 'zod';
import {
  BacktestJob,
  BacktestJobList,
  BacktestListQuery,
  BacktestParams,
  BacktestReportQuery,
  BacktestRequest,
  BacktestSubmission,
  EquityData,
} from '../backtest-api.ts';
import { Health } from '../common.ts';
import { ProxyRequest, ProxyResponse } from '../data-proxy.ts';
import { DataFreshnessQuery, ExchangeQuery, Freshness, Symbols } from '../market-data.ts';
import type { Operation } from '../operation.ts';
import { stringParameter } from '../parameters.ts';
import { BacktestReportData } from '../report.ts';
import { KeepRequest } from '../retention-schemas.ts';
import { BrokenStrategyFile, StrategyConfiguration } from '../strategy.ts';
import { BACKTEST_RESULT_OPERATIONS } from './backtest-results.ts';
import { documentationOperations } from './documentation.ts';
import { REGISTRY_OPERATIONS } from './registry.ts';
import { sharingOperations } from './sharing.ts';

const BACKTESTS = 'Backtests';
const STRATEGIES = 'Strategies';
const MARKET_DATA = 'Market data';

/** Rows of the backend service. */
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
    id: 'submitBacktest',
    service: 'backend',
    method: 'POST',
    path: '/api/v1/backtests',
    tag: BACKTESTS,
    summary: 'Submit a backtest',
    description:
      'Only `config.strategy` is required. With an `Idempotency-Key` header a repeated request returns the job of the first one.',
    body: BacktestRequest,
    success: { 201: { description: 'Stored and queued', schema: BacktestSubmission } },
    errors: [
      'VAL001',
      'VAL002',
      'VAL003',
      'VAL004',
      'VAL005',
      'VAL006',
      'AUTH005',
      'RES002',
      'RES003',
      'RES005',
      'RES006',
      'OPT001',
      'DATA005',
      'SVC005',
    ],
    access: 'researcher',
    startsWork: true,
  },
  {
    id: 'listBacktests',
    service: 'backend',
    method: 'GET',
    path: '/api/v1/backtests',
    tag: BACKTESTS,
    summary: 'List backtests, newest first',
    query: BacktestListQuery,
    success: { 200: { description: 'One page', schema: BacktestJobList } },
    errors: ['VAL006', 'DATA005'],
    access: 'viewer',
  },
  {
    id: 'getBacktest',
    service: 'backend',
    method: 'GET',
    path: '/api/v1/backtests/{job_id}',
    tag: BACKTESTS,
    summary: 'A backtest: its status and, when completed, its result',
    params: BacktestParams,
    success: { 200: { description: 'The job', schema: BacktestJob } },
    errors: ['RES001', 'RES006', 'DATA005'],
    access: 'viewer',
    resource: { kind: 'backtest', id: 'job_id', level: 'read' },
  },
  {
    id: 'keepBacktest',
    service: 'backend',
    method: 'POST',
    path: '/api/v1/backtests/{job_id}/keep',
    tag: BACKTESTS,
    summary: 'Keep a backtest, or let it expire again',
    description:
      'The platform may delete a job, or its results, when it is older than the retention of the stage. A kept job, a shared one and the evidence of a registered version are never deleted.',
    params: BacktestParams,
    body: KeepRequest,
    success: { 200: { description: 'The job', schema: BacktestJob } },
    errors: ['RES001', 'RES006', 'DATA005'],
    access: 'researcher',
    resource: { kind: 'backtest', id: 'job_id', level: 'write' },
  },
  {
    id: 'cancelBacktest',
    service: 'backend',
    method: 'POST',
    path: '/api/v1/backtests/{job_id}/cancel',
    tag: BACKTESTS,
    summary: 'Cancel a pending or running backtest',
    params: BacktestParams,
    success: { 200: { description: 'The cancelled job', schema: BacktestJob } },
    errors: ['RES001', { code: 'RES005', status: 400 }, 'DATA005'],
    access: 'researcher',
    resource: { kind: 'backtest', id: 'job_id', level: 'write' },
  },
  {
    id: 'getBacktestEquity',
    service: 'backend',
    method: 'GET',
    path: '/api/v1/backtests/{job_id}/equity',
    tag: BACKTESTS,
    summary: 'Daily equity, drawdown and monthly returns of a completed backtest',
    params: BacktestParams,
    success: { 200: { description: 'Aligned columns', schema: EquityData } },
    errors: ['RES001', 'RES006', { code: 'RES005', status: 400 }, 'DATA005'],
    access: 'viewer',
    resource: { kind: 'backtest', id: 'job_id', level: 'read' },
  },
  {
    id: 'getBacktestReport',
    service: 'backend',
    method: 'GET',
    path: '/api/v1/backtests/{job_id}/report-data',
    tag: BACKTESTS,
    summary: 'The full analysis of a completed backtest',
    params: BacktestParams,
    query: BacktestReportQuery,
    success: { 200: { description: 'The report, with one page of the trades', schema: BacktestReportData } },
    errors: ['RES001', 'RES006', { code: 'RES005', status: 400 }, 'DATA005'],
    access: 'viewer',
    resource: { kind: 'backtest', id: 'job_id', level: 'read' },
  },
  ...BACKTEST_RESULT_OPERATIONS,
  ...sharingOperations('backend', {
    ...({ kind: 'backtest', name: 'Backtest', tag: BACKTESTS } as const),
    ...({ path: '/api/v1/backtests/{job_id}', id: 'job_id', params: BacktestParams } as const),
  }),
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
  },
  ...REGISTRY_OPERATIONS,
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
      ...(['VAL001', 'VAL002', 'VAL003', 'VAL004', 'VAL005'] as const),
      ...(['DATA003', 'DATA004', 'DATA005', 'SVC002', 'SVC004'] as const),
    ],
    access: 'viewer',
    changesState: false,
    integration: { function: 'data_proxy', rejection: ProxyResponse },
  },
  ...documentationOperations('backend', ''),
] as const satisfies readonly Operation[];
