import { expect } from 'vitest';
import type { HyperoptJobIn } from '#contract/hyperopt/hyperopt.ts';
import { DAY_MS } from '#contract/values/durations.ts';
import { permutationTest, searchPermuted } from '#domain/hyperopt/permuted-searches.ts';
import { runRequested, TrialDataOf, type TrialRequest } from '#domain/hyperopt/run-trial.ts';
import { type Candles, createCandles } from '#engine/candles.ts';
import { createRandom } from '#engine/random.ts';
import type { StrategyDefinition } from '#engine/strategy.ts';
import { pendingHyperopt } from '../../support/hyperopt-workers.ts';
import { sha256 } from '../backtest-sample.ts';
import { normalSource } from './noise.ts';

/** A small search, and candles with and without a pattern for it. */

const START = Date.parse('2024-01-01');
export const STARTUP = 12;
const BARS = 100;
const STEP = DAY_MS;
/** Permuted searches of a p-value. */
const SEARCHES = 19;

/** Long after a candle that rose `lag` candles ago, out after one that fell. */
export const follower: StrategyDefinition = {
  name: 'follower',
  description: 'Follows.',
  timeframe: '1d',
  pairs: ['BTC/USDT:USDT'],
  stakeAmount: 100,
  stoploss: -0.9,
  startupCandles: () => STARTUP,
  parameters: {
    lag: { kind: 'integer', default: 1, min: 1, max: 8, description: 'Candles' },
  },
  indicators: ({ open, close }) => ({ change: close.map((price, row) => price / open[row]! - 1) }),
  signals: ({ close }, { change }, { lag }) => {
    const rises = (row: number) => row >= Number(lag) && change![row + 1 - Number(lag)]! > 0;
    return {
      enterLong: Uint8Array.from(close, (_, row) => Number(rises(row))),
      exitLong: Uint8Array.from(close, (_, row) => Number(!rises(row))),
    };
  },
};

/** Candles of noise; `edge`: a candle moves on by that share of the one `lag` before it. */
export function market(seed: number, edge = 0, lag = 3): Candles {
  const normal = normalSource(createRandom(seed));
  const candles = createCandles(STARTUP + BARS);
  const moves: number[] = [];
  let price = 100;
  for (let row = 0; row < STARTUP + BARS; row++) {
    const move = 0.02 * normal() + edge * (moves[row - lag] ?? 0);
    moves.push(move);
    candles.timestamp[row] = START + (row - STARTUP) * STEP;
    candles.open[row] = price;
    price *= Math.exp(move);
    candles.close[row] = price;
    candles.high[row] = Math.max(candles.open[row]!, price) * (1 + 0.004 * Math.abs(normal()));
    candles.low[row] = Math.min(candles.open[row]!, price) * (1 - 0.004 * Math.abs(normal()));
    candles.volume[row] = 1_000 + (row % 7);
  }
  return candles;
}

export function jobOf(seed: number, n_trials = 4): HyperoptJobIn<'running'> {
  const job = pendingHyperopt('ho-1');
  const { ml_engine: _, ...base } = job.base;
  const end = new Date(START + BARS * STEP).toISOString();
  const date_range = { start: new Date(START).toISOString(), end };
  return {
    ...job,
    status: 'running',
    started_at: end,
    base: {
      ...base,
      strategy: 'follower',
      timeframe: '1d',
      pairs: ['BTC/USDT:USDT'],
      params: { lag: 1 },
      date_range,
      fee: 0,
      slippage: 0,
      stake_amount: 100,
      dry_run_wallet: 1_000,
      stoploss: -0.9,
      minimal_roi: {},
      trailing: null,
      timeframe_detail: null,
      precision: 'none',
      trading_mode: 'spot',
    },
    config: {
      n_trials,
      backtest_period_days: BARS,
      objective_metric: 'total_profit_pct',
      direction: 'maximize',
      model_types: ['none'],
      sampler: 'tpe',
      pruner: 'none',
      seed,
      workers: 1,
      date_range,
      search: { lag: { kind: 'integer', min: 1, max: 8 } },
      permutations: 19,
    },
  };
}

/** P-value of a search on the candles against permuted ones. */
export async function pValue(seed: number, candles: Candles, trials?: number): Promise<number> {
  const job = jobOf(seed, trials);
  const strategy = { definition: follower, digest: '', load: async () => follower };
  const data = new TrialDataOf({ strategy, pairs: [{ pair: 'BTC/USDT:USDT', candles }], digest: sha256 }, 0);
  // The candles as they are, by the same code: without the permutation of the request.
  const real = ({ permutation: _, ...request }: TrialRequest) => runRequested(data, request);
  const best = await searchPermuted(job, 0, real);
  const permuted = [];
  for (let number = 0; number < SEARCHES; number++)
    permuted.push(await searchPermuted(job, number, (request) => runRequested(data, request)));
  expect(permuted.filter(({ value }) => value === null)).toEqual([]);
  return permutationTest({ value: best.value! }, permuted, 'maximize').p_value!;
}
