import type { ResolvedBacktestConfig } from '#contract/backtest.ts';
import { createRandom, type Random } from '../random.ts';
import { type PairHistory, startupRows, tradedRange } from '../run/history.ts';
import { mlRunOf } from '../run/prepare-pair.ts';
import { DAY_MS, TIMEFRAME_MS } from '../timeframe.ts';
import {
  compareColumns,
  compareRuns,
  failureFinding,
  type LookAheadFinding,
  type Sides,
} from './findings.ts';
import { type Call, hasActed } from './guard.ts';
import {
  analyzeClosed,
  type Fits,
  type LookAheadSubject,
  type Observed,
  readHistories,
  rememberingFits,
  runCut,
  runWhole,
} from './runs.ts';

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
    const closed = await analyzeClosed(subject, histories, time, fits);
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

/** Candles in which something acted, by what did: open times in ms, ascending. */
function actingTimes({ calls, trades }: Observed, first: number, stepMs: number): number[][] {
  const kinds = new Map<string, Set<number>>();
  const add = (kind: string, time: number) => {
    const times = kinds.get(kind) ?? new Set();
    kinds.set(kind, times.add(time));
  };
  const opened = (time: number) => first + Math.floor((time - first) / stepMs) * stepMs;
  for (const trade of trades) {
    add('entry', opened(trade.openedAt));
    if (!trade.leftOpen) add('exit', opened(trade.closedAt));
  }
  for (const call of calls) if (hasActed(call)) add(kindOf(call), call.opened);
  return [...kinds.values()].map((times) => [...times].sort((a, b) => a - b));
}

/** Reasons of exits are kinds of their own, but for numbers in them: one that is rare may be the one that looks ahead. */
function kindOf({ callback, answer }: Call): string {
  return typeof answer === 'string' ? `${callback} ${answer.replace(/[\d.]+/g, '0')}` : callback;
}

/**
 * Open times (ms) of the candles that are forming when the candles end: half of them candles in which an order was filled or an
 * answer acted, each kind in turn, more where there are more kinds; the others drawn evenly from the range. `also` are taken in any case.
 *
 * @param first and `last` bound the times, both included
 */
function chooseTimes(
  observed: Observed,
  { first, last, stepMs }: { readonly first: number; readonly last: number; readonly stepMs: number },
  wanted: number,
  random: Random,
  also: readonly number[] = [],
): number[] {
  const inRange = (time: number) => time >= first && time <= last;
  const kinds = actingTimes(observed, first, stepMs)
    .map((times) => times.filter(inRange))
    .filter((times) => times.length > 0);
  const steps = Math.floor((last - first) / stepMs) + 1;
  const chosen = new Set(also.filter(inRange));
  const half = Math.max(Math.ceil(wanted / 2), Math.min(kinds.length, wanted));
  for (let i = 0; i < half && kinds.length > 0; i++) {
    const times = kinds[i % kinds.length]!;
    const share = (i + random()) / half;
    chosen.add(times[Math.floor(share * times.length)]!);
  }
  const drawn = Math.max(0, Math.min(wanted, steps) - chosen.size);
  for (let i = 0; i < drawn; i++) {
    const share = (i + random()) / drawn;
    chosen.add(first + Math.floor(share * steps) * stepMs);
  }
  // Some of those were chosen before.
  while (chosen.size < Math.min(wanted, steps)) chosen.add(first + Math.floor(random() * steps) * stepMs);
  return [...chosen].sort((a, b) => a - b);
}

interface SampleOptions {
  /** Processor time of this process so far, ms: decides how many cuts there are, and no number of a result. */
  readonly spent: () => number;
  /** Time that the whole run took, ms: from it follows how long a part would take. */
  readonly runMs: number;
  /** Open times (ms) of trades of the run: the part that is sampled holds one of them. */
  readonly opened: ArrayLike<number>;
  /** Share of the processor time, sampling included, that it may take. Default 0.1. */
  readonly share?: number;
  /** Chooses the part and where its candles end. Default 1. */
  readonly seed?: number;
  /** Awaited between runs. */
  readonly pause?: () => Promise<void>;
}

