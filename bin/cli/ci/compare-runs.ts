import type { Trade } from '#contract/backtests/report.ts';
import type { ValidationCheck } from '#contract/common/validation-check.ts';
import { type ComparedVersion, comparisonOf } from '#domain/transitions/compare-evidence.ts';
import { sharpeInterval, sharpeSample } from '#engine/stats/sharpe-ratio.ts';
import { type Comparison, compareResults } from '../reports/comparison.ts';
import type { Results } from '../reports/load-results.ts';

/** A completed backtest of one side. */
export interface Run {
  readonly results: Results;
  readonly trades: readonly Trade[];
}

/** Trades of two runs of the same candles. */
interface TradeChanges {
  readonly same: number;
  /** Same entry, other time or price of the exit. */
  readonly other_exit: number;
  readonly only_base: number;
  readonly only_head: number;
}

export interface RunComparison {
  readonly metrics: Comparison['metrics'];
  readonly settings: Comparison['settings'];
  readonly equity: Comparison['equity'];
  readonly trades: TradeChanges;
  readonly candles: 'same' | 'same_except_startup' | 'different';
  /** True when source, settings and candles are equal, or the trades are. */
  readonly isSameResult: boolean;
  /** Probability that the mean trade of the head is better, or its share of better metrics; null without trades. */
  readonly confidence: number | null;
  readonly guardrails: readonly ValidationCheckLike[];
}

type ValidationCheckLike = Pick<ValidationCheck, 'name' | 'message'> & {
  readonly status: 'passed' | 'broken' | 'undefined';
};

const DAYS_PER_YEAR = 365;

/** 95 % confidence interval of the annualized Sharpe ratio of daily equity; null when it is not defined. */
export function sharpeRange({ results: { job, equity } }: Run): readonly [number, number] | null {
  const returns = equity.equity.map(
    (value, day) => value / (day === 0 ? job.config.dry_run_wallet : equity.equity[day - 1]!) - 1,
  );
  const sample = sharpeSample(returns);
  const interval = sample && sharpeInterval(sample);
  if (!interval) return null;
  const [low, high] = interval.map((each) => each * Math.sqrt(DAYS_PER_YEAR));
  return [low!, high!];
}

export function compareRuns(base: Run, head: Run): RunComparison {
  const { metrics, settings, equity } = compareResults(base.results, head.results);
  const decided = comparisonOf(versionOf(base, 'base'), versionOf(head, 'head'));
  const trades = compareTrades(base.trades, head.trades);
  const candles = candlesOf(base, head);
  const [a, b] = [base, head].map(({ results }) => results.report.provenance.digest);
  const noOther = trades.other_exit + trades.only_base + trades.only_head === 0;
  return {
    metrics,
    settings,
    equity,
    trades,
    candles,
    isSameResult: a === b || (noOther && metrics.every(({ change }) => change === 0 || change === null)),
    confidence: candles === 'different' ? null : decided.confidence,
    guardrails: candles === 'different' ? [] : decided.guardrails,
  };
}

function versionOf({ results: { job, report } }: Run, version: string): ComparedVersion {
  return {
    model_name: job.config.strategy,
    version,
    trials: 1,
    metrics: job.result!,
    config: job.config,
    engine_version: report.provenance.engine_version,
    candle_digest: report.provenance.data_digest,
    look_ahead: job.look_ahead?.state ?? 'not_checked',
  };
}

/** The digest covers startup candles, whose number belongs to the strategy. */
function candlesOf({ results: a }: Run, { results: b }: Run): RunComparison['candles'] {
  if (a.report.provenance.data_digest === b.report.provenance.data_digest) return 'same';
  const traded = ({ job: { config }, report }: Results) =>
    JSON.stringify([
      config.exchange,
      config.timeframe,
      config.timeframe_detail,
      report.data.map(({ pair, candles, first, last }) => [pair, candles, first, last]),
    ]);
  return traded(a) === traded(b) ? 'same_except_startup' : 'different';
}

/** A pair has one trade at a time, so pair, side and time of the entry identify a trade. */
function compareTrades(base: readonly Trade[], head: readonly Trade[]): TradeChanges {
  const keyOf = ({ pair, side, opened_at }: Trade) => `${pair} ${side} ${opened_at}`;
  const before = new Map(base.map((trade) => [keyOf(trade), trade]));
  const common = head.flatMap((after) => {
    const trade = before.get(keyOf(after));
    return trade ? [[trade, after] as const] : [];
  });
  const same = common.filter(
    ([a, b]) =>
      a.closed_at === b.closed_at && a.exit_price === b.exit_price && a.entry_price === b.entry_price,
  ).length;
  return {
    same,
    other_exit: common.length - same,
    only_base: base.length - common.length,
    only_head: head.length - common.length,
  };
}
