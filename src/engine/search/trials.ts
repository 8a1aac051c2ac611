import type { Point } from './space.ts';

export type Direction = 'maximize' | 'minimize';

/** What a suggestion and a pruning decision know of an earlier trial. */
export interface PastTrial {
  /** From 0, in the order of the suggestions. */
  readonly number: number;
  readonly params: Point;
  /** `running`: its parameters are known, its result is not, or must not be looked at. */
  readonly state: 'complete' | 'pruned' | 'failed' | 'running';
  /** The objective; null unless complete. */
  readonly value: number | null;
  /** The objective of each walk-forward window reached, in order; null where undefined. */
  readonly windows?: readonly (number | null)[];
}

/**
 * How many trials of a study may run at once, and how far results lag behind suggestions: L = max(1, floor(n / 10)).
 * A function of the study alone, so that its trials are the same for any number of workers.
 */
export function lagOf(nTrials: number): number {
  return Math.max(1, Math.floor(nTrials / 10));
}

/**
 * What trial `k` is suggested and pruned from: trials 0..k-L as they ended, and of k-L+1..k-1 the parameters alone, as
 * `running`, even where they have ended. In order of number, whatever the order given.
 *
 * @param past at least trials 0..k-1; later ones are left out
 * @throws Error when trial `k` cannot be suggested yet: one of 0..k-1 is not there, or one of 0..k-L has not ended
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

/** The first trial with exactly these parameters, whatever its state: what it comes to can be taken over without a run. */
export function duplicateOf<T extends Pick<PastTrial, 'params'>>(
  earlier: readonly T[],
  point: Point,
): T | undefined {
  const names = Object.keys(point);
  return earlier.find(({ params }) => names.every((name) => params[name] === point[name]));
}

/** The complete trial with the best value, of equals the one with the smallest number; undefined before the first. */
export function bestTrial(past: readonly PastTrial[], direction: Direction): PastTrial | undefined {
  let best: PastTrial | undefined;
  for (const trial of past) {
    if (trial.state !== 'complete' || trial.value === null) continue;
    const isFirst = !best || (trial.value === best.value && trial.number < best.number);
    if (isFirst || isBetter(trial.value, best!.value!, direction)) best = trial;
  }
  return best;
}

/** Whether value `a` is truly better than `b`. */
export function isBetter(a: number, b: number, direction: Direction): boolean {
  return direction === 'maximize' ? a > b : a < b;
}

/** What a complete trial returned. */
export interface DailyReturns {
  /** `YYYY-MM-DD`, of the first. */
  readonly firstDay: string;
  /** Ratios, one a UTC day. */
  readonly returns: ArrayLike<number>;
}

/**
 * Trials in groups whose runs are equal to the last bit: objective, windows and daily returns, whatever their parameters. The
 * groups and the trials in each stand in the order given.
 *
 * @param returns of the trials, by number
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
