import type { ResolvedBacktestConfig } from '#contract/backtests/backtest.ts';
import {
  type Analysis,
  type Computed,
  computeColumns,
  decide,
  type SharedColumns,
} from '../analysis/analyze.ts';
import { closedBy } from '../analysis/informative.ts';
import { type Candles, indexAtOrAfter, lazyCandles, sliceCandles } from '../candles.ts';
import { type FitWindow, type MlAnalysis, predicting } from '../ml/fit-window.ts';
import type { TrainingInputs } from '../ml/training-inputs.ts';
import { ownColumns } from '../own-columns.ts';
import { type PairData, type PairHistory, readHistory } from '../run/history.ts';
import { atTimeframe, cutRows, mlRunOf, runStrategy, seriesOf } from '../run/prepare-pair.ts';
import { simulateKnown } from '../run/simulate-known.ts';
import { simulationSettings } from '../run/simulation-settings.ts';
import type { SimulationMemory } from '../simulator/state/memory.ts';
import type { PairInput } from '../simulator/types.ts';
import type { Columns, ParameterValues, StrategyDefinition } from '../strategy.ts';
import { TIMEFRAME_MS } from '../timeframe.ts';
import type { PairMembership } from '../universe/membership.ts';
import { membershipOf, planUniverse, type UniversePlan } from '../universe/plan.ts';
import {
  computedColumns,
  Findings,
  featureColumns,
  labelColumn,
  signalColumns,
  withOwn,
  withOwnRows,
} from './compare-columns.ts';
import { type Acted, columnFinding, type LookAheadFinding } from './findings.ts';
import {
  type Call,
  type GuardLog,
  guarding,
  guardingKept,
  type RecordedTimes,
  recordingCallbacks,
} from './guard.ts';
import {
  POISONED,
  type Poison,
  poisonCandles,
  poisonDetail,
  poisonFunding,
  poisonInformative,
  poisonVolumes,
} from './poison.ts';
import { rememberingFit } from './remembered-fit.ts';

/** Strategy, configuration and candles of a look-ahead search. */
export interface LookAheadSubject {
  /** Loads the strategy again: a run must not see module state of another run. */
  readonly load: () => Promise<StrategyDefinition>;
  /** Built-in functions that the strategy had replaced, as far as loads had to restore them. */
  readonly replaced?: (() => readonly string[]) | undefined;
  readonly config: ResolvedBacktestConfig;
  /** One element per pair of the configuration, in its order. */
  readonly pairs: readonly PairData[];
  /** The choice of the pairs; absent without a universe. */
  readonly plan?: UniversePlan | undefined;
}

export type PairAnalysis = Analysis | MlAnalysis;

/** Compared results of one run. */
export interface Observed extends Acted {
  readonly analyses: ReadonlyMap<string, PairAnalysis>;
  /** Error of the strategy with the known rows of kept arrays only; undefined without one. */
  readonly failure: unknown;
}

/** Training of a pair that remembers models: each window is trained once per search. */
export type Fits = (pair: string) => FitWindow;

/** @param known analyses whose models are remembered */
export function rememberingFits(known: ReadonlyMap<string, PairAnalysis> = new Map()): Fits {
  const fits = new Map<string, FitWindow>();
  return (pair) => {
    const analysis = known.get(pair);
    const fit = fits.get(pair) ?? rememberingFit(analysis && 'fits' in analysis ? analysis : undefined);
    fits.set(pair, fit);
    return fit;
  };
}

/** Candles of each tradable pair, checked and with gaps filled. */
export async function readHistories(subject: LookAheadSubject): Promise<PairHistory[]> {
  const strategy = await subject.load();
  const { config, pairs } = subject;
  return pairs
    .map((data) => readHistory(strategy, config, data))
    .filter((history): history is PairHistory => !('reason' in history));
}

const ALL_TIMES: readonly RecordedTimes[] = [
  { from: Number.NEGATIVE_INFINITY, to: Number.POSITIVE_INFINITY },
];

