import { type Analysis, type SharedColumns, SIGNAL_COLUMNS } from '../analysis/analyze.ts';
import { indexAtOrAfter } from '../candles.ts';
import { canonicalJson } from '../digest.ts';
import { isoDay } from '../metrics/equity-curve.ts';
import { planWindows, type Window } from '../ml/windows.ts';
import { provenanceOf } from '../report/result.ts';
import type { PairHistory } from '../run/history.ts';
import { cutRows, runStrategy } from '../run/prepare-pair.ts';
import type { PairInput } from '../simulator/types.ts';
import type { StrategyDefinition } from '../strategy.ts';
import { tradedRange } from '../timeframe.ts';
import { requireObjective } from './objectives.ts';
import { NO_CACHE, openPairs, pairDigests, Trader } from './trader.ts';
import type {
  WalkForwardInput,
  WalkForwardOptions,
  WalkForwardOutcome,
  WindowCache,
  WindowValue,
} from './trial.ts';

export interface UntrainedOptions extends Omit<WalkForwardOptions, 'pause'> {
  /** Length of a window in days; the last window ends with the range. */
  readonly windowDays: number;
}

/** A pair with what its strategy computed over the whole range. */
interface AnalyzedPair {
  readonly history: PairHistory;
  readonly analysis: Analysis;
}

/**
 * Runs one trial without models. Each window is traded on its own from a full wallet and reported. Then the whole range is
 * traded as one run, which gives the value. That run has exactly the numbers of a backtest of the same configuration.
 * Nothing is trained, so `inSample` is empty and `efficiency` is null.
 *
 * @throws RangeError when the configuration has `ml_engine`, or the objective is not one of `OBJECTIVES`
 * @throws BacktestError as `runBacktest`
 */
export function runUntrained(input: WalkForwardInput, options: UntrainedOptions): WalkForwardOutcome {
  const { config, strategy } = input;
  if (config.ml_engine)
    throw new RangeError(
      'An untrained run needs a configuration without ml_engine. Use runWalkForward instead.',
    );
  requireObjective(options.objective);
  const { cache = NO_CACHE, digest } = options;
  const { start, end } = tradedRange(config);
  const lengths = { train_period_days: 0, backtest_period_days: options.windowDays };
  const planned = planWindows(start, end, lengths);
  const trader = new Trader(strategy, config, options.objective);
  const shared: SharedColumns = new Map();
  const { pairs, skipped } = openPairs(input, (history) => analyzedPair(input, history, cache, shared));
  const windows: WindowValue[] = [];
  for (const window of planned) {
    const inputs = pairs.map((pair) => windowInput(strategy, pair, window));
    const value = trader.window(window, inputs);
    windows.push(value);
    const verdict = options.onWindow?.({ ...value, of: planned.length });
    if (verdict === 'prune' && windows.length < planned.length) {
      return { state: 'pruned', value: null, windows };
    }
  }
  const inputs = pairs.map(({ history, analysis }) =>
    cutRows(strategy, history, analysis, history.from, history.candles.timestamp.length),
  );
  const traded = trader.trade(inputs);
  const digests = pairDigests(pairs, inputs, cache, digest);
  return {
    state: 'complete',
    value: traded.value,
    windows,
    inSample: [],
    annualizedReturnPct: traded.metrics.account.avg_daily_profit_pct * 365,
    efficiency: null,
    dailyReturns: traded.dailyReturns,
    firstDay: isoDay(traded.daily.day[0]!),
    equity: traded.daily.equity,
    metrics: traded.metrics,
    result: traded.result,
    provenance: provenanceOf(input, digests, digest),
    warnings: skipped.map((reason) => `Pair excluded: ${reason}`),
  };
}

/** Trials that differ only in stop loss, ROI table or trailing stop share columns and signals. */
function analyzedPair(
  { strategy, config }: WalkForwardInput,
  history: PairHistory,
  cache: WindowCache,
  shared: SharedColumns,
): AnalyzedPair {
  const key = `${history.data.pair} ${history.startup} ${canonicalJson(config.params)} analysis`;
  const analysis = cache.get(
    key,
    () => {
      const steps = runStrategy(strategy, config, history, shared);
      for (;;) {
        const step = steps.next();
        if (step.done) return step.value;
      }
    },
    bytesOf,
  );
  return { history, analysis };
}

function windowInput(
  strategy: StrategyDefinition,
  { history, analysis }: AnalyzedPair,
  { from, to }: Window,
): PairInput {
  const rowAt = (time: number) => Math.max(history.from, indexAtOrAfter(history.candles.timestamp, time));
  return cutRows(strategy, history, analysis, rowAt(from), rowAt(to));
}

function bytesOf({ columns, informative, signals }: Analysis): number {
  const computed = [columns, ...Object.values(informative)].flatMap((each) => Object.values(each));
  const decided = SIGNAL_COLUMNS.map((name) => signals[name]);
  return [...computed, ...decided].reduce((total, column) => total + (column?.byteLength ?? 0), 0);
}
