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
import { universeBiases } from '../universe/biases.ts';
import { balanceWarnings } from './balance-warning.ts';
import { reportLocks } from './locks.ts';
import { buildSlippage, slippageBiases } from './slippage.ts';
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
  if (input.counters.rejectedSignals > 0) {
    warnings.push(
      `${input.counters.rejectedSignals} entry signals were rejected because no slot was free (max_open_trades ${input.config.max_open_trades}).`,
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
  return `No trades: none of ${signals} entry signals led to a trade. Possible causes: colliding signals, the last candle, rejected or unfilled entries, a stake below the minimum.`;
}

function ignoredShorts({ config, canShort, data }: ResultWarningInput): string[] {
  const shorts = data.reduce((count, pair) => count + pair.enter_short_signals, 0);
  if (canShort || shorts === 0) return [];
  const reason =
    config.trading_mode === 'spot' ? 'spot has no shorts' : 'the strategy does not declare canShort';
  return [`${shorts} short signals were ignored: ${reason}.`];
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
    `Trades depend on the price path assumed inside a candle: ${differing} exit differently under the other fill model, ${shifted} are at other times and ${unmatched} exist under one of the two only. The profit is ${fillModel.alternative_total_profit_pct.toFixed(2)} % under the ${alternative} fill model instead of ${metrics.account.total_profit_pct.toFixed(2)} %.`,
  ];
}

function freedLaterWarning({ fillModel }: ResultWarningInput): string[] {
  const { used, freed_later_entries: entries = 0, freed_later_profit_pct: profit = 0 } = fillModel;
  if (used !== 'freqtrade' || entries === 0) return [];
  return [
    `${entries} entries took a slot or money that a later moment of the same candle freed. Their trades earned ${profit.toFixed(2)} % of the wallet.`,
  ];
}

/** Assumption of the simulation that a market may violate. */
interface Bias {
  /** Direction in which it changes the result. */
  readonly effect: 'optimistic' | 'pessimistic' | 'neutral';
  readonly text: string;
}

/** Assumptions that apply to this run, with their effect. */
function knownBiases(
  strategy: StrategyDefinition,
  config: ResolvedBacktestConfig,
  data: readonly ReportPairData[],
): Bias[] {
  return [
    ...fillBiases(config),
    ...marketBiases(config),
    ...liquidationBiases(strategy, config, data),
    precisionBias(config),
    ...rules(strategy, config),
  ];
}

function fillBiases(config: ResolvedBacktestConfig): Bias[] {
  const biases: Bias[] = [
    {
      effect: 'optimistic',
      text:
        config.slippage_model?.participation === undefined
          ? 'An order at the open of the candle after its signal fills completely and immediately: no latency, no queue, no partial fills.'
          : 'An order at the open of the candle after its signal fills immediately, up to the limit by volume: no latency, no queue.',
    },
  ];
  if (config.fill_model === 'conservative') {
    biases.push({
      effect: 'pessimistic',
      text: 'Conservative fills: each candle of a trade is walked on two paths of straight lines, open, high, low, close and open, low, high, close. The one that leaves the trade worth less at the close counts. This is no lower bound of the run, nor always below the freqtrade fill model: a path that is worse at the close can be better later.',
    });
    return biases;
  }
  biases.push(
    {
      effect: 'optimistic',
      text: 'A candle that opens beyond the stop and returns to it fills at the stop price, which is better than the open.',
    },
    {
      effect: 'pessimistic',
      text: 'When one candle reaches both the target and a stop that has not moved, the stop is assumed to fill first.',
    },
    {
      effect: 'optimistic',
      text: 'The slot and the money of a trade that ends inside a candle are free for entries at the open of the same candle.',
    },
  );
  if (config.trailing) {
    biases.push(
      {
        effect: 'optimistic',
        text: 'Trailing stop: a candle that does not reach the stop is assumed to reach its best price before its worst. When it reaches both the target and a stop that has moved, the target is assumed to fill first. Tight trailing stops therefore earn profits that a market would not pay. A finer timeframe_detail or the conservative fill model shows the size of this effect.',
      },
      {
        effect: 'neutral',
        text: 'A trailing stop hit in the entry candle is placed at its distance from the open, not from the best price of the candle. With only_offset_is_reached it is placed at offset minus positive. An order beyond the best price waits for a later candle.',
      },
    );
  }
  return biases;
}