/**
 * Runs a strategy as a backtest does, with recorded callbacks; with a log they are also guarded.
 *
 * @param times of the recorded calls. Default: all
 */
export async function runWhole(
  { load, config }: LookAheadSubject,
  histories: readonly PairHistory[],
  fits: Fits,
  { guard, times = ALL_TIMES }: { readonly guard?: GuardLog; readonly times?: readonly RecordedTimes[] } = {},
): Promise<Observed> {
  const loaded = await load();
  const strategy = guard ? guardingKept(loaded, guard) : loaded;
  const analyses = new Map<string, PairAnalysis>();
  const inputs: PairInput[] = [];
  const shared: SharedColumns = new Map();
  for (const history of histories) {
    const { pair } = history.data;
    const steps = runStrategy(strategy, config, history, shared, fits(pair));
    let step = steps.next();
    while (!step.done) step = steps.next();
    const analysis = { ...step.value, columns: ownColumns(step.value.columns) };
    analyses.set(pair, analysis);
    inputs.push(cutRows(strategy, history, analysis, history.from, history.candles.timestamp.length));
  }
  return { analyses, ...simulateRecorded(strategy, config, inputs, { times, guard }) };
}

interface Recording {
  /** Times of the recorded calls. */
  readonly times: readonly RecordedTimes[];
  /** Absent: callbacks are not guarded. */
  readonly guard?: GuardLog | undefined;
  /** Absent: own memory. */
  readonly memory?: SimulationMemory | undefined;
}

function simulateRecorded(
  strategy: StrategyDefinition,
  config: ResolvedBacktestConfig,
  inputs: readonly PairInput[],
  { times, guard, memory }: Recording,
): Acted & Pick<Observed, 'failure'> {
  const calls: Call[] = [];
  const recorded = strategy.callbacks && {
    callbacks: recordingCallbacks(strategy.callbacks, calls, times, guard && guarding(guard)),
  };
  const settings = simulationSettings({ ...strategy, ...recorded }, config);
  const { simulation, failure } = simulateKnown(
    inputs,
    settings,
    { equity: false, ...(memory && { memory }) },
    () => {
      calls.length = 0;
    },
  );
  return { callbacks: Object.keys(recorded?.callbacks ?? {}), calls, table: simulation.table, failure };
}

/** Candles after a cut: not known without and with the forming one, or changed. */
type Later = 'unknown' | 'forming' | Poison;

/** True if candles go on after a cut, changed; false if the history ends there. */
export const isPoisoned = (later: Later): later is Poison => later !== 'unknown' && later !== 'forming';

/** A run up to a time. */
export interface Cut {
  /** Open time of the candle that is forming, ms. The strategy knows its timestamp and open. */
  readonly time: number;
  readonly later: Later;
  /** Number of changed candles after the forming one. */
  readonly poisoned: number;
  /** The only pair that is analyzed again; null: all. The others have the columns and signals of the run. */
  readonly only: string | null;
  /** False: columns and signals only. */
  readonly simulated: boolean;
  /** The simulation begins at this time, ms, without positions; null: at the start of the run. */
  readonly from: number | null;
  /** Calls from this time on are compared, ms. */
  readonly callsFrom: number;
}

/** Result of a cut. */
export interface CutRun {
  /** Differences of columns and signals from the run. */
  readonly findings: readonly LookAheadFinding[];
  /** Orders up to the cut; null without callbacks, where they follow from the signals. */
  readonly acted: Acted | null;
}

/** What a cut is compared with. */
export interface Reference {
  readonly subject: LookAheadSubject;
  readonly histories: readonly PairHistory[];
  /** Of the run, by pair. Their columns may be shorter than the history. */
  readonly analyses: ReadonlyMap<string, PairAnalysis>;
  readonly fits: Fits;
  /** Of the simulations of cuts: each is compared before the next one. */
  readonly memory: SimulationMemory;
}

