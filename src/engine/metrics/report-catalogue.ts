import type { MetricDefinition } from '#contract/backtests/report.ts';
import { define } from './catalogue.ts';

// Definitions of the numbers in the other parts of a report that are not metrics, by part and name.

const TRADES = define('trades', {
  'trades.id': ['Number', 'count', '1 for the first closed trade'],
  'trades.duration_minutes': ['Duration', 'minutes', 'closed_at - opened_at'],
  'trades.entry_price': ['Entry price', 'quote', 'mean entry price, slippage included, fee excluded'],
  'trades.exit_price': ['Exit price', 'quote', 'exit price, slippage included, fee excluded'],
  'trades.amount': ['Amount', 'base', 'stake * leverage / entry price'],
  'trades.stake': ['Stake', 'quote', 'collateral of the trade, fees excluded'],
  'trades.leverage': ['Leverage', 'ratio', 'value of the position at entry / stake'],
  'trades.fees': ['Fees', 'quote', 'fee * amount * (entry price + exit price)'],
  'trades.slippage_cost': [
    'Slippage',
    'quote',
    'amount * (slippage of the entry price + slippage of the exit price); the prices include it',
  ],
  'trades.funding': [
    'Funding',
    'quote',
    'sum over the funding times while the trade is open; positive means received',
  ],
  'trades.profit': [
    'Profit',
    'quote',
    'p_i: amount * (exit price - entry price), for a short (entry price - exit price), - fees + funding',
  ],
  'trades.profit_pct': ['Profit %', 'percent', 'q_i * 100'],
  'trades.initial_stop_price': ['First stop', 'quote', 'stop price at the opening of the trade'],
  'trades.stop_price': ['Last stop', 'quote', 'stop price at the closing of the trade'],
  'trades.liquidation_price': [
    'Liquidation price',
    'quote',
    'isolated margin, buffer included; null if no price liquidates the trade',
  ],
  'trades.lowest_price': [
    'Lowest price',
    'quote',
    'minimum from the candle that fills the entry to the candle of the exit',
  ],
  'trades.highest_price': [
    'Highest price',
    'quote',
    'maximum from the candle that fills the entry to the candle of the exit',
  ],
});

const COSTS = define('costs', {
  'costs.gross_profit': ['Profit before costs', 'quote', 'sum of p_i + total of the costs'],
  'costs.turnover': ['Turnover', 'quote', 'sum of amount * (entry price + exit price)'],
  'costs.amount': ['Cost', 'quote', 'sum over the trades; positive means paid, negative means received'],
  'costs.pct_of_gross_profit': [
    'Cost % of the profit',
    'percent',
    'cost / profit before costs * 100; null unless that profit is positive',
  ],
  'costs.pct_of_turnover': ['Cost % of turnover', 'percent', 'cost / turnover * 100; null without trades'],
});

const PERIODS = define('periods', {
  'periods.return_pct': [
    'Return %',
    'percent',
    "(E at the period's last day / E of the day before its first day - 1) * 100. For a weekday: its R_d compounded",
  ],
});

const DRAWDOWNS = define('drawdowns', {
  'drawdowns.depth_pct': [
    'Depth %',
    'percent',
    '(peak - low) / peak * 100, of the daily or the candle equity',
  ],
  'drawdowns.depth_abs': ['Depth', 'quote', 'peak - low of the daily equity'],
  'drawdowns.duration_days': [
    'Duration',
    'days',
    'from the peak to the day back at the peak, or to the end of the run',
  ],
  'drawdowns.days_to_low': ['Days to the low', 'days', 'from the peak to the low'],
  'drawdowns.peak_equity': ['Peak', 'quote', 'equity at the close of the candle of the peak'],
  'drawdowns.low_equity': ['Low', 'quote', 'equity at the close of the candle of the low'],
});

