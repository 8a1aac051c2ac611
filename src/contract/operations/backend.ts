import * as z from 'zod';
import { AnnotationRequest } from '../annotation-schemas.ts';
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
import { EVENT_SCHEMAS } from '../events.ts';
import { ExperimentList, ExperimentsQuery } from '../experiment-api.ts';
import { JobEvent, JobEventsQuery } from '../job-events-api.ts';
import { WATCH_LIMITS } from '../limits.ts';
import { DataFreshnessQuery, ExchangeQuery, Freshness, Symbols } from '../market-data.ts';
import type { Operation } from '../operation.ts';
import { Overview } from '../overview-api.ts';
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

const JOB_EVENTS = [
  'Server-sent events. The stream begins with a `job` event for each unfinished job and continues with one for each change of status or progress, and for each new job.',
  `A client that reconnects with \`Last-Event-ID\` gets the jobs that have ended in between; an event may be repeated. A stream follows up to ${WATCH_LIMITS.followed} unfinished jobs, the oldest ones; further ones when these have ended.`,
  '`reconnect` ends a connection: after 14 minutes, and when no job has been unfinished for a minute. The next connection then gets 204. A comment is sent every 15 s.',
  'With `types` the stream also has the events of the catalogue, named by their type, within five seconds of the change. Each is sent at least once: `id` is the same for every delivery. `Last-Event-ID` continues up to 24 hours back.',
].join(' ');

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
  },
  {
    id: 'watchJobs',
    service: 'backend',
    method: 'GET',
    path: '/api/v1/events',
    tag: 'Overview',
    summary: 'Follow the jobs of all kinds that the caller may see',
    description: JOB_EVENTS,
    query: JobEventsQuery,
    success: {
      200: {
        description: 'Events',
        contentType: 'text/event-stream',
        events: { job: JobEvent, ...EVENT_SCHEMAS },
      },
      204: { description: 'No job is unfinished and none has ended since: do not reconnect' },
    },
    errors: ['DATA005', 'SVC005', 'HTTP503'],
    access: 'viewer',
    streams: true,
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
    takesSession: true,
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
    id: 'updateBacktest',
    service: 'backend',
    method: 'PATCH',
    path: '/api/v1/backtests/{job_id}',
    tag: BACKTESTS,
    summary: 'Change notes, tags and pin of a backtest',
    description: 'Possible in every status. `updated_at` stays: it is the time of the run.',
    params: BacktestParams,
    body: AnnotationRequest,
    success: { 200: { description: 'The job', schema: BacktestJob } },
    errors: ['VAL005', 'RES001', 'RES006', 'DATA005'],
    access: 'researcher',
    resource: { kind: 'backtest', id: 'job_id', level: 'write' },
  },
  {
    id: 'deleteBacktest',
    service: 'backend',
    method: 'DELETE',
    path: '/api/v1/backtests/{job_id}',
    tag: BACKTESTS,
    summary: 'Delete a backtest with its results',
    description:
      'Of its owner and of admins, also if it is kept or shared. RES005 while it is pending or running, and while a version is registered from it. Reads then return 410 RES006 for 30 days. The results are removed within the hour.',
    params: BacktestParams,
    success: { 204: { description: 'Deleted' } },
    errors: ['RES001', 'RES005', 'RES006', 'DATA005'],
    access: 'researcher',
    resource: { kind: 'backtest', id: 'job_id', level: 'owner' },
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
    id: 'listExperiments',
    service: 'backend',
    method: 'GET',
    path: '/api/v1/experiments',
    tag: 'Experiments',
    summary: 'Experiments of the caller, the one with the newest job first',
    description:
      'An experiment is what the jobs of one owner with the same `experiment_name` have in common. Jobs of others that are shared with the caller do not count, nor do jobs that were submitted before this operation existed.',
    query: ExperimentsQuery,
    success: { 200: { description: 'One page', schema: ExperimentList } },
    errors: ['AUTH005', 'VAL006', 'DATA005'],
    access: 'viewer',
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
