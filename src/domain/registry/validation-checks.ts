import { type BacktestResult, ResolvedBacktestConfig } from '#contract/backtests/backtest.ts';
import type { ValidationCheck } from '#contract/common/validation-check.ts';
import type { ReleasePolicy } from '#contract/registry/release-policy.ts';
import type { StoredVersion, Thresholds } from '#contract/registry/stored-registry.ts';
import { DAY_MS } from '#contract/values/durations.ts';
import { CodedError } from '#contract/values/errors.ts';
import { formatCount } from '#contract/values/format-count.ts';
import { STAGING_WARNINGS } from '#contract/values/registry-limits.ts';
import {
  comparableValue,
  UNDEFINED_REASONS,
  type UndefinedReason,
  undefinedReason,
} from '#contract/values/undefined-metrics.ts';
import { resolveParameters } from '#engine/definitions/parameters.ts';
import { canonicalJson } from '#engine/digest.ts';
import { ALL_TIMEFRAMES } from '#engine/timeframe.ts';
import { findStrategy } from '../config/find-strategy.ts';
import type { Strategies } from '../config/strategy-ports.ts';
import { checkFreshness } from '../data/market-data.ts';
import type { Clock, DataProxy, JobStore, ResultStore } from '../ports.ts';
import { isoTime } from '../shared/iso-time.ts';
import { unknownKeyWarnings } from '../shared/unknown-keys.ts';
import { checkNumber, checkSymbol, checkTimeframe } from '../shared/validate.ts';
import { plainCheck } from '../transitions/check-status.ts';
import { evidenceOf, isSet } from '../transitions/release-policy.ts';
import { type ImageRegistry, pinnedUri } from './container-image.ts';

export interface CheckListDeps {
  readonly jobs: JobStore;
  readonly results: ResultStore;
  readonly strategies: Strategies;
  readonly dataProxy: DataProxy;
  readonly defaultExchange: string;
  readonly images: ImageRegistry | null;
  readonly clock: Clock;
  readonly releasePolicy: ReleasePolicy;
}

const { min_trades: ENOUGH_TRADES, max_age_days: RECENT_DAYS } = STAGING_WARNINGS;
const FRESHNESS_MS = 2_000;
const STALE_HOURS = 24;

/**
 * The checks that run without a task, concurrently, in the order of the list. They take as long as one read of storage,
 * and 2 s for data collection. Throws DATA005 or SVC005 when storage is down: the version's state is then unknown.
 */
export async function runCheckList(
  deps: CheckListDeps,
  version: StoredVersion,
  correlationId: string,
): Promise<ValidationCheck[]> {
  return Promise.all([
    checkBacktest(deps, version),
    checkThresholdsAgain(deps, version),
    checkConfiguration(deps, version),
    checkImage(deps, version),
    checkEvidence(deps, version),
    checkMarketData(deps, version, correlationId),
  ]);
}

/** Checks that the evidence of the registration exists and is unchanged. */
async function checkBacktest(deps: CheckListDeps, version: StoredVersion): Promise<ValidationCheck> {
  const name = 'backtest';
  const job = await deps.jobs.get(version.backtest_run_id);
  if (job?.status !== 'completed') {
    return plainCheck(name, 'failed', `Backtest ${version.backtest_run_id} is ${job?.status ?? 'gone'}`);
  }
  if (job.results.digest !== version.results.digest) {
    return plainCheck(name, 'failed', 'The results of the backtest are not those that were registered');
  }
  try {
    const stored = await deps.results.read(version.results, 'result');
    return canonicalJson(stored) === canonicalJson(version.metrics)
      ? plainCheck(name, 'passed', 'The stored backtest is the registered one')
      : plainCheck(name, 'failed', 'The stored metrics are not those that were registered');
  } catch (error) {
    // Named objects that are missing or broken; a storage that is down names none.
    if (!(error instanceof CodedError) || !('key' in error.context)) throw error;
    return plainCheck(name, 'failed', error.message);
  }
}

