import type { SharedColumns } from '../analysis/analyze.ts';
import { isoDay } from '../metrics/equity-curve.ts';
import type { WindowFit } from '../ml/fit-window.ts';
import { planWindows } from '../ml/windows.ts';
import { provenanceOf } from '../report/result.ts';
import { modelWarnings, noModelReason } from '../run/warnings.ts';
import { mean } from '../stats/moments.ts';
import { BacktestError } from '../strategy-errors.ts';
import { tradedRange } from '../timeframe.ts';
import { requireObjective } from './objectives.ts';
import { NO_CACHE, openPairs, pairDigests, Trader } from './trader.ts';
import type {
  CompleteWalkForward,
  InSampleWindow,
  WalkForwardInput,
  WalkForwardOptions,
  WalkForwardOutcome,
  WindowValue,
} from './trial.ts';
import { TrialPair } from './trial-pair.ts';

/**
 * Runs one walk-forward backtest. For each window and pair a model is trained on the days before the window. The window is
 * traded out of sample and reported. All windows joined into one run give the value. That run has exactly the numbers of a
 * backtest of the same configuration. Cache, pauses and reports do not change any number.
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

function* walkForwardSteps(
  input: WalkForwardInput,
  options: WalkForwardOptions,
): Generator<void, WalkForwardOutcome> {
  const { config, strategy } = input;
  if (!config.ml_engine)
    throw new RangeError(
      'A walk-forward run needs a configuration with ml_engine. Use runUntrained instead.',
    );
  requireObjective(options.objective);
  const { start, end } = tradedRange(config);
  const planned = planWindows(start, end, config.ml_engine);
  const trader = new Trader(strategy, config, options.objective);
  const shared: SharedColumns = new Map();
  const { pairs, skipped } = openPairs(
    input,
    (history) => new TrialPair(strategy, config, history, options.cache ?? NO_CACHE, shared),
  );
  const windows: WindowValue[] = [];
  const inSample: InSampleWindow[] = [];
  for (const window of planned) {
    const fits: [TrialPair, WindowFit][] = [];
    for (const pair of pairs) {
      fits.push([pair, pair.train(window)]);
      yield;
    }
    const trained = fits.filter(([, fit]) => fit.model);
    inSample.push(
      trader.inSample(
        window,
        trained.map(([pair, fit]) => pair.inSample(fit)),
      ),
    );
    windows.push(
      trader.window(
        window,
        fits.map(([pair, fit]) => pair.outOfSample(fit)),
      ),
    );
    const verdict = options.onWindow?.({ ...windows.at(-1)!, of: planned.length });
    // Pruning after the last window would save no time, and the trial would be missing from the statistics.
    if (verdict === 'prune' && windows.length < planned.length)
      return { state: 'pruned', value: null, windows };
  }
  return join(input, options, trader, { pairs, skipped, windows, inSample });
}

interface Traded {
  readonly pairs: readonly TrialPair[];
  readonly skipped: readonly string[];
  readonly windows: readonly WindowValue[];
  readonly inSample: readonly InSampleWindow[];
}

/** Joins the windows into one run. Pairs without any trained model are left out, as in a backtest. */
function join(
  input: WalkForwardInput,
  { digest, cache = NO_CACHE }: WalkForwardOptions,
  trader: Trader,
  { pairs, skipped, windows, inSample }: Traded,
): CompleteWalkForward {
  const { config } = input;
  const reasons = pairs.map(({ history, fits }) => noModelReason(history, config, fits));
  const trained = pairs.filter((_, index) => reasons[index] === undefined);
  const excluded = [...skipped, ...reasons.filter((reason) => reason !== undefined)];
  if (trained.length === 0) throw new BacktestError('insufficient_data', excluded.join(' '));
  const inputs = trained.map((pair) => pair.joined());
  const traded = trader.trade(inputs);
  const annualizedReturnPct = traded.metrics.account.avg_daily_profit_pct * 365;
  const promised = mean(inSample.map((window) => window.annualizedReturnPct));
  const digests = pairDigests(trained, inputs, cache, digest);
  return {
    state: 'complete',
    value: traded.value,
    windows,
    inSample,
    annualizedReturnPct,
    efficiency: promised > 0 ? annualizedReturnPct / promised : null,
    dailyReturns: traded.dailyReturns,
    firstDay: isoDay(traded.daily.day[0]!),
    equity: traded.daily.equity,
    metrics: traded.metrics,
    result: traded.result,
    provenance: provenanceOf(input, digests, digest),
    warnings: [
      ...excluded.map((reason) => `Pair excluded: ${reason}`),
      ...trained.flatMap(({ history, fits }) => modelWarnings(history.data.pair, fits)),
    ],
  };
}
