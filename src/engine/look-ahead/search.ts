import type { ResolvedBacktestConfig } from '#contract/backtests/backtest.ts';
import { DAY_MS } from '#contract/values/durations.ts';
import { createRandom, type Random } from '../random.ts';
import { type PairHistory, runStartupRows } from '../run/history.ts';
import { mlRunOf } from '../run/prepare-pair.ts';
import type { StrategyDefinition } from '../strategy.ts';
import { TIMEFRAME_MS, tradedRange } from '../timeframe.ts';
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

/** Minimum number of traded candles for a cut. */
export const MIN_ROWS = 10;

/** A subject with its prepared candles and its whole run, the reference of all comparisons. */
export interface Search {
  readonly subject: LookAheadSubject;
  readonly histories: readonly PairHistory[];
  readonly fits: Fits;
  readonly whole: Observed;
}

/**
 * Reads the candles of a subject and runs it whole.
 *
 * @throws RangeError when no pair has enough candles
 * @throws BacktestError or StrategyRunError when the strategy fails
 */
export async function beginSearch(subject: LookAheadSubject): Promise<Search> {
  const histories = await readHistories(subject);
  const enough = histories.some(({ candles, from }) => candles.timestamp.length - from >= MIN_ROWS);
  if (!enough) throw new RangeError('No pair has enough candles to be searched for look-ahead');
  const fits = rememberingFits();
  return { subject, histories, fits, whole: await runWhole(subject, histories, fits) };
}

/** Times of cuts, ms. With models one of them is at the beginning of a window. */
export function cutTimes({ subject, histories, whole }: Search, wanted: number, random: Random): number[] {
  const { stepMs } = histories[0]!;
  // A signal is on one row and acts in the next.
  const first = Math.min(...histories.map(({ candles, from }) => candles.timestamp[from]!)) + stepMs;
  const last = Math.max(...histories.map(({ candles }) => candles.timestamp.at(-1)!));
  const windows = mlRunOf(subject.config, histories[0]!)?.windows ?? [];
  const begun = windows.slice(1, 2).map(({ from }) => from + stepMs);
  return chooseTimes(whole, { first, last, stepMs }, wanted, random, begun);
}