function checkThresholdsAgain(
  { releasePolicy }: CheckListDeps,
  { thresholds, metrics, validation }: StoredVersion,
): ValidationCheck {
  const name = 'thresholds';
  const wasSkipped = validation.checks.some((check) => check.name === name && check.status === 'skipped');
  if (!thresholds) return withoutThresholds(releasePolicy);
  if (wasSkipped) return plainCheck(name, 'skipped', 'Registered with skip_validation');
  const failures = missedThresholds(metrics, thresholds);
  const [first] = failures;
  if (!first) return plainCheck(name, 'passed', 'The metrics reach every threshold');
  const { value, threshold } = first;
  return { name, status: 'failed', message: describeFailures(failures), value, threshold };
}

async function checkConfiguration(
  { strategies }: CheckListDeps,
  { config }: StoredVersion,
): Promise<ValidationCheck> {
  const name = 'configuration';
  try {
    const { pairs, trading_mode, timeframe, strategy, params } = ResolvedBacktestConfig.parse(config);
    for (const pair of pairs) checkSymbol(pair, 'pairs', trading_mode);
    checkTimeframe(timeframe, 'timeframe', ALL_TIMEFRAMES);
    const { definition } = await findStrategy(strategies, strategy, { field: 'name', unknown: 'RES002' });
    const { problems } = resolveParameters(definition.parameters, params);
    if (problems.length > 0)
      return plainCheck(name, 'failed', problems.map((each) => each.message).join('; '));
    return plainCheck(name, 'passed', 'The configuration is complete');
  } catch (error) {
    return plainCheck(name, 'failed', error instanceof CodedError ? error.message : 'It cannot be read');
  }
}

async function checkImage({ images }: CheckListDeps, version: StoredVersion): Promise<ValidationCheck> {
  const name = 'image';
  const { container_image_uri: uri, image_digest: digest } = version;
  if (!images) return plainCheck(name, 'skipped', 'Images are not resolved on this platform');
  if (!digest) return plainCheck(name, 'skipped', 'Its registry is unavailable, and it names no digest');
  const found = await images.digestOf(pinnedUri(uri, digest));
  if (found === null) return plainCheck(name, 'skipped', 'Its registry is unavailable');
  return found === digest
    ? plainCheck(name, 'passed', `${digest} is in its registry`)
    : plainCheck(name, 'failed', `${digest} is no longer in its registry`);
}

function checkEvidence({ clock, releasePolicy }: CheckListDeps, version: StoredVersion): ValidationCheck {
  const name = 'evidence';
  const { metrics } = version;
  const { to } = evidenceOf(version);
  const days = Math.floor((clock.now() - to) / DAY_MS);
  if (metrics.total_trades === 0) return { ...plainCheck(name, 'failed', NO_TRADES), value: 0, threshold: 1 };
  if (releasePolicy.minTrades === undefined && metrics.total_trades < ENOUGH_TRADES) {
    const message = `Only ${formatCount(metrics.total_trades, 'trade')}: fewer than ${ENOUGH_TRADES} have low statistical power`;
    return { name, status: 'warning', message, value: metrics.total_trades, threshold: ENOUGH_TRADES };
  }
  if (releasePolicy.maxEvidenceAgeDays === undefined && days > RECENT_DAYS) {
    const message = `The candles of the backtest ended ${formatCount(days, 'day')} ago`;
    return { name, status: 'warning', message, value: days, threshold: RECENT_DAYS };
  }
  return plainCheck(name, 'passed', `${formatCount(metrics.total_trades, 'trade')}, up to ${isoTime(to)}`);
}

async function checkMarketData(
  deps: CheckListDeps,
  { config }: StoredVersion,
  correlationId: string,
): Promise<ValidationCheck> {
  const name = 'market_data';
  const { pairs, trading_mode, timeframe, exchange } = config;
  const query = {
    symbols: pairs,
    trading_mode,
    timeframe,
    exchange,
    stale_threshold_hours: STALE_HOURS,
    correlationId,
  };
  try {
    const { stale_symbols: stale } = await within(FRESHNESS_MS, checkFreshness(deps, query));
    if (stale.length === 0) return plainCheck(name, 'passed', 'Candles of every pair are fresh');
    const message = `Candles of ${stale.length} of ${pairs.length} pairs are older than ${STALE_HOURS} h`;
    return { name, status: 'warning', message, value: stale.length, threshold: 0 };
  } catch (error) {
    const reason = error instanceof CodedError ? error.message : 'no response in time';
    return plainCheck(name, 'warning', `The age of the candles is unknown: ${reason}`);
  }
}

