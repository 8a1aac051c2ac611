import {
  BACKTEST_ID_PREFIX,
  CANARY_ID_PREFIX,
  type JobIn,
  type StoredBacktestJob,
} from '#contract/backtests/backtest.ts';
import { BacktestRequest } from '#contract/backtests/backtest-api.ts';
import type { StoredVersion } from '#contract/registry/stored-registry.ts';
import { BACKTEST_DEFAULTS, BACKTEST_LIMITS } from '#contract/values/backtest-limits.ts';
import type { Digest } from '#contract/values/digest.ts';
import { CodedError } from '#contract/values/errors.ts';
import { ON_DEMAND_PRIORITY } from '#contract/values/job-limits.ts';
import { type Caller, checkAccess } from '../access/access.ts';
import { executionInputOf } from '../config/execution-input.ts';
import { CONFIG_KEYS, type ResolveDeps, resolveConfig } from '../config/resolve-config.ts';
import { informativeInput } from '../data/plan-reads.ts';
import { bestOfHyperopt } from '../hyperopt/best-of-hyperopt.ts';
import type { HyperoptStore } from '../hyperopt/hyperopt-ports.ts';
import { checkSession } from '../jobs/check-session.ts';
import type { Executions } from '../jobs/execution-ports.ts';
import type { Ids, JobStore, Log } from '../ports.ts';
import { type ChooseLaneDeps, chooseLane } from '../queue/choose-lane.ts';
import { enqueue } from '../queue/enqueue.ts';
import { laneOfBacktest, type MaxRunning } from '../queue/lanes.ts';
import type { JobQueue } from '../queue/queue-ports.ts';
import {
  checkImageRuns,
  type ImagePolicy,
  imageOf,
  registeredOf,
  withRegisteredConfig,
} from '../registry/container-image.ts';
import { checkExperimentName } from '../shared/experiment-name.ts';
import { checkStillOwn, idFromKey, keyUsedAgain } from '../shared/idempotency-key.ts';
import { isoTime } from '../shared/iso-time.ts';
import { checkSpelling, unknownKeyWarnings } from '../shared/unknown-keys.ts';
import { checkNumber } from '../shared/validate.ts';
import { type UseSignalsDeps, useSignals } from '../signals/use-signals.ts';
import { readVersion } from '../transitions/find-version.ts';
import type { RegistryStore } from '../transitions/registry-store.ts';

export interface SubmitBacktestInput {
  readonly body: BacktestRequest;
  readonly caller: Caller;
  /** Header Idempotency-Key: the same key of the same owner always means the same job. */
  readonly idempotencyKey: string | null;
  /** Header Touchstone-Session; null without one. */
  readonly session: string | null;
  readonly correlationId: string;
}

export interface SubmitBacktestDeps extends ResolveDeps, ChooseLaneDeps, ImagePolicy, UseSignalsDeps {
  readonly jobs: JobStore;
  readonly registry: RegistryStore;
  readonly hyperoptJobs: Pick<HyperoptStore, 'get'>;
  readonly executions: Executions;
  readonly maxRunning: MaxRunning;
  readonly queue: JobQueue;
  readonly ids: Ids;
  readonly digest: Digest;
  readonly log: Log;
}

const KEYS = Object.keys(BacktestRequest.shape);

/**
 * Validates a submission and stores its job in the queue.
 * Throws VAL001 to VAL006, RES002, RES003 (no such version), RES005 (an Idempotency-Key reused with another body),
 * AUTH005 (the version belongs to another owner's model, the signals to another user), SIG001 (no such signals), HTTP429 (too many jobs
 * wait), DATA005, SVC005.
 */
export async function submitBacktest(
  deps: SubmitBacktestDeps,
  input: SubmitBacktestInput,
): Promise<StoredBacktestJob> {
  const job = await newJob(deps, input);
  const stored = await enqueue<StoredBacktestJob>(deps, laneOfBacktest(deps, job), job, () =>
    deps.jobs.create(job),
  );
  checkStillOwn(stored, job.owner);
  if (stored.request_digest !== job.request_digest) {
    throw keyUsedAgain({ job_id: stored.job_id });
  }
  return stored;
}

