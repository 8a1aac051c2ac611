import * as z from 'zod';
import { METRIC_LABELS, type MetricName, type MetricUnit } from '../values/metric-labels.ts';

/**
 * Metrics of the report by family, and the rows of its tables. The description is the metric's label, `x-unit` its unit;
 * `definitions` of every report holds the formula.
 */

const number = z.number();
const numberOrNull = z.number().nullable();
const integer = z.int();

/** The fields with the labels and units of their metrics. */
function labeled<S extends Readonly<Partial<Record<MetricName, z.ZodType>>>>(fields: S): S {
  const entries = Object.entries(fields).map(([name, schema]) => {
    const [description, unit] = METRIC_LABELS[name as MetricName];
    return [name, schema.meta({ description, 'x-unit': unit })];
  });
  // `fromEntries` loses the names. `meta` returns a copy of the same type.
  return Object.fromEntries(entries) as S;
}

const profit = labeled({
  total_profit: number,
  total_profit_pct: number,
  cagr_pct: numberOrNull,
});

export const AccountMetrics = z
  .object(
    labeled({
      starting_balance: number,
      final_balance: number,
      ...profit,
      avg_daily_profit_pct: number,
      market_change_pct: numberOrNull,
      backtest_days: number,
    }),
  )
  .meta({ id: 'AccountMetrics', description: 'Account: balance and profit' });
export type AccountMetrics = z.infer<typeof AccountMetrics>;

export const EquityMetrics = z
  .object(
    labeled({
      sharpe_ratio: numberOrNull,
      sortino_ratio: numberOrNull,
      calmar_ratio: numberOrNull,
      freqtrade_sortino_ratio: numberOrNull.optional(),
      freqtrade_calmar_ratio: numberOrNull.optional(),
      volatility_pct: numberOrNull,
      max_drawdown_pct: number,
      max_drawdown_abs: number,
      max_drawdown_candle_pct: number,
      max_drawdown_candle_abs: number,
      time_under_water_pct: numberOrNull,
      longest_drawdown_days: integer,
      best_day_pct: numberOrNull,
      worst_day_pct: numberOrNull,
      lowest_equity: number,
      highest_equity: number,
    }),
  )
  .meta({
    id: 'EquityMetrics',
    description: 'Main family: from the equity with open positions marked to market',
  });
export type EquityMetrics = z.infer<typeof EquityMetrics>;

const trades = labeled({
  total_trades: integer,
  winning_trades: integer,
  losing_trades: integer,
  draws: integer,
  win_rate: numberOrNull,
  profit_mean_pct: numberOrNull,
  profit_median_pct: numberOrNull,
  profit_sum_pct: number,
  best_trade_pct: numberOrNull,
  worst_trade_pct: numberOrNull,
  avg_duration_minutes: numberOrNull,
  profit_factor: numberOrNull,
  expectancy: numberOrNull,
  expectancy_ratio: numberOrNull,
  sqn: numberOrNull,
  p_value: numberOrNull,
  closed_trade_sharpe_ratio: numberOrNull,
  closed_trade_sortino_ratio: numberOrNull,
  closed_trade_calmar_ratio: numberOrNull,
  closed_trade_max_drawdown_abs: number,
  closed_trade_max_drawdown_pct: number,
  closed_trade_max_relative_drawdown_pct: number,
});

export const ClosedTradeMetrics = z
  .object(
    labeled({
      ...trades,
      lowest_closed_balance: number,
      highest_closed_balance: number,
      best_day_profit: numberOrNull,
      worst_day_profit: numberOrNull,
      winning_days: integer,
      draw_days: integer,
      losing_days: integer,
    }),
  )
  .meta({ id: 'ClosedTradeMetrics', description: 'From closed trades only: open losses are not included' });
export type ClosedTradeMetrics = z.infer<typeof ClosedTradeMetrics>;

export const ActivityMetrics = z
  .object(
    labeled({
      trades_per_day: number,
      exposure_pct: numberOrNull,
      avg_open_trades: numberOrNull,
      max_open_trades: integer,
      min_duration_minutes: numberOrNull,
      max_duration_minutes: numberOrNull,
      avg_duration_winners_minutes: numberOrNull,
      avg_duration_losers_minutes: numberOrNull,
      max_consecutive_wins: integer,
      max_consecutive_losses: integer,
      same_candle_trades: integer,
      left_open_trades: integer,
      avg_stake: numberOrNull,
      avg_leverage: numberOrNull,
      total_volume: number,
    }),
  )
  .meta({ id: 'ActivityMetrics', description: 'Trading activity' });
export type ActivityMetrics = z.infer<typeof ActivityMetrics>;

export const Metrics = z
  .object({
    account: AccountMetrics,
    equity: EquityMetrics,
    closed_trades: ClosedTradeMetrics,
    activity: ActivityMetrics,
  })
  .meta({ id: 'Metrics', description: 'All metrics by family; null is undefined' });
export type Metrics = z.infer<typeof Metrics>;

export const TableRow = z
  .object({
    key: z.string().meta({
      description:
        'Group of the trades. TOTAL: all trades; OTHERS: all groups except the 199 with the most trades',
    }),
    ...profit,
    ...trades,
  })
  .meta({ id: 'TableRow', description: 'Metrics of one group of trades' });
export type TableRow = z.infer<typeof TableRow>;

export const PeriodRow = z
  .object({
    key: z.string().meta({ description: 'YYYY-MM-DD, YYYY-MM, YYYY or the name of a weekday' }),
    return_pct: number.meta({
      description:
        "Return of the equity: its value at the period's end over the one before the period, less 1; weekdays: their daily returns compounded",
      'x-unit': 'percent' satisfies MetricUnit,
    }),
    total_profit: profit.total_profit,
    total_profit_pct: profit.total_profit_pct,
    total_trades: trades.total_trades,
    winning_trades: trades.winning_trades,
    losing_trades: trades.losing_trades,
    draws: trades.draws,
    win_rate: trades.win_rate,
    profit_factor: trades.profit_factor,
  })
  .meta({ id: 'PeriodRow', description: 'Trades by the UTC day of closing' });
export type PeriodRow = z.infer<typeof PeriodRow>;
