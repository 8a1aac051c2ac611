import type { AccountMetrics } from '#contract/backtests/report-metrics.ts';
import { DAY_MS } from '#contract/values/durations.ts';
import { MIN_CAGR_DAYS } from '#contract/values/undefined-metrics.ts';
import type { TradeTable } from '../simulator/trade-table.ts';
import { studentTwoSidedP } from '../stats/distributions.ts';
import { drawdownOf } from '../stats/drawdown.ts';
import { deviation, finite, largest, mean, median, ratio, smallest, sum } from '../stats/moments.ts';
import { dayOf } from './equity-curve.ts';

/**
 * Metrics of closed trades: the columns of every table, and the closed-trade family of the whole run. Percentages are in
 * percent, amounts in quote currency; null means "undefined". Formulas: {@link METRIC_DEFINITIONS}.
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

/** Length of a run, in days. */
export interface RunLength {
  /** From the open of the first traded candle to the close of the last, a fraction. */
  readonly days: number;
  /** Full days between the open times of these candles, at least 1: the days of freqtrade. */
  readonly wholeDays: number;
}

/** @param first open time of the first traded candle, ms; `last`: that of the last */
export function runLength(first: number, last: number, timeframeMs: number): RunLength {
  return {
    days: (last + timeframeMs - first) / DAY_MS,
    wholeDays: Math.max(1, Math.floor((last - first) / DAY_MS)),
  };
}

/**
 * @param trades in the order of closing
 * @param wallet starting balance of the run, quote currency
 */
export function tradeMetrics(
  trades: OutcomeColumns,
  wallet: number,
  { days, wholeDays }: RunLength,
): TradeMetrics {
  const { profit: profits, profitRatio: ratios, minutes } = trades;
  const returns = shares(profits, wallet);
  const profit = sum(profits);
  return {
    ...outcomes(profits),
    total_profit: profit,
    total_profit_pct: (profit / wallet) * 100,
    profit_mean_pct: finite(mean(ratios) * 100),
    profit_median_pct: finite(median(ratios) * 100),
    profit_sum_pct: sum(ratios) * 100,
    best_trade_pct: finite(largest(ratios) * 100),
    worst_trade_pct: finite(smallest(ratios) * 100),
    avg_duration_minutes: finite(mean(minutes)),
    ...significance(returns),
    cagr_pct: cagrPct(wallet, wallet + profit, days),
    ...riskRatios(profits, returns, wallet, wholeDays),
  };
}

function outcomes(profits: Float64Array) {
  const count = profits.length;
  let wins = 0;
  let losses = 0;
  let won = 0;
  let lost = 0;
  for (let row = 0; row < count; row++) {
    const profit = profits[row]!;
    if (profit > 0) {
      wins++;
      won += profit;
    } else if (profit < 0) {
      losses++;
      lost -= profit;
    }
  }
  const averageWin = wins === 0 ? 0 : won / wins;
  const averageLoss = losses === 0 ? 0 : lost / losses;
  const winShare = wins / count;
  return {
    total_trades: count,
    winning_trades: wins,
    losing_trades: losses,
    draws: count - wins - losses,
    win_rate: finite(winShare * 100),
    profit_factor: ratio(won, lost),
    expectancy: finite(winShare * averageWin - (losses / count) * averageLoss),
    expectancy_ratio: finite((1 + averageWin / averageLoss) * winShare - 1),
  };
}

function significance(returns: Float64Array) {
  const sqn = ratio(Math.sqrt(returns.length) * mean(returns), deviation(returns, 'sample'));
  return { sqn, p_value: sqn === null ? null : finite(studentTwoSidedP(sqn, returns.length - 1)) };
}

