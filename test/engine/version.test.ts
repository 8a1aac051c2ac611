import { describe, expect, it } from 'vitest';
import { type BacktestInput, type BacktestOutcome, runBacktest } from '#engine/backtest.ts';
import { canonicalJson } from '#engine/digest.ts';
import { resampleCandles } from '#engine/indicators/resample.ts';
import { historyStart } from '#engine/run/history.ts';
import { builtInStrategies } from '#engine/strategies/built-in.ts';
import { defaultParameters } from '#engine/strategies/parameters.ts';
import type { StrategyCallbacks, StrategyDefinition } from '#engine/strategy.ts';
import { TIMEFRAME_MS } from '#engine/timeframe.ts';
import { ENGINE_VERSION } from '#engine/version.ts';
import { mlEngineOf } from '#engine/walk-forward/settings.ts';
import { CONFIG, SAMPLE_STRATEGY, STEP, sampleInput, sha256 } from './backtest-sample.ts';
import { MINUTE, START, walk } from './run/candles.ts';

/** The version of the engine and, for each run below, the digest of everything it leaves behind under that version. */
const PINNED = {
  version: '1.2.0',
  digests: {
    bollinger_breakout: '0b546ec679db0db5',
    buy_and_hold: '9c146df01fc07002',
    'conservative fills, compounding stake, one slot': 'b47336e728986d40',
    'detail candles': '07fd0271e3d7fba9',
    'detail candles and every callback': '51cc2c87371d981c',
    donchian_trend: 'cc3bd3229576a95f',
    ema_crossover: '63bd8d9e9ef61780',
    'every callback': 'aa3677f725dc32b4',
    'every callback, conservative fills': 'dcb81e349a06d447',
    macd_momentum: 'cfdd027a2dec16b7',
    ml_classifier: '4bfc1fc495a51d7e',
    'one pair, high leverage, liquidations': '448b76fa0112c784',
    'one pair, trailing stop and return table': '4d6f780b46bab87a',
    rsi_mean_reversion: '61046a6dc2a20cf4',
    supertrend: '12ab0dadd17d0b05',
    'two pairs, leverage, trailing stop, return table, funding, slippage': '72fde32f5c3e0462',
  },
};

/** Asked in every candle, with answers that matter: each of them changes trades. */
const CALLBACKS: Required<StrategyCallbacks> = {
  leverage: (_context, side, proposed) => (side === 'short' ? proposed + 1 : proposed),
  customStake: ({ index }, _side, proposed) => (index % 2 === 0 ? proposed : proposed / 2),
  customEntryPrice: ({ index }, side, proposed) =>
    index % 3 === 0 ? proposed : proposed * (side === 'long' ? 0.99 : 1.01),
  customExitPrice: ({ index }, { side }, proposed) => {
    const distance = [0, 0.008, 0.05][index % 3]!;
    return proposed * (side === 'long' ? 1 + distance : 1 - distance);
  },
  confirmEntry: ({ index }) => index % 7 !== 0,
  confirmExit: ({ index }, _trade, _price, reason) => reason !== 'exit_signal' || index % 5 !== 0,
  customStoploss: (_context, _trade, _best, profit) => (profit > 0.005 ? 0.02 : null),
  customRoi: (_context, _trade, minutes) => (minutes > 5 ? 0.03 : null),
  customExit: ({ index, time }, { openedAt }) =>
    index % 6 < 3 && time - openedAt > 15 * MINUTE ? 'too old' : null,
  adjustEntryPrice: ({ index }, _trade, price) =>
    index % 2 === 0 ? price : index % 3 === 0 ? null : price * 0.999,
};

/** Six hundred candles of a built-in strategy's own timeframe, with its own settings. */
function builtIn(strategy: StrategyDefinition): BacktestInput {
  const { timeframe, trailing = null, minimalRoi = {}, leverage = 1, stoploss } = strategy;
  const params = defaultParameters(strategy.parameters);
  const stepMs = TIMEFRAME_MS[timeframe];
  // Short periods: what is pinned is that the same models are trained, not that they are good.
  const ml = strategy.mlEngine && mlEngineOf(strategy, { train_period_days: 10, n_estimators: 20 });
  const from = historyStart(strategy, params, timeframe, START, ml);
  const pairs = ['BTC/USDT:USDT', 'ETH/USDT:USDT'];
  const rows = 600 + (START - from) / stepMs;
  const date_range = {
    start: new Date(START).toISOString(),
    end: new Date(START + 600 * stepMs).toISOString(),
  };
  return {
    strategy,
    config: {
      ...CONFIG,
      ...{ strategy: strategy.name, pairs, timeframe, date_range, params },
      ...{ stoploss, trailing, leverage, minimal_roi: minimalRoi, ...(ml && { ml_engine: ml }) },
    },
    pairs: pairs.map((pair, i) => ({ pair, candles: walk(rows, stepMs, i + 1, from) })),
    strategyDigest: sha256(strategy.name),
  };
}

