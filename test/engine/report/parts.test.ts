import { describe, expect, it } from 'vitest';
import { DAY_MS } from '#contract/values/durations.ts';
import { dailyEquity } from '#engine/metrics/equity-curve.ts';
import { computeMetrics } from '#engine/metrics/metrics.ts';
import { compareFillModels } from '#engine/report/fill-models.ts';
import { buildResult } from '#engine/report/result.ts';
import { buildCosts, buildDrawdowns } from '#engine/report/tables.ts';
import { tradeRecord } from '#engine/report/trades.ts';
import { roundNumber, roundNumbers } from '#engine/round.ts';
import type { Outcomes, SimulatedTrade } from '#engine/simulator/trade-table.ts';
import type { Simulation } from '#engine/simulator/types.ts';
import {
  columnsOf,
  curve,
  EXAMPLE_EQUITY,
  EXAMPLE_TRADES,
  START,
  tableOf,
  trade,
} from '../metrics/samples.ts';

describe('buildDrawdowns', () => {
  const equity = curve([900, 1000, 1200, 1080, 1140, 1200, 1300, 1040]);
  const drawdowns = buildDrawdowns(1000, dailyEquity(equity, 1000, START), equity);

  it('drawdown periods are sorted by depth, from peak to recovery', () => {
    expect(drawdowns.daily).toEqual([
      {
        start: '2024-01-07',
        low: '2024-01-08',
        recovery: null,
        depth_pct: 20,
        depth_abs: 260,
        duration_days: 1,
        days_to_low: 1,
      },
      {
        start: '2024-01-01',
        low: '2024-01-01',
        recovery: '2024-01-02',
        depth_pct: 10,
        depth_abs: 100,
        duration_days: 2,
        days_to_low: 1,
      },
      {
        start: '2024-01-03',
        low: '2024-01-04',
        recovery: '2024-01-06',
        depth_pct: 10,
        depth_abs: 120,
        duration_days: 3,
        days_to_low: 1,
      },
    ]);
  });

  it('candle drawdown is the deepest of all candles, with its times', () => {
    expect(drawdowns.candle).toEqual({
      peak_at: '2024-01-07T00:00:00.000Z',
      low_at: '2024-01-08T00:00:00.000Z',
      peak_equity: 1300,
      low_equity: 1040,
      depth_pct: 20,
    });
    const fromWallet = curve([900]);
    expect(buildDrawdowns(1000, dailyEquity(fromWallet, 1000, START), fromWallet).candle).toMatchObject({
      peak_at: null,
      peak_equity: 1000,
    });
  });

  it('drawdown list holds at most ten periods', () => {
    const falls = curve(Array.from({ length: 30 }, (_, i) => (i % 2 ? 1000 : 999 - i)));
    expect(buildDrawdowns(1000, dailyEquity(falls, 1000, START), falls).daily).toHaveLength(10);
  });

  it('drawdown list is empty for an account that never fell', () => {
    const flat = curve([1000, 1001]);
    expect(buildDrawdowns(1000, dailyEquity(flat, 1000, START), flat)).toEqual({ daily: [], candle: null });
  });
});

describe('buildCosts', () => {
  it('costs are stated as percentages of gross profit and of turnover', () => {
    const costs = buildCosts(
      columnsOf([
        trade(80, 1, { fees: 6, slippageCost: 4, funding: -10, amount: 2, entryPrice: 200, exitPrice: 300 }),
        trade(-10, 2, { fees: 4, slippageCost: 1, funding: 15, amount: 1, entryPrice: 500, exitPrice: 500 }),
      ]),
    );
    // 70 after costs + fees 10 + slippage 5 - funding received 5
    expect(costs).toEqual({
      gross_profit: 80,
      turnover: 2000,
      fees: { amount: 10, pct_of_gross_profit: 12.5, pct_of_turnover: 0.5 },
      slippage: { amount: 5, pct_of_gross_profit: 6.25, pct_of_turnover: 0.25 },
      funding: { amount: -5, pct_of_gross_profit: -6.25, pct_of_turnover: -0.25 },
      total: { amount: 10, pct_of_gross_profit: 12.5, pct_of_turnover: 0.5 },
    });
  });

  it('cost percentages are null without a gross profit', () => {
    expect(buildCosts(columnsOf([trade(-10, 1, { fees: 1 })])).fees.pct_of_gross_profit).toBeNull();
    expect(buildCosts(columnsOf([])).total).toEqual({
      amount: 0,
      pct_of_gross_profit: null,
      pct_of_turnover: null,
    });
  });
});

function simulation(trades: SimulatedTrade[], freedLater = { entries: 0, profit: 0 }): Simulation {
  const outcomes: Outcomes = { length: trades.length, at: (row) => trades[row]! };
  return { trades, outcomes, freedLater } as unknown as Simulation;
}