/** What was sampled. */
interface LookAheadSample {
  /** Times at which the candles ended and the run was repeated; 0: nothing was checked. */
  readonly cuts: number;
  /** Candles of the sampled part, over all pairs. */
  readonly rows: number;
  readonly pairs: readonly string[];
  readonly findings: readonly LookAheadFinding[];
  /** Why there was no cut; empty where there was. */
  readonly reason: string;
}

const MAX_CUTS = 20;
/** The part of a run is as long as lets the first of these numbers of cuts be paid for. */
const WANTED_CUTS = [5, 2, 1];
const MIN_STEPS = 50;

/**
 * Repeats a part of a run with its candles cut off, callbacks included, at as many times as a share of the processor time
 * buys, and compares. All pairs are cut at once; every run loads the strategy again.
 */
export async function sampleLookAhead(
  subject: LookAheadSubject,
  options: SampleOptions,
): Promise<LookAheadSample> {
  const { spent, share = 0.1, pause = async () => undefined } = options;
  const begun = spent();
  const limit = begun + (begun * share) / (1 - share);
  const random = createRandom(options.seed ?? 1);
  const nothing = { cuts: 0, rows: 0, pairs: [], findings: [] };
  try {
    const part = await choosePart(subject, options, limit - begun, random);
    if (!part) return { ...nothing, reason: `${share * 100} % of the processor time buys no cut` };
    const search = await beginSearch({ ...subject, config: part });
    const times = shuffled(cutTimes(search, MAX_CUTS, random), random);
    const findings: LookAheadFinding[] = [];
    let cuts = 0;
    let dearest = 0;
    for (const time of times) {
      await pause();
      const before = spent();
      if (before + dearest > limit) break;
      findings.push(...(await testCut(search, time)));
      dearest = Math.max(dearest, spent() - before);
      cuts++;
    }
    if (cuts === 0) return { ...nothing, reason: `${share * 100} % of the processor time buys no cut` };
    return {
      cuts,
      rows: tradedRows(search),
      pairs: search.histories.map(({ data }) => data.pair),
      findings: firstOfEach(await confirmed(search, findings)),
      reason: '',
    };
  } catch (error) {
    // The run itself went well: what fails is a part of it.
    return { ...nothing, reason: error instanceof Error ? error.message : String(error) };
  }
}

/** The configuration with the part of its range that is sampled; undefined where the budget buys none. */
async function choosePart(
  { load, config }: LookAheadSubject,
  { runMs, opened }: SampleOptions,
  budgetMs: number,
  random: Random,
): Promise<ResolvedBacktestConfig | undefined> {
  const strategy = await load();
  const { start, end } = tradedRange(config);
  const stepMs = TIMEFRAME_MS[config.timeframe];
  const steps = Math.ceil((end - start) / stepMs);
  const ml = config.ml_engine;
  // Models are most of a run's time, and as many are trained as windows are traded.
  const before = ml ? 0 : startupRows(strategy, config.params, config.timeframe);
  const stepCost = runMs / (steps + before);
  // A cut takes two runs of half the part on average, one without callbacks; with models what was trained is remembered.
  const cutCost = ml ? 0.1 : strategy.callbacks ? 1 : 0.5;
  const least = Math.min(steps, ml ? (ml.backtest_period_days * DAY_MS) / stepMs : MIN_STEPS);
  const affordable = WANTED_CUTS.map(
    (cuts) => Math.floor(budgetMs / (stepCost * (1 + cuts * cutCost))) - before,
  ).find((rows) => rows >= least);
  if (affordable === undefined) return undefined;
  const length = Math.min(steps, affordable);
  const center = opened.length > 0 ? opened[Math.floor(random() * opened.length)]! : start;
  const from = Math.round((center - start) / stepMs) - Math.floor(length * random());
  const first = start + Math.max(0, Math.min(steps - length, from)) * stepMs;
  const iso = (time: number) => new Date(time).toISOString();
  return { ...config, date_range: { start: iso(first), end: iso(Math.min(end, first + length * stepMs)) } };
}

/** Fewer cuts than there are times must not all be early ones. */
function shuffled(times: readonly number[], random: Random): number[] {
  return times
    .map((time) => [random(), time] as const)
    .sort(([a], [b]) => a - b)
    .map(([, time]) => time);
}
