import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { computeMetrics } from '#engine/metrics/metrics.ts';
import type { SimulatedTrade } from '#engine/simulator/trade-table.ts';
import type { EquityCurve } from '#engine/simulator/types.ts';
import { drawdownOf } from '#engine/stats/drawdown.ts';
import { balanceFamily, type EquityPoint } from './balance-family.ts';
import { tableOf } from './samples.ts';
import { deviation, mean, studentP } from './statistics.ts';
import { type ClosedTrade, tradeFamily } from './trade-family.ts';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const START = Date.UTC(2024, 1, 27, 5);

const percent = (value: number | null) => (value === null ? null : value * 100);

function tradeOf(closed: ClosedTrade): SimulatedTrade {
  return {
    pair: 'A/USDT:USDT',
    side: 'long',
    openedAt: closed.openTime,
    closedAt: closed.closeTime,
    entryPrice: 2,
    exitPrice: 3,
    amount: 7,
    stake: 50,
    leverage: 2,
    enterTag: null,
    exitReason: 'roi',
    fees: 0,
    slippageCost: 0,
    funding: 0,
    profit: closed.profit,
    profitRatio: closed.ratio,
    initialStopPrice: 1,
    stopPrice: 1,
    liquidationPrice: null,
    lowestPrice: 1,
    highestPrice: 3,
    leftOpen: false,
  };
}

function curveOf(wallet: number, points: readonly EquityPoint[]): EquityCurve {
  const equity = Float64Array.from(points, ({ value }) => value);
  return {
    timestamp: Float64Array.from(points, ({ time }) => time),
    equity,
    drawdown: drawdownOf(wallet, equity),
    balance: equity,
    openTrades: new Uint16Array(points.length),
  };
}

interface Drawn {
  wallet: number;
  trades: ClosedTrade[];
  /** Hourly equity after the first candle. */
  points: EquityPoint[];
}

function metricsOf({ wallet, trades, points }: Drawn) {
  const lastCandle = points.at(-1)?.time ?? START;
  const total = trades.reduce((sum, { profit }) => sum + profit, 0);
  const { metrics } = computeMetrics({
    trades: tableOf(trades.map(tradeOf)),
    curve: curveOf(wallet, points),
    finalBalance: wallet + total,
    wallet,
    firstCandle: START,
    lastCandle,
    timeframeMs: HOUR,
    marketChangePct: null,
  });
  return {
    ...metrics,
    days: Math.max(1, Math.floor((lastCandle - START) / DAY)),
    elapsed: (lastCandle + HOUR - START) / DAY,
  };
}

/** Expects equality to 7 digits, because balances are differences; null equals only null. */
function close(actual: number | null, expected: number | null, name: string) {
  if (actual === null || expected === null) {
    expect({ [name]: actual }).toEqual({ [name]: expected });
    return;
  }
  const scale = Math.max(1e-6, Math.abs(actual), Math.abs(expected));
  expect(Math.abs(actual - expected) / scale, `${name}: ${actual}, expected ${expected}`).toBeLessThan(1e-7);
}

/** Values with 8 decimals, not biased towards round numbers: among equal drawdowns rounding would decide. */
const amount = (span: number) =>
  fc.noBias(fc.integer({ min: -span * 1e8, max: span * 1e8 })).map((each) => each / 1e8);

const closedTrade = fc.record({
  profit: fc.oneof({ weight: 6, arbitrary: amount(20) }, { weight: 1, arbitrary: fc.constant(0) }),
  ratio: amount(1),
  hours: fc.nat(9 * 24),
  minutes: fc.nat(900),
});