/** One pair of a cut: candles for the strategy (`seen`) and for the simulator (`traded`), which are fewer. */
interface CutPair {
  /** With the informative candles and the end of the cut. */
  readonly history: PairHistory;
  readonly known: number;
  /** Copies for this run: writes of the strategy must not reach the other runs. */
  readonly seen: Candles;
  /** Number of candles in `seen`. */
  readonly rows: number;
  readonly traded: Candles;
}

/**
 * Runs the strategy up to a cut and compares it with the run. The strategy analyzes the candles of the cut; columns that agree with
 * those of the run are replaced by them, because rounding must not decide a signal. The simulator fills orders by the true candles
 * up to the forming one: a callback gets the arguments of the run, and only the strategy can cause a different return value.
 */
export function runCut(
  loaded: StrategyDefinition,
  { subject, histories, analyses: own, fits, memory }: Reference,
  cut: Cut,
  guard?: GuardLog,
): CutRun {
  const { config } = subject;
  const guarded = guard ? guardingKept(loaded, guard) : loaded;
  const strategy = atTimeframe(guarded, config);
  const findings: LookAheadFinding[] = [];
  const inputs: PairInput[] = [];
  const common = { strategy, config, cut, shared: new Map() };
  const membership = membershipIn(subject, cut);
  const detailMs = TIMEFRAME_MS[config.timeframe_detail ?? config.timeframe];
  for (const history of histories) {
    const { pair } = history.data;
    const known = knownRows(history, cut.time);
    if (known <= history.from) continue;
    const data = { ...history.data, ...membership(pair) };
    const each = cutPair({ ...history, data }, known, cut, detailMs);
    const reference = own.get(pair)!;
    const isOwn = cut.only !== null && cut.only !== pair;
    const analysis = isOwn ? reference : analyzeCut(common, each, reference, fits(pair), findings);
    if (!strategy.callbacks || !cut.simulated || cut.later === 'unknown') continue;
    const { kept: _, ...analyzed } = analysis;
    const from = firstRow(history, cut);
    const traded = { ...each.history, candles: each.traded };
    const input = cutRows(strategy, traded, analyzed, from, each.traded.timestamp.length);
    inputs.push({ ...input, seen: lazyCandles((name) => each.seen[name].subarray(from)) });
  }
  if (findings.length > 0 || inputs.length === 0) return { findings, acted: null };
  const times = [{ from: cut.callsFrom, to: Number.POSITIVE_INFINITY }];
  return { findings, acted: simulateRecorded(strategy, config, inputs, { times, guard, memory }) };
}

/** First traded row of a pair that trades before a cut. */
function firstRow(history: PairHistory, { from, time }: Cut): number {
  if (from === null) return history.from;
  return Math.min(Math.max(history.from, knownRows(history, from)), knownRows(history, time) - 1);
}

/** What the strategy of a run does from `cut.from` on with the columns of the run, up to the cut. */
export function runPart(
  strategy: StrategyDefinition,
  { subject, histories, analyses }: Reference,
  cut: Cut,
): Acted {
  const inputs = histories.flatMap((history) => {
    const known = knownRows(history, cut.time);
    const rows = Math.min(history.candles.timestamp.length, known + 2);
    if (known <= history.from) return [];
    return [cutRows(strategy, history, analyses.get(history.data.pair)!, firstRow(history, cut), rows)];
  });
  const times = [{ from: cut.callsFrom, to: Number.POSITIVE_INFINITY }];
  return simulateRecorded(strategy, subject.config, inputs, { times });
}

/** A trade of a run, in whose candles its callbacks are guarded, ms. */
export interface WatchedTrade {
  readonly pair: string;
  readonly openedAt: number;
  readonly closedAt: number;
}

/**
 * Simulates the candles of a trade with guarded callbacks and the columns of the run.
 *
 * @returns open time (ms) of the first candle in which a callback read a row that is not known; undefined without one. Only a
 *   suspicion: the strategy may keep row numbers of its run
 */
