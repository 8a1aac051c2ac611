import type { MetricDefinition } from '#contract/report.ts';
import { define } from './catalogue.ts';

// Definitions of the numbers in the other parts of a report that are not metrics, by part and name.

const TRADES = define('trades', {
  'trades.id': ['Number', 'count', '1 for the first trade that was closed'],
  'trades.duration_minutes': ['Duration', 'minutes', 'closed_at - opened_at'],
  'trades.entry_price': ['Entry price', 'quote', 'mean price of the entry, slippage included, fee not'],
  'trades.exit_price': ['Exit price', 'quote', 'price of the exit, slippage included, fee not'],
  'trades.amount': ['Amount', 'base', 'stake * leverage / entry price'],
  'trades.stake': ['Stake', 'quote', 'collateral of the trade, without its fees'],
  'trades.leverage': ['Leverage', 'ratio', 'value of the position at entry / stake'],
  'trades.fees': ['Fees', 'quote', 'fee * amount * (entry price + exit price)'],
  'trades.slippage_cost': [
    'Slippage',
    'quote',
    'amount * what entry and exit were worse than the prices without slippage; part of the prices',
  ],
  'trades.funding': ['Funding', 'quote', 'sum over the funding times while open; positive was received'],
  'trades.profit': [
    'Profit',
    'quote',
    'p_i: amount * (exit price - entry price), for a short (entry price - exit price), - fees + funding',
  ],
  'trades.profit_pct': ['Profit %', 'percent', 'q_i * 100'],
  'trades.initial_stop_price': ['First stop', 'quote', 'stop price when the trade was opened'],
  'trades.stop_price': ['Last stop', 'quote', 'stop price when the trade was closed'],
  'trades.liquidation_price': [
    'Liquidation price',
    'quote',
    'isolated margin, buffer included; null where no price liquidates',
  ],
  'trades.lowest_price': [
    'Lowest price',
    'quote',
    'from the candle that filled the entry to that of the exit',
  ],
  'trades.highest_price': [
    'Highest price',
    'quote',
    'from the candle that filled the entry to that of the exit',
  ],
});

const COSTS = define('costs', {
  'costs.gross_profit': ['Profit before costs', 'quote', 'sum of p_i + total of the costs'],
  'costs.turnover': ['Turnover', 'quote', 'sum of amount * (entry price + exit price)'],
  'costs.amount': ['Cost', 'quote', 'sum over the trades; positive was paid, negative was received'],
  'costs.pct_of_gross_profit': [
    'Cost % of the profit',
    'percent',
    'cost / profit before costs * 100; null without such a profit',
  ],
  'costs.pct_of_turnover': ['Cost % of turnover', 'percent', 'cost / turnover * 100; null without trades'],
});

const PERIODS = define('periods', {
  'periods.return_pct': [
    'Return %',
    'percent',
    "(E at the period's last day / E of the day before its first - 1) * 100; of a weekday: its R_d compounded",
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
    'from the peak to the day back at it, or to the end of the run',
  ],
  'drawdowns.days_to_low': ['Days to the low', 'days', 'from the peak to the low'],
  'drawdowns.peak_equity': ['Peak', 'quote', 'equity at the close of the candle of the peak'],
  'drawdowns.low_equity': ['Low', 'quote', 'equity at the close of the candle of the low'],
});

const COUNTERS = define('counters', {
  'counters.rejected_signals': [
    'Rejected signals',
    'count',
    'times an entry signal found no slot free; with detail candles a signal is tried in each of its candle',
  ],
  'counters.timed_out_entries': [
    'Timed out entries',
    'count',
    'entry orders cancelled unfilled after the time-out',
  ],
  'counters.timed_out_exits': [
    'Timed out exits',
    'count',
    'exit orders cancelled unfilled after the time-out',
  ],
  'counters.cancelled_entries': [
    'Cancelled entries',
    'count',
    'waiting entry orders that a callback gave up',
  ],
  'counters.replaced_entries': [
    'Replaced entries',
    'count',
    'waiting entry orders that a callback priced anew',
  ],
});

