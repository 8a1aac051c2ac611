import type { VersionComparison } from '#contract/registry/catalog-api.ts';
import { COMPARISON_MINIMUMS } from '#contract/values/challenge-limits.ts';
import { PROFIT_FACTOR_WITHOUT_LOSSES, UNDEFINED_REASONS } from '#contract/values/undefined-metrics.ts';
import { roundNumber } from '#engine/round.ts';
import { type SampleStats, welchTest } from '#engine/stats/welch.ts';

/** Compared metrics by name; positive improvements are better. */
export type ComparedMetrics = VersionComparison['metrics'];
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

export interface ComparisonDecision {
  readonly decision: Decision;
  readonly confidence: number;
  readonly confidence_method: VersionComparison['confidence_method'];
  readonly guardrails: Guardrail[];
  /** Reasons, each a clause; for PROMOTE the evidence in favor. */
  readonly reasons: readonly string[];
}

/** What a decision reads besides the metrics. */
interface Compared {
  readonly trades: { readonly a: TradeStats; readonly b: TradeStats };
  /** Fields in which the backtests differ. */
  readonly differences: readonly string[];
  readonly lookAhead: VersionComparison['look_ahead'];
}

/**
 * Decides whether challenger b should replace champion a. Look-ahead bias in b: REJECT; in a, or not comparable: INCONCLUSIVE. A
 * broken guardrail: REJECT. All {@link COMPARISON_MINIMUMS} reached, and no guardrail undefined: PROMOTE. Otherwise INCONCLUSIVE.
 */
export function decideChallenger(
  metrics: ComparedMetrics,
  { trades, differences, lookAhead }: Compared,
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
  if (lookAhead.b === 'found') return decide('REJECT', ['look-ahead bias was found in it']);
  if (lookAhead.a === 'found')
    return decide('INCONCLUSIVE', [
      'look-ahead bias was found in the champion, whose metrics cannot be earned',
    ]);
  if (differences.length > 0) return decide('INCONCLUSIVE', [`they differ in ${differences.join(', ')}`]);
  const broken = guardrails.filter(({ status }) => status === 'broken');
  if (broken.length > 0) {
    return decide(
      'REJECT',
      broken.map(({ message }) => message),
    );
  }
  const lacking = [
    ...guardrails.filter(({ status }) => status === 'undefined').map(({ message }) => message),
    ...lackingForPromotion(metrics, support.better),
  ];
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
  const isUndefined = (name: string) => metrics[name]!.notes.includes('undefined_b');
  const why = (name: string) => {
    const reason = metrics[name]!.reasons?.b;
    return !reason ? 'undefined' : `undefined (${UNDEFINED_REASONS[reason]})`;
  };
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
      // Without trades it is 0.
      status: factor < MIN_PROFIT_FACTOR ? 'broken' : isUndefined('profit_factor') ? 'undefined' : 'passed',
      value: factor,
      threshold: MIN_PROFIT_FACTOR,
      message: isUndefined('profit_factor')
        ? `its profit factor is ${why('profit_factor')}`
        : `its profit factor is ${factor === PROFIT_FACTOR_WITHOUT_LOSSES ? 'without losses' : Number(factor.toPrecision(4))}`,
    },
    {
      name: 'sharpe_ratio',
      status: isUndefined('sharpe_ratio') ? 'undefined' : sharpe <= MAX_WORSENING ? 'broken' : 'passed',
      value: sharpe,
      threshold: MAX_WORSENING,
      message: isUndefined('sharpe_ratio')
        ? `its Sharpe ratio is ${why('sharpe_ratio')}`
        : `its Sharpe ratio is ${change(sharpe, 'better', 'worse')}`,
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
