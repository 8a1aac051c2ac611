import type { ResolvedBacktestConfig } from '#contract/backtests/backtest.ts';
import { type Analysis, analyze } from '../analysis/analyze.ts';
import { closedBy } from '../analysis/informative.ts';
import { type Candles, createCandles, indexAtOrAfter, sliceCandles } from '../candles.ts';
import { type FitWindow, type MlAnalysis, predicting } from '../ml/fit-window.ts';
import { type PairData, type PairHistory, readHistory } from '../run/history.ts';
import { atTimeframe, cutRows, mlRunOf, seriesOf } from '../run/prepare-pair.ts';
import { simulationSettings } from '../run/simulation-settings.ts';
import { simulate } from '../simulator/simulate.ts';
import type { SimulatedTrade } from '../simulator/trade-table.ts';
import type { PairInput } from '../simulator/types.ts';
import type { CallbackContext, ParameterValues, StrategyDefinition } from '../strategy.ts';
import { type Call, type GuardLog, guarding, recordingCallbacks } from './guard.ts';
import { rememberingFit } from './remembered-fit.ts';

/** Strategy, configuration and candles of a look-ahead search. */
export interface LookAheadSubject {
  /** Loads the strategy again: a run must not see module state of another run. */
  readonly load: () => Promise<StrategyDefinition>;
  readonly config: ResolvedBacktestConfig;
  /** One element per pair of the configuration, in its order. */
  readonly pairs: readonly PairData[];
}

export type PairAnalysis = Analysis | MlAnalysis;

/** Compared results of one run. */
export interface Observed {
  readonly callbacks: readonly string[];
  readonly analyses: ReadonlyMap<string, PairAnalysis>;
  /** Chronological. */
  readonly calls: readonly Call[];
  /** In the order of closing. */
  readonly trades: readonly SimulatedTrade[];
}

/** Training of a pair that remembers models: each window is trained once per search. */
export type Fits = (pair: string) => FitWindow;

