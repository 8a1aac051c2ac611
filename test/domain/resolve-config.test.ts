import { describe, expect, test } from 'vitest';
import { fixedStrategies, knownBuiltIns } from '#adapters/strategies/known-strategies.ts';
import type { BacktestConfigRequest } from '#contract/backtests/backtest-api.ts';
import { resolveConfig } from '#domain/config/resolve-config.ts';
import { resolveSlippageModel } from '#domain/config/resolve-slippage-model.ts';
import type { InstrumentStore } from '#domain/data/instrument-ports.ts';
import type { SeriesStore } from '#domain/ports.ts';

/** The bounds and defaults are repeated on purpose: changing one must change this test. */

const deps = {
  strategies: fixedStrategies(knownBuiltIns()),
  series: { getMany: async () => new Map() } as Partial<SeriesStore> as SeriesStore,
  instruments: { getMany: async () => new Map() } as Partial<InstrumentStore> as InstrumentStore,
  clock: { now: () => Date.UTC(2025, 0, 31, 12, 34) },
  defaultExchange: 'sim',
};

const resolve = (given: Partial<BacktestConfigRequest> = {}) =>
  resolveConfig(deps, { strategy: 'ema_crossover', ...given });

test('resolveConfig fills in every default', async () => {
  const { config, collect, warnings } = await resolve();
  expect(collect).toBe('if_stale');
  expect(warnings).toEqual([]);
  expect(config).toMatchObject({
    exchange: 'sim',
    dry_run_wallet: 1000,
    max_open_trades: config.pairs.length,
    fee: 0.0005,
    slippage: 0,
    leverage: 1,
    timeframe_detail: null,
    fill_model: 'freqtrade',
    seed: 0,
    precision: 'none',
  });
  const { start, end } = config.date_range;
  expect(Date.parse(end) - Date.parse(start)).toBe(90 * 86_400_000);
});

test('resolveConfig fills in every default of ml_engine', async () => {
  const { config } = await resolve({ ml_engine: {} });
  expect(config.ml_engine).toEqual({
    enabled: true,
    model_type: 'depthwise_gbdt',
    train_period_days: 30,
    backtest_period_days: 7,
    n_estimators: 100,
    learning_rate: 0.1,
    max_depth: 4,
    max_leaves: 31,
    max_bins: 64,
    l2: 1,
    min_child_weight: 1,
    gamma: 0,
    subsample: 1,
    column_sample: 1,
    early_stopping_rounds: 20,
    validation_fraction: 0.2,
    class_weight: 'none',
    entry_threshold: 0.5,
  });
});