const COUNTERS = define('counters', {
  'counters.rejected_signals': [
    'Rejected signals',
    'count',
    'entry signals that found no free slot. With detail candles a signal is tried in each detail candle of its candle, and counts once',
  ],
  'counters.timed_out_entries': [
    'Timed out entries',
    'count',
    'unfilled entry orders cancelled after the timeout',
  ],
  'counters.timed_out_exits': [
    'Timed out exits',
    'count',
    'unfilled exit orders cancelled after the timeout',
  ],
  'counters.cancelled_entries': [
    'Cancelled entries',
    'count',
    'unfilled entry orders that a callback cancelled',
  ],
  'counters.replaced_entries': [
    'Replaced entries',
    'count',
    'unfilled entry orders that a callback replaced at another price',
  ],
});

/** Counters of strategies with `adjustExitPrice`. */
export const EXIT_ORDER_DEFINITIONS = define('counters', {
  'counters.cancelled_exits': ['Cancelled exits', 'count', 'unfilled exit orders that a callback cancelled'],
  'counters.replaced_exits': [
    'Replaced exits',
    'count',
    'unfilled exit orders that a callback replaced at another price',
  ],
});

const FILL_MODEL = define('fill_model', {
  'fill_model.differing_trades': [
    'Differing trades',
    'count',
    'trades of a pair with the same entry time in both runs that exit at another time, at another price or for another reason',
  ],
  'fill_model.shifted_trades': [
    'Shifted trades',
    'count',
    'between two trades with the same entry time, before the first and after the last: the k-th trade of one run and the k-th of the other',
  ],
  'fill_model.unmatched_trades': ['Unmatched trades', 'count', 'all other trades, of either run'],
  'fill_model.alternative_trades': ['Trades, other model', 'count', 'n under the other fill model'],
  'fill_model.alternative_total_profit': [
    'Profit, other model',
    'quote',
    'sum of p_i under the other fill model',
  ],
  'fill_model.alternative_total_profit_pct': [
    'Profit %, other model',
    'percent',
    'sum of p_i under the other fill model / B0 * 100',
  ],
  'fill_model.freed_later_entries': [
    'Entries on what is freed later',
    'count',
    'trades of the freqtrade model whose entry took a slot or money that a later moment of the same candle freed',
  ],
  'fill_model.freed_later_profit': ['Their profit', 'quote', 'sum of p_i of these trades'],
  'fill_model.freed_later_profit_pct': ['Their profit %', 'percent', 'sum of p_i of these trades / B0 * 100'],
});

const ASSUMPTIONS = define('assumptions', {
  'assumptions.trades': ['Trades', 'count', 'trades that the assumption changes'],
  'assumptions.amount': [
    'Earned',
    'quote',
    'profit now - profit without the assumption, same trades and stakes',
  ],
  'assumptions.amount_pct': ['Earned, %', 'percent', 'amount / B0 * 100'],
  'assumptions.basis_points': ['Basis points', 'count', 'of the values of entries and exits'],
});

const DATA = define('data', {
  'data.candles': ['Candles', 'count', 'traded candles, startup candles excluded'],
  'data.startup_candles': [
    'Startup candles',
    'count',
    'candles before the first traded candle; used for indicators only',
  ],
  'data.filled_candles': [
    'Filled candles',
    'count',
    'missing candles filled flat at the previous close, startup included',
  ],
  'data.filled_pct': ['Filled %', 'percent', 'filled candles / (candles + startup candles) * 100'],
  'data.largest_jump_pct': [
    'Largest jump %',
    'percent',
    'maximum of |open / previous close - 1| * 100 over the candles read',
  ],
  'data.enter_long_signals': ['Long signals', 'count', 'rows in which the strategy signals a long entry'],
  'data.enter_short_signals': ['Short signals', 'count', 'rows in which the strategy signals a short entry'],
  'data.market_change_pct': ['Market change %', 'percent', '(last close / first close - 1) * 100'],
  'data.funding_events': ['Funding events', 'count', 'number of funding times read'],
  'data.detail_candles': ['Detail candles', 'count', 'number of candles read in the detail timeframe'],
});

