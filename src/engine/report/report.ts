import { METRIC_DEFINITIONS, METRIC_NOTATION, type MetricDefinition } from '#engine/metrics/catalogue.ts';
import type { ComputedMetrics, Metrics } from '#engine/metrics/metrics.ts';
import { MODEL_DEFINITIONS } from '#engine/metrics/model-catalogue.ts';
import { REPORT_DEFINITIONS } from '#engine/metrics/report-catalogue.ts';
import type { RunConfig } from '#engine/run/config.ts';
import type { PairDataSummary } from '#engine/run/prepare-pair.ts';
import type { EquityCurve, Simulation, SimulationCounters } from '#engine/simulator/types.ts';
import type { StrategyDefinition } from '#engine/strategy.ts';
import { type Bias, knownBiases } from './biases.ts';
import { buildCosts, type ReportCosts } from './costs.ts';
import { buildDrawdowns, type ReportDrawdowns } from './drawdowns.ts';
import type { FillModelComparison } from './fill-models.ts';
import type { ReportModels } from './models.ts';
import { buildPeriods, type ReportPeriods } from './periods.ts';
import type { Provenance } from './provenance.ts';
import { roundNumbers } from './round.ts';
import type { ReportSettings } from './settings.ts';
import { buildTables, type ReportTables } from './tables.ts';
import { resultWarnings } from './warnings.ts';

/** Raised when the shape of a stored report changes. */
const REPORT_SCHEMA_VERSION = 1;

interface ReportCounters {
  readonly rejected_signals: number;
  readonly timed_out_entries: number;
  readonly timed_out_exits: number;
  readonly cancelled_entries: number;
  readonly replaced_entries: number;
}

/** Everything a researcher reads of a run but the trades, which are paged. Undefined numbers are null. */
export interface BacktestReport {
  readonly schema_version: typeof REPORT_SCHEMA_VERSION;
  readonly strategy: { readonly name: string; readonly description: string };
  readonly settings: ReportSettings;
  readonly warnings: readonly string[];
  readonly metrics: Metrics;
  readonly tables: ReportTables;
  readonly periods: ReportPeriods;
  readonly drawdowns: ReportDrawdowns;
  readonly costs: ReportCosts;
  readonly counters: ReportCounters;
  readonly fill_model: FillModelComparison;
  readonly data: readonly PairDataSummary[];
  /** Absent in a run without the ML engine. */
  readonly models?: ReportModels;
  readonly biases: readonly Bias[];
  readonly notation: Readonly<Record<string, string>>;
  readonly definitions: Readonly<Record<string, MetricDefinition>>;
  readonly provenance: Provenance;
}

export interface ReportInput {
  readonly strategy: StrategyDefinition;
  readonly config: RunConfig;
  readonly settings: ReportSettings;
  readonly simulation: Simulation;
  readonly curve: EquityCurve;
  readonly computed: ComputedMetrics;
  readonly fillModel: FillModelComparison;
  readonly data: readonly PairDataSummary[];
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
    data,
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
