import type { ResolvedBacktestConfig } from '#contract/backtests/backtest.ts';
import type {
  BacktestReport,
  FillModelComparison,
  Provenance,
  ReportAssumptions,
  ReportCounters,
  ReportPairData,
  ReportSettings,
} from '#contract/backtests/report.ts';
import type { ReportInformative } from '#contract/backtests/report-informative.ts';
import type { Metrics } from '#contract/backtests/report-metrics.ts';
import type { ReportModels } from '#contract/backtests/report-models.ts';
import type { ReportRobustness } from '#contract/backtests/report-robustness.ts';
import type { ReportUniverse } from '#contract/backtests/report-universe.ts';
import { ACCOUNT_DEFAULTS } from '#contract/values/account-limits.ts';
import { formatCount } from '#contract/values/format-count.ts';
import { SHORT_RUN_DAYS } from '#contract/values/undefined-metrics.ts';
import { METRIC_DEFINITIONS, METRIC_NOTATION } from '../metrics/catalogue.ts';
import type { ComputedMetrics } from '../metrics/metrics.ts';
import {
  EXIT_ORDER_DEFINITIONS,
  MODEL_DEFINITIONS,
  REPORT_DEFINITIONS,
  SLIPPAGE_DEFINITIONS,
} from '../metrics/report-catalogue.ts';
import {
  CAPACITY_DEFINITIONS,
  MODELLED_ROBUSTNESS_DEFINITIONS,
  ROBUSTNESS_DEFINITIONS,
  ROBUSTNESS_TEST_DEFINITIONS,
} from '../metrics/robustness-catalogue.ts';
import { undefinedMetrics } from '../metrics/undefined.ts';
import { UNIVERSE_DEFINITIONS } from '../metrics/universe-catalogue.ts';
import { roundNumber, roundNumbers } from '../round.ts';
import type { EquityCurve, PairInput, Simulation, SimulationCounters } from '../simulator/types.ts';
import type { StrategyDefinition } from '../strategy.ts';
import { balanceWarnings } from './balance-warning.ts';
import { knownBiases } from './biases.ts';
import { reportLocks } from './locks.ts';
import { buildSlippage } from './slippage.ts';
import { buildCosts, buildDrawdowns, buildPeriods, buildTables } from './tables.ts';

/** Raised when the shape of a stored report changes. */
const REPORT_SCHEMA_VERSION = 1;

interface ReportInput {
  readonly strategy: StrategyDefinition;
  readonly config: ResolvedBacktestConfig;
  readonly settings: ReportSettings;
  readonly simulation: Simulation;
  readonly curve: EquityCurve;
  readonly pairs: readonly PairInput[];
  readonly computed: ComputedMetrics;
  readonly fillModel: FillModelComparison;
  readonly assumptions: ReportAssumptions;
  readonly data: readonly ReportPairData[];
  readonly informative: ReportInformative[] | undefined;
  readonly models: ReportModels | undefined;
  readonly robustness: ReportRobustness;
  readonly universe: ReportUniverse | undefined;
  /** Warnings from before the simulation; the report adds its own. */
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
    curve: input.curve,
    pairs: input.pairs,
  });
  return roundNumbers<BacktestReport>({
    schema_version: REPORT_SCHEMA_VERSION,
    strategy: { name: strategy.name, description: strategy.description },
    settings: input.settings,
    warnings: [...input.warnings, ...warnings],
    metrics: computed.metrics,
    undefined_metrics: undefinedMetrics(computed.metrics),
    short_run: computed.length.days < SHORT_RUN_DAYS,
    tables: buildTables(
      data.map((each) => each.pair),
      wallet,
      computed,
    ),
    periods: buildPeriods(computed.trades, computed.daily, wallet),
    drawdowns: buildDrawdowns(wallet, computed.daily, input.curve),
    costs: buildCosts(computed.trades),
    counters: reportCounters(counters, strategy),
    ...(config.protections && { locks: reportLocks(simulation.locks) }),
    ...(simulation.fills && {
      slippage: buildSlippage(simulation.table, simulation.fills, input.pairs),
    }),
    fill_model: input.fillModel,
    data: [...data],
    robustness: input.robustness,
    ...(input.universe && { universe: input.universe }),
    ...(input.informative && { informative: input.informative }),
    ...(input.models && { models: input.models }),
    assumptions: input.assumptions,
    biases: knownBiases(strategy, config, data),
    notation: METRIC_NOTATION,
    definitions: {
      ...METRIC_DEFINITIONS,
      ...REPORT_DEFINITIONS,
      ...ROBUSTNESS_DEFINITIONS,
      ...(adjustsExits(strategy) && EXIT_ORDER_DEFINITIONS),
      ...(config.robustness && ROBUSTNESS_TEST_DEFINITIONS),
      ...(config.robustness?.capacity && CAPACITY_DEFINITIONS),
      ...(input.universe && UNIVERSE_DEFINITIONS),
      ...(input.models && MODEL_DEFINITIONS),
      ...(simulation.fills && { ...SLIPPAGE_DEFINITIONS, ...MODELLED_ROBUSTNESS_DEFINITIONS }),
    },
    provenance: input.provenance,
  });
}