export function suspectedIn(
  strategy: StrategyDefinition,
  { subject, histories, analyses }: Reference,
  { pair, openedAt, closedAt }: WatchedTrade,
): number | undefined {
  const history = histories.find(({ data }) => data.pair === pair)!;
  const { from, candles, stepMs } = history;
  // The signal is in the row before the entry, which may be within a candle.
  const first = Math.max(from, knownRows(history, openedAt) - 2);
  const last = Math.min(candles.timestamp.length, knownRows(history, closedAt + stepMs) + 1);
  const input = cutRows(strategy, history, analyses.get(pair)!, first, last);
  const guard: GuardLog = { error: null, call: null };
  try {
    simulateRecorded(strategy, subject.config, [input], { times: [], guard });
  } catch {
    // The guard has thrown, or the strategy lacks what it kept of earlier candles.
  }
  return guard.error?.call.opened;
}

/** Phrase for what a cut knew. */
export function whenCut({ time, later }: Cut): string {
  const at = new Date(time).toISOString();
  if (!isPoisoned(later)) return `when the candle of ${at} was forming`;
  return `when the candles that close after ${at} ${POISONED[later]}`;
}

/** What all pairs of a cut have in common. */
interface CutAnalysis {
  readonly strategy: StrategyDefinition;
  readonly config: ResolvedBacktestConfig;
  readonly cut: Cut;
  readonly shared: SharedColumns;
}

/** Adds the differences from `reference` to `findings`. */
function analyzeCut(
  { strategy, config, cut, shared }: CutAnalysis,
  { history, known, seen, rows }: CutPair,
  reference: PairAnalysis,
  fit: FitWindow,
  findings: LookAheadFinding[],
): PairAnalysis {
  const params = config.params as ParameterValues;
  const found = new Findings(history.data.pair, history.candles);
  const settling = settle(reference, known, found);
  const run = mlRunOf(config, history, shared);
  let analysis: PairAnalysis;
  if (run) {
    const steps = predicting(strategy, params, seen, run, { train: fit, settling });
    let step = steps.next();
    while (!step.done) step = steps.next();
    analysis = step.value;
  } else {
    const computed = computeColumns(strategy, params, seen, rows, seriesOf(history, shared));
    analysis = decide(strategy, params, seen, settling.columns(computed));
  }
  settling.decided(analysis);
  findings.push(...found.all().map((each) => columnFinding(each, whenCut(cut))));
  return analysis;
}

/** Compares each part of an analysis with that of the run. What agrees is replaced by the run's. */
function settle(own: PairAnalysis, known: number, found: Findings) {
  const rows = Math.min(known, rowsOf(own));
  const { informative } = own;
  const columns = 'predictions' in own ? withoutPredictions(own) : own.columns;
  return {
    columns: (returned: Computed): Computed => {
      const computed = { ...returned, columns: ownColumns(returned.columns) };
      found.compare('look_ahead', rows, computedColumns(computed), computedColumns({ columns, informative }));
      if (!found.isEmpty) return computed;
      const settled = Object.entries(computed.informative).map(
        ([key, each]) => [key, withOwnRows(each, informative[key]!, rows)] as const,
      );
      return {
        ...computed,
        columns: withOwnRows(computed.columns, columns, rows),
        informative: Object.fromEntries(settled),
      };
    },
    inputs: (inputs: TrainingInputs): TrainingInputs => {
      if (!('trainingInputs' in own)) return inputs;
      const { features, horizon } = own.trainingInputs;
      found.compare('look_ahead', rows, featureColumns(inputs), featureColumns(own.trainingInputs));
      found.compare('look_ahead', rows - horizon, labelColumn(inputs), labelColumn(own.trainingInputs));
      if (!found.isEmpty) return inputs;
      const settled = inputs.features.columns.map((column, at) =>
        withOwn(column, features.columns[at]!, rows),
      );
      return { ...inputs, features: { ...inputs.features, columns: settled } };
    },
    decided: (analysis: PairAnalysis): void => {
      if ('predictions' in analysis && 'predictions' in own) {
        const predicted = ({ predictions: { ...columns } }: MlAnalysis) =>
          computedColumns({ columns, informative: {} });
        found.compare('look_ahead', rows, predicted(analysis), predicted(own));
      }
      found.compare('look_ahead', rows, signalColumns(analysis.signals), signalColumns(own.signals));
    },
  };
}

