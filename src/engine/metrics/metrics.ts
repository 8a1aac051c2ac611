import type { ResolvedBacktestConfig } from '#contract/backtests/backtest.ts';
import type { ReportPairData } from '#contract/backtests/report.ts';
import type { ActivityMetrics, EquityMetrics, Metrics } from '#contract/backtests/report-metrics.ts';
import type { TradeTable } from '../simulator/trade-table.ts';
import type { EquityCurve, Simulation } from '../simulator/types.ts';
import { type Drawdown, drawdownOf } from '../stats/drawdown.ts';
import { deviation, finite, largest, mean, ratio, smallest, sum } from '../stats/moments.ts';
import { TIMEFRAME_MS } from '../timeframe.ts';
import {
  type DailyEquity,
  dailyEquity,
  dailyReturns,
  drawdownPeriods,
  withoutRounding,
} from './equity-curve.ts';
import {
  accountMetrics,
  closedDayMetrics,
  type RunLength,
  runLength,
  type TradeColumns,
  type TradeMetrics,
  tradeColumns,
  tradeMetrics,
} from './trade-metrics.ts';

/** Input of the metrics. */
interface MetricsInput {
  readonly trades: TradeTable;
  readonly curve: EquityCurve;
  readonly finalBalance: number;
  /** Starting balance, quote currency. */
  readonly wallet: number;
  /** Open times of the run's first and last candle, ms. */
  readonly firstCandle: number;
  readonly lastCandle: number;
  readonly timeframeMs: number;
  readonly marketChangePct: number | null;
}

/** The metrics, with intermediate results for the report. */
export interface ComputedMetrics {
  readonly metrics: Metrics;
  readonly daily: DailyEquity;
  readonly length: RunLength;
  /** The trades as columns. */
  readonly trades: TradeColumns;
  /** All trades as one table row. */
  readonly total: TradeMetrics;
}

/** Computes every metric of a run that had at least one candle. */
export function computeMetrics(input: MetricsInput): ComputedMetrics {
  const { curve, wallet } = input;
  const trades = tradeColumns(input.trades);
  const length = runLength(input.firstCandle, input.lastCandle, input.timeframeMs);
  const { days } = length;
  const daily = dailyEquity(curve, wallet, input.firstCandle);
  const total = tradeMetrics(trades, wallet, length);
  const account = accountMetrics(wallet, input.finalBalance, total.total_profit, days, input.marketChangePct);
  const { total_profit: _profit, total_profit_pct: _percent, cagr_pct: _cagr, ...closedTrades } = total;
  const metrics = {
    account,
    equity: equityMetrics(curve, daily, {
      wallet,
      wholeDays: length.wholeDays,
      totalProfitPct: account.total_profit_pct,
      cagrPct: account.cagr_pct,
    }),
    closed_trades: { ...closedTrades, ...closedDayMetrics(trades, wallet, daily.day.length) },
    activity: activityMetrics(trades, curve, days),
  };
  return { metrics, daily, length, trades, total };
}

const YEAR_ROOT = Math.sqrt(365);

/** Values of the whole run that the equity metrics need. */
interface EquityContext {
  readonly wallet: number;
  readonly wholeDays: number;
  readonly totalProfitPct: number;
  readonly cagrPct: number | null;
}

export function equityMetrics(curve: EquityCurve, daily: DailyEquity, context: EquityContext): EquityMetrics {
  const returns = dailyReturns(context.wallet, daily.equity);
  const drawdown = largestDrawdown(drawdownOf(context.wallet, daily.equity));
  const candleDrawdown = largestDrawdown(curve.drawdown);
  return {
    ...dailyRatios(returns),
    calmar_ratio: context.cagrPct === null ? null : ratio(context.cagrPct, drawdown.percent),
    freqtrade_calmar_ratio: ratio(
      (context.totalProfitPct / context.wholeDays) * YEAR_ROOT,
      drawdown.percent / 100,
    ),
    max_drawdown_pct: drawdown.percent,
    max_drawdown_abs: drawdown.amount,
    max_drawdown_candle_pct: candleDrawdown.percent,
    max_drawdown_candle_abs: candleDrawdown.amount,
    ...timeUnderWater(context.wallet, daily.equity),
    ...extremes(context.wallet, curve.equity),
  };
}

/** The largest drawdown; 0 when it is negligible. */
function largestDrawdown({ ratio: share, amount }: Drawdown) {
  const percent = withoutRounding(share) * 100;
  return { percent, amount: percent === 0 ? 0 : amount };
}