const adjustsExits = ({ callbacks }: StrategyDefinition) => callbacks?.adjustExitPrice !== undefined;
function reportCounters(counters: SimulationCounters, strategy: StrategyDefinition): ReportCounters {
  return {
    rejected_signals: counters.rejectedSignals,
    timed_out_entries: counters.timedOutEntries,
    timed_out_exits: counters.timedOutExits,
    cancelled_entries: counters.cancelledEntries,
    replaced_entries: counters.replacedEntries,
    ...(adjustsExits(strategy) && {
      cancelled_exits: counters.cancelledExits,
      replaced_exits: counters.replacedExits,
    }),
  };
}

/** Minimum number of trades for ratios and tests without a warning. */
const FEW_TRADES = 30;

interface ResultWarningInput {
  readonly config: ResolvedBacktestConfig;
  readonly canShort: boolean;
  readonly metrics: Metrics;
  readonly counters: SimulationCounters;
  readonly fillModel: FillModelComparison;
  readonly data: readonly ReportPairData[];
  readonly models: ReportModels | undefined;
  readonly curve: EquityCurve;
  readonly pairs: readonly PairInput[];
}

/** Warnings about the result, one sentence each. */
function resultWarnings(input: ResultWarningInput): string[] {
  const { total_trades: trades } = input.metrics.closed_trades;
  const models = uselessModels(input);
  if (trades === 0) return [whyNoTrades(input), ...ignoredShorts(input), ...models];
  const warnings = [...ignoredShorts(input), ...models];
  if (trades < FEW_TRADES) {
    warnings.push(`The run has too few trades (${trades}) for a reliable p-value and reliable ratios.`);
  }
  const { rejectedSignals: rejected } = input.counters;
  if (rejected > 0) {
    warnings.push(
      `${formatCount(rejected, 'entry signal was', 'entry signals were')} rejected because no slot was free (max_open_trades ${input.config.max_open_trades}).`,
    );
  }
  const { config, canShort, curve, pairs } = input;
  return [
    ...warnings,
    ...balanceWarnings(config, canShort, curve, pairs),
    ...fillModelWarning(input),
    ...freedLaterWarning(input),
  ];
}

function whyNoTrades({ config, canShort, data }: ResultWarningInput): string {
  const signals = data.reduce(
    (count, pair) => count + pair.enter_long_signals + (canShort ? pair.enter_short_signals : 0),
    0,
  );
  if (signals === 0) return 'No trades: the strategy produced no entry signal in this range.';
  const ratio = config.tradable_balance_ratio ?? ACCOUNT_DEFAULTS.tradable_balance_ratio;
  const capital = config.available_capital;
  const tradable = capital ?? config.dry_run_wallet * ratio;
  if (config.stake_amount !== 'unlimited' && config.stake_amount > tradable) {
    const source =
      capital === undefined ? `${roundNumber(ratio * 100)} % of the wallet` : 'available_capital';
    return `No trades: the stake of ${config.stake_amount} exceeds the tradable balance of ${roundNumber(tradable)} (${source}).`;
  }
  return `No trades: ${formatCount(signals, 'entry signal')} led to none. Possible causes: colliding signals, the last candle, rejected or unfilled entries, a stake below the minimum.`;
}

function ignoredShorts({ config, canShort, data }: ResultWarningInput): string[] {
  const shorts = data.reduce((count, pair) => count + pair.enter_short_signals, 0);
  if (canShort || shorts === 0) return [];
  const reason =
    config.trading_mode === 'spot' ? 'spot has no shorts' : 'the strategy does not declare canShort';
  return [`${formatCount(shorts, 'short signal was', 'short signals were')} ignored: ${reason}.`];
}

function uselessModels({ models }: ResultWarningInput): string[] {
  if (!models) return [];
  const { log_loss, base_log_loss } = models.quality;
  if (log_loss === null || base_log_loss === null || log_loss < base_log_loss) return [];
  return [
    `Out of sample the models predict no better than the base rate (log loss ${log_loss.toFixed(3)}, base rate ${base_log_loss.toFixed(3)}). They have shown no predictive value.`,
  ];
}

function fillModelWarning({ fillModel, metrics }: ResultWarningInput): string[] {
  const { differing_trades: differing, alternative } = fillModel;
  const { shifted_trades: shifted = 0, unmatched_trades: unmatched = 0 } = fillModel;
  if (differing + shifted + unmatched === 0) return [];
  return [
    `Trades depend on the price path assumed inside a candle: with another exit under the other fill model ${differing}, at other times ${shifted}, under one of the two only ${unmatched}. The profit is ${fillModel.alternative_total_profit_pct.toFixed(2)} % under the ${alternative} fill model instead of ${metrics.account.total_profit_pct.toFixed(2)} %.`,
  ];
}

function freedLaterWarning({ fillModel }: ResultWarningInput): string[] {
  const { used, freed_later_entries: entries = 0, freed_later_profit_pct: profit = 0 } = fillModel;
  if (used !== 'freqtrade' || entries === 0) return [];
  return [
    `${formatCount(entries, 'entry', 'entries')} took a slot or money that a later moment of the same candle freed. ${entries === 1 ? 'Its trade' : 'Their trades'} earned ${profit.toFixed(2)} % of the wallet.`,
  ];
}