async function newJob(deps: SubmitBacktestDeps, input: SubmitBacktestInput): Promise<JobIn<'pending'>> {
  const { body, caller } = input;
  const owner = caller.id;
  const priority = checkPriority(body.priority);
  const experiment = checkExperimentName(body.experiment_name);
  const session = checkSession(input.session);
  checkSpelling(body.config, CONFIG_KEYS, 'config.', { parameters: 'params' });
  const registered = await findRegistered(deps, caller, body);
  const found = await findBest(deps, caller, body);
  const given = registered ? withRegisteredConfig(registered, body.config) : (found?.config ?? body.config);
  const { config: resolved, collect, warnings, reads, strategy } = await resolveConfig(deps, given);
  // A repeated run of a version names the file of the version.
  const isOfVersion = registered !== null && resolved.signals === registered.config.signals;
  const config = await useSignals(deps, isOfVersion ? null : caller, resolved);
  const kind = caller.isCanary ? 'canary' : 'backtest';
  const jobId = jobIdOf(deps, input);
  const now = isoTime(deps.clock.now());
  const run = {
    config,
    dataStart: isoTime(reads.start),
    ...informativeInput(reads),
    strategyDigest: strategy.digest,
    isRegistered: registered !== null,
  };
  const lane = caller.isCanary ? 'canary' : await chooseLane(deps, run);
  const executionInput = executionInputOf(config, {
    job_id: jobId,
    kind,
    image: checkImageRuns(deps, registered && imageOf(registered), 'model_version'),
    correlation_id: input.correlationId,
    on_demand: priority >= ON_DEMAND_PRIORITY,
    reads,
    collect,
  });
  return {
    schema_version: 2,
    kind,
    status: 'pending',
    job_id: jobId,
    owner,
    revision: 1,
    created_at: now,
    updated_at: now,
    experiment_name: experiment,
    ...(session !== null && { session }),
    priority,
    config,
    strategy_digest: strategy.digest,
    ...(registered && { registered: registeredOf(registered) }),
    ...(found && { found_by: found.foundBy }),
    warnings: [...unknownKeyWarnings(body, KEYS, ''), ...warnings],
    execution_input: executionInput,
    request_digest: deps.digest(JSON.stringify(body)),
    attempt: 0,
    runs: 0,
    queue: { lane, since: now, deferrals: 0 },
    collection: null,
  };
}

function checkPriority(priority: number = BACKTEST_DEFAULTS.priority): number {
  return checkNumber(priority, 'priority', BACKTEST_LIMITS.priority);
}

/** The same for each repetition of a request. */
function jobIdOf(deps: SubmitBacktestDeps, { caller, idempotencyKey }: SubmitBacktestInput): string {
  const prefix = caller.isCanary ? CANARY_ID_PREFIX : BACKTEST_ID_PREFIX;
  return `${prefix}${idFromKey(deps, caller.id, idempotencyKey)}`;
}

async function findRegistered(
  { registry }: SubmitBacktestDeps,
  caller: Caller,
  { config, model_version }: SubmitBacktestInput['body'],
): Promise<StoredVersion | null> {
  if (model_version === undefined) return null;
  if (config.universe !== undefined) {
    throw new CodedError('VAL005', {
      message: 'model_version excludes config.universe: a version trades a fixed list of pairs',
      field: 'config.universe',
    });
  }
  const field = 'model_version';
  const reference = { model: config.strategy, version: String(model_version), field, modelField: field };
  const { model, version } = await readVersion(registry, reference);
  checkAccess(caller, model, { kind: 'model', id: model.model_name, field, level: 'read' });
  return version;
}

async function findBest(
  deps: SubmitBacktestDeps,
  caller: Caller,
  { config, hyperopt_job_id: jobId, model_version }: SubmitBacktestInput['body'],
) {
  if (jobId === undefined) return null;
  if (model_version !== undefined) {
    throw new CodedError('VAL005', {
      message: 'model_version and hyperopt_job_id exclude each other: pass one of them',
      field: 'hyperopt_job_id',
    });
  }
  return bestOfHyperopt(deps, caller, jobId, config);
}
