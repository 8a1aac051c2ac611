import { type Candles, indexAtOrAfter, sliceCandles } from '../candles.ts';
import { createRandom, hash32 } from '../random.ts';
import { MIN_CANDLES, type PairData, type PairHistory } from '../run/history.ts';
import { mlRunOf } from '../run/prepare-pair.ts';
import { SimulationMemory } from '../simulator/state/memory.ts';
import { locationOf } from '../strategy-errors.ts';
import { TIMEFRAME_MS, type Timeframe } from '../timeframe.ts';
import { chooseLengths, countEntries, signalRows } from './cuts.ts';
import {
  type Acted,
  failureFinding,
  guardFinding,
  type LookAheadFinding,
  replacedFindings,
  unknownRowsFinding,
} from './findings.ts';
import type { GuardLog, MemberUse } from './guard.ts';
import {
  type LookAheadSubject,
  type Observed,
  type PairAnalysis,
  readHistories,
  rememberingFits,
  runWhole,
} from './runs.ts';
import {
  beginSearch,
  confirmed,
  cutTimes,
  differences,
  firstOfEach,
  notRepeated,
  poisonedCut,
  type TestedCut,
  testCut,
  testTruncated,
  tradedRows,
  truncatedCut,
  type WholeSearch,
} from './search.ts';

export interface CertifyOptions {
  /** Number of cuts: times at which the candles of all pairs end, and after which they are changed. Default 20. */
  readonly cuts?: number;
  /** Number of truncated histories of the column test, over all pairs. Default 200, with models 60. */
  readonly histories?: number;
  /** Seed of the choice of cuts. Default 1. */
  readonly seed?: number;
  /** Awaited between runs. */
  readonly pause?: () => Promise<void>;
  /** Called with the share done, 0 to 1, ascending. */
  readonly onProgress?: (share: number) => void;
  /** Called with what {@link repeatTruncated} compares with, if there is no finding. */
  readonly onDecided?: (decided: Decided) => void;
}

/** What a certified strategy decided with all candles, and the times of the cuts. It can be sent to another process. */
export interface Decided {
  /** Open times of the candles that are forming at the cuts, ms, ascending. */
  readonly times: readonly number[];
  readonly acted: Acted;
  readonly analyses: ReadonlyMap<string, PairAnalysis>;
}

/** Extent and findings of a search. */
export interface LookAheadCertificate {
  /** Empty for a certified strategy. */
  readonly findings: readonly LookAheadFinding[];
  /** Number of cuts, each a repeated run on truncated candles, and one on changed later candles. */
  readonly cuts: number;
  /** Number of truncated histories of the column test, over all pairs. */
  readonly histories: number;
  /** Number of traded candles, over all pairs. */
  readonly rows: number;
  readonly pairs: readonly string[];
  readonly entrySignals: number;
  readonly trades: number;
  /** Calls of each callback of the strategy in the whole run; 0: not tested. */
  readonly calls: Readonly<Record<string, number>>;
}

const DEFAULT_CUTS = 20;
const DEFAULT_HISTORIES = 200;
const DEFAULT_HISTORIES_WITH_MODELS = 60;
/** Minimum number of truncated histories per pair. */
const MIN_HISTORIES = 24;

/**
 * Certifies that a strategy with its callbacks is free of look-ahead bias:
 * - the guarded whole run equals the plain one;
 * - columns and signals are equal on truncated histories;
 * - at each cut the run up to then equals the run with all candles, whether later ones are unknown or changed.
 *
 * Every run loads the strategy again.
 *
 * @throws RangeError when no pair has enough candles
 * @throws BacktestError or StrategyRunError when the strategy fails on the whole candles
 */
