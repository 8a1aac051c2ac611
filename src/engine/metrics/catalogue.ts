import type { MetricDefinition } from '#contract/backtests/report.ts';
import type {
  AccountMetrics,
  ActivityMetrics,
  ClosedTradeMetrics,
  EquityMetrics,
} from '#contract/backtests/report-metrics.ts';
import { METRIC_LABELS, type MetricName, type MetricUnit } from '#contract/values/metric-labels.ts';

/** Families of metrics and other parts of a report. */
type MetricFamily =
  | 'account'
  | 'equity'
  | 'closed_trades'
  | 'activity'
  | 'trades'
  | 'costs'
  | 'periods'
  | 'drawdowns'
  | 'counters'
  | 'fill_model'
  | 'assumptions'
  | 'data'
  | 'models'
  | 'robustness'
  | 'slippage'
  | 'universe';

/** Symbols of the formulas. */
export const METRIC_NOTATION = {
  B0: 'starting balance (the wallet), quote currency',
  p_i: "profit of trade i after fees, slippage and funding, quote currency; trades are in order of closing. In a table row: that row's trades",
  r_i: 'p_i / B0',
  q_i: 'profit of trade i on its own collateral, entry fee included: p_i * leverage / (amount * entry price * (1 + fee)), for a short (1 - fee). Equals profit_pct / 100',
  n: 'number of trades',
  T: 'days from the open of the first traded candle to the close of the last, a fraction',
  D: "number of full days between the open times of the first and the last candle of the run, at least 1: freqtrade's days",
  E_d: 'equity at the last candle of UTC day d, open positions valued at the close; E_0 = B0',
  R_d: 'E_d / E_(d-1) - 1, 0 when smaller than 1e-9 in size. Every day of the run counts; the first is relative to the wallet',
  M_d: 'maximum of E_0 to E_d',
  std: 'population standard deviation; std_(n-1) is the sample standard deviation',
  null: 'undefined: a division by zero, too few values, or a non-finite number',
} as const;

type Definitions<K extends string> = { readonly [Name in K]: MetricDefinition };

/** Definitions from rows of label, unit and formula. */
export function define<K extends string>(
  family: MetricFamily,
  rows: Readonly<Record<K, readonly [label: string, unit: MetricUnit, formula: string]>>,
): Definitions<K> {
  const entries = Object.entries(rows as Record<string, readonly [string, MetricUnit, string]>);
  return Object.fromEntries(
    entries.map(([name, [label, unit, formula]]) => [name, { label, unit, family, formula }]),
  ) as Definitions<K>;
}

/** Definitions of the metrics of a family, from their formulas. The contract has labels and units. */
function defineMetrics<M>(
  family: MetricFamily,
  formulas: Readonly<Record<keyof M & MetricName, string>>,
): Definitions<keyof M & MetricName> {
  const entries = Object.entries(formulas) as [keyof M & MetricName, string][];
  return Object.fromEntries(
    entries.map(([name, formula]) => {
      const [label, unit] = METRIC_LABELS[name];
      return [name, { label, unit, family, formula }];
    }),
  ) as Definitions<keyof M & MetricName>;
}

const ACCOUNT = defineMetrics<AccountMetrics>('account', {
  starting_balance: 'B0',
  final_balance: 'wallet after the last trade closed',
  total_profit: 'sum of p_i',
  total_profit_pct: 'sum of p_i / B0 * 100',
  cagr_pct:
    '((final balance / B0)^(365 / T) - 1) * 100; null for T below 30, and when the final balance is not above 0. In a table row the final balance is B0 + sum of p_i',
  avg_daily_profit_pct: 'sum of p_i / B0 / T * 100',
  market_change_pct: 'mean over the pairs of (last close / first close - 1) * 100, without startup candles',
  backtest_days: 'T',
});

const EQUITY = defineMetrics<EquityMetrics>('equity', {
  sharpe_ratio:
    'mean(R_d) / std(R_d) * sqrt(365), with the population deviation and without a risk-free rate; null when all R_d are equal. The root of 365 is right for markets that close too, because closed days count with a return of 0',
  sortino_ratio:
    'mean(R_d) / sqrt(sum of min(R_d, 0)^2 / number of days) * sqrt(365); null without a negative day',
  calmar_ratio: 'cagr_pct / max_drawdown_pct; null without a drawdown, and when cagr_pct is null',
  freqtrade_sortino_ratio:
    'mean(R_d) / std(negative R_d around their own mean) * sqrt(365); null with fewer than two distinct negative days',
  freqtrade_calmar_ratio:
    '(total_profit_pct / D) / (max_drawdown_pct / 100) * sqrt(365); null without a drawdown',
  volatility_pct: 'std(R_d) * sqrt(365) * 100',
  max_drawdown_pct:
    'maximum of (M_d - E_d) / M_d * 100; 0 when smaller than 1e-7. Equals the maximum of -drawdown[] in the equity resource',
  max_drawdown_abs: 'maximum of M_d - E_d; 0 when max_drawdown_pct is 0',
  max_drawdown_candle_pct: 'max_drawdown_pct computed from the equity at the close of every candle',
  max_drawdown_candle_abs: 'max_drawdown_abs computed from the equity at the close of every candle',
  time_under_water_pct: 'percentage of days with E_d below M_d',
  longest_drawdown_days:
    'maximum number of days from a peak of E_d to the first day back at the peak, or to the end of the run',
  best_day_pct: 'maximum of R_d * 100',
  worst_day_pct: 'minimum of R_d * 100',
  lowest_equity: 'minimum of B0 and the equity at the close of every candle',
  highest_equity: 'maximum of B0 and the equity at the close of every candle',
});