describe('resolveConfig bounds', () => {
  test.each<[string, keyof BacktestConfigRequest, unknown[], unknown[]]>([
    ['wallet', 'dry_run_wallet', [1e12], [0, 1.1e12]],
    ['stake', 'stake_amount', [1, 1000, 'unlimited'], [0, 1001, 'all']],
    ['open trades', 'max_open_trades', [1, 1000], [0, 1001, 1.5]],
    ['fee', 'fee', [0, 0.1], [-0.01, 0.11]],
    ['slippage', 'slippage', [0, 0.1], [-0.01, 0.11]],
    ['leverage', 'leverage', [1, 125], [0.9, 125.1]],
    ['tradable share', 'tradable_balance_ratio', [0.01, 1], [0, 1.1]],
    ['capital', 'available_capital', [1, 1e12], [0, 1.1e12]],
    ['order types', 'order_types', [{ entry: 'market' }], [{ exit: 'stop' }]],
    ['timeouts', 'unfilled_timeout', [{ exit: 525_600 }], [{ entry: 0 }, { exit: 525_601 }]],
    ['late entries', 'ignore_entry_after_candles', [1, 1440, null], [0, 1441, 1.5]],
    ['additions', 'max_adjustments', [0, 1000, null], [-1, 1001, 1.5]],
    ['margin', 'margin_mode', ['cross', 'isolated'], ['portfolio']],
    [
      'spread',
      'slippage_model',
      [
        {},
        { spread: 'edge' },
        { spread: 'corwin_schultz', spread_days: 3 },
        { spread: 'edge', spread_days: 365 },
      ],
      [
        { spread: 'roll' },
        { spread_days: 5 },
        { spread: 'edge', spread_days: 2 },
        { spread: 'edge', spread_days: 366 },
      ],
    ],
    ['impact', 'slippage_model', [{ impact: 0.01 }, { impact: 10 }], [{ impact: 0 }, { impact: 10.1 }]],
    [
      'participation',
      'slippage_model',
      [{ participation: 0.001 }, { participation: 1 }],
      [{ participation: 0 }, { participation: 1.01 }],
    ],
    ['stop', 'stoploss', [-0.999, -0.001], [-1, 0]],
    ['seed', 'seed', [0, 4_294_967_295], [-1, 4_294_967_296]],
    ['ROI ratio', 'minimal_roi', [{ 0: -1, 5256000: 1000 }], [{ 0: -1.1 }, { 0: 1001 }, { 5256001: 1 }]],
    ['trailing distance', 'trailing', [{ positive: 1 }], [{ positive: 0 }, { positive: 1.1 }]],
    ['trailing offset', 'trailing', [{ offset: 0 }, { offset: 10 }], [{ offset: -1 }, { offset: 10.1 }]],
    ['training period', 'ml_engine', [days(3), days(730)], [days(0), days(731)]],
    ['trees', 'ml_engine', [{ n_estimators: 5000 }], [{ n_estimators: 0 }, { n_estimators: 5001 }]],
    ['class weight', 'ml_engine', [{ class_weight: 0.001 }], [{ class_weight: 0 }, { class_weight: 'x' }]],
  ])(
    'resolveConfig accepts the bounds of the %s and rejects values beyond',
    async (_, field, accepted, rejected) => {
      for (const value of accepted) await expect(resolve({ [field]: value })).resolves.toBeDefined();
      for (const value of rejected) {
        await expect(resolve({ [field]: value })).rejects.toMatchObject({
          code: 'VAL005',
          field: expect.stringContaining(`config.${field}`),
        });
      }
    },
  );

  test('daily estimates of spread and impact need candles of one day or shorter', () => {
    const model = { spread: 'edge', impact: 1 };
    expect(resolveSlippageModel(model, '1d')).toHaveProperty('slippage_model.spread_days', 30);
    for (const [part, wrong] of [
      ['spread', model],
      ['impact', { impact: 1 }],
    ] as const)
      expect(() => resolveSlippageModel(wrong, '3d')).toThrow(
        expect.objectContaining({ code: 'VAL005', field: `config.slippage_model.${part}` }),
      );
    expect(resolveSlippageModel({ participation: 0.1 }, '1w')).toHaveProperty('slippage_model');
  });

  test('resolveConfig accepts 200 pairs and rejects 201 or none', async () => {
    const pairs = Array.from({ length: 201 }, (_, index) => `C${index}/USDT:USDT`);
    await expect(resolve({ pairs: pairs.slice(1) })).resolves.toBeDefined();
    for (const wrong of [pairs, []]) {
      await expect(resolve({ pairs: wrong })).rejects.toMatchObject({
        code: 'VAL005',
        field: 'config.pairs',
      });
    }
  });
});

function days(train_period_days: number) {
  return { train_period_days };
}

test('resolveConfig reports the first invalid field in the order of the schema', async () => {
  const wrong = { seed: -1, fee: 1, exchange: 'UPPER' };
  await expect(resolve(wrong)).rejects.toMatchObject({ field: 'config.exchange' });
  await expect(resolve({ ...wrong, exchange: 'sim' })).rejects.toMatchObject({ field: 'config.fee' });
});

describe('resolveConfig of the account', () => {
  test('options at their defaults are absent', async () => {
    const given = { tradable_balance_ratio: 0.99, order_types: { entry: 'limit' }, available_capital: null };
    const plain = await resolve();
    const { config, warnings } = await resolve({ ...given, amend_last_stake_amount: false });
    expect(config).toEqual(plain.config);
    expect(warnings).toEqual([]);
  });

  test('options are kept, each side with its default', async () => {
    const given = {
      available_capital: 300,
      amend_last_stake_amount: true,
      last_stake_amount_min_ratio: 0.2,
      order_types: { exit: 'market' },
      unfilled_timeout: { entry: 90 },
      timeframe: '1h',
      timeframe_detail: '5m',
      ignore_entry_after_candles: 3,
    };
    const { config, warnings } = await resolve(given);
    expect(warnings).toEqual([]);
    expect(config).toMatchObject({
      ...given,
      order_types: { entry: 'limit', exit: 'market' },
      unfilled_timeout: { entry: 90, exit: 10 },
    });
  });

  test.each([
    [{ available_capital: 5, tradable_balance_ratio: 0.5 }, 'tradable_balance_ratio has no effect with'],
    [{ last_stake_amount_min_ratio: 0.1 }, 'last_stake_amount_min_ratio has no effect without'],
    [{ ignore_entry_after_candles: 2 }, 'ignore_entry_after_candles has no effect without'],
    [{ max_adjustments: 2 }, 'max_adjustments has no effect: the strategy has no callback adjustPosition'],
    [{ order_types: { stoploss: 'market' } }, 'Unknown key config.order_types.stoploss was ignored'],
  ])('options %j have a warning', async (given, warning) => {
    const { config, warnings } = await resolve(given as Partial<BacktestConfigRequest>);
    expect(warnings).toEqual([expect.stringContaining(warning)]);
    expect(config).not.toHaveProperty(Object.keys(given)[Object.keys(given).length - 1]!);
  });
});