const drawn: fc.Arbitrary<Drawn> = fc.record({
  wallet: fc.constantFrom(1000, 137.5, 1e6),
  trades: fc
    .record({
      rows: fc.array(closedTrade, { maxLength: 30 }),
      equal: fc.constantFrom(undefined, undefined, undefined, 5, -5, 0),
    })
    .map(({ rows, equal }) =>
      rows
        .map(({ profit, ratio, hours, minutes }) => {
          const closeTime = START + hours * HOUR;
          return { profit: equal ?? profit, ratio, closeTime, openTime: closeTime - minutes * 60_000 };
        })
        .sort((a, b) => a.closeTime - b.closeTime),
    ),
  points: fc
    .array(fc.constantFrom(0, 0, 0, 0.001, -0.001, 0.01, -0.02, 0.1, -0.15), { minLength: 1, maxLength: 240 })
    .map((moves) => {
      let value = 1;
      return moves.map((move, i) => {
        value *= 1 + move;
        return { time: START + (i + 1) * HOUR, value };
      });
    }),
});

const scaled = drawn.map((each) => ({
  ...each,
  points: each.points.map(({ time, value }) => ({ time, value: value * each.wallet })),
}));

describe('metrics of random trades and balances', () => {
  it('closed-trade metrics are those of their formulas', () => {
    fc.assert(
      fc.property(scaled, (each) => {
        const { account, closed_trades: closed, activity, days, elapsed } = metricsOf(each);
        const family = tradeFamily(each.trades, each.wallet, days, elapsed);
        close(account.total_profit, family.profitTotal, 'total_profit');
        close(account.total_profit_pct, family.profitTotalRatio * 100, 'total_profit_pct');
        close(account.cagr_pct, percent(family.cagr), 'cagr_pct');
        close(account.avg_daily_profit_pct, family.averageDailyProfit * 100, 'avg_daily_profit_pct');
        close(closed.win_rate, percent(family.winRate), 'win_rate');
        close(closed.profit_factor, family.profitFactor, 'profit_factor');
        close(closed.expectancy, family.expectancy, 'expectancy');
        close(closed.expectancy_ratio, family.expectancyRatio, 'expectancy_ratio');
        close(closed.profit_mean_pct, percent(family.profitMean), 'profit_mean_pct');
        close(closed.profit_median_pct, percent(family.profitMedian), 'profit_median_pct');
        close(closed.sqn, family.sqn, 'sqn');
        close(closed.p_value, family.pValue, 'p_value');
        close(closed.closed_trade_sharpe_ratio, family.sharpe, 'closed_trade_sharpe_ratio');
        close(closed.closed_trade_sortino_ratio, family.sortino, 'closed_trade_sortino_ratio');
        close(closed.closed_trade_calmar_ratio, family.calmar, 'closed_trade_calmar_ratio');
        close(closed.closed_trade_max_drawdown_abs, family.drawdownAbs, 'closed_trade_max_drawdown_abs');
        close(
          closed.closed_trade_max_drawdown_pct,
          family.drawdownAccount * 100,
          'closed_trade_max_drawdown_pct',
        );
        close(
          closed.closed_trade_max_relative_drawdown_pct,
          family.drawdownRelative * 100,
          'closed_trade_max_relative_drawdown_pct',
        );
        close(
          closed.lowest_closed_balance,
          Math.min(each.wallet, family.balanceMin),
          'lowest_closed_balance',
        );
        close(
          closed.highest_closed_balance,
          Math.max(each.wallet, family.balanceMax),
          'highest_closed_balance',
        );
        close(activity.trades_per_day, family.tradesPerDay, 'trades_per_day');
        expect(activity.max_consecutive_wins).toBe(family.winStreak);
        expect(activity.max_consecutive_losses).toBe(family.lossStreak);
        if (each.trades.length > 0) {
          close(closed.best_day_profit, family.bestDay, 'best_day_profit');
          close(closed.worst_day_profit, family.worstDay, 'worst_day_profit');
        }
        expect([closed.winning_days, closed.losing_days]).toEqual([family.winDays, family.lossDays]);
        const runDays = new Set(
          [START, ...each.points.map(({ time }) => time)].map((time) => Math.floor(time / DAY)),
        );
        expect(closed.draw_days).toBe(runDays.size - family.winDays - family.lossDays);
      }),
      { numRuns: 300 },
    );
  });

  it('equity metrics are those of their formulas', () => {
    fc.assert(
      fc.property(scaled, (each) => {
        const points = [{ time: START, value: each.wallet }, ...each.points];
        const { account, equity, days } = metricsOf(each);
        const family = balanceFamily(points, each.wallet, days);
        close(equity.sharpe_ratio, family.sharpe, 'sharpe_ratio');
        close(equity.sortino_ratio, family.sortinoDownside, 'sortino_ratio');
        close(equity.freqtrade_sortino_ratio!, family.sortino, 'freqtrade_sortino_ratio');
        const { share } = family.daily;
        const calmar = account.cagr_pct === null || share === 0 ? null : account.cagr_pct / (share * 100);
        close(equity.calmar_ratio, calmar, 'calmar_ratio');
        close(equity.volatility_pct, percent(family.volatility), 'volatility_pct');
        close(equity.max_drawdown_pct, family.daily.share * 100, 'max_drawdown_pct');
        close(equity.max_drawdown_abs, family.daily.amount, 'max_drawdown_abs');
        close(equity.max_drawdown_candle_pct, family.candle.share * 100, 'max_drawdown_candle_pct');
        close(equity.max_drawdown_candle_abs, family.candle.amount, 'max_drawdown_candle_abs');
        close(equity.best_day_pct, family.bestDay * 100, 'best_day_pct');
        close(equity.worst_day_pct, family.worstDay * 100, 'worst_day_pct');
        close(equity.lowest_equity, family.lowest, 'lowest_equity');
        close(equity.highest_equity, family.highest, 'highest_equity');
      }),
      { numRuns: 300 },
    );
  });

  it('metrics equal an example of ten days that was computed independently', () => {
    const profits = [20, -10, 30, -25, 15];
    const trades = profits.map((profit, i) => {
      const closeTime = START + (2 * i + 1) * DAY;
      return { profit, ratio: profit / 100, closeTime, openTime: closeTime - HOUR };
    });
    const balances = [1004, 1020, 1012, 1010, 1040, 1052, 1031, 1015, 1030, 1030];
    const points = balances.map((value, i) => ({ time: START + (i + 1) * DAY, value }));
    const { closed_trades: closed, account, equity } = metricsOf({ wallet: 1000, trades, points });

    expect(closed.closed_trade_sharpe_ratio).toBeCloseTo(2.8169, 4);
    expect(closed.closed_trade_sortino_ratio).toBeCloseTo(7.642, 4);
    expect(closed.sqn).toBeCloseTo(0.5898, 4);
    expect(closed.profit_factor).toBeCloseTo(1.8571, 4);
    expect(closed.expectancy).toBeCloseTo(6, 9);
    expect(closed.expectancy_ratio).toBeCloseTo(0.3429, 4);
    expect(account).toMatchObject({ backtest_days: 10 + 1 / 24, cagr_pct: null });
    expect(closed.closed_trade_max_drawdown_abs).toBeCloseTo(25, 9);
    expect(closed.closed_trade_max_drawdown_pct).toBeCloseTo(2.4038, 4);
    expect(closed.closed_trade_calmar_ratio).toBeCloseTo(238.43, 2);
    expect(equity.max_drawdown_pct).toBeCloseTo(3.5171, 4);
    // freqtrade omits the first day's return, here 0; with it there is one more value.
    const returns = [0, ...balances.map((value, i) => value / (balances[i - 1] ?? 1000) - 1)];
    const sharpe = (mean(returns) / deviation(returns, 0)) * Math.sqrt(365);
    expect(equity.sharpe_ratio).toBeCloseTo(sharpe, 9);
    expect((mean(returns.slice(1)) / deviation(returns.slice(1), 0)) * Math.sqrt(365)).toBeCloseTo(4.0276, 4);
  });

  it('studentP of the formulas matches tables of critical values', () => {
    expect(studentP(12.706, 1)).toBeCloseTo(0.05, 5);
    expect(studentP(2.776, 4)).toBeCloseTo(0.05, 4);
    expect(studentP(2.576, 1e6)).toBeCloseTo(0.01, 4);
    expect(studentP(0, 7)).toBeCloseTo(1, 12);
  });
});
