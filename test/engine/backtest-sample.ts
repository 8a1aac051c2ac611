import { createHash } from 'node:crypto';
import type { ResolvedBacktestConfig } from '#contract/backtests/backtest.ts';
import type { Digest } from '#contract/values/digest.ts';
import type { BacktestInput } from '#engine/backtest.ts';
import { historyStart } from '#engine/run/history.ts';
import type { StrategyDefinition } from '#engine/strategy.ts';
import { MINUTE, START, walk } from './run/candles.ts';

export const sha256: Digest = (data) => createHash('sha256').update(data).digest('hex');

export const STEP = 5 * MINUTE;
export const STARTUP = 20;

/** Enters long when the close is below its mean of 20 candles and exits above it; shorts are mirrored. */
export const SAMPLE_STRATEGY: StrategyDefinition = {
  name: 'sample',
  description: 'A sample',
  timeframe: '5m',
  pairs: ['BTC/USDT:USDT'],
  stakeAmount: 100,
  parameters: {},
  startupCandles: () => STARTUP,
  stoploss: -0.02,
  minimalRoi: { 0: 0.015 },
  canShort: true,
  indicators: ({ close }) => {
    const mean = new Float64Array(close.length).fill(Number.NaN);
    for (let row = STARTUP - 1; row < close.length; row++) {
      let sum = 0;
      for (let i = row - STARTUP + 1; i <= row; i++) sum += close[i]!;
      mean[row] = sum / STARTUP;
    }
    return { mean };
  },
  signals: ({ close }, { mean }) => {
    const enterLong = Uint8Array.from(close, (price, row) => (price < mean![row]! * 0.995 ? 1 : 0));
    const enterShort = Uint8Array.from(close, (price, row) => (price > mean![row]! * 1.005 ? 1 : 0));
    const exitLong = Uint8Array.from(close, (price, row) => (price > mean![row]! ? 1 : 0));
    const exitShort = Uint8Array.from(close, (price, row) => (price < mean![row]! ? 1 : 0));
    const enterTag = Uint8Array.from(close, (_, row) => 1 + (row % 2));
    return { enterLong, enterShort, exitLong, exitShort, enterTag, tags: ['', 'even', 'odd'] };
  },
};

/** Three days of 5m candles. */
export const CONFIG: ResolvedBacktestConfig = {
  strategy: 'sample',
  exchange: 'sim',
  pairs: ['BTC/USDT:USDT', 'ETH/USDT:USDT'],
  timeframe: '5m',
  date_range: { start: '2024-01-01T00:00:00.000Z', end: '2024-01-04T00:00:00.000Z' },
  stake_amount: 100,
  dry_run_wallet: 1000,
  max_open_trades: 2,
  fee: 0.0005,
  slippage: 0.0001,
  leverage: 2,
  params: {},
  stoploss: -0.02,
  minimal_roi: { 0: 0.015 },
  trailing: { positive: 0.004, offset: 0.008, only_offset_is_reached: true },
  timeframe_detail: null,
  fill_model: 'freqtrade',
  seed: 0,
  precision: 'none',
};

export const ROWS = (3 * 24 * 60) / 5;

/** Input of a run over the sample strategy with all startup history. */
export function sampleInput(overrides: Partial<BacktestInput> = {}): BacktestInput {
  const from = historyStart(SAMPLE_STRATEGY, {}, '5m', START);
  const funding = {
    timestamp: Float64Array.from({ length: 9 }, (_, i) => START + i * 8 * 60 * MINUTE),
    rate: new Float64Array(9).fill(0.0001),
    markPrice: new Float64Array(9).fill(100),
  };
  return {
    strategy: SAMPLE_STRATEGY,
    config: CONFIG,
    strategyDigest: sha256('source'),
    pairs: CONFIG.pairs.map((pair, i) => ({
      pair,
      candles: walk(ROWS + STARTUP, STEP, i + 1, from),
      funding,
    })),
    ...overrides,
  };
}
