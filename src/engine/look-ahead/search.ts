import type { Random } from '../random.ts';
import type { PairHistory } from '../run/history.ts';
import { mlRunOf } from '../run/prepare-pair.ts';
import { SimulationMemory } from '../simulator/state/memory.ts';
import type { StrategyDefinition } from '../strategy.ts';
import { columnsOf, Findings, labelOf } from './compare-columns.ts';
import {
  type Acted,
  columnFinding,
  compareRuns,
  failureFinding,
  type LookAheadFinding,
  type Sides,
} from './findings.ts';
import { type Call, type GuardLog, hasActed } from './guard.ts';
import { POISONS, poisonedRows } from './poison.ts';
import {
  type Cut,
  type LookAheadSubject,
  type Observed,
  type Reference,
  readHistories,
  rememberingFits,
  rowsOf,
  runCut,
  runWhole,
  whenCut,
} from './runs.ts';

/** Minimum number of traded candles for a cut. */
const MIN_ROWS = 10;

/** A run with which its cuts are compared. */
export interface Search extends Reference {
  readonly run: Acted;
}

/** A search with its own whole run. */
export interface WholeSearch extends Search {
  readonly run: Observed;
}

/**
 * Reads the candles of a subject and runs it whole.
 *
 * @throws RangeError when no pair has enough candles
 * @throws BacktestError or StrategyRunError when the strategy fails
 */
export async function beginSearch(subject: LookAheadSubject): Promise<WholeSearch> {
  const histories = await readHistories(subject);
  const enough = histories.some(({ candles, from }) => candles.timestamp.length - from >= MIN_ROWS);
  if (!enough) throw new RangeError('No pair has enough candles to be searched for look-ahead');
  const fits = rememberingFits();
  const run = await runWhole(subject, histories, fits);
  return { subject, histories, fits, run, analyses: run.analyses, memory: new SimulationMemory() };
}

/** Times of cuts, ms. With models one of them is at the beginning of a window. */
export function cutTimes({ subject, histories, run }: WholeSearch, wanted: number, random: Random): number[] {
  const { stepMs } = histories[0]!;
  // A signal is on one row and acts in the next.
  const first = Math.min(...histories.map(({ candles, from }) => candles.timestamp[from]!)) + stepMs;
  const last = Math.max(...histories.map(({ candles }) => candles.timestamp.at(-1)!));
  const windows = mlRunOf(subject.config, histories[0]!)?.windows ?? [];
  const begun = windows.slice(1, 2).map(({ from }) => from + stepMs);
  return chooseTimes(run, { first, last, stepMs }, wanted, random, begun);
}

/** A cut with what differs there. */
export interface TestedCut {
  readonly cut: Cut;
  readonly findings: readonly LookAheadFinding[];
}

/**
 * Compares a cut with the run.
 *
 * @param strategy loaded for cuts only
 * @param run what the cut is compared with. Default: the run
 * @param guard notes forbidden reads and writes, which are findings without a comparison
 */
export function testCut(
  search: Search,
  strategy: StrategyDefinition,
  cut: Cut,
  run: () => Acted = () => search.run,
  guard?: GuardLog,
): TestedCut {
  try {
    const { findings, acted } = runCut(strategy, search, cut, guard);
    if (findings.length > 0 || !acted) return { cut, findings };
    const sides = { kind: 'look_ahead', before: whenCut(cut), after: 'with all candles' } as const;
    const to = cut.time + search.histories[0]!.stepMs;
    const difference = compareRuns(acted, run(), { from: cut.callsFrom, to }, sides);
    return { cut, findings: difference ? [difference] : [] };
  } catch (error) {
    return { cut, findings: [failureFinding(error, whenCut(cut))] };
  }
}

/** Cut at a time after which nothing is known. */
export function truncatedCut(time: number): Cut {
  const callsFrom = Number.NEGATIVE_INFINITY;
  return { time, later: 'unknown', poisoned: 0, only: null, simulated: true, from: null, callsFrom };
}

/** Truncated cuts at a time: a strategy with callbacks knows the open of the forming candle only when it acts. */
export async function testTruncated(
  search: Search,
  load: () => Promise<StrategyDefinition>,
  time: number,
  guard?: GuardLog,
): Promise<TestedCut> {
  const cut = truncatedCut(time);
  const closed = testCut(search, await load(), cut);
  // Without callbacks a run depends on the strategy's signals only.
  if (closed.findings.length > 0 || search.run.callbacks.length === 0) return closed;
  return testCut(search, await load(), { ...cut, later: 'forming' }, undefined, guard);
}

/** Poisoned cut at a time. `index`: the ways to change candles take turns. */
export function poisonedCut({ histories }: Search, time: number, index: number): Cut {
  return {
    time,
    later: POISONS[index % POISONS.length]!,
    poisoned: poisonedRows(Math.max(...histories.map(({ startup }) => startup))),
    only: null,
    simulated: true,
    from: null,
    callsFrom: Number.NEGATIVE_INFINITY,
  };
}

