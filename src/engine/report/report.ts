import type { ResolvedBacktestConfig } from '#contract/backtest.ts';
import type {
  BacktestReport,
  FillModelComparison,
  Provenance,
  ReportCounters,
  ReportPairData,
  ReportSettings,
} from '#contract/report.ts';
import type { ReportModels } from '#contract/report-models.ts';
import { METRIC_DEFINITIONS, METRIC_NOTATION } from '#engine/metrics/catalogue.ts';
import type { ComputedMetrics } from '#engine/metrics/metrics.ts';
import { MODEL_DEFINITIONS } from '#engine/metrics/model-catalogue.ts';
import { REPORT_DEFINITIONS } from '#engine/metrics/report-catalogue.ts';
import type { EquityCurve, Simulation, SimulationCounters } from '#engine/simulator/types.ts';
import type { StrategyDefinition } from '#engine/strategy.ts';
import { knownBiases } from './biases.ts';
import { buildCosts } from './costs.ts';
import { buildDrawdowns } from './drawdowns.ts';
import { buildPeriods } from './periods.ts';
import { roundNumbers } from './round.ts';
import { buildTables } from './tables.ts';
import { resultWarnings } from './warnings.ts';

/** Raised when the shape of a stored report changes. */
const REPORT_SCHEMA_VERSION = 1;

export interface ReportInput {
  readonly strategy: StrategyDefinition;
  readonly config: ResolvedBacktestConfig;
  readonly settings: ReportSettings;
  readonly simulation: Simulation;
  readonly curve: EquityCurve;
  readonly computed: ComputedMetrics;
  readonly fillModel: FillModelComparison;
  readonly data: readonly ReportPairData[];
  readonly models: ReportModels | undefined;
  /** Found before the simulation; the report adds those that its numbers call for. */
  readonly warnings: readonly string[];
  readonly provenance: Provenance;
}

export function buildReport(input: ReportInput): BacktestReport {
  const { strategy, config, simulation, computed, data } = input;
  const { counters } = simulation;
  const wallet = config.dry_run_wallet;
  const warnings = resultWarnings({
    config,
    canShort: input.settings.can_short,
    metrics: computed.metrics,
    counters,
    fillModel: input.fillModel,
    data,
    models: input.models,
  });
  return roundNumbers<BacktestReport>({
    schema_version: REPORT_SCHEMA_VERSION,
    strategy: { name: strategy.name, description: strategy.description },
    settings: input.settings,
    warnings: [...input.warnings, ...warnings],
    metrics: computed.metrics,
    tables: buildTables(
      data.map((each) => each.pair),
      wallet,
      computed,
    ),
    periods: buildPeriods(computed.trades, computed.daily, wallet),
    drawdowns: buildDrawdowns(wallet, computed.daily, input.curve, computed.candleDrawdown),
    costs: buildCosts(computed.trades),
    counters: reportCounters(counters),
    fill_model: input.fillModel,
    data: [...data],
    ...(input.models && { models: input.models }),
    biases: knownBiases(strategy, config),
    notation: METRIC_NOTATION,
    definitions: {
      ...METRIC_DEFINITIONS,
      ...REPORT_DEFINITIONS,
      ...(input.models && MODEL_DEFINITIONS),
    },
    provenance: input.provenance,
  });
}

function reportCounters(counters: SimulationCounters): ReportCounters {
  return {
    rejected_signals: counters.rejectedSignals,
    timed_out_entries: counters.timedOutEntries,
    timed_out_exits: counters.timedOutExits,
    cancelled_entries: counters.cancelledEntries,
    replaced_entries: counters.replacedEntries,
  };
}