it('compareFillModels counts trades that differ, and says what the freqtrade model took of later exits', () => {
  const shared = trade(10, 1);
  const elsewhere = trade(10, 2);
  const onlyHere = trade(10, 3);
  const run = simulation([shared, elsewhere, onlyHere], { entries: 1, profit: 10 });
  const other = simulation([shared, { ...elsewhere, exitPrice: 90, profit: -10 }, trade(-5, 4), trade(1, 5)]);
  expect(compareFillModels('freqtrade', run, other, 1000)).toEqual({
    used: 'freqtrade',
    alternative: 'conservative',
    differing_trades: 1,
    shifted_trades: 1,
    unmatched_trades: 1,
    alternative_trades: 4,
    alternative_total_profit: -4,
    alternative_total_profit_pct: -0.4,
    freed_later_entries: 1,
    freed_later_profit: 10,
    freed_later_profit_pct: 1,
  });
  expect(compareFillModels('conservative', other, run, 1000)).toMatchObject({
    alternative: 'freqtrade',
    differing_trades: 1,
    freed_later_entries: 1,
  });
});

describe('tradeRecord', () => {
  it('tradeRecord converts a table row to the API fields', () => {
    const profitRatio = 0.01796204;
    const table = tableOf([
      trade(1, 1),
      trade(5, 2, { profitRatio, enterTag: 'dip', fees: 0.2, liquidationPrice: 50 }),
    ]);
    expect(tradeRecord(table, 1, 7)).toEqual({
      id: 7,
      pair: 'BTC/USDT:USDT',
      side: 'long',
      opened_at: '2024-01-02T23:00:00.000Z',
      closed_at: '2024-01-03T00:00:00.000Z',
      duration_minutes: 60,
      entry_price: 100,
      exit_price: 105,
      amount: 1,
      stake: 100,
      leverage: 1,
      enter_tag: 'dip',
      exit_reason: 'exit_signal',
      fees: 0.2,
      slippage_cost: 0,
      funding: 0,
      profit: 5,
      profit_pct: 1.796204,
      initial_stop_price: 90,
      stop_price: 90,
      liquidation_price: 50,
      lowest_price: 95,
      highest_price: 110,
      left_open: false,
      group: null,
      position: null,
    });
  });
});

describe('buildResult', () => {
  const resultOf = (trades: SimulatedTrade[], equity: number[]) => {
    const computed = computeMetrics({
      trades: tableOf(trades),
      curve: curve(equity),
      finalBalance: equity.at(-1)!,
      wallet: 1000,
      firstCandle: START,
      lastCandle: START + 10 * DAY_MS,
      timeframeMs: DAY_MS,
      marketChangePct: 4,
    });
    return buildResult(computed.metrics, computed.trades);
  };

  it('result matches the worked example', () => {
    const result = resultOf(
      EXAMPLE_TRADES.map((each, i) => ({ ...each, fees: 0.5, funding: i })),
      EXAMPLE_EQUITY,
    );
    expect(result).toMatchObject({
      total_trades: 5,
      winning_trades: 3,
      losing_trades: 2,
      total_profit: 30,
      total_profit_pct: 3,
      profit_factor: 1.85714285714,
      win_rate: 60,
      draws: 0,
      final_balance: 1030,
      expectancy: 6,
      market_change_pct: 4,
      fees: 2.5,
      funding: 10,
      trade_stats: { n: 5, mean: 6 },
    });
    // Population deviation of five profits 20.34699 %: the sample variance is 5/4 of its square.
    expect(result.trade_stats.variance).toBeCloseTo(22.74863 ** 2, 3);
    expect(result.sharpe_ratio).toBeCloseTo(4.0276, 2);
    expect(result.max_drawdown_pct).toBeCloseTo(3.5171, 4);
    expect(JSON.stringify(result).length).toBeLessThan(800);
  });

  it('result without trades has zeros for its nine required metrics', () => {
    expect(resultOf([], [1000, 1000])).toEqual({
      total_trades: 0,
      winning_trades: 0,
      losing_trades: 0,
      total_profit: 0,
      total_profit_pct: 0,
      sharpe_ratio: 0,
      profit_factor: 0,
      win_rate: 0,
      max_drawdown_pct: 0,
      draws: 0,
      final_balance: 1000,
      sortino_ratio: null,
      calmar_ratio: null,
      cagr_pct: null,
      expectancy: null,
      sqn: null,
      exposure_pct: 0,
      market_change_pct: 4,
      fees: 0,
      funding: 0,
      trade_stats: { n: 0, mean: null, variance: null },
      backtest_days: 11,
      short_run: true,
      undefined_metrics: {
        sharpe_ratio: 'no_trades',
        profit_factor: 'no_trades',
        win_rate: 'no_trades',
        sortino_ratio: 'no_trades',
        calmar_ratio: 'no_trades',
        cagr_pct: 'under_30_days',
        expectancy: 'no_trades',
        sqn: 'no_trades',
      },
    });
  });

  it('profit_factor is 999 without losses and 0 with only draws', () => {
    expect(resultOf([trade(10, 1)], [1010])).toMatchObject({ profit_factor: 999, win_rate: 100 });
    expect(resultOf([trade(0, 1)], [1000])).toMatchObject({ profit_factor: 0, draws: 1 });
  });
});

it('roundNumbers rounds to 12 digits at any depth', () => {
  expect(roundNumber(0.1 + 0.2)).toBe(0.3);
  expect(roundNumber(1234567.891234)).toBe(1234567.89123);
  expect(roundNumber(1e-9 / 3)).toBe(3.33333333333e-10);
  expect(Object.is(roundNumber(-0), 0)).toBe(true);
  expect(roundNumbers({ a: [0.1 + 0.2, null, 'x'], b: { c: true } })).toEqual({
    a: [0.3, null, 'x'],
    b: { c: true },
  });
});