export const REPORT_DEFINITIONS: Readonly<Record<string, MetricDefinition>> = {
  ...TRADES,
  ...COSTS,
  ...PERIODS,
  ...DRAWDOWNS,
  ...COUNTERS,
  ...FILL_MODEL,
  ...ASSUMPTIONS,
  ...DATA,
};

/** Definitions for a run with a slippage model. */
export const SLIPPAGE_DEFINITIONS = define('slippage', {
  'slippage.large_trades': [
    'Large trades',
    'count',
    'trades with a fill above 1 % of the volume of the candle before it',
  ],
  'slippage.large_trades_pct': ['Large trades %', 'percent', 'large trades / n * 100'],
  'slippage.mean_spread_pct': [
    'Mean spread %',
    'percent',
    'mean of the estimated spread over the traded days * 100; a market fill pays half of it',
  ],
  'slippage.days_without_estimate': [
    'Days without estimate',
    'count',
    'traded days with too few days before them to estimate spread or impact',
  ],
  'slippage.capped_entries': [
    'Reduced entries',
    'count',
    'entry orders and additions above the limit of participation',
  ],
  'slippage.dropped_value': [
    'Dropped value',
    'quote',
    'sum of (ordered amount - filled amount) * order price before slippage over the reduced entries',
  ],
  'slippage.capped_exits': [
    'Delayed exits',
    'count',
    'attempts to exit that filled less than their amount, one for each candle',
  ],
});

/** Definitions for a run with the ML engine. p: out-of-sample prediction; y: label, 0 or 1. */
export const MODEL_DEFINITIONS = define('models', {
  'models.features': ['Features', 'count', 'input columns of a model'],
  'models.horizon': [
    'Horizon',
    'count',
    'candles until a label is known; training excludes this many candles before the window',
  ],
  'models.trained': ['Models', 'count', 'trained models over all windows and pairs'],
  'models.windows_total': ['Windows', 'count', 'windows over all pairs'],
  'models.index': ['Window', 'count', '0 for the first window of the range'],
  'models.training_rows': ['Training rows', 'count', 'labeled candles on which the model was trained'],
  'models.training_positives_pct': [
    'Training label %',
    'percent',
    'percentage of training rows with label 1',
  ],
  'models.iterations': ['Iterations', 'count', 'trees, or steps of the regression, used for prediction'],
  'models.rows': ['Predictions', 'count', 'predictions whose label is known by the end of the data'],
  'models.positives_pct': ['Label %', 'percent', 'share of y = 1 * 100'],
  'models.auc': [
    'AUC',
    'probability',
    'probability that a row with y = 1 has a larger p than a row with y = 0; ties count half. Null with only one class',
  ],
  'models.log_loss': ['Log loss', 'ratio', 'mean of -ln p where y = 1, -ln(1 - p) where y = 0'],
  'models.base_log_loss': [
    'Log loss of the base rate',
    'ratio',
    'log loss of the constant prediction p = share of y = 1',
  ],
  'models.brier': ['Brier score', 'ratio', 'mean of (p - y)^2'],
  'models.low': ['Low end', 'probability', 'p of the bin is at least this value'],
  'models.high': ['High end', 'probability', 'p of the bin is below this value; the last bin includes 1'],
  'models.mean_probability': ['Mean probability', 'probability', 'mean of p in the bin'],
  'models.positive_share': ['Positive share', 'probability', 'share of y = 1 in the bin'],
  'models.gain': [
    'Gain',
    'ratio',
    'share of the training loss reduction at splits by the feature, or of the absolute weights; mean over the models',
  ],
  'models.permutation': [
    'Permutation importance',
    'ratio',
    'increase of the log loss when the feature is shuffled among the rows of a window; mean over at most 12 windows',
  ],
});
