import type { BacktestResult } from '#contract/backtest.ts';
import type { VersionComparison } from '#contract/catalog-api.ts';
import { roundNumber } from '#engine/report/round.ts';

export type ComparedMetrics = VersionComparison['metrics'];
export type Direction = ComparedMetrics[string]['direction'];

/** What is compared, and which values of it are better. */
const DIRECTIONS = {
  total_profit: 'higher',
  total_profit_pct: 'higher',
  sharpe_ratio: 'higher',
  profit_factor: 'higher',
  win_rate: 'higher',
  expectancy: 'higher',
  max_drawdown_pct: 'lower',
  total_trades: 'none',
  winning_trades: 'none',
  losing_trades: 'none',
} as const satisfies Partial<Record<keyof BacktestResult, Direction>>;

/** A baseline closer to 0 has no meaningful percentage. */
const NEAR_ZERO = 1e-9;

/**
 * Change from `a` to `b` in percent of the magnitude of `a`; positive is better where the metric has a direction. Where
 * lower is better the magnitudes are compared, so that a drawdown may have either sign. With `a` near 0: 0 when b is
 * equal, else 100 or -100.
 */
export function improvementOf(a: number, b: number, direction: Direction): number {
  const change = direction === 'lower' ? Math.abs(a) - Math.abs(b) : b - a;
  if (Math.abs(a) >= NEAR_ZERO) return roundNumber((change / Math.abs(a)) * 100);
  return Math.abs(change) < NEAR_ZERO ? 0 : Math.sign(change) * 100;
}

/** The metrics that both results define. */
export function compareMetrics(a: BacktestResult, b: BacktestResult): ComparedMetrics {
  const rows = Object.entries(DIRECTIONS).flatMap(([name, direction]) => {
    const values = { a: a[name as keyof typeof DIRECTIONS], b: b[name as keyof typeof DIRECTIONS] };
    if (values.a === null || values.b === null) return [];
    const baseline = { a: values.a, b: values.b };
    const improvement = improvementOf(baseline.a, baseline.b, direction);
    return [[name, { ...baseline, improvement, direction, notes: notesOf(name, baseline.a, [a, b]) }]];
  });
  return Object.fromEntries(rows);
}

function notesOf(
  name: string,
  baseline: number,
  results: readonly BacktestResult[],
): ComparedMetrics[string]['notes'] {
  const withoutLosses = name === 'profit_factor' && results.some(wonWithoutLosses);
  return [
    ...(Math.abs(baseline) < NEAR_ZERO ? (['baseline_near_zero'] as const) : []),
    ...(withoutLosses ? (['no_losses'] as const) : []),
  ];
}

const wonWithoutLosses = (result: BacktestResult) => result.winning_trades > 0 && result.losing_trades === 0;
