import {
  type JobIn,
  type ResolvedBacktestConfig,
  type StoredBacktestJob,
  VALIDATION_ID_PREFIX,
} from '#contract/backtests/backtest.ts';
import type { StoredVersion } from '#contract/registry/stored-registry.ts';
import type { Digest } from '#contract/values/digest.ts';
import { resolveParameters } from '#engine/definitions/parameters.ts';
import { floorToGrid, TIMEFRAME_MS } from '#engine/timeframe.ts';
import { executionInputOf } from '../config/execution-input.ts';
import { findStrategy } from '../config/find-strategy.ts';
import type { Strategies } from '../config/strategy-ports.ts';
import { ownTimeframes } from '../data/candle-source.ts';
import { planCollection } from '../data/plan-reads.ts';
import type { Executions } from '../jobs/execution-ports.ts';
import type { Clock, Ids, JobStore, Log, SeriesStore } from '../ports.ts';
import { enqueue } from '../queue/enqueue.ts';
import { backtestLane, type MaxRunning } from '../queue/lanes.ts';
import type { JobQueue } from '../queue/queue-ports.ts';
import { idFromKey } from '../shared/idempotency-key.ts';
import { isoTime } from '../shared/iso-time.ts';
import type { StagingChecks, StagingOutcome } from '../transitions/check-status.ts';
import { checkImageRuns, type ImagePolicy, imageOf, registeredOf } from './container-image.ts';

export interface StagingChecksDeps extends ImagePolicy {
  readonly jobs: JobStore;
  readonly executions: Executions;
  readonly maxRunning: MaxRunning;
  readonly queue: JobQueue;
  readonly series: SeriesStore;
  readonly strategies: Strategies;
  readonly ids: Ids;
  readonly digest: Digest;
  readonly clock: Clock;
  readonly log: Log;
}

/** Candles of the smoke run, startup candles excluded: enough for signals, few enough for a minute. */
const SMOKE_CANDLES = 1_000;
const PRIORITY = 5;
const NOT_RUN =
  'The checks could not be run to their end. Register the backtest again to have them run for a new version.';

/** Staging checks as jobs of the backtest state machine. */
export function stagingChecks(deps: StagingChecksDeps): StagingChecks {
  return {
    start: (version, correlationId) => start(deps, version, correlationId),
    ...stagingOutcomes(deps),
  };
}

/** Results of staging checks, for services that do not start them. */
export function stagingOutcomes({ jobs }: Pick<StagingChecksDeps, 'jobs'>): Pick<StagingChecks, 'outcome'> {
  return {
    outcome: async (jobId) => {
      const job = await jobs.get(jobId);
      return job && outcomeOf(job);
    },
  };
}

/** Result of a validation; undefined while it runs. */
export function outcomeOf(job: StoredBacktestJob): StagingOutcome | undefined {
  switch (job.status) {
    case 'pending':
    case 'running':
      return undefined;
    case 'completed': {
      const checks = job.checks ?? [];
      // A run without checks has proved nothing.
      const passed = checks.length > 0 && checks.every(({ status }) => status !== 'failed');
      return { status: passed ? 'passed' : 'failed', checks };
    }
    case 'failed':
      // The text of SVC001 is for backtests; here the user registers the backtest again.
      return notRun(job.error_code === 'SVC001' ? NOT_RUN : `${job.error_code} ${job.error}`);
    case 'cancelled':
      return notRun(NOT_RUN);
  }
}

function notRun(message: string): StagingOutcome {
  return {
    status: 'failed',
    checks: [{ name: 'smoke_run', status: 'failed', message, value: null, threshold: null }],
  };
}

async function start(
  deps: StagingChecksDeps,
  version: StoredVersion,
  correlationId: string,
): Promise<string> {
  const job = await newJob(deps, version, correlationId);
  await enqueue<StoredBacktestJob>(deps, backtestLane(deps), job, () => deps.jobs.create(job));
  return job.job_id;
}

async function newJob(
  deps: StagingChecksDeps,
  version: StoredVersion,
  correlationId: string,
): Promise<JobIn<'pending'>> {
  const image = checkImageRuns(deps, imageOf(version), 'version');
  const { model_name } = version;
  const notFound = { field: '', unknown: 'RES002' } as const;
  const known = await findStrategy(deps.strategies, version.config.strategy, notFound);
  const { definition } = known;
  const key = `${model_name}#${version.version}#${version.content_hash}`;
  const jobId = `${VALIDATION_ID_PREFIX}${idFromKey(deps, 'staging checks', key)}`;
  // A parameter that the strategy got since has its default.
  const params = resolveParameters(definition.parameters, version.config.params).values;
  const config = await smokeConfig(deps, { ...version.config, params: { ...params } });
  const startup = await known.startupCandles(config.params);
  const reads = await planCollection(deps, config, { facts: definition, startup });
  const now = isoTime(deps.clock.now());
  return {
    schema_version: 2,
    kind: 'validation',
    status: 'pending',
    job_id: jobId,
    owner: version.created_by,
    revision: 1,
    created_at: now,
    updated_at: now,
    experiment_name: null,
    priority: PRIORITY,
    config,
    strategy_digest: known.digest,
    registered: registeredOf(version),
    warnings: [],
    execution_input: executionInputOf(config, {
      job_id: jobId,
      kind: 'validation',
      correlation_id: correlationId,
      on_demand: false,
      image,
      reads,
    }),
    request_digest: version.content_hash,
    attempt: 0,
    runs: 0,
    queue: { since: now, deferrals: 0 },
    collection: null,
  };
}

/**
 * The registered configuration on the newest candles that all its pairs have; without any, up to now. Given signals have their own
 * range.
 */
async function smokeConfig(
  deps: StagingChecksDeps,
  config: ResolvedBacktestConfig,
): Promise<ResolvedBacktestConfig> {
  if (config.signals !== undefined) return config;
  const { exchange, pairs, timeframe } = config;
  const step = TIMEFRAME_MS[timeframe];
  const sources = ownTimeframes(timeframe);
  const keys = pairs.flatMap((symbol) => sources.map((each) => ({ symbol, timeframe: each })));
  const stored = await deps.series.getMany(exchange, keys);
  const ends = new Map<string, number>();
  for (const info of stored.values()) {
    const end = Date.parse(info.last) + TIMEFRAME_MS[info.timeframe];
    ends.set(info.symbol, Math.max(end, ends.get(info.symbol) ?? end));
  }
  const end = floorToGrid(ends.size > 0 ? Math.min(...ends.values()) : deps.clock.now(), step);
  const date_range = { start: isoTime(end - SMOKE_CANDLES * step), end: isoTime(end) };
  return { ...config, date_range };
}
