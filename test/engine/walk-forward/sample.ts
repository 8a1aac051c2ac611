import { DAY_MS } from '#contract/values/durations.ts';
import type { BacktestInput } from '#engine/backtest.ts';
import { type Candles, createCandles } from '#engine/candles.ts';
import { defaultParameters } from '#engine/definitions/parameters.ts';
import { mlEngineOf } from '#engine/ml/windows.ts';
import { createRandom } from '#engine/random.ts';
import { mlClassifier } from '#engine/strategies/ml-classifier.ts';
import type { MlEngineOverrides, StrategyDefinition } from '#engine/strategy.ts';
import { CONFIG, sha256 } from '../backtest-sample.ts';
import { START } from '../run/candles.ts';

const HOUR = 3_600_000;

/** Small models: these tests check which rows they are trained on. */
export const SMALL: MlEngineOverrides = {
  train_period_days: 10,
  backtest_period_days: 3,
  n_estimators: 12,
  max_depth: 2,
};

/** Hourly candles that swing up and down every 36 hours, with noise. The direction is predictable from the past. */
export function swinging(rows: number, from: number, seed = 1): Candles {
  const random = createRandom(seed);
  const candles = createCandles(rows);
  let price = 100;
  for (let row = 0; row < rows; row++) {
    const open = price;
    price *= 1 + 0.004 * Math.sign(Math.sin((row * 2 * Math.PI) / 36)) + 0.006 * (random() - 0.5);
    candles.timestamp[row] = from + row * HOUR;
    candles.open[row] = open;
    candles.close[row] = price;
    candles.high[row] = Math.max(open, price) * 1.001;
    candles.low[row] = Math.min(open, price) * 0.999;
    candles.volume[row] = 1 + random();
  }
  return candles;
}

export interface SampleOptions {
  readonly strategy?: StrategyDefinition;
  readonly days?: number;
  readonly ml?: MlEngineOverrides;
  /** Days of candles before the start. */
  readonly history?: number;
  readonly params?: Record<string, number>;
}

/** Two pairs of hourly candles, predicted from the first of January 2024 on. */
export function learningInput({
  strategy = mlClassifier,
  days = 10,
  ml = {},
  history = 14,
  params = {},
}: SampleOptions = {}): BacktestInput {
  const pairs = ['BTC/USDT:USDT', 'ETH/USDT:USDT'];
  const from = START - history * DAY_MS;
  const end = START + days * DAY_MS;
  return {
    strategy,
    strategyDigest: sha256(strategy.name),
    config: {
      ...CONFIG,
      strategy: strategy.name,
      pairs,
      timeframe: '1h',
      date_range: { start: new Date(START).toISOString(), end: new Date(end).toISOString() },
      params: { ...defaultParameters(strategy.parameters), ...params },
      stoploss: -0.5,
      minimal_roi: {},
      trailing: null,
      leverage: 1,
      ml_engine: mlEngineOf(strategy, { ...SMALL, ...ml }),
    },
    pairs: pairs.map((pair, i) => ({ pair, candles: swinging((end - from) / HOUR, from, i + 1) })),
  };
}
