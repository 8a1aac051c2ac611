import type { BacktestResult, ResolvedBacktestConfig } from '#contract/backtests/backtest.ts';
import type { VersionComparison } from '#contract/registry/catalog-api.ts';
import type { StoredVersion } from '#contract/registry/stored-registry.ts';
import { CodedError } from '#contract/values/errors.ts';
import { BACKTEST_DEFAULTS, COMPARISON_MINIMUMS } from '#contract/values/limits.ts';
import { canonicalJson } from '#engine/digest.ts';
import { roundNumber } from '#engine/report/round.ts';
import { type SampleStats, welchTest } from '#engine/stats/welch.ts';
import { findVersion } from '../transitions/find-version.ts';
import type { RegistryStore } from '../transitions/registry-store.ts';

export interface CompareVersionsInput {
  readonly model: string;
  /** Numbers, or the aliases `latest` and `champion`. */
  readonly version_a: string;
  readonly version_b: string;
}

/**
 * Compares champion a with challenger b on their registered backtests. The confidence is computed from count, mean and
 * variance of profit_pct over all trades, which every result stores, so that no trade list is read.
 * Throws RES002 for an unknown model, RES003 for an unknown version, VAL005 when both are the same one.
 */
export async function compareVersions(
  deps: { readonly registry: RegistryStore },
  input: CompareVersionsInput,
): Promise<VersionComparison> {
  const { model, version_a, version_b } = input;
  if (version_a === version_b) throw sameVersion(version_b);
  const [a, b] = await Promise.all([
    findVersion(deps.registry, { model, version: version_a, field: 'version_a', modelField: 'name' }),
    findVersion(deps.registry, { model, version: version_b, field: 'version_b', modelField: 'name' }),
  ]);
  if (a.version === b.version) throw sameVersion(b.version);
  return comparisonOf(a, b);
}

/** Part of a version that a comparison reads. */
export type ComparedVersion = Pick<
  StoredVersion,
  'model_name' | 'version' | 'metrics' | 'config' | 'engine_version' | 'candle_digest' | 'trials'
>;

/** The comparison of champion a with challenger b. */
export function comparisonOf(a: ComparedVersion, b: ComparedVersion): VersionComparison {
  const differences = differencesOf(a.config, b.config);
  const metrics = compareMetrics(a.metrics, b.metrics);
  const trades = { a: a.metrics.trade_stats, b: b.metrics.trade_stats };
  const { reasons, ...decided } = decideChallenger(
    metrics,
    trades,
    differences.map(({ field }) => field),
  );
  return {
    model_name: a.model_name,
    version_a: a.version,
    version_b: b.version,
    ...decided,
    sample_sizes: { a: trades.a.n, b: trades.b.n },
    comparable: differences.length === 0,
    differences,
    metrics,
    recommendation: recommend(a, b, { reasons, ...decided }, differences.length === 0),
    warnings: warningsOf(a, b),
  };
}

