import type { BacktestResult } from '#contract/backtests/backtest.ts';
import type { Metrics } from '#contract/backtests/report-metrics.ts';
import type { Direction } from '#contract/hyperopt/hyperopt.ts';
import { RENAMED_METRICS } from '#contract/values/metric-labels.ts';
import { comparableValue } from '#contract/values/undefined-metrics.ts';
import { METRIC_DEFINITIONS } from '../metrics/catalogue.ts';
import {
  type Expression,
  ExpressionError,
  evaluateExpression,
  parseExpression,
} from './objective-expression.ts';

/** A metric that a search can optimize. */
export interface Objective {
  readonly name: string;
  readonly label: string;
  /** Usual direction of improvement; null where it depends on the user's goal. */
  readonly better: Direction | null;
}

/** Metrics that do not depend on the parameters, so they cannot be optimized. */
const CONSTANT: ReadonlySet<string> = new Set(['starting_balance', 'market_change_pct', 'backtest_days']);

const MINIMIZE: ReadonlySet<string> = new Set([
  'losing_trades',
  'volatility_pct',
  'max_drawdown_pct',
  'max_drawdown_abs',
  'max_drawdown_candle_pct',
  'max_drawdown_candle_abs',
  'time_under_water_pct',
  'longest_drawdown_days',
  'p_value',
  'closed_trade_max_drawdown_abs',
  'closed_trade_max_drawdown_pct',
  'closed_trade_max_relative_drawdown_pct',
  'losing_days',
  'max_consecutive_losses',
  'left_open_trades',
  'avg_duration_losers_minutes',
  'fees',
]);

/** Amounts, durations and frequencies: more is neither better nor worse. */
const EITHER: ReadonlySet<string> = new Set([
  'total_trades',
  'draws',
  'draw_days',
  'avg_duration_minutes',
  'min_duration_minutes',
  'max_duration_minutes',
  'avg_duration_winners_minutes',
  'trades_per_day',
  'exposure_pct',
  'avg_open_trades',
  'max_open_trades',
  'same_candle_trades',
  'avg_stake',
  'avg_leverage',
  'total_volume',
]);

/** Every metric that a search can optimize: the metrics of the report, and the costs in the result. */
export const OBJECTIVES: readonly Objective[] = [
  ...Object.entries(METRIC_DEFINITIONS).map(([name, { label }]) => objective(name, label)),
  objective('fees', 'Fees paid'),
  objective('funding', 'Funding received'),
].filter(({ name }) => !CONSTANT.has(name));

function objective(name: string, label: string): Objective {
  const better = EITHER.has(name) ? null : MINIMIZE.has(name) ? 'minimize' : 'maximize';
  return { name, label, better };
}

/** The objective of a name, which may be that of an earlier engine. Undefined for any other name. */
export function findObjective(name: string): Objective | undefined {
  const present = RENAMED_METRICS[name] ?? name;
  return OBJECTIVES.find((each) => each.name === present);
}

/**
 * Parses an expression of metrics.
 *
 * @throws ExpressionError with the position of an unknown name or a wrong character, and for an expression without a metric
 */
export function parseObjective(text: string): Expression {
  const expression = parseExpression(text, (name) => findObjective(name) !== undefined);
  if (expression.metrics.length === 0) throw new ExpressionError('The expression names no metric', 0);
  return expression;
}

/** @throws RangeError for neither a metric nor an expression of metrics */
export function requireObjective(objective: string): void {
  if (findObjective(objective)) return;
  try {
    parseObjective(objective);
  } catch (cause) {
    throw new RangeError(
      `${JSON.stringify(objective)} is not a metric that can be optimized, nor an expression of such. Use the name of a report metric, fees or funding.`,
      { cause },
    );
  }
}

/**
 * Objective of a run; null where {@link objectiveProblem} has a reason.
 *
 * @param objective a name with an objective, or an expression of such
 */
export function objectiveValue(objective: string, metrics: Metrics, result: BacktestResult): number | null {
  if (findObjective(objective)) return metricValue(objective, metrics, result);
  const expression = parseObjective(objective);
  // NaN of an undefined metric makes the whole expression NaN, in min and max too.
  const value = evaluateExpression(expression, (name) => metricValue(name, metrics, result) ?? Number.NaN);
  return Number.isFinite(value) ? value : null;
}

/** Why the objective of a run has no value. */
export function objectiveProblem(objective: string, metrics: Metrics, result: BacktestResult): string {
  const trades = result.total_trades;
  const why = trades === 0 ? ': no trade was made' : ` with ${trades} trades`;
  if (findObjective(objective)) return `${objective} is undefined${why}`;
  const { metrics: names } = parseObjective(objective);
  const missing = names.find((name) => metricValue(name, metrics, result) === null);
  if (missing !== undefined) return `${objective} is undefined: ${missing} is undefined${why}`;
  return `${objective} is not finite${why}: a division by zero, or the root or logarithm of a number that has none`;
}

/**
 * Value of a metric of a run. Null where undefined, as in the report: a Sharpe ratio without trades is null, not 0. A profit factor that
 * counts as infinite is the number of the result.
 *
 * @param metric a name with an objective
 */
export function metricValue(metric: string, metrics: Metrics, result: BacktestResult): number | null {
  const { name } = findObjective(metric)!;
  if (name === 'fees' || name === 'funding') return result[name];
  if (name === 'profit_factor' && comparableValue(result, name) !== null) return result.profit_factor;
  const { family } = METRIC_DEFINITIONS[name as keyof typeof METRIC_DEFINITIONS];
  const values: Readonly<Record<string, number | null>> = metrics[family as keyof Metrics];
  return values[name] ?? null;
}
