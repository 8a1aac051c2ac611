import type { ResolvedBacktestConfig } from '#contract/backtests/backtest.ts';
import type { Digest } from '#contract/values/digest.ts';
import { DAY_MS } from '#contract/values/durations.ts';
import { dailyReturns } from '../metrics/equity-curve.ts';
import { type ComputedMetrics, measureRun } from '../metrics/metrics.ts';
import type { Window } from '../ml/windows.ts';
import { buildResult } from '../report/result.ts';
import { roundNumber, roundNumbers } from '../round.ts';
import { MIN_CANDLES, type PairHistory, readHistory } from '../run/history.ts';
import { digestPair, marketChangePct, withSimulationErrors } from '../run/prepare-pair.ts';
import { simulateKnown } from '../run/simulate-known.ts';
import { simulationSettings } from '../run/simulation-settings.ts';
import { SimulationMemory } from '../simulator/state/memory.ts';
import type { PairInput, SimulationSettings } from '../simulator/types.ts';
import { mean } from '../stats/moments.ts';
import type { StrategyDefinition } from '../strategy.ts';
import { BacktestError } from '../strategy-errors.ts';
import { objectiveValue } from './objectives.ts';
import type { InSampleWindow, WalkForwardInput, WindowCache, WindowValue } from './trial.ts';

/** Simulates and measures intervals of a run, each from a full wallet. */
export class Trader {
  readonly #strategy: StrategyDefinition;
  readonly #config: ResolvedBacktestConfig;
  readonly #objective: string;
  readonly #settings: SimulationSettings;
  /** Each run is measured before the next one. */
  readonly #memory = new SimulationMemory();

  constructor(strategy: StrategyDefinition, config: ResolvedBacktestConfig, objective: string) {
    this.#strategy = strategy;
    this.#config = config;
    this.#objective = objective;
    this.#settings = simulationSettings(strategy, config);
  }

  /** Objective of one window, simulated on its own. */
  window(window: Window, inputs: readonly PairInput[]): WindowValue {
    const range = { index: window.index, from: iso(window.from), to: iso(window.to) };
    const traded = this.#measure(inputs);
    if (!traded) return { ...range, value: null, meanDailyReturn: 0 };
    return { ...range, value: traded.value, meanDailyReturn: mean(traded.dailyReturns) };
  }

  /** In-sample result: the training range of a window, simulated with the window's own models. */
  inSample(window: Window, inputs: readonly PairInput[]): InSampleWindow {
    const range = { index: window.index, from: iso(window.trainFrom), to: iso(window.from) };
    const traded = this.#measure(inputs);
    if (!traded) return { ...range, value: null, returnPct: 0, annualizedReturnPct: 0, trades: 0 };
    const { account, closed_trades } = traded.metrics;
    const days = (window.from - window.trainFrom) / DAY_MS;
    return {
      ...range,
      value: traded.value,
      returnPct: account.total_profit_pct,
      annualizedReturnPct: (account.total_profit_pct * 365) / days,
      trades: closed_trades.total_trades,
    };
  }

  /** Simulates and measures an interval; undefined when no pair has enough candles. */
  #measure(inputs: readonly PairInput[]) {
    const enough = inputs.filter(({ candles }) => candles.timestamp.length >= MIN_CANDLES);
    return enough.length > 0 ? this.trade(enough) : undefined;
  }

  trade(inputs: readonly PairInput[]) {
    const { simulation: run } = withSimulationErrors(this.#strategy, () =>
      simulateKnown(inputs, this.#settings, { memory: this.#memory }),
    );
    const computed = measureRun(this.#config, inputs.map(tradedCandles), run);
    const metrics = roundNumbers(computed.metrics);
    const result = buildResult(computed.metrics, computed.trades);
    const value = objectiveValue(this.#objective, metrics, result);
    return { metrics, result, value, daily: computed.daily, dailyReturns: this.#returns(computed) };
  }

  /** From the equity as a backtest's results have it: the same run has the same returns in both. */
  #returns({ daily }: ComputedMetrics): Float64Array {
    return dailyReturns(this.#config.dry_run_wallet, daily.equity.map(roundNumber));
  }
}

function tradedCandles({ candles }: PairInput) {
  return {
    first: iso(candles.timestamp[0]!),
    last: iso(candles.timestamp.at(-1)!),
    market_change_pct: marketChangePct(candles),
  };
}

/**
 * Opens each pair that has enough candles, and returns the reasons for skipping the others.
 *
 * @throws BacktestError `insufficient_data` when no pair has enough candles, `invalid_candles` or `strategy`
 */
export function openPairs<T>(
  { strategy, config, pairs }: WalkForwardInput,
  open: (history: PairHistory) => T,
): { pairs: T[]; skipped: string[] } {
  const opened: T[] = [];
  const skipped: string[] = [];
  for (const data of pairs) {
    const history = readHistory(strategy, config, data);
    if ('reason' in history) skipped.push(history.reason);
    else opened.push(open(history));
  }
  if (opened.length === 0) {
    throw new BacktestError(
      'insufficient_data',
      skipped.join(' ') || 'The configuration has no pairs. Pass at least one pair.',
    );
  }
  return { pairs: opened, skipped };
}

export const NO_CACHE: WindowCache = { get: (_, make) => make() };

/** Digest of each pair's simulation input. The cache shares it between trials over the same data. */
export function pairDigests(
  pairs: readonly { readonly history: PairHistory }[],
  inputs: readonly PairInput[],
  cache: WindowCache,
  digest: Digest,
): { digest: string }[] {
  return pairs.map(({ history }, index) => ({
    digest: cache.get(
      // Startup candles of informative series do not change the rows of the pair.
      `${history.data.pair} ${[history.startup, ...history.informative.map(({ read }) => read.timestamp[0])].join(' ')} digest`,
      () => digestPair(history, inputs[index]!, digest),
      (hex) => hex.length * 2,
    ),
  }));
}

const iso = (time: number) => new Date(time).toISOString();
