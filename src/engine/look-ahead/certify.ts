import type { Candles } from '../candles.ts';
import { createRandom } from '../random.ts';
import { type PairHistory, trainingRows } from '../run/history.ts';
import { atTimeframe } from '../run/prepare-pair.ts';
import type { ParameterValues } from '../strategy.ts';
import { locationOf } from '../strategy-errors.ts';
import { tradedRange } from '../timeframe.ts';
import { analyzeLookAhead } from './analysis.ts';
import { countEntries } from './cuts.ts';
import { columnFinding, failureFinding, guardFinding, type LookAheadFinding } from './findings.ts';
import type { GuardLog, MemberUse } from './guard.ts';
import { type LookAheadSubject, type Observed, runWhole } from './runs.ts';
import {
  beginSearch,
  confirmed,
  cutTimes,
  differences,
  firstOfEach,
  MIN_ROWS,
  type Search,
  testCut,
  tradedRows,
} from './search.ts';

export interface CertifyOptions {
  /** Number of cuts: times at which the candles of all pairs end. Default 20. */
  readonly cuts?: number;
  /** Number of truncated histories of the column test, over all pairs. Default 200, with models 60. */
  readonly histories?: number;
  /** Seed of the choice of cuts. Default 1. */
  readonly seed?: number;
  /** Awaited between runs. */
  readonly pause?: () => Promise<void>;
  /** Called with the share done, 0 to 1, ascending. */
  readonly onProgress?: (share: number) => void;
}

/** Extent and findings of a search. */
export interface LookAheadCertificate {
  /** Empty for a certified strategy. */
  readonly findings: readonly LookAheadFinding[];
  /** Number of cuts, each a repeated run on truncated candles. */
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
 * - at each cut the run up to then equals the run with all candles.
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
  const compared = [...guarded.differing];
  for (const [at, time] of times.entries()) {
    await pause();
    compared.push(...(await testCut(search, time)));
    progress(0.4 + (0.6 * (at + 1)) / times.length);
  }
  return {
    findings: firstOfEach([
      ...guarded.forbidden,
      ...columns.findings,
      ...(await confirmed(search, compared)),
    ]),
    cuts: times.length,
    histories: columns.histories,
    rows: tradedRows(search),
    pairs: search.histories.map(({ data }) => data.pair),
    entrySignals: entrySignals(search.whole),
    trades: search.whole.trades.length,
    calls: callCounts(search.whole),
  };
}

interface GuardTest {
  /** Forbidden reads and writes, which need no second proof. */
  readonly forbidden: readonly LookAheadFinding[];
  /** Differences of the guarded run from the plain one. */
  readonly differing: readonly LookAheadFinding[];
}

async function testGuarded(search: Search): Promise<GuardTest> {
  const { subject, histories, fits, whole } = search;
  if (whole.callbacks.length === 0) return { forbidden: [], differing: [] };
  const log: GuardLog = { error: null };
  let guarded: Observed | undefined;
  let failure: unknown;
  try {
    guarded = await runWhole(subject, histories, fits, log);
  } catch (error) {
    failure = error;
  }
  if (log.error) return { forbidden: [guardFinding(log.error.cause, log.error.call)], differing: [] };
  if (!guarded)
    return { forbidden: [], differing: [failureFinding(failure, 'while its columns were guarded')] };
  const sides = {
    kind: 'look_ahead',
    before: 'with the known rows only',
    after: 'with all candles',
  } as const;
  const found = differences(search, guarded, whole, sides);
  return { forbidden: [], differing: await Promise.all(found.map((each) => withUse(search, each))) };
}

/** Adds the column member, such as `at` or `length`, that the call of a finding used, with its location. */
async function withUse(
  { subject, histories, fits }: Search,
  finding: LookAheadFinding,
): Promise<LookAheadFinding> {
  const { callback, pair, time } = finding;
  if (callback === null) return finding;
  const uses: MemberUse[] = [];
  const log: GuardLog = {
    error: null,
    onUse: (use, call) => {
      if (call.callback === callback && call.pair === pair && call.opened === time) uses.push(use);
    },
  };
  await runWhole(subject, histories, fits, log);
  const use = uses[0];
  if (!use) return finding;
  const location = locationOf(use.stack);
  const { column, member } = use;
  const message = `${finding.message}; it uses ${column}.${member}, which depends on how many candles there are`;
  return { ...finding, column, location, message: location ? `${message} (${location})` : message };
}

interface ColumnTest {
  readonly findings: readonly LookAheadFinding[];
  readonly histories: number;
}

/** Tests columns and signals on many more truncated histories than there are cuts. */
async function testColumns({ subject, histories }: Search, options: CertifyOptions): Promise<ColumnTest> {
  const { config } = subject;
  const { ml_engine: ml, timeframe } = config;
  const strategy = atTimeframe(await subject.load(), config);
  const minRows = (history: PairHistory) => history.startup + trainingRows(timeframe, ml) + MIN_ROWS;
  const searched = histories.filter((each) => each.candles.timestamp.length > minRows(each));
  if (searched.length === 0) return { findings: [], histories: 0 };
  const candles = new Map<string, Candles>(searched.map((each) => [each.data.pair, each.candles]));
  const total = options.histories ?? (ml ? DEFAULT_HISTORIES_WITH_MODELS : DEFAULT_HISTORIES);
  try {
    const report = analyzeLookAhead(strategy, config.params as ParameterValues, candles, {
      histories: Math.max(MIN_HISTORIES, Math.floor(total / candles.size)),
      seed: options.seed ?? 1,
      ml: ml && {
        config: ml,
        seed: config.seed,
        start: tradedRange(config).start,
        startup: Math.max(...searched.map(({ startup }) => startup)),
      },
      informative: new Map(searched.map((each) => [each.data.pair, each.informative])),
    });
    return { findings: report.findings.map(columnFinding), histories: report.histories };
  } catch (error) {
    return { findings: [failureFinding(error, 'on a truncated history')], histories: 0 };
  }
}

function entrySignals({ analyses }: Observed): number {
  return [...analyses.values()].reduce((count, { signals }) => count + countEntries(signals), 0);
}

function callCounts({ callbacks, calls }: Observed): Record<string, number> {
  const counts = Object.fromEntries(callbacks.map((name) => [name, 0]));
  for (const { callback } of calls) counts[callback]!++;
  return counts;
}
