import { isTerminal } from '#contract/backtests/backtest.ts';
import type { RetentionDays } from '#contract/env/retention.ts';
import { SESSION_HEADER } from '#contract/values/names.ts';
import type { Ownership } from '#domain/access/access.ts';
import { type CancelHyperoptDeps, cancelHyperopt } from '#domain/hyperopt/cancel-hyperopt.ts';
import {
  getHyperopt,
  getHyperoptResult,
  listHyperopts,
  listHyperoptTrials,
} from '#domain/hyperopt/get-hyperopt.ts';
import type { TrialLedger } from '#domain/hyperopt/hyperopt-ports.ts';
import { resumeHyperopt, type StartHyperoptDeps, startHyperopt } from '#domain/hyperopt/start-hyperopt.ts';
import { queueStates } from '#domain/queue/queue-state.ts';
import { keepJob } from '#domain/retention/keep-job.ts';
import { unknownHyperopt } from '#domain/shared/unknown-resources.ts';
import { callerOf } from '../authenticate.ts';
import type { GroupHandlers } from '../handler.ts';
import { watchHandler } from './hyperopt-events.ts';
import { jobView, resultView, rowView, startView, trialView } from './hyperopt-views.ts';
import { jobPageView } from './job-page-view.ts';
import { sharingHandlers } from './sharing.ts';

export interface HyperoptDeps extends StartHyperoptDeps, CancelHyperoptDeps {
  readonly ledger: TrialLedger;
  readonly retention: RetentionDays;
}

/** Seconds until the next poll, for clients. */
const RETRY_AFTER = '2';

/** Handlers of hyperopt jobs. Long because it is their table. */
export function hyperoptHandlers(deps: HyperoptDeps, ownership: Ownership): GroupHandlers<'hyperopt'> {
  const sharing = sharingHandlers(ownership, 'hyperopt', 'job_id');
  return {
    startHyperopt: async ({ body, headers, principal, correlationId }) => {
      const job = await startHyperopt(deps, {
        body,
        owner: principal.id,
        idempotencyKey: headers.get('Idempotency-Key'),
        session: headers.get(SESSION_HEADER),
        correlationId,
      });
      // Relative to the request's address, which may have a stage prefix.
      return { status: 200, body: startView(job), headers: { Location: `hyperopt/${job.job_id}` } };
    },
    listHyperopts: async ({ query, principal }) => {
      const page = await listHyperopts(deps, { ...query, caller: callerOf(principal) });
      const states = await queueStates(deps, 'hyperopt', page.items);
      const items = page.items.map((row) => rowView(row, states.get(row.job_id) ?? null));
      return { status: 200, body: jobPageView(page, items) };
    },
    getHyperopt: async ({ params, headers }) => {
      const job = await getHyperopt(deps, params.job_id);
      const queue = (await queueStates(deps, 'hyperopt', [job])).get(job.job_id) ?? null;
      // The position changes without a change of the job.
      const tag = `"${job.revision}${queue?.position ? `-${queue.position}` : ''}"`;
      // Clients may cache the response but must revalidate it.
      const caching = {
        ETag: tag,
        'Cache-Control': 'private, no-cache',
        ...(!isTerminal(job.status) && { 'Retry-After': RETRY_AFTER }),
      };
      if (isKnown(tag, headers.get('If-None-Match'))) return { status: 304, body: '', headers: caching };
      return { status: 200, body: jobView(job, queue, deps.retention), headers: caching };
    },
    getHyperoptResult: async ({ params }) => ({
      status: 200,
      body: resultView(await getHyperoptResult(deps, params.job_id)),
    }),
    listHyperoptTrials: async ({ params, query }) => {
      const { job, items, next } = await listHyperoptTrials(deps, { ...params, ...query });
      const trials = items.map((trial) => trialView(trial, job));
      return { status: 200, body: { items: trials, next_cursor: next } };
    },
    watchHyperopt: watchHandler(deps),
    getHyperoptSharing: sharing.read,
    shareHyperopt: sharing.share,
    cancelHyperopt: async ({ params, principal }) => ({
      status: 200,
      body: jobView(await cancelHyperopt(deps, params.job_id, principal.id), null, deps.retention),
    }),
    keepHyperopt: async ({ params, body }) => {
      const job = await keepJob(deps.hyperoptJobs, params.job_id, body.keep ?? true, unknownHyperopt);
      const states = await queueStates(deps, 'hyperopt', [job]);
      return { status: 200, body: jobView(job, states.get(job.job_id) ?? null, deps.retention) };
    },
    resumeHyperopt: async ({ params, headers, principal, correlationId }) => {
      const job = await resumeHyperopt(deps, {
        jobId: params.job_id,
        owner: principal.id,
        idempotencyKey: headers.get('Idempotency-Key'),
        session: headers.get(SESSION_HEADER),
        correlationId,
      });
      return { status: 200, body: startView(job), headers: { Location: `../${job.job_id}` } };
    },
  };
}

/** True if the header contains the tag, also as a weak one: caches may have weakened it. */
function isKnown(tag: string, header: string | null): boolean {
  const tags = header?.split(',').map((each) => each.trim().replace(/^W\//, '')) ?? [];
  return tags.includes(tag);
}