function sameVersion(version: string): CodedError {
  return new CodedError('VAL005', {
    message: 'version_a and version_b are the same version: name two versions',
    field: 'version_b',
    context: { value: version },
  });
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
        `Version ${version} is the best of ${trials} tried: selection bias flatters its metrics`,
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

type ComparedMetrics = VersionComparison['metrics'];
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

type Decision = VersionComparison['decision'];
type Guardrail = VersionComparison['guardrails'][number];

/** Percent by which drawdown and Sharpe ratio may be worse. */
const MAX_WORSENING = -10;
const MIN_PROFIT_FACTOR = 1;
const {
  sharpe_improvement_pct: MIN_IMPROVEMENT,
  trades: MIN_TRADES,
  confidence: MIN_CONFIDENCE,
} = COMPARISON_MINIMUMS;

/** profit_pct over the trades of one backtest; null when there are too few. */
interface TradeStats {
  readonly n: number;
  readonly mean: number | null;
  readonly variance: number | null;
}

interface ComparisonDecision {
  readonly decision: Decision;
  readonly confidence: number;
  readonly confidence_method: VersionComparison['confidence_method'];
  readonly guardrails: Guardrail[];
  /** Reasons, each a clause; for PROMOTE the evidence in favor. */
  readonly reasons: readonly string[];
}

/**
 * Decides whether challenger b should replace champion a. Not comparable: INCONCLUSIVE. A broken guardrail:
 * REJECT. All {@link COMPARISON_MINIMUMS} reached: PROMOTE. Otherwise INCONCLUSIVE.
 */
function decideChallenger(
  metrics: ComparedMetrics,
  trades: { readonly a: TradeStats; readonly b: TradeStats },
  differences: readonly string[],
): ComparisonDecision {
  const guardrails = checkGuardrails(metrics);
  const support = supportFor(metrics, trades);
  const decide = (decision: Decision, reasons: readonly string[]): ComparisonDecision => ({
    decision,
    confidence: roundNumber(confidenceIn(decision, support)),
    confidence_method: support.method,
    guardrails,
    reasons,
  });
  if (differences.length > 0) return decide('INCONCLUSIVE', [`they differ in ${differences.join(', ')}`]);
  const broken = guardrails.filter(({ status }) => status === 'broken');
  if (broken.length > 0) {
    return decide(
      'REJECT',
      broken.map(({ message }) => message),
    );
  }
  const lacking = lackingForPromotion(metrics, support.better);
  if (lacking.length > 0) return decide('INCONCLUSIVE', lacking);
  return decide('PROMOTE', [
    `its Sharpe ratio is ${percent(metrics.sharpe_ratio!.improvement)} better`,
    'no guardrail is broken',
  ]);
}

function checkGuardrails(metrics: ComparedMetrics): Guardrail[] {
  const drawdown = metrics.max_drawdown_pct!.improvement;
  const sharpe = metrics.sharpe_ratio!.improvement;
  const factor = metrics.profit_factor!.b;
  return [
    {
      name: 'max_drawdown_pct',
      status: drawdown < MAX_WORSENING ? 'broken' : 'passed',
      value: drawdown,
      threshold: MAX_WORSENING,
      message: `its drawdown is ${change(drawdown, 'smaller', 'larger')}`,
    },
    {
      name: 'profit_factor',
      status: factor < MIN_PROFIT_FACTOR ? 'broken' : 'passed',
      value: factor,
      threshold: MIN_PROFIT_FACTOR,
      message: `its profit factor is ${Number(factor.toPrecision(4))}`,
    },
    {
      name: 'sharpe_ratio',
      status: sharpe <= MAX_WORSENING ? 'broken' : 'passed',
      value: sharpe,
      threshold: MAX_WORSENING,
      message: `its Sharpe ratio is ${change(sharpe, 'better', 'worse')}`,
    },
  ];
}

function lackingForPromotion(metrics: ComparedMetrics, better: number): string[] {
  const { improvement } = metrics.sharpe_ratio!;
  const trades = metrics.total_trades!.b;
  return [
    ...(improvement < MIN_IMPROVEMENT
      ? [`its Sharpe ratio is ${change(improvement, 'better', 'worse')}, not ${MIN_IMPROVEMENT} % better`]
      : []),
    ...(trades < MIN_TRADES ? [`it has ${trades} trades, not ${MIN_TRADES}`] : []),
    ...(better < MIN_CONFIDENCE
      ? [`the confidence that it is better is ${better.toFixed(2)}, not ${MIN_CONFIDENCE.toFixed(2)}`]
      : []),
  ];
}

/** Evidence that b is better and that b is worse, each 0 to 1. */
interface Support {
  readonly method: ComparisonDecision['confidence_method'];
  readonly better: number;
  readonly worse: number;
}

function supportFor(
  metrics: ComparedMetrics,
  trades: { readonly a: TradeStats; readonly b: TradeStats },
): Support {
  const [a, b] = [sampleOf(trades.a), sampleOf(trades.b)];
  const test = a && b && welchTest(a, b);
  if (test) {
    const better = test.probabilityBLarger;
    return { method: 'welch', better, worse: 1 - better };
  }
  const votes = Object.values(metrics).filter(({ direction }) => direction !== 'none');
  const share = (agrees: (improvement: number) => boolean) =>
    votes.filter(({ improvement }) => agrees(improvement)).length / votes.length;
  return {
    method: 'metric_agreement',
    better: share((improvement) => improvement > 0),
    worse: share((improvement) => improvement < 0),
  };
}

function sampleOf({ n, mean, variance }: TradeStats): SampleStats | undefined {
  return mean === null || variance === null ? undefined : { n, mean, variance };
}

function confidenceIn(decision: Decision, { better, worse }: Support): number {
  if (decision === 'PROMOTE') return better;
  return decision === 'REJECT' ? worse : Math.max(better, worse);
}

function change(improvement: number, better: string, worse: string): string {
  if (improvement === 0) return 'the same';
  return `${percent(Math.abs(improvement))} ${improvement > 0 ? better : worse}`;
}

const percent = (value: number) => `${Number(value.toPrecision(4))} %`;
