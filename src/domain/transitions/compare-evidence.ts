import type { BacktestResult, ResolvedBacktestConfig } from '#contract/backtests/backtest.ts';
import type { LookAheadState } from '#contract/config/look-ahead.ts';
import type { VersionComparison } from '#contract/registry/catalog-api.ts';
import type { StoredVersion } from '#contract/registry/stored-registry.ts';
import { BACKTEST_DEFAULTS } from '#contract/values/backtest-limits.ts';
import { comparableValue, undefinedReason } from '#contract/values/undefined-metrics.ts';
import { canonicalJson } from '#engine/digest.ts';
import { roundNumber } from '#engine/round.ts';
import { lookAheadStateOfVersion } from './check-status.ts';
import { type ComparedMetrics, type ComparisonDecision, decideChallenger } from './decide-challenger.ts';

/** Part of a version that a comparison reads. */
export type ComparedVersion = Pick<
  StoredVersion,
  'model_name' | 'version' | 'metrics' | 'config' | 'engine_version' | 'candle_digest' | 'trials'
> & { readonly look_ahead: LookAheadState };

/** The comparison of two versions, see {@link comparisonOf}. */
export function comparisonOfVersions(a: StoredVersion, b: StoredVersion): VersionComparison {
  const read = (version: StoredVersion) => ({ ...version, look_ahead: lookAheadStateOfVersion(version) });
  return comparisonOf(read(a), read(b));
}

/** The comparison of champion a with challenger b. */
export function comparisonOf(a: ComparedVersion, b: ComparedVersion): VersionComparison {
  const differences = differencesOf(a.config, b.config);
  const metrics = compareMetrics(a.metrics, b.metrics);
  const trades = { a: a.metrics.trade_stats, b: b.metrics.trade_stats };
  const lookAhead = { a: a.look_ahead, b: b.look_ahead };
  const { reasons, ...decided } = decideChallenger(metrics, {
    trades,
    differences: differences.map(({ field }) => field),
    lookAhead,
  });
  return {
    model_name: a.model_name,
    version_a: a.version,
    version_b: b.version,
    ...decided,
    exchange: { a: a.config.exchange, b: b.config.exchange },
    look_ahead: lookAhead,
    sample_sizes: { a: trades.a.n, b: trades.b.n },
    comparable: differences.length === 0,
    differences,
    metrics,
    recommendation: recommend(a, b, { reasons, ...decided }, differences.length === 0),
    warnings: warningsOf(a, b),
  };
}

/** Different market, timeframe or period: the values are not comparable. */
function differencesOf(a: ResolvedBacktestConfig, b: ResolvedBacktestConfig) {
  const rows = [
    { field: 'exchange', a: a.exchange, b: b.exchange },
    { field: 'trading_mode', a: modeOf(a), b: modeOf(b) },
    { field: 'pairs', a: pairsOf(a), b: pairsOf(b) },
    { field: 'timeframe', a: a.timeframe, b: b.timeframe },
    { field: 'date_range', a: rangeOf(a), b: rangeOf(b) },
  ];
  return rows.filter((row) => row.a !== row.b);
}

const modeOf = ({ trading_mode }: ResolvedBacktestConfig) => trading_mode ?? BACKTEST_DEFAULTS.trading_mode;
const pairsOf = ({ pairs }: ResolvedBacktestConfig) => pairs.toSorted().join(', ');
const rangeOf = ({ date_range: { start, end } }: ResolvedBacktestConfig) => `${start} to ${end}`;

/** Settings that change the result but are not part of the strategy. */
const ASSUMPTIONS = [
  'fee',
  'slippage',
  'slippage_model',
  'fill_model',
  'precision',
  'dry_run_wallet',
  'timeframe_detail',
] as const;

/** A setting as it is compared and shown; a model by its keys in a fixed order. */
function assumptionText(value: ResolvedBacktestConfig[(typeof ASSUMPTIONS)[number]]): string {
  if (value === undefined) return 'none';
  return typeof value === 'object' && value !== null ? canonicalJson(value) : String(value);
}

function warningsOf(a: ComparedVersion, b: ComparedVersion): string[] {
  const assumed = ASSUMPTIONS.map((name) => ({
    name,
    a: assumptionText(a.config[name]),
    b: assumptionText(b.config[name]),
  }))
    .filter((each) => each.a !== each.b)
    .map((each) => `They were run with different ${each.name}: ${each.a} and ${each.b}`);
  const engines =
    a.engine_version === b.engine_version
      ? []
      : [`They were run by different engines: ${a.engine_version} and ${b.engine_version}`];
  // The digest also differs when the number of startup candles differs over the same date range.
  const candles =
    differencesOf(a.config, b.config).length > 0 || a.candle_digest === b.candle_digest
      ? []
      : ['They read different candles: the number of startup candles differs, or stored data changed'];
  const chosen = [a, b]
    .filter(({ trials }) => trials > 1)
    .map(
      ({ version, trials }) =>
        `Version ${version} is one of ${trials} tried: choosing among them flatters the metrics of what was chosen`,
    );
  return [...assumed, ...engines, ...candles, ...chosen];
}

function recommend(
  a: ComparedVersion,
  b: ComparedVersion,
  decided: ComparisonDecision,
  comparable: boolean,
): string {
  const reasons = decided.reasons.join('; ');
  switch (decided.decision) {
    case 'PROMOTE':
      return `Promote version ${b.version}: ${reasons}`;
    case 'REJECT':
      return `Keep version ${a.version} and not version ${b.version}: ${reasons}`;
    case 'INCONCLUSIVE':
      return comparable
        ? `Keep version ${a.version} for now; the evidence is insufficient for version ${b.version}: ${reasons}`
        : `Versions ${a.version} and ${b.version} cannot be compared: ${reasons}. Register both from backtests over the same market and time`;
  }
}

type Direction = ComparedMetrics[string]['direction'];

/** Compared metrics, and which of their values are better. */
const BETTER_VALUES = {
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
function compareMetrics(a: BacktestResult, b: BacktestResult): ComparedMetrics {
  const rows = Object.entries(BETTER_VALUES).flatMap(([name, direction]) => {
    const values = { a: a[name as keyof typeof BETTER_VALUES], b: b[name as keyof typeof BETTER_VALUES] };
    if (values.a === null || values.b === null) return [];
    const baseline = { a: values.a, b: values.b };
    const notes = notesOf(name, baseline.a, a, b);
    const isKnown = !notes.includes('undefined_a') && !notes.includes('undefined_b');
    const improvement = isKnown ? improvementOf(baseline.a, baseline.b, direction) : 0;
    const reasons = { a: undefinedReason(a, name), b: undefinedReason(b, name) };
    const isDefined = reasons.a === null && reasons.b === null;
    return [[name, { ...baseline, improvement, direction, ...(!isDefined && { reasons }), notes }]];
  });
  return Object.fromEntries(rows);
}

function notesOf(
  name: string,
  baseline: number,
  a: BacktestResult,
  b: BacktestResult,
): ComparedMetrics[string]['notes'] {
  const withoutLosses = [a, b].some((result) => undefinedReason(result, name) === 'no_losses');
  return [
    ...(Math.abs(baseline) < NEAR_ZERO ? (['baseline_near_zero'] as const) : []),
    ...(withoutLosses ? (['no_losses'] as const) : []),
    ...(comparableValue(a, name) === null ? (['undefined_a'] as const) : []),
    ...(comparableValue(b, name) === null ? (['undefined_b'] as const) : []),
  ];
}
