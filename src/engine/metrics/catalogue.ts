import type { MetricDefinition } from '#contract/report.ts';
import type {
  AccountMetrics,
  ActivityMetrics,
  ClosedTradeMetrics,
  EquityMetrics,
} from '#contract/report-metrics.ts';

/** Families of metrics and other parts of a report. */
type MetricFamily =
  | ('account' | 'equity' | 'closed_trades' | 'activity')
  | ('trades' | 'costs' | 'periods' | 'drawdowns' | 'counters' | 'fill_model' | 'data' | 'models');

/** `quote`: quote currency. `base`: base currency. `ratio`: a number without a unit. */
type MetricUnit = 'percent' | 'quote' | 'base' | 'ratio' | 'count' | 'minutes' | 'days' | 'probability';

/** Symbols of the formulas. */
export const METRIC_NOTATION = {
  B0: 'starting balance (the wallet), quote currency',
  p_i: "profit of trade i after fees, slippage and funding, quote currency; trades are in order of closing. In a table row: that row's trades",
  r_i: 'p_i / B0',
  q_i: 'profit of trade i on its own collateral, entry fee included: p_i * leverage / (amount * entry price * (1 + fee)), for a short (1 - fee). Equals profit_pct / 100',
  n: 'number of trades',
  D: 'number of full days between the open times of the first and the last candle of the run, at least 1',
  E_d: 'equity at the last candle of UTC day d, open positions valued at the close; E_0 = B0',
  R_d: 'E_d / E_(d-1) - 1. Every day of the run counts; the first is relative to the wallet',
  M_d: 'maximum of E_0 to E_d',
  std: 'population standard deviation; std_(n-1) is the sample standard deviation',
  null: 'undefined: a division by zero, too few values, or a non-finite number',
} as const;

type Definitions<M> = { readonly [K in keyof M]: MetricDefinition };

/** Rows of {@link METRIC_DEFINITIONS}. */
export function define<M>(
  family: MetricFamily,
  rows: { readonly [K in keyof M]: readonly [label: string, unit: MetricUnit, formula: string] },
): Definitions<M> {
  const entries = Object.entries(rows as Record<string, readonly [string, MetricUnit, string]>);
  return Object.fromEntries(
    entries.map(([name, [label, unit, formula]]) => [name, { label, unit, family, formula }]),
  ) as Definitions<M>;
}

const ACCOUNT = define<AccountMetrics>('account', {
  starting_balance: ['Starting balance', 'quote', 'B0'],
  final_balance: ['Final balance', 'quote', 'wallet after the last trade closed'],
  total_profit: ['Total profit', 'quote', 'sum of p_i'],
  total_profit_pct: ['Total profit %', 'percent', 'sum of p_i / B0 * 100'],
  cagr_pct: [
    'CAGR %',
    'percent',
    '((final balance / B0)^(365 / D) - 1) * 100; null when the final balance is below 0. In a table row the final balance is B0 + sum of p_i',
  ],
  avg_daily_profit_pct: ['Average daily profit %', 'percent', 'sum of p_i / B0 / D * 100'],
  market_change_pct: [
    'Market change %',
    'percent',
    'mean over the pairs of (last close / first close - 1) * 100, without startup candles',
  ],
  backtest_days: ['Days', 'days', 'D'],
});

