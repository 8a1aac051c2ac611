import { describe, expect, it } from 'vitest';
import { type BacktestInput, type BacktestOutcome, runBacktest } from '#engine/backtest.ts';
import { sliceCandles } from '#engine/candles.ts';
import { defaultParameters } from '#engine/definitions/parameters.ts';
import { canonicalJson } from '#engine/digest.ts';
import { resampleCandles } from '#engine/indicators/resample.ts';
import type { Instrument } from '#engine/instrument.ts';
import { mlEngineOf } from '#engine/ml/windows.ts';
import { historyStart } from '#engine/run/history.ts';
import { builtInStrategies } from '#engine/strategies/built-in.ts';
import type { CallbackContext, StrategyCallbacks, StrategyDefinition } from '#engine/strategy.ts';
import { TIMEFRAME_MS } from '#engine/timeframe.ts';
import { ENGINE_VERSION } from '#engine/version.ts';
import { CONFIG, SAMPLE_STRATEGY, STARTUP, STEP, sampleInput, sha256 } from './backtest-sample.ts';
import { MINUTE, START, walk } from './run/candles.ts';

/** Engine version and, for each run below, the digest of its output under that version. */
const PINNED = {
  version: '2.0.0',
  digests: {
    'additions and partial exits': '237314ef3cf27b06',
    'additions and partial exits, conservative fills': 'ddbc5af739945071',
    'additions and partial exits, ticks, lots and minimum orders': '1a26b9735fac2d16',
    bollinger_breakout: '78f2329b683074bb',
    buy_and_hold: 'ba29b04848328848',
    'conservative fills, compounding stake, one slot': 'c71de575c15150dd',
    'detail candles': 'a0f36da950a3dc11',
    'detail candles and every callback': '0a25c4edc9313e8c',
    'detail candles, additions and partial exits': '17c8875c1fee9570',
    donchian_trend: '289fe172cbc1863d',
    ema_crossover: '0e566be6ff3126c2',
    'every callback': '236920dc19338797',
    'every callback, conservative fills': '4921f49f07a3479b',
    macd_momentum: '58de98a694501d07',
    ml_classifier: 'df0fbd4681ec9a3a',
    'one pair, high leverage, liquidations': '58863e60dbf74c63',
    'one pair, trailing stop and return table': '1dc62cfde1ae3550',
    'orders that are watched and replaced, data of trades and of the run': '7d25e70655f78a55',
    rsi_mean_reversion: 'dfd9ee3fe17e2a4f',
    'several trades of a pair': 'f93a7f9c56d1a00c',
    supertrend: '3c438c4e0e42552a',
    'two hundred days': '813d75d82847652f',
    'ticks, lots and minimum orders of one pair': '4bc8b4ea40889dda',
    'ticks, lots and minimum orders, every callback': 'be573e6b3f2bdfc7',
    'two pairs, leverage, trailing stop, return table, funding, slippage': '8cac96308f631578',
    'universe with a delisted pair': '773f32dd3c319121',
  },
  /** Of the trades: a change of these is a change of the simulation. */
  trades: {
    'additions and partial exits': '637a383825c8b66e',
    'additions and partial exits, conservative fills': '7df6522d35f9f89f',
    'additions and partial exits, ticks, lots and minimum orders': '0339612ba2b135ed',
    bollinger_breakout: '96ffd3266306219c',
    buy_and_hold: '093c7765996c6868',
    'conservative fills, compounding stake, one slot': '9771eff6d4db7e27',
    'detail candles': 'c29c163c70068d7e',
    'detail candles and every callback': '7489ebfca30291e8',
    'detail candles, additions and partial exits': 'ae8946dfd9bd99d6',
    donchian_trend: '7200b580810c437a',
    ema_crossover: '22e9a5ec3e7538a5',
    'every callback': '2d76a636404e2868',
    'every callback, conservative fills': '06aeb7e190e9c591',
    macd_momentum: '10b8cbb81c71ce3f',
    ml_classifier: 'b3ceca490ff3ead9',
    'one pair, high leverage, liquidations': '49848fffe8d850a6',
    'one pair, trailing stop and return table': 'aa6139815fb379ec',
    'orders that are watched and replaced, data of trades and of the run': '6f9ca762b74385ce',
    rsi_mean_reversion: '38d6e382f664c177',
    'several trades of a pair': '4a31662802c50a85',
    supertrend: 'ece511f6e871b590',
    'ticks, lots and minimum orders of one pair': 'e4b2667b12745313',
    'ticks, lots and minimum orders, every callback': '73b630ec4ecb675b',
    'two hundred days': '2023d53436519f2d',
    'two pairs, leverage, trailing stop, return table, funding, slippage': '2d8174823e0b2f09',
    'universe with a delisted pair': '27220f8de9d4e8d8',
  },
};

