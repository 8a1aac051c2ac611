import type { PastTrial } from './trials.ts';

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