/** Compares the run cut at `time` with the whole run. */
export async function testCut(
  { subject, histories, fits, whole }: Search,
  time: number,
): Promise<LookAheadFinding[]> {
  const when = `when the candle of ${new Date(time).toISOString()} was forming`;
  try {
    const closed = await analyzeClosed(subject, histories, time, fits);
    const inClosed = compareColumns(histories, time, closed, whole.analyses);
    // Without callbacks a run depends on the strategy's signals only.
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

/** Differences of two whole runs. */
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
 * Findings of comparisons, if the strategy repeats its whole run exactly. Otherwise the differences of its two runs, because
 * the comparisons then prove nothing.
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

/** First finding of each kind of error. */
export function firstOfEach(findings: readonly LookAheadFinding[]): LookAheadFinding[] {
  const found = new Map<string, LookAheadFinding>();
  for (const finding of findings) {
    const { kind, pair, callback, column } = finding;
    const key = JSON.stringify([kind, callback, callback ? null : [pair, column]]);
    if (!found.has(key)) found.set(key, finding);
  }
  return [...found.values()];
}

/** Number of traded candles, over all pairs. */
export function tradedRows({ histories }: Search): number {
  return histories.reduce((rows, { candles, from }) => rows + candles.timestamp.length - from, 0);
}

/** Open times (ms, ascending) of the candles with an entry, an exit or an effective callback; one list per kind. */
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

/** Each exit reason is a kind, with its numbers replaced: the rare one may be the one that looks ahead. */
function kindOf({ callback, returned }: Call): string {
  return typeof returned === 'string' ? `${callback} ${returned.replace(/[\d.]+/g, '0')}` : callback;
}

/**
 * Open times (ms) of the candles that are forming at the cuts. Half of them are candles with a fill or an effective callback,
 * each kind in turn; more if there are more kinds. The others are drawn evenly from the range. `also` is always included.
 *
 * @param first first possible time, ms; `last` is the last one
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
  // Some of the drawn times were chosen before.
  while (chosen.size < Math.min(wanted, steps)) chosen.add(first + Math.floor(random() * steps) * stepMs);
  return [...chosen].sort((a, b) => a - b);
}

interface SampleOptions {
  /** Processor time of this process so far, ms. It decides only the number of cuts. */
  readonly spent: () => number;
  /** Strategy of the whole run, of which only facts are read. */
  readonly strategy: StrategyDefinition;
  /** Duration of the whole run, ms, from which the cost of a part is estimated. */
  readonly runMs: number;
  /** Open times (ms) of trades of the run: the sampled part contains one of them. */
  readonly opened: ArrayLike<number>;
  /** Maximum share of sampling in the processor time, sampling included. Default 0.1. */
  readonly share?: number;
  /** Part of `spent` that went to other checks of the result, ms: it counts as sampling. Default 0. */
  readonly used?: number;
  /** Seed of the choice of the part and its cuts. Default 1. */
  readonly seed?: number;
  /** Awaited between runs. */
  readonly pause?: () => Promise<void>;
}

/** Result of a sampled search. */
interface LookAheadSample {
  /** Number of cuts, each a repeated run on truncated candles; 0: nothing was checked. */
  readonly cuts: number;
  /** Number of candles of the sampled part, over all pairs. */
  readonly rows: number;
  readonly pairs: readonly string[];
  readonly findings: readonly LookAheadFinding[];
  /** Reason for a sample without cuts; else empty. */
  readonly reason: string;
}

const MAX_CUTS = 20;
/** More cuts than these take at most half of the share. */
const ENOUGH_CUTS = 5;
/** Numbers of cuts in order of preference: the length of a longer part follows from the first one within the budget. */
const WANTED_CUTS = [5, 2];
const MIN_STEPS = 50;
/** A cut shows look-ahead in the rows just before it: a longer part costs more per cut and shows no more. */
const MAX_STEPS = 1_000;
/** A longer part has at least so many times the rows of the shortest, which was run for nothing. */
const WORTHWHILE = 2;

/**
 * Repeats a part of a run on truncated candles, callbacks included, and compares. The number of cuts is limited by a share of
 * the processor time. A cut applies to all pairs; every run loads the strategy again.
 */
export async function sampleLookAhead(
  subject: LookAheadSubject,
  options: SampleOptions,
): Promise<LookAheadSample> {
  const { spent, share = 0.1, used = 0, pause = async () => undefined } = options;
  const begun = spent();
  const limitOf = (part: number) => begun + ((begun - used) * part) / (1 - part) - used;
  const limit = limitOf(share);
  const random = createRandom(options.seed ?? 1);
  const noSample = { cuts: 0, rows: 0, pairs: [], findings: [] };
  const noCut = { ...noSample, reason: `${share * 100} % of the processor time allows no cut` };
  try {
    const parts = partsOf(subject, options, random);
    if (parts.leastMs > limit - begun) return noCut;
    let search = await beginSearch({ ...subject, config: parts.configOf(parts.minRows) });
    // Only a run shows what recording costs: the strategy's callbacks, and code that is not compiled yet.
    const now = spent();
    const rows = affordableRows(parts, now - begun, limit - now);
    if (rows !== undefined) {
      await pause();
      search = await beginSearch({ ...subject, config: parts.configOf(rows) });
    }
    const times = shuffled(cutTimes(search, MAX_CUTS, random), random);
    const findings: LookAheadFinding[] = [];
    let cuts = 0;
    // A cut runs code that the part has compiled, so the time of the part does not say that the first is too dear.
    let maxCost = 0;
    for (const time of times) {
      await pause();
      const before = spent();
      if (before + maxCost > (cuts < ENOUGH_CUTS ? limit : limitOf(share / 2))) break;
      findings.push(...(await testCut(search, time)));
      maxCost = Math.max(maxCost, spent() - before);
      cuts++;
    }
    if (cuts === 0) return noCut;
    return {
      cuts,
      rows: tradedRows(search),
      pairs: search.histories.map(({ data }) => data.pair),
      findings: firstOfEach(await confirmed(search, findings)),
      reason: '',
    };
  } catch (error) {
    // The whole run succeeded; only this part of it failed.
    return { ...noSample, reason: error instanceof Error ? error.message : String(error) };
  }
}

/** Parts of a run that may be sampled, all around the same time. Rows are candles of each pair. */
interface Parts {
  readonly minRows: number;
  readonly maxRows: number;
  /** Rows that are read before a part and not traded. */
  readonly before: number;
  /** Cost of a cut as a share of that of the part. */
  readonly cutCost: number;
  /** Time of the shortest part with one cut, ms, if recording were free. */
  readonly leastMs: number;
  /** The configuration with the range of a part. */
  readonly configOf: (rows: number) => ResolvedBacktestConfig;
}

function partsOf(
  { config, pairs }: LookAheadSubject,
  { strategy, runMs, opened }: SampleOptions,
  random: Random,
): Parts {
  const { start, end } = tradedRange(config);
  const stepMs = TIMEFRAME_MS[config.timeframe];
  const steps = Math.ceil((end - start) / stepMs);
  const ml = config.ml_engine;
  // Training is most of a run's time and is proportional to the traded windows.
  const before = ml ? 0 : runStartupRows(strategy, config, pairs);
  // A cut costs two runs of half the part on average, or one without callbacks; trained models are remembered.
  const cutCost = ml ? 0.1 : strategy.callbacks ? 1 : 0.5;
  const minRows = Math.min(steps, ml ? (ml.backtest_period_days * DAY_MS) / stepMs : MIN_STEPS);
  const center = opened.length > 0 ? opened[Math.floor(random() * opened.length)]! : start;
  const shift = random();
  const iso = (time: number) => new Date(time).toISOString();
  return {
    minRows,
    maxRows: Math.max(minRows, Math.min(steps, MAX_STEPS)),
    before,
    cutCost,
    leastMs: (runMs / (steps + before)) * (minRows + before) * (1 + cutCost),
    configOf: (rows) => {
      const from = Math.round((center - start) / stepMs) - Math.floor(rows * shift);
      const first = start + Math.max(0, Math.min(steps - rows, from)) * stepMs;
      return { ...config, date_range: { start: iso(first), end: iso(Math.min(end, first + rows * stepMs)) } };
    },
  };
}

/** Rows of a longer part than the shortest, which took `ms`; undefined when the budget allows none that is worthwhile. */
function affordableRows(
  { minRows, maxRows, before, cutCost }: Parts,
  ms: number,
  budgetMs: number,
): number | undefined {
  const rowMs = ms / (minRows + before);
  return WANTED_CUTS.map((cuts) =>
    Math.min(maxRows, Math.floor(budgetMs / (rowMs * (1 + cuts * cutCost))) - before),
  ).find((rows) => rows >= minRows * WORTHWHILE);
}

/** In random order: if the budget ends early, the cuts so far cover the whole range. */
function shuffled(times: readonly number[], random: Random): number[] {
  return times
    .map((time) => [random(), time] as const)
    .sort(([a], [b]) => a - b)
    .map(([, time]) => time);
}