function withoutPredictions({ columns, predictions }: MlAnalysis): Columns {
  const names = Object.keys(predictions);
  return Object.fromEntries(Object.entries(columns).filter(([name]) => !names.includes(name)));
}

/** Rows of an analysis, which may be the first of the run's only. */
export function rowsOf({ columns, signals }: PairAnalysis): number {
  const column = Object.values(columns)[0] ?? signals.enterLong ?? signals.exitLong ?? signals.enterShort;
  return column?.length ?? signals.exitShort?.length ?? 0;
}

/** Number of rows of a pair that have closed by `time`. */
export function knownRows({ candles }: PairHistory, time: number): number {
  return indexAtOrAfter(candles.timestamp, time);
}

function cutPair(history: PairHistory, known: number, cut: Cut, detailMs: number): CutPair {
  const { candles, data, stepMs } = history;
  const { time, later } = cut;
  const total = candles.timestamp.length;
  // The candle after the forming one, so that callbacks are called at its open; none follows the last candle of a pair.
  const traded = sliceCandles(candles, 0, Math.min(total, known + 2));
  // Models of later windows would be trained for nothing.
  const end = later === 'unknown' ? time : time + 2 * stepMs;
  if (!isPoisoned(later)) {
    const informative = closedBy(history.informative, time);
    const own = { ...history, end, informative, data: withDetail(data, time + stepMs) };
    const rows = later === 'unknown' ? known : traded.timestamp.length;
    return { history: own, known, rows, seen: knownCandles(candles, known, rows), traded };
  }
  const rows = Math.min(total, known + 1 + Math.max(1, cut.poisoned));
  const last = time + (1 + cut.poisoned) * stepMs;
  return {
    history: {
      ...history,
      end,
      informative: poisonInformative(history.informative, time, last, later),
      data: poisonData(data, time + stepMs, end, detailMs, later),
    },
    known,
    rows,
    seen: poisonCandles(candles, rows, time, stepMs, later),
    traded,
  };
}

/** The candles that the strategy knows: of the forming one timestamp and open. A filler after it is flat, at that open. */
function knownCandles(candles: Candles, known: number, rows: number): Candles {
  return lazyCandles((name) => {
    const column = candles[name].slice(0, rows);
    if (rows <= known || name === 'timestamp') return column;
    column.fill(name === 'volume' ? 0 : candles.open[known]!, known);
    return column;
  });
}

function withDetail(data: PairData, end: number): PairData {
  const { detail } = data;
  return detail ? { ...data, detail: sliceCandles(detail, 0, indexAtOrAfter(detail.timestamp, end)) } : data;
}

/** Data that the simulator reads, changed from `time` on, ms: the forming candle has ended then. */
function poisonData(data: PairData, time: number, end: number, detailMs: number, how: Poison): PairData {
  const { detail, funding } = data;
  return {
    ...data,
    ...(detail && { detail: poisonDetail(detail, time, end, detailMs, how) }),
    ...(funding && { funding: poisonFunding(funding, time, how) }),
  };
}

/** The choice of a universe, from changed volumes of the days that end after a poisoned cut. */
function membershipIn(
  { config, plan }: LookAheadSubject,
  { time, later }: Cut,
): (pair: string) => { readonly membership?: PairMembership } {
  if (!plan || !config.universe || !isPoisoned(later)) return () => ({});
  const poisoned = planUniverse(config.universe, config, poisonVolumes(plan.candidates, time, later));
  return (pair) => ({ membership: membershipOf(poisoned, poisoned.membership, pair) ?? { intervals: [] } });
}