/** Differences of two whole runs. */
export function differences(
  { histories }: Pick<Search, 'histories'>,
  before: Observed,
  after: Observed,
  sides: Sides,
): LookAheadFinding[] {
  const columns = compareAnalyses(histories, before, after, sides);
  if (columns.length > 0) return columns;
  const difference = compareRuns(before, after, { to: Number.POSITIVE_INFINITY }, sides);
  return difference ? [difference] : [];
}

function compareAnalyses(
  histories: readonly PairHistory[],
  before: Pick<Observed, 'analyses'>,
  after: Pick<Observed, 'analyses'>,
  { kind, before: when }: Sides,
): LookAheadFinding[] {
  return histories.flatMap(({ data: { pair }, candles }) => {
    const [a, b] = [before.analyses.get(pair), after.analyses.get(pair)];
    if (!a || !b) return [];
    const rows = Math.min(rowsOf(a), rowsOf(b));
    const findings = new Findings(pair, candles);
    findings.compare('look_ahead', rows, columnsOf(a), columnsOf(b));
    const horizon = 'trainingInputs' in b ? b.trainingInputs.horizon : 0;
    findings.compare('look_ahead', rows - horizon, labelOf(a), labelOf(b));
    return findings.all().map((each) => ({ ...columnFinding(each, when), kind }));
  });
}

/**
 * Findings that a strategy without state of earlier cuts has as well, if it repeats the run exactly. Otherwise the differences of
 * two runs, because the comparisons then prove nothing. A repeated run ends after the last of the cuts.
 */
export async function confirmed(
  search: Search,
  tested: readonly TestedCut[],
): Promise<readonly LookAheadFinding[]> {
  const again: TestedCut[] = [];
  const known = new Set<string>();
  for (const { cut, findings } of tested) {
    if (findings.every((finding) => known.has(keyOf(finding))) || again.length === MAX_CONFIRMED) continue;
    // A cut of one pair may miss what the strategy keeps of the others.
    const repeated = testCut(search, await search.subject.load(), { ...cut, only: null, from: null });
    if (repeated.findings.length > 0) again.push(repeated);
    for (const finding of repeated.findings) known.add(keyOf(finding));
  }
  if (again.length === 0) return [];
  const last = again.reduce((a, b) => (b.cut.time > a.cut.time ? b : a));
  const differing = await notRepeated(search, last.cut);
  return differing.length > 0 ? differing : again.flatMap(({ findings }) => findings);
}

/** Cuts that prove a bias: further ones repeat it. */
const MAX_CONFIRMED = 10;

/** Differences of a repeated run from the run, up to the cut. */
export async function notRepeated(
  search: Search,
  { time, callsFrom }: Pick<Cut, 'time' | 'callsFrom'>,
): Promise<LookAheadFinding[]> {
  const { subject, histories } = search;
  const to = time + histories[0]!.stepMs;
  const again = await runWhole(subject, histories, rememberingFits(), { times: [{ from: callsFrom, to }] });
  const sides = {
    kind: 'not_repeatable',
    before: 'in one run',
    after: 'in another over the same candles',
  } as const;
  const columns = compareAnalyses(histories, search, again, sides);
  if (columns.length > 0) return columns;
  const difference = compareRuns(search.run, again, { from: callsFrom, to }, sides);
  return difference ? [difference] : [];
}

/** First finding of each kind of error. */
export function firstOfEach(findings: readonly LookAheadFinding[]): LookAheadFinding[] {
  const found = new Map<string, LookAheadFinding>();
  for (const finding of findings) {
    const key = keyOf(finding);
    if (!found.has(key)) found.set(key, finding);
  }
  return [...found.values()];
}

function keyOf({ kind, pair, callback, column }: LookAheadFinding): string {
  return JSON.stringify([kind, callback, callback ? null : [pair, column]]);
}

/** Number of traded candles, over all pairs. */
export function tradedRows({ histories }: Pick<Search, 'histories'>): number {
  return histories.reduce((rows, { candles, from }) => rows + candles.timestamp.length - from, 0);
}

/** Open times (ms, ascending) of the candles with an entry, an exit or an effective callback; one list per kind. */
function actingTimes({ calls, table }: Observed, first: number, stepMs: number): number[][] {
  const kinds = new Map<string, Set<number>>();
  const add = (kind: string, time: number) => {
    const times = kinds.get(kind) ?? new Set();
    kinds.set(kind, times.add(time));
  };
  const opened = (time: number) => first + Math.floor((time - first) / stepMs) * stepMs;
  for (let row = 0, { length, openedAt, closedAt, leftOpen } = table; row < length; row++) {
    add('entry', opened(openedAt[row]!));
    if (leftOpen[row] === 0) add('exit', opened(closedAt[row]!));
  }
  for (const call of calls) if (hasActed(call)) add(kindOf(call), call.opened);
  return [...kinds.values()].map((times) => [...times].sort((a, b) => a - b));
}

function kindOf({ callback, returned }: Call): string {
  return typeof returned === 'string' ? `${callback} ${kindOfReason(returned)}` : callback;
}

/** Each exit reason is a kind, with its numbers replaced: the rare one may be the one that looks ahead. */
export function kindOfReason(reason: string): string {
  return reason.replace(/[\d.]+/g, '0');
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