/** Callbacks whose return values change trades; called in every candle. */
const CALLBACKS = {
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
} satisfies StrategyCallbacks;

/** The callbacks that the runs above do not have, together with those. */
const ORDER_CALLBACKS: Required<StrategyCallbacks> = {
  ...CALLBACKS,
  afterFill: () => null,
  adjustPosition: () => null,
  loopStart: ({ state, pairs }) => state.set('rising', pairs.filter(isRising).length),
  orderFilled: ({ state, params }, { data }, { kind, price }) => {
    data.set('fills', [...(data.get<number[]>('fills') ?? []), price]);
    if (kind === 'entry') data.set('rising', state.get('rising'));
    data.set('params', Object.keys(params).length);
  },
  customStoploss: () => null,
  customRoi: () => null,
  checkEntryTimeout: ({ index }, _trade, { price }) => index % 4 === 0 && price > 0,
  customExitPrice: (_context, { side }, proposed) => proposed * (side === 'long' ? 1.02 : 0.98),
  checkExitTimeout: ({ index }) => index % 5 === 0,
  adjustExitPrice: ({ index }, _trade, price) => {
    if (index % 4 === 3) return null;
    return index % 4 === 1 ? price * 0.997 : price;
  },
  customExit: ({ index, time }, { openedAt, data }) =>
    index % 6 < 3 && time - openedAt > 15 * MINUTE && data.get('rising') !== 1 ? 'too old' : null,
};
const isRising = ({ candles: { close }, index }: CallbackContext) => close[index - 1]! > close[index - 2]!;

/** 600 candles of a built-in strategy's timeframe, with its settings. */
function builtIn(strategy: StrategyDefinition): BacktestInput {
  const { timeframe, trailing = null, minimalRoi = {}, leverage = 1, stoploss } = strategy;
  const params = defaultParameters(strategy.parameters);
  const stepMs = TIMEFRAME_MS[timeframe];
  // Short periods: this pins that the same models are trained, not their quality.
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
      strategy: strategy.name,
      pairs,
      timeframe,
      date_range,
      params,
      stoploss,
      trailing,
      leverage,
      minimal_roi: minimalRoi,
      ...(ml && { ml_engine: ml }),
    },
    pairs: pairs.map((pair, i) => ({ pair, candles: walk(rows, stepMs, i + 1, from) })),
    strategyDigest: sha256(strategy.name),
  };
}

/** The sample's prices have more decimals than are read, so the ticks have as many. */
const INSTRUMENT: Instrument = {
  amountStep: 0.01,
  minAmount: 0.01,
  maxAmount: null,
  minCost: 5,
  maxCost: 150,
  contractSize: 1,
  priceTick: 0.01,
};

const one = sampleInput().pairs.slice(0, 1);
const withCallbacks = { ...SAMPLE_STRATEGY, callbacks: CALLBACKS, unfilledTimeoutMinutes: 5 };
const withAdjustments = {
  ...SAMPLE_STRATEGY,
  callbacks: {
    adjustPosition: ({ index }, { stake }, _price, profit) => {
      if (index % 5 === 0) return { stake: -0.4 * stake, tag: 'less' };
      return index % 3 === 0 && profit < 0.01 ? 0.5 * stake : null;
    },
    afterFill: (_context, { entries }) => (entries > 1 ? 0.06 : null),
    customEntryPrice: CALLBACKS.customEntryPrice,
    customExitPrice: CALLBACKS.customExitPrice,
  } satisfies StrategyCallbacks,
};
const config = (changes: Partial<typeof CONFIG>) => ({ ...CONFIG, ...changes });
const withDetail = sampleInput().pairs.map((pair, i) => {
  const { timestamp } = pair.candles;
  const detail = walk(timestamp.length * 5, STEP / 5, i + 1, timestamp[0]!);
  return { ...pair, candles: resampleCandles(detail, STEP / 5, STEP), detail };
});

const DELISTED_ROWS = 200;
const intervals = [{ from: START, to: Number.MAX_SAFE_INTEGER }];

