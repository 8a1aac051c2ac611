import type { StoredBacktestJob } from '#contract/backtests/backtest.ts';
import type { ColumnsStatus } from '#contract/backtests/backtest-columns.ts';
import { lookAheadOf } from '#contract/config/look-ahead.ts';
import type { RetentionDays } from '#contract/env/retention.ts';
import { SESSION_HEADER } from '#contract/values/names.ts';
import { mayAccess, type Ownership } from '#domain/access/access.ts';
import { type CancelBacktestDeps, cancelBacktest } from '#domain/backtests/cancel-backtest.ts';
import type { ExportBacktestDeps } from '#domain/backtests/export-backtest.ts';
import {
  type BacktestProgressDeps,
  getBacktestEquity,
  getBacktestProgress,
  getBacktestReport,
  listBacktests,
} from '#domain/backtests/get-backtest.ts';
import type { BacktestColumnsDeps } from '#domain/backtests/get-backtest-columns.ts';
import type { SubmitBacktestDeps } from '#domain/backtests/submit-backtest.ts';
import { updateBacktest } from '#domain/backtests/update-backtest.ts';
import { listExperiments } from '#domain/jobs/experiments.ts';
import { queueStates } from '#domain/queue/queue-state.ts';
import { deleteBacktest } from '#domain/retention/delete-backtest.ts';
import { keepJob } from '#domain/retention/keep-job.ts';
import { lazy } from '#domain/shared/lazy.ts';
import { unknownBacktest } from '#domain/shared/unknown-resources.ts';
import type { OwnerTrials } from '#domain/trials/owner-trials.ts';
import { callerOf } from '../authenticate.ts';
import type { GroupHandlers } from '../handler.ts';
import { evidenceView, jobView, rowView, submissionView } from './backtest-views.ts';
import { jobPageView } from './job-page-view.ts';
import { sharingHandlers } from './sharing.ts';

/** Pause after which a computation may have ended, s. */
const RETRY_AFTER = '1';

/** Loaded by a submission only: it resolves configurations, and reads of jobs do not. */
const { submitBacktest } = lazy(() => import('#domain/backtests/submit-backtest.ts'));

const { exportBacktest } = lazy(() => import('#domain/backtests/export-backtest.ts'));
const { getBacktestColumns } = lazy(() => import('#domain/backtests/get-backtest-columns.ts'));
const { explainTrade } = lazy(() => import('#domain/backtests/explain-trade.ts'));
const { getTradePath } = lazy(() => import('#domain/backtests/get-trade-path.ts'));
const { getBacktestCurve } = lazy(() => import('#domain/backtests/get-backtest-curve.ts'));
const { listDeflations, listDeflatedRatios } = lazy(() => import('#domain/trials/list-deflations.ts'));
const { listBacktestPositions } = lazy(() => import('#domain/backtests/list-backtest-positions.ts'));
const { listBacktestTrades } = lazy(() => import('#domain/backtests/list-backtest-trades.ts'));

export interface BacktestsDeps
  extends SubmitBacktestDeps,
    CancelBacktestDeps,
    BacktestProgressDeps,
    BacktestColumnsDeps,
    ExportBacktestDeps {
  readonly retention: RetentionDays;
  readonly ownerTrials: Pick<OwnerTrials, 'read'>;
}

const computing = (body: ColumnsStatus) =>
  ({ status: 202, body, headers: { 'Retry-After': RETRY_AFTER } }) as const;

/** What a columns job has computed, or its status while it runs. */
function orComputing<T extends object>(found: T | ColumnsStatus) {
  return 'status' in found ? computing(found as ColumnsStatus) : ({ status: 200, body: found } as const);
}

