import { createRandom, type Random } from '../random.ts';
import { SimulationMemory } from '../simulator/state/memory.ts';
import { drawSignals, MIN_CUTS } from './cuts.ts';
import { guardFinding, type LookAheadFinding, replacedFindings, unknownRowsFinding } from './findings.ts';
import type { GuardLog } from './guard.ts';
import type { ObservedRun } from './observe.ts';
import { POISONS } from './poison.ts';
import {
  type Cut,
  isPoisoned,
  knownRows,
  type LookAheadSubject,
  rememberingFits,
  rowsOf,
  runPart,
  suspectedIn,
} from './runs.ts';
import {
  confirmed,
  firstOfEach,
  poisonedCut,
  type Search,
  type TestedCut,
  testCut,
  testTruncated,
  truncatedCut,
} from './search.ts';
import { watchedTrades } from './watched-trades.ts';

interface SampleOptions {
  /** Processor time of this process so far, ms. It decides only the number of further cuts. */
  readonly spent: () => number;
  /** Awaited between cuts. */
  readonly pause?: () => Promise<void>;
}

/** Maximum share of the cuts in the processor time, from which on no further one follows. */
export const LOOK_AHEAD_SHARE = 0.1;

/** Result of the search of a run. */
export interface LookAheadSample {
  /** Histories that ended at a cut, and those that went on with changed candles. */
  readonly truncated: number;
  readonly poisoned: number;
  /** Compared candles, over all pairs. */
  readonly rows: number;
  readonly pairs: readonly string[];
  readonly findings: readonly LookAheadFinding[];
  /** Share of the search in the processor time. */
  readonly share: number;
}

/** Cuts beyond the ones of every run. */
const MAX_FURTHER = 8;
/** Least number of cuts of each kind at which a position is open, for callbacks, if there is one near the start of the run. */
const MIN_HELD = 4;

/**
 * Repeats a run on cut histories from its true start, callbacks included, and compares. Every run gets {@link MIN_CUTS} of each kind,
 * as far as it has signals, and a changed history from a row that is drawn over the whole run. Further ones depend on the processor
 * time. The source is loaded once per kind; a difference counts if it stays after another load.
 */
export async function sampleLookAhead(
  subject: LookAheadSubject,
  run: ObservedRun,
  options: SampleOptions,
): Promise<LookAheadSample> {
  const { spent, pause = async () => undefined } = options;
  const begun = spent();
  const search = searchOf(subject, run);
  const random = createRandom(run.seed);
  const tested: TestedCut[] = [];
  // The longest first: what a module keeps of its first call is then as long as possible.
  const times = [...new Set([...run.near, ...heldTimes(run)])].sort((a, b) => b - a);
  const test = async (testing: () => TestedCut | Promise<TestedCut>) => {
    await pause();
    tested.push(await testing());
  };
  const truncated = await subject.load();
  let guard: GuardLog = { error: null, call: null };
  for (const [index, time] of times.entries()) {
    // The first cut has the calls of all others.
    const log = index === 0 ? guard : undefined;
    await test(() => testTruncated(search, async () => truncated, time, log));
    // What the strategy keeps of it are plain arrays from now on.
    guard.call = null;
  }
  const poisoned = await subject.load();
  for (const [index, time] of times.entries()) {
    await test(() => testCut(search, poisoned, poisonedCut(search, time, index)));
  }
  const limit = begun / (1 - LOOK_AHEAD_SHARE);
  const drawing = spent();
  const drawn = drawnCut(search, run, random);
  await test(() => testCut(search, poisoned, drawn, () => runPart(run.strategy, search, drawn)));
  // What a cut of the whole run cost says what the next one will.
  const mayCut = budgetOf(spent, limit, spent() - drawing);
  const mayWatch = budgetOf(spent, limit, 0);
  for (const trade of watchedTrades(run, random)) {
    if (guard.error || !mayWatch()) break;
    await pause();
    const time = suspectedIn(run.strategy, search, trade);
    if (time === undefined) continue;
    guard = { error: null, call: null };
    await testTruncated(search, subject.load, time, guard);
  }
  for (const cut of furtherCuts(search, run, random)) {
    if (!mayCut()) break;
    await test(() => testCut(search, isPoisoned(cut.later) ? poisoned : truncated, cut));
  }
  const findings = await findingsOf(search, run.failure, guard, tested);
  const changed = tested.filter(({ cut }) => isPoisoned(cut.later)).length;
  return {
    truncated: tested.length - changed,
    poisoned: changed,
    ...comparedIn(search, tested),
    findings,
    share: (spent() - begun) / spent(),
  };
}