const GIVEN_SIGNALS: Bias = {
  effect: 'optimistic',
  text: 'The signals were given in a file, not computed. Nothing shows that they use closed candles only: one row too early is look-ahead bias.',
};

function marketBiases(config: ResolvedBacktestConfig): Bias[] {
  const { slippage_model: model } = config;
  const biases: Bias[] = [
    ...(config.signals === undefined ? [] : [GIVEN_SIGNALS]),
    ...(model?.impact === undefined
      ? [
          {
            effect: 'optimistic' as const,
            text: 'Orders do not move the price, regardless of their size relative to the volume of the candle.',
          },
        ]
      : []),
    ...(model ? slippageBiases(model) : []),
    ...universeBiases(config),
  ];
  if (config.slippage === 0 && !model?.spread) {
    biases.push({
      effect: 'optimistic',
      text: 'Slippage and spread are 0. Set slippage to the fraction of the price that a fill costs on this market.',
    });
  }
  if (config.trading_mode === 'spot') {
    biases.push({
      effect: 'neutral',
      text: 'Spot: only long trades, without leverage, funding and liquidation. The wallet is in the quote currency; open trades are valued at the close of each candle.',
    });
  }
  return biases;
}

function liquidationBiases(
  { callbacks }: StrategyDefinition,
  config: ResolvedBacktestConfig,
  data: readonly ReportPairData[],
): Bias[] {
  // In spot the callback is not called.
  const mayRaise = callbacks?.leverage !== undefined && config.trading_mode !== 'spot';
  if (config.leverage <= 1 && !mayRaise && config.margin_mode !== 'cross') return [];
  const rated = data.filter((pair) => !pair.leverage_tiers).map(({ pair }) => pair);
  const rates =
    rated.length === data.length
      ? 'A liquidation fills at its price with one maintenance rate for every size.'
      : `A liquidation fills at its price. The exchange's present leverage tiers are applied to the past${rated.length > 0 ? `, and one maintenance rate for every size to ${rated.join(', ')}, which have none` : ''}.`;
  const loss =
    config.margin_mode === 'cross'
      ? `It closes one trade, ${config.fill_model === 'conservative' ? 'and other pairs count as at the open of the candle' : 'and open profit or loss of other pairs does not count as margin'}. A trade loses at most the account.`
      : 'A trade loses at most its collateral, fees and funding inside.';
  const each =
    config.position_stacking && rated.length < data.length
      ? ' Leverage tiers are those of each trade alone; an exchange adds up the trades of a pair and side, and asks for more margin.'
      : '';
  return [{ effect: 'optimistic', text: `${rates} ${loss}${each}` }];
}

function precisionBias({ precision }: ResolvedBacktestConfig): Bias {
  if (precision === 'exchange') {
    return {
      effect: 'neutral',
      text: "Precision: the exchange's present amount steps and order limits are applied to the past, when they were different. The price tick of each month is derived from all candles of the month, later ones included.",
    };
  }
  return {
    effect: 'optimistic',
    text: 'Precision: none. Price ticks, amount steps and order size limits of the exchange are not applied.',
  };
}

function rules(strategy: StrategyDefinition, config: ResolvedBacktestConfig): Bias[] {
  const biases: Bias[] = [
    {
      effect: 'neutral',
      text: `${config.position_stacking ? 'A pair may have several open trades, each with its own stop.' : 'Each pair has at most one open trade.'} Trades open at the end are closed at the open of the last candle and count in all totals.`,
    },
  ];
  if (config.max_open_trades < config.pairs.length) {
    biases.push({
      effect: 'neutral',
      text: 'There are fewer slots than pairs. Pairs earlier in the list take free slots first, so the order of the pairs changes the result.',
    });
  }
  if (config.stake_amount === 'unlimited') {
    biases.push({
      effect: 'neutral',
      text: 'The stake follows the balance: profits and losses compound, so later trades have more weight.',
    });
  }
  if (strategy.callbacks) {
    biases.push({
      effect: 'neutral',
      text: 'Callbacks of the strategy affect the simulation. A callback that reads candles after its row has look-ahead bias.',
    });
  }
  return biases;
}