export async function certifyLookAhead(
  subject: LookAheadSubject,
  options: CertifyOptions = {},
): Promise<LookAheadCertificate> {
  const { seed = 1, cuts = DEFAULT_CUTS, pause = async () => undefined } = options;
  const progress = options.onProgress ?? (() => undefined);
  const search = await beginSearch(subject);
  await pause();
  const guarded = await testGuarded(search);
  progress(0.1);
  await pause();
  const columns = await testColumns(search, options);
  progress(0.4);
  const times = cutTimes(search, cuts, createRandom(seed));
  const tested: TestedCut[] = [];
  for (const [at, time] of times.entries()) {
    await pause();
    tested.push(await testTruncated(search, subject.load, time));
    await pause();
    tested.push(testCut(search, await subject.load(), poisonedCut(search, time, at)));
    progress(0.4 + (0.6 * (at + 1)) / times.length);
  }
  const proven = await confirmed(search, [...columns, ...tested]);
  const { failure } = search.run;
  const needed = failure === undefined ? [] : [unknownRowsFinding(failure)];
  const replaced = replacedFindings(subject.replaced?.() ?? []);
  const findings = firstOfEach([...guarded, ...needed, ...proven, ...replaced]);
  if (findings.length === 0) options.onDecided?.({ ...decidedIn(search.run), times });
  return {
    findings,
    cuts: times.length,
    histories: columns.length,
    rows: tradedRows(search),
    pairs: search.histories.map(({ data }) => data.pair),
    entrySignals: entrySignals(search.run),
    trades: search.run.table.length,
    calls: callCounts(search.run),
  };
}

function decidedIn({ callbacks, calls, table, analyses }: Observed): Omit<Decided, 'times'> {
  const compared = [...analyses].map(([pair, { kept: _, ...analysis }]) => {
    // Models are functions. They are trained again.
    return [pair, 'fits' in analysis ? { ...analysis, fits: [] } : analysis] as const;
  });
  return { acted: { callbacks, calls, table }, analyses: new Map(compared) };
}

/**
 * Repeats the truncated cuts of a certified strategy, in ascending order. In a process that has not run the strategy before, no code
 * of it has seen a candle after the cut, whatever it keeps where a reload does not reach.
 *
 * @param subject with {@link pairsOfCuts}
 * @returns differences from what was decided with all candles
 */
export async function repeatTruncated(
  subject: LookAheadSubject,
  { times, acted, analyses }: Decided,
  { pause = async () => undefined, onProgress }: Pick<CertifyOptions, 'pause' | 'onProgress'> = {},
): Promise<readonly LookAheadFinding[]> {
  const histories = await readHistories(subject);
  const [run, fits, memory] = [acted, rememberingFits(), new SimulationMemory()];
  const search = { subject, histories, fits, run, analyses, memory };
  const found: LookAheadFinding[] = [];
  for (const [at, time] of times.entries()) {
    await pause();
    found.push(...(await testTruncated(search, subject.load, time)).findings);
    onProgress?.((at + 1) / times.length);
  }
  return firstOfEach(found);
}

/** Candles after a cut that the engine needs: the simulator fills orders in the next ones, and a pair has a minimum. */
const ROWS_AFTER = 2 + MIN_CANDLES;

/** Data of the pairs for {@link repeatTruncated}. */
export function pairsOfCuts(
  pairs: readonly PairData[],
  { times }: Decided,
  timeframe: Timeframe,
): PairData[] {
  const end = times.at(-1)! + ROWS_AFTER * TIMEFRAME_MS[timeframe];
  const until = (candles: Candles) => sliceCandles(candles, 0, indexAtOrAfter(candles.timestamp, end));
  return pairs.map((data) => ({
    ...data,
    candles: until(data.candles),
    ...(data.informative && {
      informative: data.informative.map(({ origin: _, ...each }) => ({
        ...each,
        candles: until(each.candles),
      })),
    }),
  }));
}

