import type { Direction, TrialState } from '#contract/hyperopt/hyperopt.ts';
import type { Point } from './space.ts';

/** Data of an earlier trial for suggestions and pruning. */
export interface PastTrial {
  /** Counted from 0 in the order of the suggestions. */
  readonly number: number;
  readonly params: Point;
  /** `running`: only the parameters are known, or the result must not be used. */
  readonly state: TrialState;
  /** The objective; null unless complete. */
  readonly value: number | null;
  /** By how much a complete trial misses the constraints, 0: feasible. Default 0. */
  readonly violation?: number | undefined;
  /** Objective of each finished walk-forward window, in order; null where undefined. */
  readonly windows?: readonly (number | null)[];
}

/**
 * Maximum number of concurrent trials of a study, and the lag of results behind suggestions: L = max(1, floor(n / 10)).
 * It depends only on the number of trials, so a study has the same trials for any number of workers.
 */
export function samplerLag(nTrials: number): number {
  return Math.max(1, Math.floor(nTrials / 10));
}

/**
 * History for the suggestion and the pruning of trial `k`, sorted by number. Trials 0..k-L have their results. Trials
 * k-L+1..k-1 are `running` with only their parameters, even after they ended.
 *
 * @param past at least trials 0..k-1, in any order; later ones are ignored
 * @throws Error when trial `k` cannot be suggested yet: one of 0..k-1 is missing, or one of 0..k-L has not ended
 */
export function visibleHistory(past: readonly PastTrial[], k: number, lag: number): PastTrial[] {
  const byNumber = new Map(past.map((trial) => [trial.number, trial]));
  return Array.from({ length: k }, (_, number) => {
    const trial = byNumber.get(number);
    if (!trial) throw new Error(`Trial ${k} needs the parameters of trial ${number} first`);
    if (number > k - lag) return { number, params: trial.params, state: 'running', value: null };
    if (trial.state === 'running') throw new Error(`Trial ${k} needs the result of trial ${number} first`);
    return trial;
  });
}

/** First trial with exactly these parameters, in any state. Its result can be copied without a run. */
export function duplicateOf<T extends Pick<PastTrial, 'params'>>(
  earlier: readonly T[],
  point: Point,
): T | undefined {
  const names = Object.keys(point);
  return earlier.find(({ params }) => names.every((name) => params[name] === point[name]));
}

/** A complete trial as it is ranked. */
export interface RankedTrial {
  readonly number: number;
  readonly value: number;
  readonly violation?: number | undefined;
}

/**
 * Order of complete trials, the best first: feasible ones before others, which are in the order of their violation; then by value; then
 * by number.
 */
export function compareRanks(a: RankedTrial, b: RankedTrial, direction: Direction): number {
  const missed = (a.violation ?? 0) - (b.violation ?? 0);
  if (missed !== 0) return missed;
  if (a.value === b.value) return a.number - b.number;
  return isBetter(a.value, b.value, direction) ? -1 : 1;
}

/** The best complete trial by {@link compareRanks}; undefined without a complete trial. */
export function bestTrial<T extends PastTrial>(
  past: readonly T[],
  direction: Direction,
): (T & { readonly value: number }) | undefined {
  let best: (T & { readonly value: number }) | undefined;
  for (const trial of past) {
    if (!isComplete(trial)) continue;
    if (!best || compareRanks(trial, best, direction) < 0) best = trial;
  }
  return best;
}

function isComplete<T extends PastTrial>(trial: T): trial is T & { readonly value: number } {
  return trial.state === 'complete' && trial.value !== null;
}

/** True if value `a` is strictly better than `b`. */
export function isBetter(a: number, b: number, direction: Direction): boolean {
  return direction === 'maximize' ? a > b : a < b;
}

/** Daily returns of a complete trial. */
export interface DailyReturns {
  /** Day of the first return, `YYYY-MM-DD`. */
  readonly firstDay: string;
  /** Return ratios, one per UTC day. */
  readonly returns: ArrayLike<number>;
}

/**
 * Groups trials with bit-identical runs: equal objective, windows and daily returns, regardless of parameters. Groups, and
 * the trials of each group, keep the given order.
 *
 * @param returns daily returns by trial number
 */
export function groupEqualRuns<T extends Pick<PastTrial, 'number' | 'value' | 'windows'>>(
  trials: readonly T[],
  returns: ReadonlyMap<number, DailyReturns>,
): T[][] {
  const groups: T[][] = [];
  const byWindows = new Map<string, T[][]>();
  for (const trial of trials) {
    const key = JSON.stringify([trial.value, trial.windows]);
    const candidates = byWindows.get(key) ?? [];
    byWindows.set(key, candidates);
    const own = returns.get(trial.number);
    const group = candidates.find(([first]) => areEqual(returns.get(first!.number), own));
    if (group) group.push(trial);
    else {
      const made = [trial];
      candidates.push(made);
      groups.push(made);
    }
  }
  return groups;
}

function areEqual(a: DailyReturns | undefined, b: DailyReturns | undefined): boolean {
  if (!a || !b) return a === b;
  const { length } = a.returns;
  if (a.firstDay !== b.firstDay || length !== b.returns.length) return false;
  for (let day = 0; day < length; day++) if (a.returns[day] !== b.returns[day]) return false;
  return true;
}