async function within<T>(ms: number, work: Promise<T>): Promise<T> {
  const signal = AbortSignal.timeout(ms);
  const expired = new Promise<never>((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
  });
  return Promise.race([work, expired]);
}

/** Why a version without trades passes no validation. */
export const NO_TRADES = 'The backtest has no trades, so nothing is known of the strategy';

export interface ThresholdFailure {
  readonly name: keyof Thresholds;
  readonly metric: 'sharpe_ratio' | 'profit_factor' | 'max_drawdown_pct';
  /** null: undefined. */
  readonly value: number | null;
  readonly threshold: number;
  /** Why the metric is undefined; null when it is defined. */
  readonly reason: UndefinedReason | null;
}

interface Rule {
  readonly name: keyof Thresholds;
  readonly metric: ThresholdFailure['metric'];
  readonly holds: (value: number, threshold: number) => boolean;
}

/** Equality passes; drawdowns are compared by magnitude. */
const RULES: readonly Rule[] = [
  { name: 'min_sharpe', metric: 'sharpe_ratio', holds: (value, threshold) => value >= threshold },
  { name: 'min_profit_factor', metric: 'profit_factor', holds: (value, threshold) => value >= threshold },
  {
    name: 'max_drawdown',
    metric: 'max_drawdown_pct',
    holds: (value, threshold) => Math.abs(value) <= Math.abs(threshold),
  },
];

/** The given thresholds, null without one. Throws VAL005 for a value out of bounds. */
export function checkThresholds(thresholds: Thresholds | undefined): Thresholds | null {
  const given = RULES.flatMap(({ name }) => {
    const value = thresholds?.[name];
    return value === undefined ? [] : [[name, checkNumber(value, `thresholds.${name}`, BOUNDS)] as const];
  });
  return given.length === 0 ? null : Object.fromEntries(given);
}

/** Check of a version without thresholds: only a release policy, if one is set, gates it. */
export function withoutThresholds(policy: ReleasePolicy): ValidationCheck {
  const name = 'thresholds';
  return isSet(policy)
    ? plainCheck(name, 'passed', 'Registered without thresholds of its own: the release policy applies')
    : plainCheck(name, 'skipped', 'Registered without thresholds');
}

/** One warning for each threshold given that is not known. */
export function unknownThresholds(thresholds: Thresholds = {}): string[] {
  const known = RULES.map(({ name }) => name);
  return unknownKeyWarnings({ ...thresholds }, known, 'thresholds.');
}

const BOUNDS = { min: -1e9, max: 1e9 };

/**
 * Every threshold that the metrics miss. A threshold that is absent is not checked; a metric that is undefined misses. Without trades
 * a drawdown of 0 is no merit.
 */
export function missedThresholds(metrics: BacktestResult, thresholds: Thresholds): ThresholdFailure[] {
  return RULES.flatMap(({ name, metric, holds }) => {
    const threshold = thresholds[name];
    if (threshold === undefined) return [];
    const isIdle = metrics.total_trades === 0;
    const value = isIdle ? null : comparableValue(metrics, metric);
    if (value !== null && holds(value, threshold)) return [];
    const reason = isIdle ? 'no_trades' : undefinedReason(metrics, metric);
    return [{ name, metric, value, threshold, reason }];
  });
}

/** For example `sharpe_ratio 0.8 misses min_sharpe 1`. */
export function describeFailures(failures: readonly ThresholdFailure[]): string {
  return failures
    .map(({ name, metric, value, threshold, reason }) => {
      const what = value ?? (reason ? `undefined (${UNDEFINED_REASONS[reason]})` : 'unknown');
      return `${metric} ${what} misses ${name} ${threshold}`;
    })
    .join('; ');
}