export function rememberingFits(): Fits {
  const fits = new Map<string, FitWindow>();
  return (pair) => {
    const known = fits.get(pair) ?? rememberingFit();
    fits.set(pair, known);
    return known;
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

/** One pair of a run: candles for the strategy (`seen`) and for the simulator (`traded`), with the same rows. */
interface RunPair {
  readonly history: PairHistory;
  readonly seen: Candles;
  readonly traded: Candles;
}

/** Runs the whole range with recorded callbacks; with a log they are also guarded. */
export async function runWhole(
  subject: LookAheadSubject,
  histories: readonly PairHistory[],
  fits: Fits,
  guard?: GuardLog,
): Promise<Observed> {
  const pairs = histories.map((history) => ({ history, seen: history.candles, traded: history.candles }));
  return observe(subject, pairs, fits, guard);
}

/**
 * Runs up to `time`, the open time (ms) of the forming candle. The strategy knows only timestamp and open of that candle: its
 * other prices equal the open. A filler candle at the same price follows, so that callbacks are called at that open; none follows
 * the last candle of a pair, as in the whole run. The simulator fills orders by the true candle, so its calls there equal those of
 * the whole run.
 */
export async function runCut(
  subject: LookAheadSubject,
  histories: readonly PairHistory[],
  time: number,
  fits: Fits,
): Promise<Observed> {
  const pairs = histories.flatMap((history) => {
    const known = knownRows(history, time);
    return known > history.from ? [cutPair(history, known, time)] : [];
  });
  return observe(subject, pairs, fits);
}

/** Analyzes the candles that have closed by `time`, without the forming one. */
export async function analyzeClosed(
  subject: LookAheadSubject,
  histories: readonly PairHistory[],
  time: number,
  fits: Fits,
): Promise<ReadonlyMap<string, PairAnalysis>> {
  const strategy = atTimeframe(await subject.load(), subject.config);
  const analyses = new Map<string, PairAnalysis>();
  for (const history of histories) {
    const known = knownRows(history, time);
    if (known <= history.from) continue;
    const seen = copyOf(sliceCandles(history.candles, 0, known));
    analyses.set(
      history.data.pair,
      analyzeRows(strategy, subject.config, knownBy(history, time), seen, fits),
    );
  }
  return analyses;
}

/** The history with the informative candles that have closed by `time`, its end. */
function knownBy(history: PairHistory, time: number): PairHistory {
  return { ...history, end: time, informative: closedBy(history.informative, time) };
}

/** Number of rows of a pair that have closed by `time`. */
export function knownRows({ candles }: PairHistory, time: number): number {
  return indexAtOrAfter(candles.timestamp, time);
}

function cutPair(history: PairHistory, known: number, time: number): RunPair {
  const { candles, data, stepMs } = history;
  const end = time + 2 * stepMs;
  const detail =
    data.detail && sliceCandles(data.detail, 0, indexAtOrAfter(data.detail.timestamp, time + stepMs));
  const cut = { ...knownBy(history, time), end, data: { ...data, ...(detail && { detail }) } };
  // The pair's data ended earlier: all of it is known.
  if (known === candles.timestamp.length) return { history: cut, seen: candles, traded: candles };
  const fillers = known + 1 < candles.timestamp.length ? 1 : 0;
  const traded = extend(candles, known + 1, stepMs, fillers);
  const seen = extend(candles, known + 1, stepMs, fillers);
  for (const name of ['high', 'low', 'close'] as const) seen[name].fill(seen.open[known]!, known);
  seen.volume[known] = 0;
  return { history: cut, seen, traded };
}

/** The first `rows` candles and `fillers` flat ones at the last open. */
function extend(candles: Candles, rows: number, stepMs: number, fillers: number): Candles {
  const result = createCandles(rows + fillers);
  for (const name of Object.keys(result) as (keyof Candles)[]) {
    result[name].set(candles[name].subarray(0, rows));
  }
  const last = rows - 1;
  for (let row = rows; row < rows + fillers; row++) {
    result.timestamp[row] = candles.timestamp[last]! + (row - last) * stepMs;
    for (const name of ['open', 'high', 'low', 'close'] as const) result[name][row] = candles.open[last]!;
  }
  return result;
}

async function observe(
  subject: LookAheadSubject,
  pairs: readonly RunPair[],
  fits: Fits,
  guard?: GuardLog,
): Promise<Observed> {
  const { config } = subject;
  const strategy = atTimeframe(await subject.load(), config);
  const analyses = new Map<string, PairAnalysis>();
  const inputs: PairInput[] = [];
  const views = new Map<string, Pick<CallbackContext, 'candles' | 'columns' | 'informative'>>();
  for (const { history, seen, traded } of pairs) {
    const { pair } = history.data;
    const given = copyOf(seen);
    const analysis = analyzeRows(strategy, config, history, given, fits);
    analyses.set(pair, analysis);
    const rows = seen.timestamp.length;
    const input = cutRows(strategy, { ...history, candles: traded }, analysis, history.from, rows);
    inputs.push(input);
    const { columns = {}, informative = {} } = input;
    views.set(pair, { candles: sliceCandles(given, history.from, rows), columns, informative });
  }
  const calls: Call[] = [];
  const own = (context: CallbackContext): CallbackContext => {
    const { time, index, pair, params, state } = context;
    const { candles, columns, informative } = views.get(pair)!;
    return { time, index, pair, params, state, candles, columns, informative };
  };
  const guarded = guard && guarding(guard);
  const recorded = strategy.callbacks && {
    callbacks: recordingCallbacks(strategy.callbacks, calls, (context, callback) =>
      guarded ? guarded(own(context), callback) : own(context),
    ),
  };
  const settings = simulationSettings({ ...strategy, ...recorded }, config);
  const { trades } = simulate(inputs, settings, { equity: false });
  return { callbacks: Object.keys(recorded?.callbacks ?? {}), analyses, calls, trades };
}

function analyzeRows(
  strategy: StrategyDefinition,
  config: ResolvedBacktestConfig,
  history: PairHistory,
  candles: Candles,
  fits: Fits,
): PairAnalysis {
  const params = config.params as ParameterValues;
  const run = mlRunOf(config, history);
  if (!run) return analyze(strategy, params, candles, candles.timestamp.length, seriesOf(history));
  const steps = predicting(strategy, params, candles, run, fits(history.data.pair));
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
  }
}

/** Copy for one run: writes of the strategy must not reach the other runs. */
function copyOf(candles: Candles): Candles {
  return extend(candles, candles.timestamp.length, 0, 0);
}
