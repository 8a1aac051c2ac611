import { dailyReturns, isoDay } from '../metrics/daily.ts';
import type { ComputedMetrics } from '../metrics/metrics.ts';
import { mean } from '../metrics/moments.ts';
import { provenanceOf } from '../report/provenance.ts';
import { buildResult } from '../report/result.ts';
import { roundNumbers } from '../report/round.ts';
import { type RunConfig, simulationSettings } from '../run/config.ts';
import { BacktestError } from '../run/errors.ts';
import { measureRun } from '../run/measure.ts';
import { modelWarnings, whyNothingLearned } from '../run/model-warnings.ts';
import { LEAST_CANDLES, readHistory, tradedRange } from '../run/pair-history.ts';
import { digestPair, marketChangePct } from '../run/prepare-pair.ts';
import { blamingCallbacks } from '../run/run-strategy.ts';
import { simulate } from '../simulator/simulate.ts';
import type { PairInput, SimulationSettings } from '../simulator/types.ts';
import type { StrategyDefinition } from '../strategy.ts';
import { DAY_MS } from '../timeframe.ts';
import type { WindowFit } from './fit-window.ts';
import { objectiveValue, requireObjective } from './objectives.ts';
import { TrialPair } from './trial-pair.ts';
import type {
  CompleteWalkForward,
  InSampleWindow,
  WalkForwardInput,
  WalkForwardOptions,
  WalkForwardOutcome,
  WindowCache,
  WindowValue,
} from './types.ts';
import { planWindows, type Window } from './windows.ts';

/**
 * Runs one walk-forward backtest: for each window and pair a model is trained on the days before it, the window is traded out
 * of sample, and told; the windows joined into one run give the value. That run is the backtest of the same configuration,
 * number by number. Cache, pauses and what is told change no number.
 *
 * @throws RangeError when the configuration has no `ml_engine`, or the objective is not one of `OBJECTIVES`
 * @throws BacktestError as `runBacktest`
 */
export async function runWalkForward(
  input: WalkForwardInput,
  options: WalkForwardOptions,
): Promise<WalkForwardOutcome> {
  const steps = walkForwardSteps(input, options);
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
    await options.pause?.();
  }
}

const NO_CACHE: WindowCache = { get: (_, make) => make() };

function* walkForwardSteps(
  input: WalkForwardInput,
  options: WalkForwardOptions,
): Generator<void, WalkForwardOutcome> {
  const { config, strategy } = input;
  if (!config.ml_engine) throw new RangeError('A walk-forward run needs a configuration with ml_engine.');
  requireObjective(options.objective);
  const { start, end } = tradedRange(config);
  const planned = planWindows(start, end, config.ml_engine);
  const trader = new Trader(strategy, config, options.objective);
  const { pairs, skipped } = openPairs(input, options.cache ?? NO_CACHE);
  const windows: WindowValue[] = [];
  const inSample: InSampleWindow[] = [];
  for (const window of planned) {
    const fits: [TrialPair, WindowFit][] = [];
    for (const pair of pairs) {
      fits.push([pair, pair.learn(window)]);
      yield;
    }
    const learned = fits.filter(([, fit]) => fit.model);
    inSample.push(trader.inSample(window, learned));
    windows.push(trader.outOfSample(window, fits));
    const verdict = options.onWindow?.({ ...windows.at(-1)!, of: planned.length });
    // After the last window there is nothing left to save: a trial without a value would only be missing from the statistics.
    if (verdict === 'prune' && windows.length < planned.length)
      return { state: 'pruned', value: null, windows };
  }
  return join(input, options, trader, { pairs, skipped, windows, inSample });
}

function openPairs(
  { strategy, config, pairs }: WalkForwardInput,
  cache: WindowCache,
): { pairs: TrialPair[]; skipped: string[] } {
  const opened: TrialPair[] = [];
  const skipped: string[] = [];
  for (const data of pairs) {
    const history = readHistory(strategy, config, data);
    if ('reason' in history) skipped.push(history.reason);
    else opened.push(new TrialPair(strategy, config, history, cache));
  }
  if (opened.length === 0) {
    throw new BacktestError('insufficient_data', skipped.join(' ') || 'No pair was given.');
  }
  return { pairs: opened, skipped };
}

/** Trades stretches of a run, each from a full wallet. */
class Trader {
  readonly #strategy: StrategyDefinition;
  readonly #config: RunConfig;
  readonly #objective: string;
  readonly #settings: SimulationSettings;

  constructor(strategy: StrategyDefinition, config: RunConfig, objective: string) {
    this.#strategy = strategy;
    this.#config = config;
    this.#objective = objective;
    this.#settings = simulationSettings(strategy, config);
  }

