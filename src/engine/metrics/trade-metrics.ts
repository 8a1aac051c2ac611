import type { Trade } from '#engine/simulator/types.ts';
import { DAY_MS } from '#engine/timeframe.ts';
import { cagrPct } from './account-metrics.ts';
import { dayOf } from './daily.ts';
import { drawdownOf } from './drawdown.ts';
import { columnOf, deviation, finite, mean, median, ratio, sum } from './moments.ts';
import { studentTwoSidedP } from './student-t.ts';

/**
 * What closed trades alone say: the columns of every table, and the closed-trade family of the whole run. Percentages
 * are in percent, amounts in quote currency; null is "undefined". Formulas: {@link METRIC_DEFINITIONS}.
 */
export interface TradeMetrics {
  readonly total_trades: number;
  readonly winning_trades: number;
  readonly losing_trades: number;
  readonly draws: number;
  readonly win_rate: number | null;
  readonly total_profit: number;
  readonly total_profit_pct: number;
  readonly profit_mean_pct: number | null;
  readonly profit_median_pct: number | null;
  readonly profit_sum_pct: number;
  readonly best_trade_pct: number | null;
  readonly worst_trade_pct: number | null;
  readonly avg_duration_minutes: number | null;
  readonly profit_factor: number | null;
  readonly expectancy: number | null;
  readonly expectancy_ratio: number | null;
  readonly sqn: number | null;
  readonly p_value: number | null;
  readonly cagr_pct: number | null;
  readonly closed_trade_sharpe_ratio: number | null;
  readonly closed_trade_sortino_ratio: number | null;
  readonly closed_trade_calmar_ratio: number | null;
  readonly closed_trade_max_drawdown_abs: number;
  readonly closed_trade_max_drawdown_pct: number;
  readonly closed_trade_max_relative_drawdown_pct: number;
}

const YEAR_ROOT = Math.sqrt(365);

/**
 * @param trades in the order of closing
 * @param wallet starting balance of the run, quote currency
 * @param days whole days of the run, at least 1
 */
export function tradeMetrics(trades: readonly Trade[], wallet: number, days: number): TradeMetrics {
  const profits = columnOf(trades, (trade) => trade.profit);
  const ratios = columnOf(trades, (trade) => trade.profitRatio);
  const returns = columnOf(trades, (trade) => trade.profit / wallet);
  const profit = sum(profits);
  return {
    ...outcomes(profits),
    total_profit: profit,
    total_profit_pct: (profit / wallet) * 100,
    profit_mean_pct: finite(mean(ratios) * 100),
    profit_median_pct: finite(median(ratios) * 100),
    profit_sum_pct: sum(ratios) * 100,
    best_trade_pct: finite(extreme(ratios, Math.max) * 100),
    worst_trade_pct: finite(extreme(ratios, Math.min) * 100),
    avg_duration_minutes: finite(mean(columnOf(trades, durationMinutes))),
    ...significance(returns),
    cagr_pct: cagrPct(wallet, wallet + profit, days),
    ...riskRatios(profits, returns, wallet, days),
  };
}

/** Minutes from the entry candle's open to the exit candle's open. */
export function durationMinutes(trade: Trade): number {
  return (trade.closedAt - trade.openedAt) / 60_000;
}

function extreme(values: Float64Array, pick: (a: number, b: number) => number): number {
  return values.length === 0 ? Number.NaN : values.reduce((a, b) => pick(a, b));
}

function outcomes(profits: Float64Array) {
  const wins = profits.filter((profit) => profit > 0);
  const losses = profits.filter((profit) => profit < 0);
  const count = profits.length;
  const won = sum(wins);
  const lost = Math.abs(sum(losses));
  const averageWin = wins.length === 0 ? 0 : won / wins.length;
  const averageLoss = losses.length === 0 ? 0 : lost / losses.length;
  const winShare = wins.length / count;
  return {
    total_trades: count,
    winning_trades: wins.length,
    losing_trades: losses.length,
    draws: count - wins.length - losses.length,
    win_rate: finite(winShare * 100),
    profit_factor: ratio(won, lost),
    expectancy: finite(winShare * averageWin - (losses.length / count) * averageLoss),
    expectancy_ratio: finite((1 + averageWin / averageLoss) * winShare - 1),
  };
}

function significance(returns: Float64Array) {
  const sqn = ratio(Math.sqrt(returns.length) * mean(returns), deviation(returns, 'sample'));
  return { sqn, p_value: sqn === null ? null : finite(studentTwoSidedP(sqn, returns.length - 1)) };
}

function riskRatios(profits: Float64Array, returns: Float64Array, wallet: number, days: number) {
  const perDay = sum(returns) / days;
  const lossDeviation = deviation(
    returns.filter((each) => each < 0),
    'population',
  );
  const drawdown = drawdownOf(wallet, cumulative(wallet, profits));
  return {
    closed_trade_sharpe_ratio: ratio(perDay * YEAR_ROOT, deviation(returns, 'population')),
    closed_trade_sortino_ratio: ratio(perDay * YEAR_ROOT, lossDeviation),
    closed_trade_calmar_ratio: ratio(perDay * 100 * YEAR_ROOT, drawdown.ratioAtAmount),
    closed_trade_max_drawdown_abs: drawdown.amount,
    closed_trade_max_drawdown_pct: drawdown.ratioAtAmount * 100,
    closed_trade_max_relative_drawdown_pct: drawdown.ratio * 100,
  };
}

/** Balance after each closed trade. */
function cumulative(wallet: number, profits: Float64Array): Float64Array {
  let balance = wallet;
  return profits.map((profit) => {
    balance += profit;
    return balance;
  });
}

/** What the days on which trades closed look like, and the extremes of the realised balance. */
export interface ClosedDayMetrics {
  readonly lowest_closed_balance: number;
  readonly highest_closed_balance: number;
  readonly best_day_profit: number | null;
  readonly worst_day_profit: number | null;
  readonly winning_days: number;
  readonly draw_days: number;
  readonly losing_days: number;
}

/** Days run from the first to the last with a close; days without a close in between are draws with a profit of 0. */
export function closedDayMetrics(trades: readonly Trade[], wallet: number): ClosedDayMetrics {
  const balances = cumulative(
    wallet,
    columnOf(trades, (trade) => trade.profit),
  );
  const perDay = profitPerDay(trades);
  return {
    lowest_closed_balance: balances.reduce((a, b) => Math.min(a, b), wallet),
    highest_closed_balance: balances.reduce((a, b) => Math.max(a, b), wallet),
    best_day_profit: finite(extreme(perDay, Math.max)),
    worst_day_profit: finite(extreme(perDay, Math.min)),
    winning_days: perDay.filter((profit) => profit > 0).length,
    draw_days: perDay.filter((profit) => profit === 0).length,
    losing_days: perDay.filter((profit) => profit < 0).length,
  };
}

function profitPerDay(trades: readonly Trade[]): Float64Array {
  if (trades.length === 0) return new Float64Array(0);
  const days = trades.map((trade) => dayOf(trade.closedAt) / DAY_MS);
  const first = days.reduce((a, b) => Math.min(a, b));
  const last = days.reduce((a, b) => Math.max(a, b));
  const profits = new Float64Array(last - first + 1);
  for (const [i, trade] of trades.entries()) profits[days[i]! - first]! += trade.profit;
  return profits;
}