const EQUITY = define<EquityMetrics>('equity', {
  sharpe_ratio: [
    'Sharpe ratio (daily equity)',
    'ratio',
    'mean(R_d) / std(R_d) * sqrt(365), without a risk-free rate; null when all R_d are equal',
  ],
  sortino_ratio: [
    'Sortino ratio (daily equity)',
    'ratio',
    'mean(R_d) / std(negative R_d around their own mean) * sqrt(365); null with fewer than two distinct negative days',
  ],
  sortino_ratio_downside: [
    'Sortino ratio, downside deviation',
    'ratio',
    'mean(R_d) / sqrt(sum of min(R_d, 0)^2 / number of days) * sqrt(365) (textbook definition); null without a negative day',
  ],
  calmar_ratio: [
    'Calmar ratio (daily equity)',
    'ratio',
    '(total_profit_pct / D) / (max_drawdown_pct / 100) * sqrt(365); null without a drawdown. See cagr_to_drawdown for the textbook scale',
  ],
  cagr_to_drawdown: [
    'CAGR to drawdown',
    'ratio',
    'cagr_pct / max_drawdown_pct (textbook Calmar ratio); null without a drawdown',
  ],
  volatility_pct: ['Annualized volatility %', 'percent', 'std(R_d) * sqrt(365) * 100'],
  max_drawdown_pct: [
    'Max drawdown % (daily equity)',
    'percent',
    'maximum of (M_d - E_d) / M_d * 100, at least 0. Equals the maximum of -drawdown[] in the equity resource',
  ],
  max_drawdown_abs: ['Max drawdown (daily equity)', 'quote', 'maximum of M_d - E_d'],
  max_drawdown_candle_pct: [
    'Max drawdown % (every candle)',
    'percent',
    'max_drawdown_pct computed from the equity at the close of every candle',
  ],
  max_drawdown_candle_abs: [
    'Max drawdown (every candle)',
    'quote',
    'max_drawdown_abs computed from the equity at the close of every candle',
  ],
  time_under_water_pct: ['Time under water %', 'percent', 'percentage of days with E_d below M_d'],
  longest_drawdown_days: [
    'Longest drawdown',
    'days',
    'maximum number of days from a peak of E_d to the first day back at the peak, or to the end of the run',
  ],
  best_day_pct: ['Best day %', 'percent', 'maximum of R_d * 100'],
  worst_day_pct: ['Worst day %', 'percent', 'minimum of R_d * 100'],
  lowest_equity: ['Lowest equity', 'quote', 'minimum of B0 and the equity at the close of every candle'],
  highest_equity: ['Highest equity', 'quote', 'maximum of B0 and the equity at the close of every candle'],
});

const CLOSED_TRADES = define<ClosedTradeMetrics>('closed_trades', {
  total_trades: ['Trades', 'count', 'n'],
  winning_trades: ['Winning trades', 'count', 'trades with p_i > 0'],
  losing_trades: ['Losing trades', 'count', 'trades with p_i < 0'],
  draws: ['Draws', 'count', 'trades with p_i exactly 0'],
  win_rate: ['Win rate %', 'percent', 'winning trades / n * 100; null without trades'],
  profit_mean_pct: [
    'Mean profit %',
    'percent',
    'mean(q_i) * 100, relative to the collateral; null without trades',
  ],
  profit_median_pct: ['Median profit %', 'percent', 'median(q_i) * 100; null without trades'],
  profit_sum_pct: ['Sum of profit %', 'percent', 'sum of q_i * 100; this is not the growth of the account'],
  best_trade_pct: ['Best trade %', 'percent', 'maximum of q_i * 100'],
  worst_trade_pct: ['Worst trade %', 'percent', 'minimum of q_i * 100'],
  avg_duration_minutes: [
    'Average duration',
    'minutes',
    "mean of the time from the entry candle's open to the exit candle's open",
  ],
  profit_factor: ['Profit factor', 'ratio', 'sum of p_i > 0 / |sum of p_i < 0|; null without losses'],
  expectancy: [
    'Expectancy',
    'quote',
    'win share * average win - loss share * average loss, per trade. Draws count in the shares; null without trades',
  ],
  expectancy_ratio: [
    'Expectancy ratio',
    'ratio',
    '(1 + average win / average loss) * win share - 1; null without losses',
  ],
  sqn: [
    'System quality number',
    'ratio',
    'sqrt(n) * mean(r_i) / std_(n-1)(r_i), not rounded; null with fewer than two distinct results',
  ],
  p_value: [
    'p-value of the mean trade',
    'probability',
    "two-sided Student's t-test of mean(r_i) = 0: t = sqn, n - 1 degrees of freedom. The test assumes independent trades",
  ],
  closed_trade_sharpe_ratio: [
    'Sharpe ratio (closed trades)',
    'ratio',
    '(sum of r_i / D) / std(r_i over trades) * sqrt(365); not comparable with a daily Sharpe ratio',
  ],
  closed_trade_sortino_ratio: [
    'Sortino ratio (closed trades)',
    'ratio',
    '(sum of r_i / D) / std(r_i < 0 around their own mean) * sqrt(365); null with fewer than two distinct losses',
  ],
  closed_trade_calmar_ratio: [
    'Calmar ratio (closed trades)',
    'ratio',
    '(sum of r_i / D * 100) / (closed_trade_max_drawdown_pct / 100) * sqrt(365); null without a drawdown',
  ],
  closed_trade_max_drawdown_abs: [
    'Max drawdown (closed trades)',
    'quote',
    'largest fall of B0 + p_1 + ... + p_i below its running maximum, which starts at B0. Unrealized losses are not included',
  ],
  closed_trade_max_drawdown_pct: [
    'Max drawdown % (closed trades)',
    'percent',
    'closed_trade_max_drawdown_abs / peak balance before that fall * 100',
  ],
  closed_trade_max_relative_drawdown_pct: [
    'Max relative drawdown % (closed trades)',
    'percent',
    'maximum over all closes of fall / peak balance * 100',
  ],
  lowest_closed_balance: ['Lowest balance', 'quote', 'minimum of B0 and B0 + p_1 + ... + p_i'],
  highest_closed_balance: ['Highest balance', 'quote', 'maximum of B0 and B0 + p_1 + ... + p_i'],
  best_day_profit: [
    'Best day',
    'quote',
    'maximum over UTC days of the sum of p_i closed that day, from the first to the last day with a close',
  ],
  worst_day_profit: [
    'Worst day',
    'quote',
    'minimum of the sums of best_day_profit; a day without a close in between counts as 0',
  ],
  winning_days: ['Winning days', 'count', 'days of best_day_profit with a sum above 0'],
  draw_days: [
    'Draw days',
    'count',
    'days of best_day_profit with a sum of exactly 0, including days without a close',
  ],
  losing_days: ['Losing days', 'count', 'days of best_day_profit with a sum below 0'],
});

