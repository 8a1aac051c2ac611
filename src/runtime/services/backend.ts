import { lookAheadOf } from '#contract/look-ahead.ts';
import type { RetentionDays } from '#contract/retention.ts';
import { type ListAuditDeps, listAudit } from '#domain/audit/list-audit.ts';
import { type CancelBacktestDeps, cancelBacktest } from '#domain/cancel-backtest.ts';
import type { ChallengeStore } from '#domain/challenges/challenge-store.ts';
import {
  getBacktest,
  getBacktestEquity,
  getBacktestReport,
  listBacktests,
  unknownBacktest,
} from '#domain/get-backtest.ts';
import { getHealth, type HealthDeps } from '#domain/get-health.ts';
import { getStrategy, listStrategies } from '#domain/list-strategies.ts';
import { checkFreshness, listSymbols } from '#domain/market-data.ts';
import { ownershipOf } from '#domain/ownership.ts';
import type { DataProxy, ResultStore } from '#domain/ports.ts';
import { queueStates } from '#domain/queue/queue-state.ts';
import { stagingChecks } from '#domain/registry/start-staging-checks.ts';
import { keepJob } from '#domain/retention/keep-job.ts';
import { type SubmitBacktestDeps, submitBacktest } from '#domain/submit-backtest.ts';
import { callerOf } from '../authenticate.ts';
import { documentation } from '../docs.ts';
import type { Handlers } from '../handler.ts';
import { VERSION } from '../version.ts';
import { jobView, rowView, submissionView } from './backtest-views.ts';
import { type RegistryDeps, registryHandlers } from './registry.ts';
import { sharingHandlers } from './sharing.ts';

/** Dependencies of the backend, on any host. */
export interface BackendDeps
  extends SubmitBacktestDeps,
    CancelBacktestDeps,
    ListAuditDeps,
    Omit<RegistryDeps, 'stagingChecks'>,
    HealthDeps<'strategy_service' | 'data_collection' | 'registry'> {
  readonly results: ResultStore;
  readonly dataProxy: DataProxy;
  readonly challenges: ChallengeStore;
  readonly retention: RetentionDays;
}

/** Maximum duration of a health check, ms. */
const PROBE_TIMEOUT_MS = 2_000;

/** Handlers of the backend's operations: they map requests to use cases and results to responses. */
export function backendHandlers(deps: BackendDeps): Handlers<'backend'> {
  const docs = documentation('backend');
  const ownership = ownershipOf(deps);
  const backtestSharing = sharingHandlers(ownership, 'backtest', 'job_id');
  const modelSharing = sharingHandlers(ownership, 'model', 'model_name');
  return {
    getHealth: async () => ({
      status: 200,
      body: { service: 'backend', version: VERSION, ...(await getHealth(deps, PROBE_TIMEOUT_MS)) },
    }),
    submitBacktest: async ({ body, headers, principal, correlationId }) => {
      const job = await submitBacktest(deps, {
        body,
        caller: callerOf(principal),
        idempotencyKey: headers.get('Idempotency-Key'),
        correlationId,
      });
      // Relative to the request's address, which may have a stage prefix.
      return { status: 201, body: submissionView(job), headers: { Location: `backtests/${job.job_id}` } };
    },
    listBacktests: async ({ query, principal }) => {
      const page = await listBacktests(deps, { ...query, caller: callerOf(principal) });
      const states = await queueStates(deps, 'backtest', page.items);
      const items = page.items.map((row) => rowView(row, states.get(row.job_id) ?? null));
      return { status: 200, body: { items, next_cursor: page.next } };
    },
    getBacktest: async ({ params }) => {
      const job = await getBacktest(deps, params.job_id);
      const states = await queueStates(deps, 'backtest', [job]);
      return { status: 200, body: jobView(job, states.get(job.job_id) ?? null, deps.retention) };
    },
    cancelBacktest: async ({ params }) => ({
      status: 200,
      body: jobView(await cancelBacktest(deps, params.job_id), null, deps.retention),
    }),
    keepBacktest: async ({ params, body }) => {
      const job = await keepJob(deps.jobs, params.job_id, body.keep ?? true, unknownBacktest);
      const states = await queueStates(deps, 'backtest', [job]);
      return { status: 200, body: jobView(job, states.get(job.job_id) ?? null, deps.retention) };
    },
    getBacktestEquity: async ({ params }) => ({
      status: 200,
      body: await getBacktestEquity(deps, params.job_id),
    }),
    getBacktestReport: async ({ params, query }) => {
      const { job, report, trades } = await getBacktestReport(deps, params.job_id, query.page);
      const body = {
        ...report,
        job_id: job.job_id,
        trades,
        timing: job.timing,
        look_ahead: lookAheadOf(job),
      };
      return { status: 200, body };
    },
    getBacktestSharing: backtestSharing.read,
    shareBacktest: backtestSharing.share,
    getModelSharing: modelSharing.read,
    shareModel: modelSharing.share,
    listStrategies: async () => ({ status: 200, body: await listStrategies(deps) }),
    getStrategy: async ({ params }) => ({ status: 200, body: await getStrategy(deps, params.name) }),
    listSymbols: async ({ query, correlationId }) => ({
      status: 200,
      body: await listSymbols(deps, { ...query, correlationId }),
    }),
    checkFreshness: async ({ query, correlationId }) => ({
      status: 200,
      body: await checkFreshness(deps, { ...query, correlationId }),
    }),
    listAudit: async ({ query }) => {
      const page = await listAudit(deps, query);
      return { status: 200, body: { items: page.items, next_cursor: page.next } };
    },
    ...registryHandlers({ ...deps, stagingChecks: stagingChecks(deps) }),
    getDocs: docs.page,
    getDocsAsset: docs.asset,
    getOpenApi: docs.openApi,
  };
}
