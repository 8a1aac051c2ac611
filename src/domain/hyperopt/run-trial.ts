import type { ResolvedBacktestConfig } from '#contract/backtests/backtest.ts';
import type { HyperoptJobConfig, TrialFigures } from '#contract/hyperopt/hyperopt.ts';
import type { Digest } from '#contract/values/digest.ts';
import { notPermutable, type Permutation, permutedPairs } from '#engine/robustness/permuted-pairs.ts';
import { roundNumber } from '#engine/round.ts';
import type { PairData } from '#engine/run/history.ts';
import { violationOf } from '#engine/search/constraints.ts';
import { shouldPrune } from '#engine/search/pruner.ts';
import { bestTrial, type PastTrial } from '#engine/search/trials.ts';
import { BacktestError, cutError } from '#engine/strategy-errors.ts';
import { metricValue, objectiveProblem } from '#engine/walk-forward/objectives.ts';
import { runUntrained } from '#engine/walk-forward/run-untrained.ts';
import { runWalkForward } from '#engine/walk-forward/run-walk-forward.ts';
import { createWindowCache, type WalkForwardOptions, type WindowCache } from '#engine/walk-forward/trial.ts';
import type { StrategyWithDigest } from '../ports.ts';
import type { TrialReturns } from './hyperopt-ports.ts';

/** A trial to run: plain data, so that it can be sent to a thread. */
export interface TrialRequest {
  readonly config: ResolvedBacktestConfig;
  readonly search: Pick<
    HyperoptJobConfig,
    'objective_metric' | 'direction' | 'pruner' | 'backtest_period_days' | 'constraints'
  >;
  /** Trials that the pruner compares with, see {@link pruningHistory}. */
  readonly past: readonly PastTrial[];
  /** Permutation of the candles that the trial runs on; absent: the candles as they are. */
  readonly permutation?: Permutation;
}

/** How a trial ended. */
export type TrialOutcome =
  | {
      readonly state: 'complete';
      readonly value: number;
      readonly windows: readonly (number | null)[];
      readonly efficiency: number | null;
      readonly returns: TrialReturns | null;
      /** Absent for a trial of an earlier version, whose result is taken over. */
      readonly figures?: TrialFigures | undefined;
      /** Absent without constraints. */
      readonly violation?: number | undefined;
    }
  | { readonly state: 'pruned'; readonly windows: readonly (number | null)[] }
  | { readonly state: 'failed'; readonly error: string };

export interface RunTrialDeps {
  readonly strategy: StrategyWithDigest;
  readonly pairs: readonly PairData[];
  readonly cache: WindowCache;
  readonly digest: Digest;
}

/** What the trials of a process read: the candles as they are, or as the permutation of the latest request has them. */
export class TrialDataOf {
  readonly #given: Omit<RunTrialDeps, 'cache'>;
  readonly #cacheBytes: number;
  #latest: { readonly number: number | undefined; readonly deps: RunTrialDeps } | undefined;

  constructor(given: Omit<RunTrialDeps, 'cache'>, cacheBytes: number) {
    this.#given = given;
    this.#cacheBytes = cacheBytes;
  }

  /** Throws BacktestError for candles that cannot be permuted. */
  of({ permutation, config }: Pick<TrialRequest, 'permutation' | 'config'>): RunTrialDeps {
    const number = permutation?.number;
    if (this.#latest && this.#latest.number === number) return this.#latest.deps;
    const pairs = permutation ? this.#permuted(permutation, config) : this.#given.pairs;
    const deps = { ...this.#given, pairs, cache: createWindowCache(this.#cacheBytes) };
    this.#latest = { number, deps };
    return deps;
  }

  #permuted(permutation: Permutation, config: ResolvedBacktestConfig): readonly PairData[] {
    const { pairs } = this.#given;
    const reason = notPermutable(
      config,
      pairs.some(({ informative = [] }) => informative.length > 0),
    );
    if (reason !== undefined) throw new BacktestError('invalid_candles', reason);
    return permutedPairs(pairs, config, permutation);
  }
}

/**
 * Part of the visible history that the pruner reads. A trial that breaks the constraints prunes no other, which may keep them with a
 * worse value.
 */
export function pruningHistory(
  { pruner, direction }: Pick<HyperoptJobConfig, 'pruner' | 'direction'>,
  past: readonly PastTrial[],
): readonly PastTrial[] {
  if (pruner === 'none') return [];
  const feasible = past.filter(({ state, violation = 0 }) => state === 'complete' && violation === 0);
  if (pruner === 'median') return feasible;
  const best = bestTrial(feasible, direction);
  return best ? [best] : [];
}

/** {@link runTrial} on the candles of the request. */
export async function runRequested(data: TrialDataOf, request: TrialRequest): Promise<TrialOutcome> {
  try {
    return await runTrial(data.of(request), request);
  } catch (error) {
    if (!(error instanceof BacktestError)) throw error;
    return { state: 'failed', error: cutError(error.message) };
  }
}

/**
 * Runs one trial. The result depends only on the arguments, regardless of earlier trials. An error of the strategy or
 * its data makes a failed trial; a bug is thrown.
 */
async function runTrial(deps: RunTrialDeps, request: TrialRequest): Promise<TrialOutcome> {
  const { config, search, past } = request;
  const { definition: strategy, digest: strategyDigest } = deps.strategy;
  const values: (number | null)[] = [];
  try {
    const input = { strategy, config, pairs: deps.pairs, strategyDigest };
    const options: WalkForwardOptions = {
      digest: deps.digest,
      objective: search.objective_metric,
      cache: deps.cache,
      onWindow: ({ value }) => {
        values.push(storable(value));
        return shouldPrune(search.pruner, values, past, search.direction) ? 'prune' : 'continue';
      },
    };
    const outcome = config.ml_engine
      ? await runWalkForward(input, options)
      : runUntrained(input, { ...options, windowDays: search.backtest_period_days });
    if (outcome.state === 'pruned') return { state: 'pruned', windows: values };
    const { efficiency, firstDay, dailyReturns } = outcome;
    const value = storable(outcome.value);
    const { metrics, result } = outcome;
    if (value === null) {
      return { state: 'failed', error: cutError(objectiveProblem(search.objective_metric, metrics, result)) };
    }
    const metricOf = (metric: string) => metricValue(metric, metrics, result);
    return {
      state: 'complete',
      value,
      windows: values,
      efficiency: storable(efficiency),
      returns: { firstDay, returns: dailyReturns },
      figures: {
        total_trades: result.total_trades,
        total_profit_pct: result.total_profit_pct,
        max_drawdown_pct: result.max_drawdown_pct,
        profit_factor: metricOf('profit_factor'),
      },
      ...(search.constraints && { violation: storable(violationOf(search.constraints, metricOf)) ?? 1e100 }),
    };
  } catch (error) {
    if (!(error instanceof BacktestError)) throw error;
    return { state: 'failed', error: cutError(error.message) };
  }
}

/**
 * Value rounded as in results; null from 1e100 on, such as the annual growth from one good day: no database stores such
 * numbers.
 */
function storable(value: number | null): number | null {
  return value !== null && Math.abs(value) < 1e100 ? roundNumber(value) : null;
}