function riskRatios(profits: Float64Array, returns: Float64Array, wallet: number, days: number) {
  const perDay = sum(returns) / days;
  const lossDeviation = deviation(negatives(returns), 'population');
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

// Plain loops: every callback of map or filter would be compiled separately, which takes longer than it runs.

function shares(profits: Float64Array, wallet: number): Float64Array {
  const result = new Float64Array(profits.length);
  for (let row = 0, { length } = profits; row < length; row++) result[row] = profits[row]! / wallet;
  return result;
}

function negatives(values: Float64Array): Float64Array {
  const result = new Float64Array(values.length);
  let count = 0;
  for (let row = 0, { length } = values; row < length; row++)
    if (values[row]! < 0) result[count++] = values[row]!;
  return result.subarray(0, count);
}

/** Balance after each closed trade. */
function cumulative(wallet: number, profits: Float64Array): Float64Array {
  const result = new Float64Array(profits.length);
  let balance = wallet;
  for (let row = 0, { length } = profits; row < length; row++) {
    balance += profits[row]!;
    result[row] = balance;
  }
  return result;
}

/** Profits by day of closing, and the extremes of the realized balance. */
interface ClosedDayMetrics {
  readonly lowest_closed_balance: number;
  readonly highest_closed_balance: number;
  readonly best_day_profit: number | null;
  readonly worst_day_profit: number | null;
  readonly winning_days: number;
  readonly draw_days: number;
  readonly losing_days: number;
}

/**
 * The best and the worst day are among those from the first to the last close, as in freqtrade.
 *
 * @param runDays UTC days of the run: a day without a close is a draw
 */
export function closedDayMetrics(trades: TradeColumns, wallet: number, runDays: number): ClosedDayMetrics {
  let lowest = wallet;
  let highest = wallet;
  for (const balance of cumulative(wallet, trades.profit)) {
    if (balance < lowest) lowest = balance;
    if (balance > highest) highest = balance;
  }
  const perDay = profitPerDay(trades);
  const winning = perDay.filter((profit) => profit > 0).length;
  const losing = perDay.filter((profit) => profit < 0).length;
  return {
    lowest_closed_balance: lowest,
    highest_closed_balance: highest,
    best_day_profit: finite(largest(perDay)),
    worst_day_profit: finite(smallest(perDay)),
    winning_days: winning,
    draw_days: runDays - winning - losing,
    losing_days: losing,
  };
}

function profitPerDay({ closedAt, profit }: TradeColumns): Float64Array {
  if (closedAt.length === 0) return new Float64Array(0);
  const first = dayOf(smallest(closedAt));
  const profits = new Float64Array((dayOf(largest(closedAt)) - first) / DAY_MS + 1);
  for (let row = 0, { length } = closedAt; row < length; row++) {
    profits[Math.floor((closedAt[row]! - first) / DAY_MS)]! += profit[row]!;
  }
  return profits;
}

/**
 * @param profit sum of the trades' profits, quote currency
 * @param days of the run, a fraction
 * @param marketChangePct mean change of the pairs' prices, percent
 */
export function accountMetrics(
  wallet: number,
  finalBalance: number,
  profit: number,
  days: number,
  marketChangePct: number | null,
): AccountMetrics {
  return {
    starting_balance: wallet,
    final_balance: finalBalance,
    total_profit: profit,
    total_profit_pct: (profit / wallet) * 100,
    cagr_pct: cagrPct(wallet, finalBalance, days),
    avg_daily_profit_pct: ((profit / wallet) * 100) / days,
    market_change_pct: marketChangePct,
    backtest_days: days,
  };
}

/**
 * Compound annual growth in percent: (final / start)^(365 / days) - 1. null when nothing is left, and for a run that is too short: one
 * good day would be thousands of percent a year.
 */
export function cagrPct(start: number, final: number, days: number): number | null {
  if (final <= 0 || days < MIN_CAGR_DAYS) return null;
  return finite(((final / start) ** (365 / days) - 1) * 100);
}

/** Outcomes of trades, the input of a group's metrics. Columns of equal length. */
interface OutcomeColumns {
  /** After fees and funding, quote currency. */
  readonly profit: Float64Array;
  /** On the collateral. */
  readonly profitRatio: Float64Array;
  /** From the entry candle's open to the exit candle's open. */
  readonly minutes: Float64Array;
}

/** Closed trades with derived columns, in the order of closing. */
export interface TradeColumns extends TradeTable, OutcomeColumns {
  readonly profit: Float64Array;
  readonly profitRatio: Float64Array;
  /** Quote currency moved by the orders, before fees. */
  readonly volume: Float64Array;
}

export function tradeColumns(trades: TradeTable): TradeColumns {
  const { length, openedAt, closedAt, amount, entryPrice, exitPrice } = trades;
  const minutes = new Float64Array(length);
  const volume = new Float64Array(length);
  for (let row = 0; row < length; row++) {
    minutes[row] = durationMinutes(openedAt[row]!, closedAt[row]!);
    volume[row] = amount[row]! * (entryPrice[row]! + exitPrice[row]!);
  }
  for (const [row, orders] of trades.orders)
    volume[row] = orders.reduce((sum, order) => sum + order.amount * order.price, 0);
  return { ...trades, minutes, volume };
}

/** The outcomes of the trades in `rows`, in their order. */
export function pickOutcomes(columns: OutcomeColumns, rows: readonly number[]): OutcomeColumns {
  const profit = new Float64Array(rows.length);
  const profitRatio = new Float64Array(rows.length);
  const minutes = new Float64Array(rows.length);
  for (let i = 0, { length } = rows; i < length; i++) {
    const row = rows[i]!;
    profit[i] = columns.profit[row]!;
    profitRatio[i] = columns.profitRatio[row]!;
    minutes[i] = columns.minutes[row]!;
  }
  return { profit, profitRatio, minutes };
}

/** Minutes from the entry candle's open to the exit candle's open; times in ms. */
export function durationMinutes(openedAt: number, closedAt: number): number {
  return (closedAt - openedAt) / 60_000;
}
