import { type Candles, createCandles, sliceCandles } from './candles.ts';
import { chooseCuts, countEntries, LAST_ROWS, signalRows } from './causality/cuts.ts';
import { columnsOf, Findings, inputColumns, type LookAheadFinding, labelOf } from './causality/findings.ts';
import { modelSearch, type SearchedModels } from './causality/models.ts';
import { createRandom, hash32 } from './random.ts';
import { type Analysis, analyse } from './strategies/analyze.ts';
import type { ParameterValues, StrategyDefinition } from './strategy.ts';
import type { LearnedAnalysis } from './walk-forward/fit-window.ts';
import { mlEngineOf } from './walk-forward/windows.ts';

export interface LookAheadReport {
  readonly findings: readonly LookAheadFinding[];
  /** Truncated histories that were compared, over all pairs. */
  readonly histories: number;
  /** Rows with an entry signal, over all pairs: without any, only the columns were put to the test. */
  readonly entrySignals: number;
}

export interface LookAheadOptions {
  /**
   * Truncated histories per pair. Default: as many as there are rows in a short series, fewer the longer it is (24 at
   * the least), which keeps the time of a search about constant.
   */
  readonly histories?: number;
  /** Chooses where histories are cut. Default 1. */
  readonly seed?: number;
  /** Models to train and search with; by default those that the strategy declares. */
  readonly ml?: SearchedModels | undefined;
}

/** Histories times candles of a default search. */
const DEFAULT_WORK = 5_000_000;
const MIN_HISTORIES = 24;
/**
 * Searches a strategy for knowledge of the future: computes its signals, indicator columns and informative columns on
 * truncated histories and compares every row with what the full history gives. A causal strategy gives the same. Half
 * of the histories end right on a row with a signal: one that leans on the next candles is missing there.
 * With models, features and predictions are compared too, and labels as far as their horizon says that they are known: a
 * model that learned from what its window could not have known predicts something else when that is cut off.
 * Callbacks are not covered: they run inside the simulation.
 *
 * @param candles per pair, of the strategy's timeframe, each longer than the strategy's startup candles
 * @throws RangeError when there is no pair or one is too short to be cut
 * @throws StrategyRunError when the strategy cannot run on the candles
 */
export function findLookAhead(
  strategy: StrategyDefinition,
  params: ParameterValues,
  candles: ReadonlyMap<string, Candles>,
  options: LookAheadOptions = {},
): LookAheadReport {
  if (candles.size === 0) throw new RangeError('There is no pair to search for look-ahead.');
  const reports = [...candles].map(([pair, series]) => searchPair(strategy, params, pair, series, options));
  return {
    findings: reports.flatMap((report) => report.findings),
    histories: sum(reports.map((report) => report.histories)),
    entrySignals: sum(reports.map((report) => report.entrySignals)),
  };
}

/** Runs the strategy on candles of its own, which no other run sees. */
type Run = (candles: Candles, memo: 'memo' | 'anew') => Analysis | LearnedAnalysis;

function searchPair(
  strategy: StrategyDefinition,
  params: ParameterValues,
  pair: string,
  given: Candles,
  options: LookAheadOptions,
): LookAheadReport {
  const length = given.timestamp.length;
  const ml = options.ml ?? (strategy.mlEngine && { config: mlEngineOf(strategy) });
  const models = ml && modelSearch(strategy, params, pair, given, ml);
  const least = models?.least ?? Math.max(strategy.startupCandles(params), 1) + 1;
  if (length < least + LAST_ROWS) {
    throw new RangeError(
      `${pair} has ${length} candles; searching ${strategy.name} for look-ahead needs ${least + LAST_ROWS}.`,
    );
  }
  const run: Run = models?.run ?? ((candles) => analyse(strategy, params, candles));
  const candles = copy(given);
  const full = run(candles, 'memo');
  const horizon = 'learning' in full ? full.learning.horizon : 0;
  const findings = new Findings(pair, given);
  findings.compare('input_changed', length, inputColumns(given), inputColumns(candles));
  findings.compare('not_repeatable', length, columnsOf(run(copy(given), 'anew')), columnsOf(full));
  const expected = columnsOf(full);
  const columns = 'learning' in full ? full.learning.features.columns.length : 1;
  const wanted = options.histories ?? Math.max(MIN_HISTORIES, Math.floor(DEFAULT_WORK / length / columns));
  const random = createRandom((options.seed ?? 1) ^ hash32(pair));
  const signals = signalRows(full.signals, least, length);
  const cuts = chooseCuts(signals, least, length, wanted, random, models?.beginnings);
  for (const known of cuts) {
    const truncated = run(copy(sliceCandles(given, 0, known)), 'memo');
    findings.compare('look_ahead', known, columnsOf(truncated), expected);
    findings.compare('look_ahead', known - horizon, labelOf(truncated), labelOf(full));
  }
  return { findings: findings.all(), histories: cuts.length, entrySignals: countEntries(full.signals) };
}

/** The strategy gets candles of its own: what it writes into them must not reach the other runs. */
function copy(candles: Candles): Candles {
  const result = createCandles(candles.timestamp.length);
  for (const name of Object.keys(result) as (keyof Candles)[]) result[name].set(candles[name]);
  return result;
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
