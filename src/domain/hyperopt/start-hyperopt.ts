import type {
  HyperoptExecutionInput,
  HyperoptJobIn,
  StoredHyperoptJob,
  TrialCounts,
} from '#contract/hyperopt/hyperopt.ts';
import type { HyperoptRequest } from '#contract/hyperopt/hyperopt-request.ts';
import type { Digest } from '#contract/values/digest.ts';
import { CodedError } from '#contract/values/errors.ts';
import type { ResolveDeps } from '../config/resolve-config.ts';
import { informativeInput, readsOwnCandles } from '../data/plan-reads.ts';
import { checkSession } from '../jobs/check-session.ts';
import type { Ids, Log } from '../ports.ts';
import { enqueue } from '../queue/enqueue.ts';
import type { MaxRunning } from '../queue/lanes.ts';
import type { JobQueue } from '../queue/queue-ports.ts';
import { checkExperimentName } from '../shared/experiment-name.ts';
import { checkStillOwn, idFromKey, keyUsedAgain } from '../shared/idempotency-key.ts';
import { isoTime } from '../shared/iso-time.ts';
import { getHyperopt } from './get-hyperopt.ts';
import { hyperoptLane } from './hyperopt-lane.ts';
import type { HyperoptExecutions, HyperoptStore } from './hyperopt-ports.ts';
import { type ResolvedHyperopt, resolveHyperopt } from './resolve-hyperopt.ts';

interface StartHyperoptInput {
  readonly body: HyperoptRequest;
  readonly owner: string;
  /** Header Idempotency-Key: the same key of the same owner always means the same job. */
  readonly idempotencyKey: string | null;
  /** Header Touchstone-Session; null without one. */
  readonly session: string | null;
  readonly correlationId: string;
}

export interface StartHyperoptDeps extends ResolveDeps {
  readonly hyperoptJobs: HyperoptStore;
  readonly hyperoptExecutions: HyperoptExecutions;
  readonly maxRunning: MaxRunning;
  readonly queue: JobQueue;
  readonly ids: Ids;
  readonly digest: Digest;
  readonly log: Log;
}

/**
 * Validates a request and stores its job in the queue.
 * Throws VAL001 to VAL006, RES002, RES005 (an Idempotency-Key reused with another body), HTTP429 (too many jobs wait), DATA005.
 */
export async function startHyperopt(
  deps: StartHyperoptDeps,
  input: StartHyperoptInput,
): Promise<StoredHyperoptJob> {
  return store(deps, newHyperopt(deps, input, await resolveHyperopt(deps, input.body)));
}

/** Throws RES005 when the ID belongs to another request: an Idempotency-Key was reused. */
async function store(
  deps: Pick<
    StartHyperoptDeps,
    'hyperoptJobs' | 'hyperoptExecutions' | 'maxRunning' | 'queue' | 'clock' | 'log'
  >,
  job: HyperoptJobIn<'pending'>,
): Promise<StoredHyperoptJob> {
  const stored = await enqueue<StoredHyperoptJob>(deps, hyperoptLane(deps), job, () =>
    deps.hyperoptJobs.create(job),
  );
  checkStillOwn(stored, job.owner);
  if (stored.request_digest !== job.request_digest) {
    throw keyUsedAgain({ job_id: stored.job_id });
  }
  return stored;
}

function newHyperopt(
  deps: StartHyperoptDeps,
  { body, owner, idempotencyKey, session: named, correlationId }: StartHyperoptInput,
  { config, base, collect, warnings, reads, startup, strategy, instruments }: ResolvedHyperopt,
): HyperoptJobIn<'pending'> {
  const session = checkSession(named);
  const jobId = `ho-${idFromKey(deps, owner, idempotencyKey)}`;
  const now = isoTime(deps.clock.now());
  const executionInput: HyperoptExecutionInput = {
    job_id: jobId,
    correlation_id: correlationId,
    workers: Array.from({ length: config.workers }, (_, worker) => worker),
    exchange: base.exchange,
    ...(base.trading_mode && { trading_mode: base.trading_mode }),
    symbols: base.pairs,
    timeframe: reads.timeframe,
    start: isoTime(reads.start),
    ...informativeInput(reads),
    ...(!readsOwnCandles(base, { facts: strategy.definition, startup }) && { startup_candles: startup }),
    end: base.date_range.end,
    collect,
  };
  return {
    schema_version: 3,
    kind: 'hyperopt',
    status: 'pending',
    job_id: jobId,
    owner,
    revision: 1,
    created_at: now,
    updated_at: now,
    experiment_name: checkExperimentName(body.experiment_name),
    ...(session !== null && { session }),
    config,
    base,
    strategy_digest: strategy.digest,
    ...(instruments && { instruments: Object.fromEntries(instruments) }),
    warnings: [...warnings],
    execution_input: executionInput,
    runs: 0,
    queue: { since: now, deferrals: 0 },
    request_digest: deps.digest(JSON.stringify(body)),
    resumed_from: null,
    collection: null,
    trials: noneOf(config.n_trials),
    tasks: {},
  };
}

/** Counts of a hyperopt job without finished trials. */
function noneOf(total: number): TrialCounts {
  return { total, complete: 0, pruned: 0, failed: 0, best_value: null, best_trial: null };
}

type ResumeHyperoptInput = Omit<StartHyperoptInput, 'body'> & { readonly jobId: string };
type ResumeHyperoptDeps = Pick<
  StartHyperoptDeps,
  'hyperoptJobs' | 'hyperoptExecutions' | 'maxRunning' | 'queue' | 'ids' | 'digest' | 'clock' | 'log'
>;

/**
 * Resumes a cancelled or failed hyperopt job as a new job of the caller: an ended job never changes. The workers of the
 * new job reuse the ended trials of the old one. Throws OPT001, RES005 (completed, or not ended), VAL005
 * (Idempotency-Key).
 */
export async function resumeHyperopt(
  deps: ResumeHyperoptDeps,
  { jobId, owner, idempotencyKey, session: named, correlationId }: ResumeHyperoptInput,
): Promise<StoredHyperoptJob> {
  const session = checkSession(named);
  const old = await getHyperopt(deps, jobId);
  if (old.status !== 'failed' && old.status !== 'cancelled') {
    throw new CodedError('RES005', {
      message:
        old.status === 'completed'
          ? 'The hyperopt job is completed: start a new job to run more trials'
          : `The hyperopt job is ${old.status} and continues automatically: only a failed or cancelled job can be resumed`,
      field: 'job_id',
      context: { job_id: jobId, status: old.status },
    });
  }
  const { schema_version, kind, experiment_name, config, base, warnings, execution_input } = old;
  const { strategy_digest, instruments } = old;
  const newId = `ho-${idFromKey(deps, owner, idempotencyKey)}`;
  const now = isoTime(deps.clock.now());
  return store(deps, {
    schema_version,
    kind,
    experiment_name,
    config,
    base,
    warnings,
    ...(session !== null && { session }),
    ...(strategy_digest !== undefined && { strategy_digest }),
    ...(instruments && { instruments }),
    status: 'pending',
    job_id: newId,
    owner,
    revision: 1,
    created_at: now,
    updated_at: now,
    execution_input: { ...execution_input, job_id: newId, correlation_id: correlationId },
    runs: 0,
    queue: { since: now, deferrals: 0 },
    request_digest: deps.digest(JSON.stringify(['resume', jobId])),
    resumed_from: jobId,
    collection: null,
    trials: noneOf(config.n_trials),
    tasks: {},
  });
}