/** Forbidden reads and writes, which need no second proof, or differences of the guarded run from the plain one. */
async function testGuarded(search: WholeSearch): Promise<LookAheadFinding[]> {
  const { subject, histories, fits, run } = search;
  if (run.callbacks.length === 0) return [];
  const guard: GuardLog = { error: null, call: null };
  let guarded: Observed | undefined;
  let failure: unknown;
  try {
    guarded = await runWhole(subject, histories, fits, { guard });
  } catch (error) {
    failure = error;
  }
  if (guard.error) return [guardFinding(guard.error.cause, guard.error.call)];
  if (!guarded) return [failureFinding(failure, 'while its columns were guarded')];
  const sides = {
    kind: 'look_ahead',
    before: 'with the known rows only',
    after: 'with all candles',
  } as const;
  const found = differences(search, guarded, run, sides);
  if (found.length === 0) return [];
  const differing = await notRepeated(search, {
    time: Number.POSITIVE_INFINITY,
    callsFrom: Number.NEGATIVE_INFINITY,
  });
  return differing.length > 0 ? differing : Promise.all(found.map((each) => withUse(search, each)));
}

/** Adds the column member, such as `at` or `length`, that the call of a finding used, with its location. */
async function withUse(
  { subject, histories, fits }: WholeSearch,
  finding: LookAheadFinding,
): Promise<LookAheadFinding> {
  const { callback, pair, time } = finding;
  if (callback === null) return finding;
  const uses: MemberUse[] = [];
  const guard: GuardLog = {
    error: null,
    call: null,
    onUse: (use, call) => {
      if (call.callback === callback && call.pair === pair && call.opened === time) uses.push(use);
    },
  };
  await runWhole(subject, histories, fits, { guard });
  const use = uses[0];
  if (!use) return finding;
  const location = locationOf(use.stack);
  const { column, member } = use;
  const message = `${finding.message}; it uses ${column}.${member}, which depends on how many candles there are`;
  return { ...finding, column, location, message: location ? `${message} (${location})` : message };
}

/** Tests columns and signals on many more truncated histories than there are cuts, one pair at a time. */
async function testColumns(search: WholeSearch, options: CertifyOptions): Promise<TestedCut[]> {
  const { subject, histories, analyses } = search;
  const { seed = 1, pause = async () => undefined } = options;
  const ml = subject.config.ml_engine;
  const total = options.histories ?? (ml ? DEFAULT_HISTORIES_WITH_MODELS : DEFAULT_HISTORIES);
  const wanted = Math.max(MIN_HISTORIES, Math.floor(total / histories.length));
  const tested: TestedCut[] = [];
  for (const history of histories) {
    const { pair } = history.data;
    const { timestamp } = history.candles;
    const [minLength, { length }] = [history.from + 1, timestamp];
    const signals = signalRows(analyses.get(pair)!.signals, minLength, length);
    const truncated = { minLength, length, signals, also: beginnings(search, history) };
    const random = createRandom(seed ^ hash32(pair));
    const strategy = await subject.load();
    for (const known of chooseLengths(truncated, wanted, random)) {
      await pause();
      const cut = { ...truncatedCut(timestamp[known]!), only: pair, simulated: false };
      tested.push(testCut(search, strategy, cut));
    }
  }
  return tested;
}

/** Maximum number of histories that end at the beginning of a window; spread over the pair. */
const MAX_BEGINNINGS = 12;

/**
 * Lengths of histories that end at the beginning of a window. A model trained across the border used labels that are unknown in
 * them.
 */
function beginnings({ subject }: WholeSearch, history: PairHistory): number[] {
  const windows = mlRunOf(subject.config, history)?.windows ?? [];
  const begun = windows.map(({ from }) => indexAtOrAfter(history.candles.timestamp, from) + 1);
  const every = Math.max(1, begun.length / MAX_BEGINNINGS);
  return begun.filter((_, index) => Math.floor(index / every) !== Math.floor((index - 1) / every));
}

function entrySignals({ analyses }: Observed): number {
  return [...analyses.values()].reduce((count, { signals }) => count + countEntries(signals), 0);
}

function callCounts({ callbacks, calls }: Observed): Record<string, number> {
  const counts = Object.fromEntries(callbacks.map((name) => [name, 0]));
  for (const { callback } of calls) counts[callback]!++;
  return counts;
}