/** Ratios of daily returns (as ratios, not percent): see the definitions of sharpe_ratio and the sortino ratios. */
function dailyRatios(returns: Float64Array) {
  const average = mean(returns);
  const spread = deviation(returns, 'population');
  const negative = returns.filter((each) => each < 0);
  const downside = Math.sqrt(sum(negative.map((each) => each * each)) / returns.length);
  const percent = returns.map((each) => each * 100);
  return {
    sharpe_ratio: ratio(average * YEAR_ROOT, spread),
    sortino_ratio: ratio(average * YEAR_ROOT, downside),
    freqtrade_sortino_ratio: ratio(average * YEAR_ROOT, deviation(negative, 'population')),
    volatility_pct: finite(spread * YEAR_ROOT * 100),
    best_day_pct: returns.length === 0 ? null : percent.reduce((a, b) => Math.max(a, b)),
    worst_day_pct: returns.length === 0 ? null : percent.reduce((a, b) => Math.min(a, b)),
  };
}

function timeUnderWater(wallet: number, equity: Float64Array) {
  let below = 0;
  let longest = 0;
  for (const period of drawdownPeriods(wallet, equity)) {
    const end = period.recoveryRow ?? equity.length;
    below += end - 1 - period.peakRow;
    longest = Math.max(longest, (period.recoveryRow ?? equity.length - 1) - period.peakRow);
  }
  return {
    time_under_water_pct: ratio(below * 100, equity.length),
    longest_drawdown_days: longest,
  };
}

function extremes(wallet: number, equity: Float64Array) {
  let low = wallet;
  let high = wallet;
  for (let row = 0, { length } = equity; row < length; row++) {
    if (equity[row]! < low) low = equity[row]!;
    if (equity[row]! > high) high = equity[row]!;
  }
  return { lowest_equity: low, highest_equity: high };
}

/**
 * @param trades in the order of closing
 * @param days of the run, a fraction
 */
export function activityMetrics(trades: TradeColumns, curve: EquityCurve, days: number): ActivityMetrics {
  const { profit, minutes } = trades;
  return {
    trades_per_day: profit.length / days,
    ...timeInMarket(curve),
    min_duration_minutes: finite(smallest(minutes)),
    max_duration_minutes: finite(largest(minutes)),
    ...averageDurations(trades),
    max_consecutive_wins: longestRun(profit, (each) => each > 0),
    max_consecutive_losses: longestRun(profit, (each) => each <= 0),
    same_candle_trades: minutes.filter((each) => each === 0).length,
    left_open_trades: sum(trades.leftOpen),
    avg_stake: finite(mean(trades.stake)),
    avg_leverage: finite(mean(trades.leverage)),
    total_volume: sum(trades.volume) + sum(trades.fees),
  };
}

function averageDurations({ profit, minutes }: TradeColumns) {
  let [won, wins, lost, losses] = [0, 0, 0, 0];
  for (let row = 0, { length } = profit; row < length; row++) {
    if (profit[row]! > 0) {
      won += minutes[row]!;
      wins++;
    } else if (profit[row]! < 0) {
      lost += minutes[row]!;
      losses++;
    }
  }
  return {
    avg_duration_winners_minutes: ratio(won, wins),
    avg_duration_losers_minutes: ratio(lost, losses),
  };
}

function timeInMarket(curve: EquityCurve) {
  const { openTrades } = curve;
  let candles = 0;
  let total = 0;
  let max = 0;
  for (let row = 0, { length } = openTrades; row < length; row++) {
    const open = openTrades[row]!;
    total += open;
    if (open > 0) candles++;
    if (open > max) max = open;
  }
  return {
    exposure_pct: ratio(candles * 100, openTrades.length),
    avg_open_trades: ratio(total, openTrades.length),
    max_open_trades: max,
  };
}

function longestRun(profits: Float64Array, counts: (profit: number) => boolean): number {
  let longest = 0;
  let run = 0;
  for (let row = 0, { length } = profits; row < length; row++) {
    run = counts(profits[row]!) ? run + 1 : 0;
    if (run > longest) longest = run;
  }
  return longest;
}

/** Fields of a pair's data that the metrics need. */
type TradedCandles = Pick<ReportPairData, 'first' | 'last' | 'market_change_pct'>;

/**
 * All metrics of a run.
 *
 * @param pairs simulated pairs, at least one
 * @param run with its equity curve
 */
export function measureRun(
  { dry_run_wallet, timeframe }: Pick<ResolvedBacktestConfig, 'dry_run_wallet' | 'timeframe'>,
  pairs: readonly TradedCandles[],
  run: Simulation,
): ComputedMetrics {
  return computeMetrics({
    trades: run.table,
    curve: run.curve!,
    finalBalance: run.finalBalance,
    wallet: dry_run_wallet,
    firstCandle: Math.min(...pairs.map(({ first }) => Date.parse(first))),
    lastCandle: Math.max(...pairs.map(({ last }) => Date.parse(last))),
    timeframeMs: TIMEFRAME_MS[timeframe],
    marketChangePct: pairs.reduce((total, pair) => total + pair.market_change_pct, 0) / pairs.length,
  });
}