const one = sampleInput().pairs.slice(0, 1);
const withCallbacks = { ...SAMPLE_STRATEGY, callbacks: CALLBACKS, unfilledTimeoutMinutes: 5 };
const config = (changes: Partial<typeof CONFIG>) => ({ ...CONFIG, ...changes });
const withDetail = sampleInput().pairs.map((pair, i) => {
  const { timestamp } = pair.candles;
  const detail = walk(timestamp.length * 5, STEP / 5, i + 1, timestamp[0]!);
  return { ...pair, candles: resampleCandles(detail, STEP / 5, STEP), detail };
});

/** Every way through the simulator: kernel and loop, both sides, both fill models, each kind of exit, one pair and two. */
const RUNS: Record<string, BacktestInput> = {
  ...Object.fromEntries(builtInStrategies.map((strategy) => [strategy.name, builtIn(strategy)])),
  'two pairs, leverage, trailing stop, return table, funding, slippage': sampleInput(),
  'one pair, high leverage, liquidations': sampleInput({
    pairs: one,
    config: config({
      pairs: ['BTC/USDT:USDT'],
      leverage: 60,
      stoploss: -0.99,
      trailing: null,
      minimal_roi: {},
    }),
  }),
  'one pair, trailing stop and return table': sampleInput({
    pairs: one,
    config: config({ pairs: ['BTC/USDT:USDT'], minimal_roi: { 0: 0.02, 30: 0.005, 90: -1 } }),
  }),
  'conservative fills, compounding stake, one slot': sampleInput({
    config: config({ fill_model: 'conservative', stake_amount: 'unlimited', max_open_trades: 1 }),
  }),
  'every callback': sampleInput({ strategy: withCallbacks }),
  'every callback, conservative fills': sampleInput({
    strategy: withCallbacks,
    config: config({ fill_model: 'conservative' }),
  }),
  'detail candles': sampleInput({ pairs: withDetail, config: config({ timeframe_detail: '1m' }) }),
  'detail candles and every callback': sampleInput({
    strategy: withCallbacks,
    pairs: withDetail,
    config: config({ timeframe_detail: '1m' }),
  }),
};

const outcomes = Object.entries(RUNS).map(
  ([name, input]) => [name, runBacktest(input, { digest: sha256 })] as const,
);

/** All that a run leaves behind but its timing and its provenance, of which the version is a part. */
function digestOf({ result, equity, report, trades }: BacktestOutcome): string {
  const { provenance, ...rest } = report;
  return sha256(canonicalJson({ result, equity, report: rest, trades })).slice(0, 16);
}

describe('the version of the engine', () => {
  it('stands for its results', () => {
    const digests = Object.fromEntries(outcomes.map(([name, outcome]) => [name, digestOf(outcome)]));
    expect(
      { version: ENGINE_VERSION, digests },
      'Results changed, and a result names the version of the engine that made it: if the change is meant, raise ' +
        'ENGINE_VERSION in src/engine/version.ts and write it and the new digests here',
    ).toEqual(PINNED);
  });

  it('is held to runs in which everything happens', () => {
    const trades = outcomes.flatMap(([, outcome]) => outcome.trades);
    expect(new Set(trades.map(({ exitReason }) => exitReason))).toEqual(
      new Set([
        ...['roi', 'stop_loss', 'trailing_stop_loss', 'liquidation', 'exit_signal', 'force_exit', 'too old'],
      ]),
    );
    expect(new Set(trades.map(({ side }) => side))).toEqual(new Set(['long', 'short']));
    for (const [name, outcome] of outcomes) {
      expect(outcome.trades.length, name).toBeGreaterThan(1);
    }
    for (const name of Object.keys(outcomes[0]![1].report.counters)) {
      const total = outcomes.reduce((sum, [, { report }]) => sum + Object(report.counters)[name], 0);
      expect(total, name).toBeGreaterThan(0);
    }
  });
});
