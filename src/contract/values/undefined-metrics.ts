/**
 * Metrics of a run that have no value, and what they count as in thresholds, filters and orders. This file imports nothing, so the
 * engine and the CLI can read it without zod.
 */

/** Why a metric is undefined, with the words that texts and pages show. */
export const UNDEFINED_REASONS = {
  no_trades: 'no trades',
  no_losses: 'no losses',
  no_wins: 'no wins',
  equal_trades: 'no two different trades',
  equal_losses: 'no two different losses',
  under_30_days: 'under 30 days',
  balance_lost: 'nothing is left',
  equal_days: 'all days are equal',
  no_losing_day: 'no losing day',
  equal_losing_days: 'no two different losing days',
  no_drawdown: 'no drawdown',
  too_few_values: 'too few values',
} as const;
export type UndefinedReason = keyof typeof UNDEFINED_REASONS;
export type UndefinedMetrics = Readonly<Record<string, UndefinedReason>>;

/** Days of a run from which its growth is given for a year. */
export const MIN_CAGR_DAYS = 30;
/** Days of a run below which the growth for a year is marked as that of a short run. */
export const SHORT_RUN_DAYS = 90;

/** Finite profit factor of a run with wins and without losses, where the interface has a number in every case. */
export const PROFIT_FACTOR_WITHOUT_LOSSES = 999;
/** Trades from which a profit factor without losses counts as infinite. With fewer it is undefined. */
export const MIN_TRADES_WITHOUT_LOSSES = 30;

/** A result, or a part of one. Results of earlier engines lack `undefined_metrics`. */
interface ResultPart {
  readonly total_trades?: number | undefined;
  readonly undefined_metrics?: UndefinedMetrics | undefined;
  readonly [metric: string]: unknown;
}

/** Why a metric of a result has no value; null when it has one, or when the reason was not stored. */
export function undefinedReason(result: ResultPart, name: string): UndefinedReason | null {
  const { undefined_metrics: stored, total_trades: trades } = result;
  if (stored) return stored[name] ?? null;
  // Two fields of a result are numbers where they are undefined.
  if (trades === 0 && (name === 'sharpe_ratio' || name === 'profit_factor')) return 'no_trades';
  if (name === 'profit_factor' && result[name] === PROFIT_FACTOR_WITHOUT_LOSSES) return 'no_losses';
  return null;
}

/**
 * Value of a metric in thresholds, filters and orders: null when it is undefined, so that it satisfies no threshold and comes last.
 * A profit factor without losses is infinite from {@link MIN_TRADES_WITHOUT_LOSSES} trades on.
 */
export function comparableValue(result: ResultPart, name: string): number | null {
  const value = result[name];
  const reason = undefinedReason(result, name);
  if (reason === null) return typeof value === 'number' ? value : null;
  return isInfinite(result, name) ? Number.POSITIVE_INFINITY : null;
}

function isInfinite(result: ResultPart, name: string): boolean {
  return (
    name === 'profit_factor' &&
    // Without wins it is 0.
    result[name] === PROFIT_FACTOR_WITHOUT_LOSSES &&
    (result.total_trades ?? 0) >= MIN_TRADES_WITHOUT_LOSSES
  );
}

/**
 * Text of a metric with its note.
 *
 * @param text null for an undefined metric, of which the dash is shown; a profit factor without a value is only its reason
 */
export function withNote(name: string, text: string | null, note: string | null, dash: string): string {
  if (note === null) return text ?? dash;
  return text === null && name === 'profit_factor' ? note : `${text ?? dash} (${note})`;
}

/** Why the profit factor of a group of trades has no value; null when it has one. */
export function noProfitFactor(group: {
  readonly profit_factor: number | null;
  readonly total_trades: number;
}): string | null {
  if (group.profit_factor !== null) return null;
  return UNDEFINED_REASONS[group.total_trades === 0 ? 'no_trades' : 'no_losses'];
}

/** Figures of the same run over other pairs. */
interface OtherRun {
  readonly cagr_pct: number | null;
  readonly sharpe_ratio: number | null;
  readonly total_profit_pct: number | null;
  readonly total_trades: number;
}

/** Why a figure of a run over other pairs has no value; null when it has one. */
export function otherRunNote(run: OtherRun, name: string): string | null {
  if (name === 'cagr_pct' && run.cagr_pct === null)
    return UNDEFINED_REASONS[(run.total_profit_pct ?? 0) <= -100 ? 'balance_lost' : 'under_30_days'];
  if (name === 'sharpe_ratio' && run.sharpe_ratio === null)
    return UNDEFINED_REASONS[run.total_trades === 0 ? 'no_trades' : 'equal_days'];
  return null;
}

/** Metrics that extrapolate a run to a year. */
const OF_A_YEAR = ['cagr_pct', 'calmar_ratio'];

/** What a text says beside a metric: why it has no value, or that it extrapolates a short run; null for nothing. */
export function metricNote(result: ResultPart, name: string): string | null {
  const reason = undefinedReason(result, name);
  if (reason !== null) return UNDEFINED_REASONS[reason];
  return result.short_run === true && OF_A_YEAR.includes(name) ? 'short run' : null;
}
