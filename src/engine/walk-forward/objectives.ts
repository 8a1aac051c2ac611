import type { BacktestResult } from '#contract/backtests/backtest.ts';
import type { Metrics } from '#contract/backtests/report-metrics.ts';
import type { Direction } from '#contract/hyperopt/hyperopt.ts';
import { METRIC_DEFINITIONS } from '../metrics/catalogue.ts';

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

/** @throws RangeError for a name that is not in {@link OBJECTIVES} */
export function requireObjective(name: string): void {
  if (OBJECTIVES.some((each) => each.name === name)) return;
  throw new RangeError(
    `${JSON.stringify(name)} is not a metric that can be optimized. Use the name of a report metric, fees or funding.`,
  );
}

/**
 * Objective of a run. Null where undefined, as in the report: a Sharpe ratio without trades is null, not 0.
 *
 * @param name one of {@link OBJECTIVES}
 */
export function objectiveValue(
  name: string,
  metrics: Metrics,
  costs: Pick<BacktestResult, 'fees' | 'funding'>,
): number | null {
  if (name === 'fees' || name === 'funding') return costs[name];
  const { family } = METRIC_DEFINITIONS[name as keyof typeof METRIC_DEFINITIONS];
  const values: Readonly<Record<string, number | null>> = metrics[family as keyof Metrics];
  return values[name] ?? null;
}
