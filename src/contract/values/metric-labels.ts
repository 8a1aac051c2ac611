/**
 * Label and unit of every metric of the report, each stated once: the schemas and the engine's catalogue read them here.
 */

/** `quote`: quote currency. `base`: base currency. `ratio`: a number without a unit. */
export type MetricUnit =
  | 'percent'
  | 'quote'
  | 'base'
  | 'ratio'
  | 'count'
  | 'minutes'
  | 'days'
  | 'probability';

export const METRIC_LABELS = {
  starting_balance: ['Starting balance', 'quote'],
  final_balance: ['Final balance', 'quote'],
  total_profit: ['Total profit', 'quote'],
  total_profit_pct: ['Total profit %', 'percent'],
  cagr_pct: ['CAGR %', 'percent'],
  avg_daily_profit_pct: ['Average daily profit %', 'percent'],
  market_change_pct: ['Market change %', 'percent'],
  backtest_days: ['Days', 'days'],
  sharpe_ratio: ['Sharpe ratio (daily equity)', 'ratio'],
  sortino_ratio: ['Sortino ratio (daily equity)', 'ratio'],
  calmar_ratio: ['Calmar ratio (daily equity)', 'ratio'],
  freqtrade_sortino_ratio: ["freqtrade's Sortino ratio (daily equity)", 'ratio'],
  freqtrade_calmar_ratio: ["freqtrade's Calmar ratio (daily equity)", 'ratio'],
  volatility_pct: ['Annualized volatility %', 'percent'],
  max_drawdown_pct: ['Max drawdown % (daily equity)', 'percent'],
  max_drawdown_abs: ['Max drawdown (daily equity)', 'quote'],
  max_drawdown_candle_pct: ['Max drawdown % (every candle)', 'percent'],
  max_drawdown_candle_abs: ['Max drawdown (every candle)', 'quote'],
  time_under_water_pct: ['Time under water %', 'percent'],
  longest_drawdown_days: ['Longest drawdown', 'days'],
  best_day_pct: ['Best day %', 'percent'],
  worst_day_pct: ['Worst day %', 'percent'],
  lowest_equity: ['Lowest equity', 'quote'],
  highest_equity: ['Highest equity', 'quote'],
  total_trades: ['Trades', 'count'],
  winning_trades: ['Winning trades', 'count'],
  losing_trades: ['Losing trades', 'count'],
  draws: ['Draws', 'count'],
  win_rate: ['Win rate %', 'percent'],
  profit_mean_pct: ['Mean profit %', 'percent'],
  profit_median_pct: ['Median profit %', 'percent'],
  profit_sum_pct: ['Sum of profit %', 'percent'],
  best_trade_pct: ['Best trade %', 'percent'],
  worst_trade_pct: ['Worst trade %', 'percent'],
  avg_duration_minutes: ['Average duration', 'minutes'],
  profit_factor: ['Profit factor', 'ratio'],
  expectancy: ['Expectancy', 'quote'],
  expectancy_ratio: ['Expectancy ratio', 'ratio'],
  sqn: ['System quality number', 'ratio'],
  p_value: ['p-value of the mean trade', 'probability'],
  closed_trade_sharpe_ratio: ['Sharpe ratio (closed trades)', 'ratio'],
  closed_trade_sortino_ratio: ['Sortino ratio (closed trades)', 'ratio'],
  closed_trade_calmar_ratio: ['Calmar ratio (closed trades)', 'ratio'],
  closed_trade_max_drawdown_abs: ['Max drawdown (closed trades)', 'quote'],
  closed_trade_max_drawdown_pct: ['Max drawdown % (closed trades)', 'percent'],
  closed_trade_max_relative_drawdown_pct: ['Max relative drawdown % (closed trades)', 'percent'],
  lowest_closed_balance: ['Lowest balance', 'quote'],
  highest_closed_balance: ['Highest balance', 'quote'],
  best_day_profit: ['Best day', 'quote'],
  worst_day_profit: ['Worst day', 'quote'],
  winning_days: ['Winning days', 'count'],
  draw_days: ['Draw days', 'count'],
  losing_days: ['Losing days', 'count'],
  trades_per_day: ['Trades per day', 'ratio'],
  exposure_pct: ['Exposure %', 'percent'],
  avg_open_trades: ['Average open trades', 'ratio'],
  max_open_trades: ['Maximum number of open trades', 'count'],
  min_duration_minutes: ['Shortest trade', 'minutes'],
  max_duration_minutes: ['Longest trade', 'minutes'],
  avg_duration_winners_minutes: ['Average duration of winners', 'minutes'],
  avg_duration_losers_minutes: ['Average duration of losers', 'minutes'],
  max_consecutive_wins: ['Maximum consecutive wins', 'count'],
  max_consecutive_losses: ['Maximum consecutive losses', 'count'],
  same_candle_trades: ['Trades within one candle', 'count'],
  left_open_trades: ['Left open', 'count'],
  avg_stake: ['Average stake', 'quote'],
  avg_leverage: ['Average leverage', 'ratio'],
  total_volume: ['Total volume', 'quote'],
} as const satisfies Readonly<Record<string, readonly [label: string, unit: MetricUnit]>>;

export type MetricName = keyof typeof METRIC_LABELS;

/** Names that earlier engines gave to metrics, with the present name of the same definition. */
export const RENAMED_METRICS: Readonly<Record<string, MetricName>> = {
  sortino_ratio_downside: 'sortino_ratio',
  cagr_to_drawdown: 'calmar_ratio',
};