const ACTIVITY = define<ActivityMetrics>('activity', {
  trades_per_day: ['Trades per day', 'ratio', 'n / D'],
  exposure_pct: [
    'Exposure %',
    'percent',
    'percentage of candles that end with at least one open trade. The first candle is excluded: no trade can be open in it',
  ],
  avg_open_trades: [
    'Average open trades',
    'ratio',
    'mean number of trades open at the end of a candle, over the candles of exposure_pct',
  ],
  max_open_trades: [
    'Maximum number of open trades',
    'count',
    'maximum number of trades open at the end of a candle',
  ],
  min_duration_minutes: [
    'Shortest trade',
    'minutes',
    'minimum duration; 0 means entry and exit in one candle',
  ],
  max_duration_minutes: ['Longest trade', 'minutes', 'maximum duration'],
  avg_duration_winners_minutes: [
    'Average duration of winners',
    'minutes',
    'mean duration of trades with p_i > 0',
  ],
  avg_duration_losers_minutes: [
    'Average duration of losers',
    'minutes',
    'mean duration of trades with p_i < 0',
  ],
  max_consecutive_wins: [
    'Maximum consecutive wins',
    'count',
    'maximum number of consecutive trades with p_i > 0',
  ],
  max_consecutive_losses: [
    'Maximum consecutive losses',
    'count',
    'maximum number of consecutive trades with p_i <= 0; a draw counts as a loss here',
  ],
  same_candle_trades: ['Trades within one candle', 'count', 'trades with entry and exit in the same candle'],
  left_open_trades: [
    'Left open',
    'count',
    'trades closed only because the data ended; all totals include them',
  ],
  avg_stake: ['Average stake', 'quote', 'mean collateral of a trade'],
  avg_leverage: ['Average leverage', 'ratio', 'mean leverage of a trade'],
  total_volume: [
    'Total volume',
    'quote',
    'sum of amount * (entry price + exit price) plus both fees, as in freqtrade',
  ],
});

/** Every metric of the report by name: its label, unit, family and formula. */
export const METRIC_DEFINITIONS = { ...ACCOUNT, ...EQUITY, ...CLOSED_TRADES, ...ACTIVITY };
