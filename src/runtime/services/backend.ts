import type * as z from 'zod';
import type { AuditEntry } from '#contract/audit-api.ts';
import type { StoredBacktestJob } from '#contract/backtest.ts';
import type { EquityData } from '#contract/backtest-api.ts';
import { lookAheadOf } from '#contract/look-ahead.ts';
import type { BacktestReportData } from '#contract/report.ts';
import type { Ownership } from '#domain/access.ts';
import type { ListAuditInput } from '#domain/audit/list-audit.ts';
import type { CheckDataFreshnessInput } from '#domain/check-data-freshness.ts';
import type { FreshnessReport } from '#domain/data/check-freshness.ts';
import type { SymbolList } from '#domain/data/list-symbols.ts';
import type { HealthReport } from '#domain/get-health.ts';
import type { ListBacktestsInput } from '#domain/list-backtests.ts';
import type { ListDataSymbolsInput } from '#domain/list-data-symbols.ts';
import type { StrategyConfiguration, StrategyConfigurations } from '#domain/list-strategies.ts';
import type { JobRow, Page } from '#domain/ports.ts';
import type { BacktestReport } from '#domain/read-report.ts';
import type { SubmitBacktestInput } from '#domain/submit-backtest.ts';
import { callerOf } from '../authenticate.ts';
import { documentation } from '../docs.ts';
import type { Handlers } from '../handler.ts';
import { VERSION } from '../version.ts';
import { jobView, rowView, submissionView } from './backtest-views.ts';
import { type RegistryDeps, registryHandlers } from './registry.ts';
import { sharingHandlers } from './sharing.ts';

/** What the backend's handlers need: the use cases of src/domain with their dependencies filled in. */
export interface BackendUseCases {
  readonly ownership: Ownership;
  submitBacktest(input: SubmitBacktestInput): Promise<StoredBacktestJob>;
  listBacktests(input: ListBacktestsInput): Promise<Page<JobRow>>;
  getBacktest(jobId: string): Promise<StoredBacktestJob>;
  cancelBacktest(jobId: string): Promise<StoredBacktestJob>;
  readEquity(jobId: string): Promise<unknown>;
  readReport(jobId: string, page: number): Promise<BacktestReport>;
  listStrategies(): Promise<StrategyConfigurations>;
  getStrategy(name: string): Promise<StrategyConfiguration>;
  listDataSymbols(input: ListDataSymbolsInput): Promise<SymbolList>;
  checkDataFreshness(input: CheckDataFreshnessInput): Promise<FreshnessReport>;
  listAudit(input: ListAuditInput): Promise<Page<AuditEntry>>;
  readonly registry: RegistryDeps;
  checkHealth(): Promise<HealthReport>;
}

/** HTTP on top of the use cases: what a request means, and how a result is shown. */
export function backendHandlers(useCases: BackendUseCases): Handlers<'backend'> {
  const docs = documentation('backend');
  const backtestSharing = sharingHandlers(useCases.ownership, 'backtest', 'job_id');
  const modelSharing = sharingHandlers(useCases.ownership, 'model', 'model_name');
  return {
    getHealth: async () => {
      const { status, ...found } = await useCases.checkHealth();
      return { status: 200, body: { status, service: 'backend', version: VERSION, ...found } };
    },
    submitBacktest: async ({ body, headers, principal, correlationId }) => {
      const job = await useCases.submitBacktest({
        body,
        caller: callerOf(principal),
        idempotencyKey: headers.get('Idempotency-Key'),
        correlationId,
      });
      // Relative to the request's own address, which may have a stage prefix.
      return { status: 201, body: submissionView(job), headers: { Location: `backtests/${job.job_id}` } };
    },
    listBacktests: async ({ query, principal }) => {
      const page = await useCases.listBacktests({ ...query, caller: callerOf(principal) });
      return { status: 200, body: { items: page.items.map(rowView), next_cursor: page.next } };
    },
    getBacktest: async ({ params }) => ({
      status: 200,
      body: jobView(await useCases.getBacktest(params.job_id)),
    }),
    cancelBacktest: async ({ params }) => ({
      status: 200,
      body: jobView(await useCases.cancelBacktest(params.job_id)),
    }),
    getBacktestEquity: async ({ params }) => ({
      status: 200,
      // Written by the task in the shape of its schema.
      body: (await useCases.readEquity(params.job_id)) as z.input<typeof EquityData>,
    }),
    getBacktestReport: async ({ params, query }) => {
      const { job, report, trades } = await useCases.readReport(params.job_id, query.page);
      const body = {
        ...report,
        job_id: job.job_id,
        trades,
        timing: job.timing,
        look_ahead: lookAheadOf(job),
      };
      return { status: 200, body: body as unknown as z.input<typeof BacktestReportData> };
    },
    getBacktestSharing: backtestSharing.read,
    shareBacktest: backtestSharing.share,
    getModelSharing: modelSharing.read,
    shareModel: modelSharing.share,
    listStrategies: async () => ({ status: 200, body: await useCases.listStrategies() }),
    getStrategy: async ({ params }) => ({ status: 200, body: await useCases.getStrategy(params.name) }),
    listSymbols: async ({ query, correlationId }) => ({
      status: 200,
      body: await useCases.listDataSymbols({ ...query, correlationId }),
    }),
    checkFreshness: async ({ query, correlationId }) => ({
      status: 200,
      body: await useCases.checkDataFreshness({ ...query, correlationId }),
    }),
    listAudit: async ({ query }) => {
      const page = await useCases.listAudit(query);
      return { status: 200, body: { items: page.items, next_cursor: page.next } };
    },
    ...registryHandlers(useCases.registry),
    getDocs: docs.page,
    getDocsAsset: docs.asset,
    getOpenApi: docs.openApi,
  };
}