/** Handlers of backtests and their experiments. Long because it is their table. */
export function backtestHandlers(deps: BacktestsDeps, ownership: Ownership): GroupHandlers<'backtests'> {
  const sharing = sharingHandlers(ownership, 'backtest', 'job_id');
  const changed = async (job: StoredBacktestJob) => {
    const states = await queueStates(deps, 'backtest', [job]);
    return { status: 200 as const, body: jobView(job, states.get(job.job_id) ?? null, deps.retention) };
  };
  return {
    submitBacktest: async ({ body, headers, principal, correlationId }) => {
      const job = await submitBacktest(deps, {
        body,
        caller: callerOf(principal),
        idempotencyKey: headers.get('Idempotency-Key'),
        session: headers.get(SESSION_HEADER),
        correlationId,
      });
      // Relative to the request's address, which may have a stage prefix.
      return { status: 201, body: submissionView(job), headers: { Location: `backtests/${job.job_id}` } };
    },
    listBacktests: async ({ query, principal }) => {
      const isDeflated = query.sort === 'deflated_sharpe_ratio';
      const page = await listBacktests(
        deps,
        { ...query, caller: callerOf(principal) },
        isDeflated ? (rows) => listDeflatedRatios(deps, rows) : undefined,
      );
      const [states, deflations] = await Promise.all([
        queueStates(deps, 'backtest', page.items),
        listDeflations(deps, page.items),
      ]);
      const items = page.items.map((row) =>
        rowView(row, states.get(row.job_id) ?? null, deflations.get(row.job_id) ?? null),
      );
      return { status: 200, body: jobPageView(page, items) };
    },
    getBacktest: async ({ params, principal }) => {
      const job = await getBacktestProgress(deps, params.job_id);
      const states = await queueStates(deps, 'backtest', [job]);
      const view = jobView(job, states.get(job.job_id) ?? null, deps.retention);
      return { status: 200, body: mayAccess(callerOf(principal), job, 'read') ? view : evidenceView(view) };
    },
    cancelBacktest: async ({ params, principal }) => ({
      status: 200,
      body: jobView(await cancelBacktest(deps, params.job_id, principal.id), null, deps.retention),
    }),
    keepBacktest: async ({ params, body }) =>
      changed(await keepJob(deps.jobs, params.job_id, body.keep ?? true, unknownBacktest)),
    listExperiments: async ({ query, principal }) => {
      const { items, next } = await listExperiments(deps, { ...query, caller: callerOf(principal) });
      return { status: 200, body: { items: [...items], next_cursor: next } };
    },
    deleteBacktest: async ({ params }) => {
      await deleteBacktest(deps, params.job_id);
      return { status: 204, body: '' };
    },
    getBacktestSharing: sharing.read,
    shareBacktest: sharing.share,
    updateBacktest: async ({ params, body }) => changed(await updateBacktest(deps, params.job_id, body)),
    getBacktestEquity: async ({ params }) => ({
      status: 200,
      body: await getBacktestEquity(deps, params.job_id),
    }),
    getBacktestReport: async ({ params, query }) => {
      const { job, report, trades } = await getBacktestReport(deps, params.job_id, query);
      const body = {
        ...report,
        job_id: job.job_id,
        trades,
        timing: job.timing,
        look_ahead: lookAheadOf(job),
      };
      return { status: 200, body };
    },
    listBacktestTrades: async ({ params, query }) => ({
      status: 200,
      body: await listBacktestTrades(deps, params.job_id, query),
    }),
    listBacktestPositions: async ({ params, query }) => ({
      status: 200,
      body: await listBacktestPositions(deps, params.job_id, query),
    }),
    getBacktestCurve: async ({ params, query }) => ({
      status: 200,
      body: await getBacktestCurve(deps, params.job_id, query),
    }),
    getBacktestColumns: async ({ params, query, correlationId }) => {
      const found = await getBacktestColumns(deps, params.job_id, { ...query, correlationId });
      if ('status' in found)
        return { status: 202, body: found.status, headers: { 'Retry-After': RETRY_AFTER } };
      return 'link' in found ? { status: 201, body: found.link } : { status: 200, body: found.page };
    },
    explainTrade: async ({ params: { job_id, trade_id }, correlationId }) =>
      orComputing(await explainTrade(deps, job_id, Number(trade_id), correlationId)),
    getTradePath: async ({ params: { job_id, trade_id }, query, correlationId }) =>
      orComputing(await getTradePath(deps, job_id, Number(trade_id), { ...query, correlationId })),
    exportBacktest: async ({ params, query, correlationId }) => {
      const exported = await exportBacktest(deps, params.job_id, { ...query, correlationId });
      if ('link' in exported) return { status: 201, body: exported.link };
      const { file, content } = exported;
      const headers = {
        'Content-Type': file.contentType,
        'Content-Disposition': `attachment; filename="${file.name}"`,
      };
      return { status: 200, body: content, headers };
    },
  };
}