const CLOSED_TRADES = defineMetrics<ClosedTradeMetrics>('closed_trades', {
  total_trades: 'n',
  winning_trades: 'trades with p_i > 0',
  losing_trades: 'trades with p_i < 0',
  draws: 'trades with p_i exactly 0',
  win_rate: 'winning trades / n * 100; null without trades',
  profit_mean_pct: 'mean(q_i) * 100, relative to the collateral; null without trades',
  profit_median_pct: 'median(q_i) * 100; null without trades',
  profit_sum_pct: 'sum of q_i * 100; this is not the growth of the account',
  best_trade_pct: 'maximum of q_i * 100',
  worst_trade_pct: 'minimum of q_i * 100',
  avg_duration_minutes: "mean of the time from the entry candle's open to the exit candle's open",
  profit_factor: 'sum of p_i > 0 / |sum of p_i < 0|; null without losses',
  expectancy:
    'win share * average win - loss share * average loss, per trade. Draws count in the shares; null without trades',
  expectancy_ratio: '(1 + average win / average loss) * win share - 1; null without losses',
  sqn: 'sqrt(n) * mean(r_i) / std_(n-1)(r_i), not rounded; null with fewer than two distinct results',
  p_value:
    "two-sided Student's t-test of mean(r_i) = 0: t = sqn, n - 1 degrees of freedom. The test assumes independent trades",
  closed_trade_sharpe_ratio:
    '(sum of r_i / D) / std(r_i over trades) * sqrt(365); not comparable with a daily Sharpe ratio',
  closed_trade_sortino_ratio:
    '(sum of r_i / D) / std(r_i < 0 around their own mean) * sqrt(365); null with fewer than two distinct losses',
  closed_trade_calmar_ratio:
    '(sum of r_i / D * 100) / (closed_trade_max_drawdown_pct / 100) * sqrt(365); null without a drawdown',
  closed_trade_max_drawdown_abs:
    'largest fall of B0 + p_1 + ... + p_i below its running maximum, which starts at B0. Unrealized losses are not included',
  closed_trade_max_drawdown_pct: 'closed_trade_max_drawdown_abs / peak balance before that fall * 100',
  closed_trade_max_relative_drawdown_pct: 'maximum over all closes of fall / peak balance * 100',
  lowest_closed_balance: 'minimum of B0 and B0 + p_1 + ... + p_i',
  highest_closed_balance: 'maximum of B0 and B0 + p_1 + ... + p_i',
  best_day_profit:
    'maximum over UTC days of the sum of p_i closed that day, from the first to the last day with a close',
  worst_day_profit: 'minimum of the sums of best_day_profit; a day without a close in between counts as 0',
  winning_days: 'UTC days of the run on which the sum of the p_i closed that day is above 0',
  draw_days:
    'UTC days of the run on which that sum is exactly 0, including days without a close. The three numbers add up to the days of the equity resource',
  losing_days: 'UTC days of the run on which that sum is below 0',
});

const ACTIVITY = defineMetrics<ActivityMetrics>('activity', {
  trades_per_day: 'n / T',
  exposure_pct:
    'percentage of candles that end with at least one open trade. The first candle is excluded: no trade can be open in it',
  avg_open_trades: 'mean number of trades open at the end of a candle, over the candles of exposure_pct',
  max_open_trades: 'maximum number of trades open at the end of a candle',
  min_duration_minutes: 'minimum duration; 0 means entry and exit in one candle',
  max_duration_minutes: 'maximum duration',
  avg_duration_winners_minutes: 'mean duration of trades with p_i > 0',
  avg_duration_losers_minutes: 'mean duration of trades with p_i < 0',
  max_consecutive_wins: 'maximum number of consecutive trades with p_i > 0',
  max_consecutive_losses: 'maximum number of consecutive trades with p_i <= 0; a draw counts as a loss here',
  same_candle_trades: 'trades with entry and exit in the same candle',
  left_open_trades: 'trades closed only because the data ended; all totals include them',
  avg_stake: 'mean collateral of a trade',
  avg_leverage: 'mean leverage of a trade',
  total_volume: 'sum of amount * price plus fee of all orders, as in freqtrade',
});

/** Every metric of the report by name: its label, unit, family and formula. */
export const METRIC_DEFINITIONS = { ...ACCOUNT, ...EQUITY, ...CLOSED_TRADES, ...ACTIVITY };
