import * as z from 'zod';

/**
 * Metrics of the report by family, and the rows of its tables. The description is the metric's label, `x-unit` its unit;
 * `definitions` of every report holds the formula.
 */

type Unit = 'percent' | 'quote' | 'ratio' | 'count' | 'minutes' | 'days' | 'probability';

const always = (unit: Unit, label: string) => z.number().meta({ description: label, 'x-unit': unit });
const orNull = (unit: Unit, label: string) =>
  z.number().nullable().meta({ description: label, 'x-unit': unit });
const count = (label: string) => z.int().meta({ description: label, 'x-unit': 'count' });

const profit = {
  total_profit: always('quote', 'Total profit'),
  total_profit_pct: always('percent', 'Total profit %'),
  cagr_pct: orNull('percent', 'CAGR %'),
};

export const AccountMetrics = z
  .object({
    starting_balance: always('quote', 'Starting balance'),
    final_balance: always('quote', 'Final balance'),
    ...profit,
    avg_daily_profit_pct: always('percent', 'Average daily profit %'),
    market_change_pct: orNull('percent', 'Market change %'),
    backtest_days: z.int().meta({ description: 'Days', 'x-unit': 'days' }),
  })
  .meta({ id: 'AccountMetrics', description: 'Account: balance and profit' });
export type AccountMetrics = z.infer<typeof AccountMetrics>;

export const EquityMetrics = z
  .object({
    sharpe_ratio: orNull('ratio', 'Sharpe ratio (daily equity)'),
    sortino_ratio: orNull('ratio', 'Sortino ratio (daily equity)'),
    sortino_ratio_downside: orNull('ratio', 'Sortino ratio, downside deviation'),
    calmar_ratio: orNull('ratio', 'Calmar ratio (daily equity)'),
    cagr_to_drawdown: orNull('ratio', 'CAGR to drawdown'),
    volatility_pct: orNull('percent', 'Annualized volatility %'),
    max_drawdown_pct: always('percent', 'Max drawdown % (daily equity)'),
    max_drawdown_abs: always('quote', 'Max drawdown (daily equity)'),
    max_drawdown_candle_pct: always('percent', 'Max drawdown % (every candle)'),
    max_drawdown_candle_abs: always('quote', 'Max drawdown (every candle)'),
    time_under_water_pct: orNull('percent', 'Time under water %'),
    longest_drawdown_days: z.int().meta({ description: 'Longest drawdown', 'x-unit': 'days' }),
    best_day_pct: orNull('percent', 'Best day %'),
    worst_day_pct: orNull('percent', 'Worst day %'),
    lowest_equity: always('quote', 'Lowest equity'),
    highest_equity: always('quote', 'Highest equity'),
  })
  .meta({
    id: 'EquityMetrics',
    description: 'Main family: from the equity with open positions marked to market',
  });
export type EquityMetrics = z.infer<typeof EquityMetrics>;

const trades = {
  total_trades: count('Trades'),
  winning_trades: count('Winning trades'),
  losing_trades: count('Losing trades'),
  draws: count('Draws'),
  win_rate: orNull('percent', 'Win rate %'),
  profit_mean_pct: orNull('percent', 'Mean profit %'),
  profit_median_pct: orNull('percent', 'Median profit %'),
  profit_sum_pct: always('percent', 'Sum of profit %'),
  best_trade_pct: orNull('percent', 'Best trade %'),
  worst_trade_pct: orNull('percent', 'Worst trade %'),
  avg_duration_minutes: orNull('minutes', 'Average duration'),
  profit_factor: orNull('ratio', 'Profit factor'),
  expectancy: orNull('quote', 'Expectancy'),
  expectancy_ratio: orNull('ratio', 'Expectancy ratio'),
  sqn: orNull('ratio', 'System quality number'),
  p_value: orNull('probability', 'p-value of the mean trade'),
  closed_trade_sharpe_ratio: orNull('ratio', 'Sharpe ratio (closed trades)'),
  closed_trade_sortino_ratio: orNull('ratio', 'Sortino ratio (closed trades)'),
  closed_trade_calmar_ratio: orNull('ratio', 'Calmar ratio (closed trades)'),
  closed_trade_max_drawdown_abs: always('quote', 'Max drawdown (closed trades)'),
  closed_trade_max_drawdown_pct: always('percent', 'Max drawdown % (closed trades)'),
  closed_trade_max_relative_drawdown_pct: always('percent', 'Max relative drawdown % (closed trades)'),
};

export const ClosedTradeMetrics = z
  .object({
    ...trades,
    lowest_closed_balance: always('quote', 'Lowest balance'),
    highest_closed_balance: always('quote', 'Highest balance'),
    best_day_profit: orNull('quote', 'Best day'),
    worst_day_profit: orNull('quote', 'Worst day'),
    winning_days: count('Winning days'),
    draw_days: count('Draw days'),
    losing_days: count('Losing days'),
  })
  .meta({ id: 'ClosedTradeMetrics', description: 'From closed trades only: open losses are not included' });
export type ClosedTradeMetrics = z.infer<typeof ClosedTradeMetrics>;

export const ActivityMetrics = z
  .object({
    trades_per_day: always('ratio', 'Trades per day'),
    exposure_pct: orNull('percent', 'Exposure %'),
    avg_open_trades: orNull('ratio', 'Average open trades'),
    max_open_trades: count('Maximum number of open trades'),
    min_duration_minutes: orNull('minutes', 'Shortest trade'),
    max_duration_minutes: orNull('minutes', 'Longest trade'),
    avg_duration_winners_minutes: orNull('minutes', 'Average duration of winners'),
    avg_duration_losers_minutes: orNull('minutes', 'Average duration of losers'),
    max_consecutive_wins: count('Maximum consecutive wins'),
    max_consecutive_losses: count('Maximum consecutive losses'),
    same_candle_trades: count('Trades within one candle'),
    left_open_trades: count('Left open'),
    avg_stake: orNull('quote', 'Average stake'),
    avg_leverage: orNull('ratio', 'Average leverage'),
    total_volume: always('quote', 'Total volume'),
  })
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
    return_pct: always(
      'percent',
      "Return of the equity: its value at the period's end over the one before the period, less 1; weekdays: their daily returns compounded",
    ),
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
