import { describe, expect, it } from 'vitest';
import { closedDayMetrics, tradeMetrics } from '#engine/metrics/trade-metrics.ts';
import { columnsOf, EXAMPLE_TRADES, lengthOf, trade } from './samples.ts';

describe('closed-trade metrics of the worked example 2.4', () => {
  const metrics = tradeMetrics(columnsOf(EXAMPLE_TRADES), 1000, lengthOf(10));

  it.each([
    ['total_profit', 30, 9],
    ['total_profit_pct', 3, 9],
    ['closed_trade_sharpe_ratio', 2.8169, 4],
    ['closed_trade_sortino_ratio', 7.642, 4],
    ['sqn', 0.5898, 4],
    ['profit_factor', 1.8571, 4],
    ['expectancy', 6.0, 9],
    ['expectancy_ratio', 0.3429, 4],
    ['win_rate', 60, 9],
    ['closed_trade_max_drawdown_abs', 25, 9],
    ['closed_trade_max_drawdown_pct', 2.4038, 4],
    ['closed_trade_calmar_ratio', 238.43, 2],
  ] as const)('trade metric %s of the worked example is %d', (name, value, digits) => {
    expect(metrics[name]).toBeCloseTo(value, digits);
  });

  it('tradeMetrics counts wins, losses and draws', () => {
    expect(metrics).toMatchObject({ total_trades: 5, winning_trades: 3, losing_trades: 2, draws: 0 });
  });

  it("p_value equals Student's t of SQN with 4 degrees of freedom", () => {
    const t = metrics.sqn!;
    const s = 1 / Math.sqrt(1 + (t * t) / 4);
    expect(metrics.p_value).toBeCloseTo(1 - 0.75 * t * s * (1 - (t * s) ** 2 / 12), 12);
  });
});

describe('means over closed trades', () => {
  const ratios = [0.1, -0.05, 0.02, 0];
  const metrics = tradeMetrics(
    columnsOf(
      ratios.map((profitRatio, i) =>
        trade(profitRatio * 200, i, { profitRatio, openedAt: 0, closedAt: (i + 1) * 60_000 }),
      ),
    ),
    1000,
    lengthOf(5),
  );

  it('profit means are relative to the collateral', () => {
    expect(metrics.profit_mean_pct).toBeCloseTo(1.75, 12);
    expect(metrics.profit_median_pct).toBeCloseTo(1, 12);
    expect(metrics.profit_sum_pct).toBeCloseTo(7, 12);
    expect(metrics.best_trade_pct).toBeCloseTo(10, 12);
    expect(metrics.worst_trade_pct).toBeCloseTo(-5, 12);
    expect(metrics.avg_duration_minutes).toBe(2.5);
  });

  it('draw is neither a win nor a loss but counts in the win rate', () => {
    expect(metrics).toMatchObject({ winning_trades: 2, losing_trades: 1, draws: 1, win_rate: 50 });
    expect(metrics.expectancy).toBeCloseTo(0.5 * 12 - 0.25 * 10, 12);
    expect(metrics.expectancy_ratio).toBeCloseTo((1 + 12 / 10) * 0.5 - 1, 12);
  });
});

describe('closed-trade drawdown', () => {
  it('closed-trade drawdown starts at the wallet', () => {
    const metrics = tradeMetrics(columnsOf([trade(-100, 1), trade(300, 2)]), 1000, lengthOf(5));
    expect(metrics.closed_trade_max_drawdown_abs).toBe(100);
    expect(metrics.closed_trade_max_drawdown_pct).toBe(10);
  });

  it('largest drawdown by amount and by percentage can be at different trades', () => {
    // 1000 -> 800 (200, 20 %) -> 2000 -> 1700 (300, 15 %)
    const metrics = tradeMetrics(
      columnsOf([trade(-200, 1), trade(1200, 2), trade(-300, 3)]),
      1000,
      lengthOf(5),
    );
    expect(metrics.closed_trade_max_drawdown_abs).toBe(300);
    expect(metrics.closed_trade_max_drawdown_pct).toBe(15);
    expect(metrics.closed_trade_max_relative_drawdown_pct).toBe(20);
  });
});