const FILL_MODEL = define('fill_model', {
  'fill_model.differing_trades': [
    'Differing trades',
    'count',
    'trades that only one of the two runs has, or that they close at another time or price',
  ],
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
});

const DATA = define('data', {
  'data.candles': ['Candles', 'count', 'traded on, startup candles left out'],
  'data.startup_candles': [
    'Startup candles',
    'count',
    'before the first candle traded on; for indicators only',
  ],
  'data.filled_candles': [
    'Filled candles',
    'count',
    'holes filled flat at the close before, startup included',
  ],
  'data.filled_pct': ['Filled %', 'percent', 'filled candles / (candles + startup candles) * 100'],
  'data.largest_jump_pct': [
    'Largest jump %',
    'percent',
    'largest |open / close of the candle before - 1| * 100 of the candles read',
  ],
  'data.enter_long_signals': ['Long signals', 'count', 'rows of the strategy that ask for a long'],
  'data.enter_short_signals': ['Short signals', 'count', 'rows of the strategy that ask for a short'],
  'data.market_change_pct': ['Market change %', 'percent', '(last close / first close - 1) * 100'],
  'data.funding_events': ['Funding events', 'count', 'funding times that were read'],
  'data.detail_candles': ['Detail candles', 'count', 'candles of the detail timeframe that were read'],
});

export const REPORT_DEFINITIONS: Readonly<Record<string, MetricDefinition>> = {
  ...TRADES,
  ...COSTS,
  ...PERIODS,
  ...DRAWDOWNS,
  ...COUNTERS,
  ...FILL_MODEL,
  ...DATA,
};

/** Definitions for a run with the ML engine. p: out-of-sample prediction; y: label, 0 or 1. */
export const MODEL_DEFINITIONS = define('models', {
  'models.features': ['Features', 'count', 'columns that a model is given'],
  'models.horizon': [
    'Horizon',
    'count',
    'candles until a label is known: so many before a window are left out of its training',
  ],
  'models.trained': ['Models', 'count', 'over all windows and pairs'],
  'models.windows_total': ['Windows', 'count', 'over all pairs'],
  'models.index': ['Window', 'count', '0 for the first window of the range'],
  'models.training_rows': ['Training rows', 'count', 'candles with a label on which the model was trained'],
  'models.training_positives_pct': ['Training label %', 'percent', 'of them with label 1'],
  'models.iterations': ['Iterations', 'count', 'trees, or steps of the regression, that predict'],
  'models.rows': ['Predictions', 'count', 'whose label is known by the end of the data'],
  'models.positives_pct': ['Label %', 'percent', 'share of y = 1 * 100'],
  'models.auc': [
    'AUC',
    'probability',
    'chance that a row with y = 1 has a larger p than one with y = 0, ties half; null with one class alone',
  ],
  'models.log_loss': ['Log loss', 'ratio', 'mean of -ln p where y = 1, -ln(1 - p) where y = 0'],
  'models.base_log_loss': [
    'Log loss of the base rate',
    'ratio',
    'log loss with p = share of y = 1 throughout',
  ],
  'models.brier': ['Brier score', 'ratio', 'mean of (p - y)^2'],
  'models.low': ['Low end', 'probability', 'p of the bin is at least this'],
  'models.high': ['High end', 'probability', 'p of the bin is below this; the last holds 1 too'],
  'models.mean_probability': ['Mean probability', 'probability', 'mean of p in the bin'],
  'models.positive_share': ['Came true', 'probability', 'share of y = 1 in the bin'],
  'models.gain': [
    'Gain',
    'ratio',
    'share of the reduction of the training loss at splits by the feature, or of the sizes of weights; mean over the models',
  ],
  'models.permutation': [
    'Permutation importance',
    'ratio',
    'rise of the log loss when the feature is shuffled among the rows of a window; mean over at most 12 windows',
  ],
});
