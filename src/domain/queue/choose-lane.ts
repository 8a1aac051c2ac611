import type {
  BacktestExecutionInput,
  ResolvedBacktestConfig,
  StoredBacktestJob,
} from '#contract/backtests/backtest.ts';
import type { LaneName } from '#contract/jobs/queue.ts';
import { TIMEFRAME_MS } from '#engine/timeframe.ts';
import type { MaxRunning } from './lanes.ts';

/** Measured duration of the backtests of one strategy source. Older runs count less. */
export interface StrategyCost {
  /** Weighted sum of the durations, ms. */
  readonly ms: number;
  /** Weighted sum of the rows. */
  readonly rows: number;
}

/** Measured costs, by the digest of a strategy's source. */
export interface StrategyCosts {
  /** Undefined before the first measurement. The read may be seconds old. */
  get(digest: string): Promise<StrategyCost | undefined>;
  /** Replaces a cost, unless it has changed since `before` was read: then nothing is stored. */
  put(digest: string, cost: StrategyCost, before: StrategyCost | undefined): Promise<void>;
}

export interface ChooseLaneDeps {
  readonly strategyCosts: Pick<StrategyCosts, 'get'>;
  readonly maxRunning: MaxRunning;
  /** Longest estimated duration of a backtest in the fast lane, s. */
  readonly fastLaneSeconds: number;
}

/**
 * Assumed cost of a strategy that has not been measured: 10 s for a million rows, thirty times that of a simple strategy. It
 * counts like a measured run of 100,000 rows, so short runs, which mostly wait for storage, change the estimate little.
 */
const ASSUMED: StrategyCost = { ms: 1_000, rows: 100_000 };
/** Weight of all earlier runs when another is measured. */
const KEPT = 0.8;
/** Smallest change of an estimate that is stored. */
const MIN_CHANGE = 0.1;
/** Memory of a function: three columns of 8 bytes for each of twenty columns and indicators are 960 MB. */
const MAX_ROWS = 2_000_000;

/** What decides the lane of a backtest. */
interface LaneJob {
  readonly config: ResolvedBacktestConfig;
  readonly dataStart: string;
  /** Series of other pairs and timeframes that are read. */
  readonly informative?: BacktestExecutionInput['informative'];
  readonly isRegistered: boolean;
  readonly strategyDigest: string;
}

/** Number of candles that a backtest reads, of all pairs and timeframes. */
function rowsOf({
  config,
  dataStart,
  informative = [],
}: Pick<LaneJob, 'config' | 'dataStart' | 'informative'>): number {
  const end = Date.parse(config.date_range.end);
  const frames = [config.timeframe, config.timeframe_detail].filter((each) => each !== null);
  const own = frames.reduce((sum, each) => sum + (end - Date.parse(dataStart)) / TIMEFRAME_MS[each], 0);
  const others = informative.map(
    ({ timeframe, start }) => (end - Date.parse(start)) / TIMEFRAME_MS[timeframe],
  );
  return others.reduce((sum, each) => sum + each, own * config.pairs.length);
}

/** Estimated duration of a run, s. */
function estimate({ ms, rows }: StrategyCost, count: number): number {
  return ((ms + ASSUMED.ms) / (rows + ASSUMED.rows)) * (count / 1_000);
}

/**
 * Lane of a new backtest: `fast` if its estimated duration is short enough. Runs of registered images never use the fast lane,
 * because the function trusts the code that it runs; runs with models never do, because their training has no estimate.
 */
export async function chooseLane(
  { strategyCosts, maxRunning, fastLaneSeconds }: ChooseLaneDeps,
  job: LaneJob,
): Promise<LaneName> {
  const rows = rowsOf(job);
  if (maxRunning.fast === 0 || job.isRegistered || job.config.ml_engine || rows > MAX_ROWS) return 'backtest';
  const cost = (await strategyCosts.get(job.strategyDigest)) ?? { ms: 0, rows: 0 };
  return estimate(cost, rows) <= fastLaneSeconds ? 'fast' : 'backtest';
}

/**
 * Records the duration of a completed backtest as cost of its strategy. Of concurrent records of one strategy one is stored:
 * another run follows.
 */
export async function recordCost(
  { strategyCosts }: { readonly strategyCosts: StrategyCosts },
  job: StoredBacktestJob,
): Promise<void> {
  // Another image may contain other code, and report any duration.
  if (job.status !== 'completed' || job.kind !== 'backtest' || job.registered || job.config.ml_engine) return;
  if (job.strategy_digest === undefined) return;
  const { start, informative } = job.execution_input;
  const before = await strategyCosts.get(job.strategy_digest);
  const { ms, rows } = before ?? { ms: 0, rows: 0 };
  const after = {
    // A clock that was set back must not make a strategy cheap.
    ms: KEPT * ms + Math.max(0, job.timing.total_ms),
    rows: KEPT * rows + rowsOf({ config: job.config, dataStart: start, informative }),
  };
  const change = estimate(after, 1) / estimate({ ms, rows }, 1) - 1;
  if (before && Math.abs(change) < MIN_CHANGE) return;
  await strategyCosts.put(job.strategy_digest, after, before);
}