/** Covers both sides, both fill models, each kind of exit, one pair and two. */
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
  'orders that are watched and replaced, data of trades and of the run': sampleInput({
    strategy: { ...withCallbacks, callbacks: ORDER_CALLBACKS, unfilledTimeoutMinutes: 60 },
    config: config({ stoploss: -0.2 }),
  }),
  'ticks, lots and minimum orders of one pair': sampleInput({
    pairs: one.map((pair) => ({ ...pair, instrument: INSTRUMENT })),
    config: config({
      pairs: ['BTC/USDT:USDT'],
      minimal_roi: { 0: 0.02, 30: 0.005, 90: -1 },
      precision: 'exchange',
    }),
  }),
  'ticks, lots and minimum orders, every callback': sampleInput({
    strategy: withCallbacks,
    pairs: sampleInput().pairs.map((pair) => ({ ...pair, instrument: INSTRUMENT })),
    config: config({ precision: 'exchange' }),
  }),
  'additions and partial exits': sampleInput({ strategy: withAdjustments }),
  'additions and partial exits, conservative fills': sampleInput({
    strategy: withAdjustments,
    config: config({ fill_model: 'conservative' }),
  }),
  'additions and partial exits, ticks, lots and minimum orders': sampleInput({
    strategy: { ...withAdjustments, maxAdjustments: 2 },
    pairs: sampleInput().pairs.map((pair) => ({ ...pair, instrument: INSTRUMENT })),
    config: config({ precision: 'exchange' }),
  }),
  'detail candles, additions and partial exits': sampleInput({
    strategy: withAdjustments,
    pairs: withDetail,
    config: config({ timeframe_detail: '1m' }),
  }),
  'universe with a delisted pair': sampleInput({
    config: config({ stoploss: -0.3, trailing: null, minimal_roi: { 0: 0.05 } }),
    pairs: sampleInput().pairs.map((pair, i) =>
      i > 0
        ? { ...pair, membership: { intervals } }
        : {
            ...pair,
            candles: sliceCandles(pair.candles, 0, DELISTED_ROWS),
            membership: {
              intervals,
              delisting: { at: pair.candles.timestamp[DELISTED_ROWS]!, haircut: 0.05 },
            },
          },
    ),
  }),
  'several trades of a pair': sampleInput({
    config: config({ position_stacking: true, max_open_trades: 5, stake_amount: 'unlimited', leverage: 1 }),
  }),
  'two hundred days': sampleInput({
    config: config({
      timeframe: '4h',
      date_range: { start: '2024-01-01T00:00:00.000Z', end: '2024-07-19T00:00:00.000Z' },
      stoploss: -0.2,
      leverage: 1,
      trailing: null,
      minimal_roi: { 0: 0.1 },
    }),
    pairs: CONFIG.pairs.map((pair, i) => ({
      pair,
      candles: walk(1_200 + STARTUP, 48 * STEP, i + 1, START - STARTUP * 48 * STEP),
    })),
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

/** Digest of the output without its timing and its provenance, which contains the version. */
function digestOf({ result, equity, report, trades }: BacktestOutcome): string {
  const { provenance, ...rest } = report;
  return sha256(canonicalJson({ result, equity, report: rest, trades })).slice(0, 16);
}

const digestOfTrades = ({ trades }: BacktestOutcome) => sha256(canonicalJson(trades)).slice(0, 16);

describe('ENGINE_VERSION', () => {
  it('ENGINE_VERSION identifies the pinned results', () => {
    const digests = Object.fromEntries(outcomes.map(([name, outcome]) => [name, digestOf(outcome)]));
    const trades = Object.fromEntries(outcomes.map(([name, outcome]) => [name, digestOfTrades(outcome)]));
    expect(
      { version: ENGINE_VERSION, digests, trades },
      'Results changed, and a result names the version of the engine that made it: if the change is meant, raise ' +
        'ENGINE_VERSION in src/engine/version.ts and write it and the new digests here',
    ).toEqual(PINNED);
  });

  it('pinned runs cover every exit reason, both sides and every counter', () => {
    const trades = outcomes.flatMap(([, outcome]) => outcome.trades);
    expect(new Set(trades.map(({ exitReason }) => exitReason))).toEqual(
      new Set([
        'roi',
        'stop_loss',
        'trailing_stop_loss',
        'liquidation',
        'exit_signal',
        'force_exit',
        'too old',
        'delisted',
      ]),
    );
    expect(new Set(trades.map(({ side }) => side))).toEqual(new Set(['long', 'short']));
    for (const [name, outcome] of outcomes) {
      expect(outcome.trades.length, name).toBeGreaterThan(1);
    }
    for (const name of new Set(outcomes.flatMap(([, { report }]) => Object.keys(report.counters)))) {
      const total = outcomes.reduce((sum, [, { report }]) => sum + (Object(report.counters)[name] ?? 0), 0);
      expect(total, name).toBeGreaterThan(0);
    }
  });
});
