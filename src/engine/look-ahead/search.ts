import type { Random } from '../random.ts';
import type { PairHistory } from '../run/pair-history.ts';
import { mlRunOf } from '../run/run-strategy.ts';
import {
  compareColumns,
  compareRuns,
  failureFinding,
  type LookAheadFinding,
  type Sides,
} from './findings.ts';
import {
  analyseClosed,
  type Fits,
  type LookAheadSubject,
  type Observed,
  readHistories,
  rememberingFits,
  runCut,
  runWhole,
} from './runs.ts';
import { chooseTimes } from './times.ts';

/** Fewer traded candles than this give no room for a cut. */
export const MIN_ROWS = 10;

/** A subject with its candles as a run sees them, and the whole run that the others are compared with. */
export interface Search {
  readonly subject: LookAheadSubject;
  readonly histories: readonly PairHistory[];
  readonly fits: Fits;
  readonly whole: Observed;
}

/**
 * Reads the candles of a subject and runs it whole.
 *
 * @throws RangeError when no pair has candles enough
 * @throws BacktestError or StrategyRunError when the strategy fails
 */
export async function beginSearch(subject: LookAheadSubject): Promise<Search> {
  const histories = await readHistories(subject);
  const enough = histories.some(({ candles, from }) => candles.timestamp.length - from >= MIN_ROWS);
  if (!enough) throw new RangeError('No pair has candles enough to be searched for look-ahead');
  const fits = rememberingFits();
  return { subject, histories, fits, whole: await runWhole(subject, histories, fits) };
}

/** Times of cuts, ms; with models one of them lets a window have just begun. */
export function cutTimes({ subject, histories, whole }: Search, wanted: number, random: Random): number[] {
  const { stepMs } = histories[0]!;
  // A signal needs a row to be given on, and one to act in.
  const first = Math.min(...histories.map(({ candles, from }) => candles.timestamp[from]!)) + stepMs;
  const last = Math.max(...histories.map(({ candles }) => candles.timestamp.at(-1)!));
  const windows = mlRunOf(subject.config, histories[0]!)?.windows ?? [];
  const begun = windows.slice(1, 2).map(({ from }) => from + stepMs);
  return chooseTimes(whole, { first, last, stepMs }, wanted, random, begun);
}

/** Compares the run as it was at a time with the whole one. */
export async function testCut(
  { subject, histories, fits, whole }: Search,
  time: number,
): Promise<LookAheadFinding[]> {
  const when = `when the candle of ${new Date(time).toISOString()} was forming`;
  try {
    const closed = await analyseClosed(subject, histories, time, fits);
    const inClosed = compareColumns(histories, time, closed, whole.analyses);
    // Without callbacks a run is its signals: nothing else of the strategy takes part in it.
    if (inClosed.length > 0 || whole.callbacks.length === 0) return inClosed;
    const cut = await runCut(subject, histories, time, fits);
    const inForming = compareColumns(histories, time, cut.analyses, whole.analyses);
    if (inForming.length > 0) return inForming;
    const sides = { kind: 'look_ahead', before: when, after: 'with all candles' } as const;
    const difference = compareRuns(cut, whole, time + histories[0]!.stepMs, sides);
    return difference ? [difference] : [];
  } catch (error) {
    return [failureFinding(error, when)];
  }
}

/** Everything in which two whole runs differ. */
export function differences(
  { histories }: Search,
  before: Observed,
  after: Observed,
  sides: Sides,
): LookAheadFinding[] {
  const columns = compareColumns(histories, Number.POSITIVE_INFINITY, before.analyses, after.analyses);
  if (columns.length > 0) return columns.map((each) => ({ ...each, kind: sides.kind }));
  const difference = compareRuns(before, after, Number.POSITIVE_INFINITY, sides);
  return difference ? [difference] : [];
}

/**
 * The findings of comparisons, if the strategy gives the same whole run twice; else that it does not, since a run that differs
 * from itself proves nothing.
 */
export async function confirmed(
  search: Search,
  findings: readonly LookAheadFinding[],
): Promise<readonly LookAheadFinding[]> {
  if (findings.length === 0) return findings;
  const again = await runWhole(search.subject, search.histories, rememberingFits());
  const differing = differences(search, search.whole, again, {
    kind: 'not_repeatable',
    before: 'in one run',
    after: 'in another over the same candles',
  });
  return differing.length > 0 ? differing : findings;
}

/** One finding of each kind of error: the first. */
export function firstOfEach(findings: readonly LookAheadFinding[]): LookAheadFinding[] {
  const found = new Map<string, LookAheadFinding>();
  for (const finding of findings) {
    const { kind, pair, callback, column } = finding;
    const key = JSON.stringify([kind, callback, callback ? null : [pair, column]]);
    if (!found.has(key)) found.set(key, finding);
  }
  return [...found.values()];
}

/** Candles traded on, over all pairs. */
export function tradedRows({ histories }: Search): number {
  return histories.reduce((rows, { candles, from }) => rows + candles.timestamp.length - from, 0);
}