describe('undefined closed-trade metrics', () => {
  it('tradeMetrics returns nulls and zeros without trades', () => {
    expect(tradeMetrics(columnsOf([]), 1000, lengthOf(5))).toEqual({
      total_trades: 0,
      winning_trades: 0,
      losing_trades: 0,
      draws: 0,
      win_rate: null,
      total_profit: 0,
      total_profit_pct: 0,
      profit_mean_pct: null,
      profit_median_pct: null,
      profit_sum_pct: 0,
      best_trade_pct: null,
      worst_trade_pct: null,
      avg_duration_minutes: null,
      profit_factor: null,
      expectancy: null,
      expectancy_ratio: null,
      sqn: null,
      p_value: null,
      cagr_pct: null,
      closed_trade_sharpe_ratio: null,
      closed_trade_sortino_ratio: null,
      closed_trade_calmar_ratio: null,
      closed_trade_max_drawdown_abs: 0,
      closed_trade_max_drawdown_pct: 0,
      closed_trade_max_relative_drawdown_pct: 0,
    });
  });

  it('ratios are null with one trade', () => {
    const metrics = tradeMetrics(columnsOf([trade(50, 1)]), 1000, lengthOf(5));
    expect(metrics).toMatchObject({ closed_trade_sharpe_ratio: null, sqn: null, p_value: null });
    expect(metrics.win_rate).toBe(100);
  });

  it('loss-based ratios are null without losses', () => {
    const metrics = tradeMetrics(columnsOf([trade(10, 1), trade(20, 2)]), 1000, lengthOf(5));
    expect(metrics).toMatchObject({
      profit_factor: null,
      expectancy_ratio: null,
      closed_trade_sortino_ratio: null,
      closed_trade_calmar_ratio: null,
    });
    expect(metrics.closed_trade_sharpe_ratio).not.toBeNull();
  });

  it('ratios are null when profits are equal up to rounding', () => {
    const metrics = tradeMetrics(
      columnsOf([trade(0.1 + 0.2, 1), trade(0.3, 2), trade(0.3, 3)]),
      1000,
      lengthOf(5),
    );
    expect(metrics).toMatchObject({ closed_trade_sharpe_ratio: null, sqn: null });
  });

  it('profit_factor is 0 without wins', () => {
    expect(tradeMetrics(columnsOf([trade(-10, 1)]), 1000, lengthOf(5)).profit_factor).toBe(0);
  });

  it('cagr_pct is null when the wallet is lost, and below 30 days', () => {
    expect(tradeMetrics(columnsOf([trade(-1000, 1)]), 1000, lengthOf(365)).cagr_pct).toBeNull();
    expect(tradeMetrics(columnsOf([trade(100, 1)]), 1000, lengthOf(365)).cagr_pct).toBeCloseTo(10, 12);
    expect(tradeMetrics(columnsOf([trade(100, 1)]), 1000, lengthOf(29)).cagr_pct).toBeNull();
  });
});

describe('closedDayMetrics', () => {
  it('closedDayMetrics sums by UTC day and counts days without a close as draws', () => {
    const metrics = closedDayMetrics(
      columnsOf([trade(10, 1), trade(-4, 1), trade(-8, 2), trade(5, 5)]),
      1000,
      9,
    );
    expect(metrics).toEqual({
      lowest_closed_balance: 998,
      highest_closed_balance: 1010,
      best_day_profit: 6,
      worst_day_profit: -8,
      winning_days: 2,
      // Of nine days, two won and one lost.
      draw_days: 6,
      losing_days: 1,
    });
  });

  it('closedDayMetrics returns the wallet and nulls without trades', () => {
    expect(closedDayMetrics(columnsOf([]), 1000, 3)).toEqual({
      lowest_closed_balance: 1000,
      highest_closed_balance: 1000,
      best_day_profit: null,
      worst_day_profit: null,
      winning_days: 0,
      draw_days: 3,
      losing_days: 0,
    });
  });
});
