import { describe, expect, it } from 'vitest';
import type { ResolvedBacktestConfig } from '#contract/backtests/backtest.ts';
import type { BacktestConfigRequest } from '#contract/backtests/backtest-api.ts';
import { statedDefaults, statedOverBase } from '#contract/values/repeated-config.ts';
import { overrideRequest } from '#domain/shared/override-request.ts';

const config = { strategy: 'x', params: {} } as ResolvedBacktestConfig;
const orders = {
  ...config,
  order_types: { entry: 'limit', exit: 'market' },
  unfilled_timeout: { entry: 60, exit: 30 },
} as const;

describe('overrideRequest', () => {
  it('keeps the side of an order option that the request does not name', () => {
    expect(
      overrideRequest(orders, {
        strategy: 'x',
        order_types: { entry: 'market' },
        unfilled_timeout: { exit: 5 },
      }),
    ).toMatchObject({
      order_types: { entry: 'market', exit: 'market' },
      unfilled_timeout: { entry: 60, exit: 5 },
    });
    expect(overrideRequest(orders, { strategy: 'x' })).toMatchObject({
      order_types: orders.order_types,
      unfilled_timeout: orders.unfilled_timeout,
    });
  });

  it('keeps the parts of a slippage model and the tests of robustness that the request does not name', () => {
    const costs = {
      ...config,
      slippage_model: { spread: 'edge', spread_days: 60, impact: 1 },
      robustness: { cost_sweep: true, permutations: 100 },
    } as const;
    const over = (given: Omit<BacktestConfigRequest, 'strategy'>) =>
      overrideRequest(costs, { strategy: 'x', ...given });
    expect(
      over({ slippage_model: { impact: 2, participation: 0.1 }, robustness: { permutations: 50 } }),
    ).toMatchObject({
      slippage_model: { spread: 'edge', spread_days: 60, impact: 2, participation: 0.1 },
      robustness: { cost_sweep: true, permutations: 50 },
    });
    expect(over({})).toMatchObject({ slippage_model: costs.slippage_model, robustness: costs.robustness });
    expect(over({ slippage_model: {}, robustness: {} })).toMatchObject({
      slippage_model: {},
      robustness: {},
    });
    expect(overrideRequest(config, { strategy: 'x', slippage_model: { impact: 1 } })).toMatchObject({
      slippage_model: { impact: 1 },
    });
  });

  it('replaces the pairs by the candidates of a universe', () => {
    const base = { ...config, pairs: ['BTC/USDT:USDT'] };
    const pairsOver = (given: Omit<BacktestConfigRequest, 'strategy'>) =>
      overrideRequest(base, { strategy: 'x', ...given }).pairs;
    expect(pairsOver({ universe: { n: 5 } })).toBeUndefined();
    expect(pairsOver({ universe: { n: 5 }, pairs: ['ETH/USDT:USDT'] })).toEqual(['ETH/USDT:USDT']);
    expect(pairsOver({})).toEqual(base.pairs);
  });

  it('replaces a capital by a share of the balance, and a share by a capital', () => {
    const limits = (base: Partial<ResolvedBacktestConfig>, given: Partial<BacktestConfigRequest>) => {
      const { tradable_balance_ratio: ratio, available_capital: capital } = overrideRequest(
        { ...config, ...base },
        { strategy: 'x', ...given },
      );
      return [ratio, capital];
    };
    expect(limits({ available_capital: 300 }, { tradable_balance_ratio: 0.5 })).toEqual([0.5, undefined]);
    expect(limits({ tradable_balance_ratio: 0.5 }, { available_capital: 300 })).toEqual([undefined, 300]);
    expect(limits({ available_capital: 300 }, { available_capital: null })).toEqual([undefined, null]);
    expect(limits({ available_capital: 300 }, {})).toEqual([undefined, 300]);
    expect(limits({ tradable_balance_ratio: 0.5 }, { available_capital: null })).toEqual([0.5, null]);
    expect(limits({}, { tradable_balance_ratio: 0.5, available_capital: 300 })).toEqual([0.5, 300]);
  });

  it('gives a repeated run none of what the run has replaced by a default', () => {
    const base = {
      ...config,
      trading_mode: 'spot',
      slippage_model: { impact: 1 },
      robustness: { cost_sweep: true },
      available_capital: 300,
      amend_last_stake_amount: true,
      position_stacking: true,
      margin_mode: 'cross',
      order_types: { entry: 'market', exit: 'market' },
      ml_engine: { enabled: true, max_depth: 3 },
    } as unknown as ResolvedBacktestConfig;
    const stated = { ...statedDefaults(config), ...statedOverBase(config) };
    const request = overrideRequest(base, { strategy: 'x', ...stated });
    expect(request).toMatchObject({
      trading_mode: 'futures',
      slippage_model: {},
      robustness: {},
      tradable_balance_ratio: 0.99,
      amend_last_stake_amount: false,
      position_stacking: false,
      margin_mode: 'isolated',
      order_types: { entry: 'limit', exit: 'limit' },
      ml_engine: { enabled: false },
    });
    expect(Object.keys(request.slippage_model!)).toEqual([]);
    expect(request.available_capital).toBeUndefined();
    const { tradable_balance_ratio } = { ...statedOverBase({ ...config, available_capital: 5 }) };
    expect(tradable_balance_ratio).toBeUndefined();
  });

  it('states limit orders, which a configuration leaves out, and no timeout', () => {
    const request = overrideRequest(config, { strategy: 'x', order_types: { exit: 'market' } });
    expect(request.order_types).toEqual({ entry: 'limit', exit: 'market' });
    expect(request).not.toHaveProperty('unfilled_timeout');
  });
});
