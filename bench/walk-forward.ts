import { createHash } from 'node:crypto';
import type { ResolvedBacktestConfig } from '#contract/backtests/backtest.ts';
import { DAY_MS } from '#contract/values/durations.ts';
import { computeColumns, noPredictions } from '#engine/analysis/analyze.ts';
import type { BacktestInput } from '#engine/backtest.ts';
import { defaultParameters } from '#engine/definitions/parameters.ts';
import { trainClassifier } from '#engine/ml/classifier.ts';
import { binFeatures } from '#engine/ml/features.ts';
import { fitWindow, predictRows, trainingSet } from '#engine/ml/fit-window.ts';
import { trainingInputsOf } from '#engine/ml/training-inputs.ts';
import { mlEngineOf } from '#engine/ml/windows.ts';
import { readHistory } from '#engine/run/history.ts';
import { mlRunOf } from '#engine/run/prepare-pair.ts';
import { emaCrossover } from '#engine/strategies/ema-crossover.ts';
import { TIMEFRAME_MS } from '#engine/timeframe.ts';
import { runWalkForward } from '#engine/walk-forward/run-walk-forward.ts';
import { createWindowCache } from '#engine/walk-forward/trial.ts';
import type { Bench, Measurement } from './support/bench.ts';
import { CANDLES_START, randomCandles } from './support/candles.ts';
import { cpuTime } from './support/measure.ts';
import { scaled } from './support/quick.ts';

const TIMEFRAME = '5m';
const STEP = TIMEFRAME_MS[TIMEFRAME];
const TRAIN_DAYS = 30;
const DAYS = scaled(365, 21);
/** Days before the first window: its training period, and 2 days of startup candles for averages and features. */
const HISTORY_DAYS = TRAIN_DAYS + 2;
const PAIR = 'BTC/USDT:USDT';

/** One year of one pair: 53 windows of a week, 100 trees each, without early stopping. */
function trial(learningRate: number): BacktestInput {
  const start = CANDLES_START + HISTORY_DAYS * DAY_MS;
  const iso = (time: number) => new Date(time).toISOString();
  const config: ResolvedBacktestConfig = {
    strategy: emaCrossover.name,
    exchange: 'sim',
    pairs: [PAIR],
    timeframe: TIMEFRAME,
    date_range: { start: iso(start), end: iso(start + DAYS * DAY_MS) },
    stake_amount: 100,
    dry_run_wallet: 1000,
    max_open_trades: 1,
    fee: 0.0005,
    slippage: 0,
    leverage: 1,
    params: defaultParameters(emaCrossover.parameters),
    stoploss: -0.08,
    minimal_roi: {},
    trailing: null,
    timeframe_detail: null,
    fill_model: 'freqtrade',
    seed: 0,
    precision: 'none',
    ml_engine: mlEngineOf(emaCrossover, {
      train_period_days: TRAIN_DAYS,
      learning_rate: learningRate,
      max_depth: 6,
      early_stopping_rounds: 0,
    }),
  };
  const rows = ((HISTORY_DAYS + DAYS) * DAY_MS) / STEP;
  const candles = randomCandles(1, rows, TIMEFRAME);
  return { strategy: emaCrossover, config, strategyDigest: '', pairs: [{ pair: PAIR, candles }] };
}

/** Processor time of all threads, ms. A trial never waits, so it is the relevant time. */
const time = async (subject: () => unknown) => (await cpuTime(subject)).cpuMs;

const digest = (data: string | Uint8Array) => createHash('sha256').update(data).digest('hex');

/** Duration of each part of a trial over all windows, ms. */
async function phases({ strategy, config, pairs }: BacktestInput) {
  const history = readHistory(strategy, config, pairs[0]!);
  if ('reason' in history) throw new Error(history.reason);
  const run = mlRunOf(config, history)!;
  const { candles } = history;
  const computeInputs = () => {
    const computed = computeColumns(strategy, config.params as never, candles);
    return trainingInputsOf(strategy, config.params as never, candles, computed);
  };
  const features = await time(computeInputs);
  const trainingInputs = computeInputs();
  const sets = run.windows.map((window) => trainingSet(trainingInputs, candles.timestamp, window, run));
  const { max_bins } = run.config;
  const binning = await time(() => sets.map((set) => binFeatures(set.features, max_bins)));
  const binned = sets.map((set) => binFeatures(set.features, max_bins));
  const {
    enabled: _,
    model_type,
    train_period_days,
    backtest_period_days,
    entry_threshold,
    ...settings
  } = run.config;
  const training = await time(() =>
    sets.map(({ labels }, i) =>
      trainClassifier({ features: binned[i]!, labels }, { ...settings, kind: 'depthwise_gbdt', seed: 1 }),
    ),
  );
  const fits = run.windows.map((window, i) =>
    fitWindow(trainingInputs, candles.timestamp, window, run, () => binned[i]!),
  );
  const predictions = noPredictions(candles.timestamp.length);
  const prediction = await time(() => {
    for (const fit of fits) {
      predictRows(fit, trainingInputs, predictions);
      predictRows(fit, trainingInputs, predictions, fit.trainFrom, fit.from);
    }
  });
  return { windows: fits.length, features, binning, training, prediction };
}

const bench: Bench = {
  name: 'walk-forward',
  description: 'one walk-forward trial over a year of 5m candles: 30 days of training, 7 days predicted',
  async run(): Promise<Measurement[]> {
    const cache = createWindowCache();
    const options = { digest, objective: 'sharpe_ratio' };
    await runWalkForward(trial(0.05), { ...options, cache });
    const input = trial(0.1);
    const whole = await time(() => runWalkForward(input, options));
    const shared = await time(() => runWalkForward(input, { ...options, cache }));
    const parts = await phases(input);
    const { windows, ...measured } = parts;
    const rest = whole - Object.values(measured).reduce((sum, each) => sum + each, 0);
    const share = ([label, ms]: [string, number]): Measurement => ({
      label: `share of ${label}`,
      value: (ms / whole) * 100,
      unit: '%',
      detail: `${ms.toFixed(0)} ms`,
    });
    return [
      {
        label: 'a trial, processor time',
        value: whole / 1000,
        unit: 's',
        detail: `${windows} models of 100 trees, ${(whole / windows).toFixed(0)} ms per window`,
      },
      {
        label: 'a trial that reuses columns and bins of an earlier trial',
        value: shared / 1000,
        unit: 's',
        detail: `${((1 - shared / whole) * 100).toFixed(0)} % saved`,
      },
      ...Object.entries(measured).map(share),
      share(['signals, simulation and metrics, in and out of sample and of the joined run', rest]),
    ];
  },
};

export default bench;