  outOfSample(window: Window, fits: readonly (readonly [TrialPair, WindowFit])[]): WindowValue {
    const range = { index: window.index, from: iso(window.from), to: iso(window.to) };
    const traded = this.#measure(fits.map(([pair, fit]) => pair.outOfSample(fit)));
    if (!traded) return { ...range, value: null, meanDailyReturn: 0 };
    return { ...range, value: traded.value, meanDailyReturn: mean(traded.dailyReturns) };
  }

  inSample(window: Window, fits: readonly (readonly [TrialPair, WindowFit])[]): InSampleWindow {
    const range = { index: window.index, from: iso(window.trainFrom), to: iso(window.from) };
    const traded = this.#measure(fits.map(([pair, fit]) => pair.inSample(fit)));
    if (!traded) return { ...range, value: null, returnPct: 0, annualisedReturnPct: 0, trades: 0 };
    const { account, closed_trades } = traded.metrics;
    const days = (window.from - window.trainFrom) / DAY_MS;
    return {
      ...range,
      value: traded.value,
      returnPct: account.total_profit_pct,
      annualisedReturnPct: (account.total_profit_pct * 365) / days,
      trades: closed_trades.total_trades,
    };
  }

  /** The stretch simulated and measured; undefined when no pair has candles enough. */
  #measure(inputs: readonly PairInput[]) {
    const enough = inputs.filter(({ candles }) => candles.timestamp.length >= LEAST_CANDLES);
    return enough.length > 0 ? this.trade(enough) : undefined;
  }

  trade(inputs: readonly PairInput[]) {
    const run = blamingCallbacks(this.#strategy, () => simulate(inputs, this.#settings));
    const computed = measureRun(this.#config, inputs.map(tradedCandles), run);
    const metrics = roundNumbers(computed.metrics);
    const result = buildResult(computed.metrics, computed.trades);
    const value = objectiveValue(this.#objective, metrics, result);
    return { metrics, result, value, daily: computed.daily, dailyReturns: this.#returns(computed) };
  }

  #returns({ daily }: ComputedMetrics): Float64Array {
    return dailyReturns(this.#config.dry_run_wallet, daily.equity);
  }
}

function tradedCandles({ candles }: PairInput) {
  return {
    first: iso(candles.timestamp[0]!),
    last: iso(candles.timestamp.at(-1)!),
    market_change_pct: marketChangePct(candles),
  };
}

interface Traded {
  readonly pairs: readonly TrialPair[];
  readonly skipped: readonly string[];
  readonly windows: readonly WindowValue[];
  readonly inSample: readonly InSampleWindow[];
}

/** The windows as one run. Pairs for which no model could be trained are left out, as in a backtest. */
function join(
  { config, strategyDigest }: WalkForwardInput,
  { digest, cache = NO_CACHE }: WalkForwardOptions,
  trader: Trader,
  { pairs, skipped, windows, inSample }: Traded,
): CompleteWalkForward {
  const reasons = pairs.map(({ history, fits }) => whyNothingLearned(history, config, fits));
  const learned = pairs.filter((_, index) => reasons[index] === undefined);
  const leftOut = [...skipped, ...reasons.filter((reason) => reason !== undefined)];
  if (learned.length === 0) throw new BacktestError('insufficient_data', leftOut.join(' '));
  const inputs = learned.map((pair) => pair.joined());
  const traded = trader.trade(inputs);
  const annualisedReturnPct = traded.metrics.account.avg_daily_profit_pct * 365;
  const promised = mean(inSample.map((window) => window.annualisedReturnPct));
  const digests = learned.map(({ history }, index) => ({
    digest: cache.get(
      `${history.data.pair} ${history.startup} digest`,
      () => digestPair(history.read, inputs[index]!, digest),
      (text) => text.length * 2,
    ),
  }));
  return {
    state: 'complete',
    value: traded.value,
    windows,
    inSample,
    annualisedReturnPct,
    efficiency: promised > 0 ? annualisedReturnPct / promised : null,
    dailyReturns: traded.dailyReturns,
    firstDay: isoDay(traded.daily.day[0]!),
    equity: traded.daily.equity,
    metrics: traded.metrics,
    result: traded.result,
    provenance: provenanceOf(config, strategyDigest, digests, digest),
    warnings: [
      ...leftOut.map((reason) => `Left out: ${reason}`),
      ...learned.flatMap(({ history, fits }) => modelWarnings(history.data.pair, fits)),
    ],
  };
}

const iso = (time: number) => new Date(time).toISOString();