/** One finding of each kind: of the guard, of rows that were not known, of the cuts, and of replaced built-in functions. */
async function findingsOf(
  search: Search,
  failure: unknown,
  { error }: GuardLog,
  tested: readonly TestedCut[],
): Promise<LookAheadFinding[]> {
  const needed = failure === undefined ? [] : [unknownRowsFinding(failure)];
  const forbidden = error ? [guardFinding(error.cause, error.call)] : [];
  const proven = await confirmed(search, tested);
  const replaced = replacedFindings(search.subject.replaced?.() ?? []);
  return firstOfEach([...forbidden, ...needed, ...proven, ...replaced]);
}

/** Whether a step that costs as much as the dearest one so far stays within a processor time. Call it before each step. */
function budgetOf(spent: () => number, limit: number, expected: number): () => boolean {
  let dearest = expected;
  let before = Number.POSITIVE_INFINITY;
  return () => {
    const now = spent();
    dearest = Math.max(dearest, now - before);
    before = now;
    return now + dearest <= limit;
  };
}

function searchOf(subject: LookAheadSubject, run: ObservedRun): Search {
  const { histories, analyses } = run;
  const fits = rememberingFits(analyses);
  return { subject, histories, analyses, run, fits, memory: new SimulationMemory() };
}

/**
 * Open times (ms) of candles near the start in which a trade was closed, or in the middle of it: as many as are needed for
 * {@link MIN_HELD} cuts at which an earlier position is open. Empty without callbacks.
 */
function heldTimes({ callbacks, near, table, histories, nearEnd }: ObservedRun): number[] {
  if (callbacks.length === 0) return [];
  const { length, openedAt, closedAt } = table;
  const { stepMs } = histories[0]!;
  const start = Math.min(...histories.map(({ candles, from }) => candles.timestamp[from]!));
  const candle = (time: number) => start + Math.floor((time - start) / stepMs) * stepMs;
  const held = new Set<number>();
  const times = new Set<number>();
  for (let row = 0; row < length; row++) {
    const opened = openedAt[row]!;
    if (opened >= nearEnd) continue;
    for (const time of near) if (opened < time && closedAt[row]! >= time) held.add(time);
    const closed = Math.min(closedAt[row]!, nearEnd - stepMs);
    for (const time of [closed, (opened + closed) / 2].map(candle)) if (time > opened) times.add(time);
  }
  return [...times].slice(0, Math.max(0, MIN_HELD - held.size));
}

/**
 * The cut at the drawn row, with changed candles to the end of the run. Callbacks act in the candles before it only: half of the run
 * on average would take too long.
 */
function drawnCut(search: Search, { drawn: { time, pair, callsFrom } }: ObservedRun, random: Random): Cut {
  const how = Math.floor(random() * POISONS.length);
  return {
    ...poisonedCut(search, time, how),
    poisoned: Number.MAX_SAFE_INTEGER,
    only: pair,
    from: callsFrom,
    callsFrom,
  };
}

/**
 * Further cuts of columns and signals, of the pair whose columns are known over the whole run: just after signals, each kind in
 * turn.
 */
function* furtherCuts(search: Search, { drawn: { pair } }: ObservedRun, random: Random): Generator<Cut> {
  const { histories, analyses } = search;
  const history = histories.find(({ data }) => data.pair === pair)!;
  const known = new Set<number>();
  let draws = 0;
  for (const time of drawSignals(analyses.get(pair)!.signals, history, random)) {
    if (draws++ === MAX_FURTHER) return;
    if (known.has(time)) continue;
    known.add(time);
    const cut = known.size % 2 === 1 ? truncatedCut(time) : poisonedCut(search, time, known.size);
    yield { ...cut, only: pair, simulated: false };
  }
}

function comparedIn(
  { histories, analyses }: Search,
  tested: readonly TestedCut[],
): Pick<LookAheadSample, 'rows' | 'pairs'> {
  const compared = histories.map((history) => {
    const { pair } = history.data;
    const own = tested.filter(({ cut: { only } }) => only === null || only === pair);
    const known = Math.max(0, ...own.map(({ cut }) => knownRows(history, cut.time)));
    return { pair, rows: Math.max(0, Math.min(known, rowsOf(analyses.get(pair)!)) - history.from) };
  });
  return {
    rows: compared.reduce((total, { rows }) => total + rows, 0),
    pairs: compared.filter(({ rows }) => rows > 0).map(({ pair }) => pair),
  };
}
