import { nameOf } from './changes.ts';
import { type Run, sharpeRange } from './compare-runs.ts';
import type { CiReport, StrategyReport } from './run.ts';

/** The report for programs. */
export function jsonOf({ base, head, formerSettings, strategies, unchanged, broken, failed }: CiReport) {
  return {
    failed,
    base: base && { commit: base.commit, name: base.name },
    head,
    settings_changed: formerSettings !== undefined,
    unchanged,
    broken,
    strategies: strategies.map(strategyJson),
  };
}

function strategyJson({
  change,
  certificate,
  head,
  base,
  comparison,
  checks,
  failures,
  warnings,
}: StrategyReport) {
  return {
    strategy: nameOf(change),
    change: change.kind,
    file: change.head?.file ?? null,
    before: change.base && { strategy: change.base.name, file: change.base.file },
    certificate,
    failures,
    warnings,
    guardrails: checks,
    base: base && runJson(base),
    head: head && runJson(head),
    comparison: comparison && {
      same_result: comparison.isSameResult,
      candles: comparison.candles,
      trades: comparison.trades,
      confidence: comparison.confidence,
      settings: comparison.settings,
      metrics: comparison.metrics,
      guardrails: comparison.guardrails,
    },
  };
}

function runJson(run: Run) {
  const { job, report } = run.results;
  return {
    config: job.config,
    metrics: report.metrics,
    sharpe_interval_95: sharpeRange(run),
    biases: report.biases,
    provenance: report.provenance,
  };
}
