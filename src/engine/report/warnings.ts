import type { ResolvedBacktestConfig } from '#contract/backtest.ts';
import type { FillModelComparison, ReportPairData } from '#contract/report.ts';
import type { Metrics } from '#contract/report-metrics.ts';
import type { ReportModels } from '#contract/report-models.ts';
import { TRADABLE_BALANCE_RATIO } from '#engine/run/config.ts';
import type { SimulationCounters } from '#engine/simulator/types.ts';

/** Below this many trades ratios and tests say little. */
const FEW_TRADES = 30;

export interface ResultWarningInput {
  readonly config: ResolvedBacktestConfig;
  readonly canShort: boolean;
  readonly metrics: Metrics;
  readonly counters: SimulationCounters;
  readonly fillModel: FillModelComparison;
  readonly data: readonly ReportPairData[];
  readonly models: ReportModels | undefined;
}

/** What a reader of the numbers must know before trusting them, as sentences. */
export function resultWarnings(input: ResultWarningInput): string[] {
  const { total_trades: trades } = input.metrics.closed_trades;
  const models = uselessModels(input);
  if (trades === 0) return [whyNoTrades(input), ...ignoredShorts(input), ...models];
  const warnings = [...ignoredShorts(input), ...models];
  if (trades < FEW_TRADES) {
    warnings.push(`Ratios and the p-value rest on too few trades (${trades}) to mean much.`);
  }
  if (input.counters.rejectedSignals > 0) {
    warnings.push(
      `${input.counters.rejectedSignals} entry signals were lost because no slot was free (max_open_trades ${input.config.max_open_trades}).`,
    );
  }
  return [...warnings, ...fillModelWarning(input)];
}

function whyNoTrades({ config, canShort, data }: ResultWarningInput): string {
  const signals = data.reduce(
    (count, pair) => count + pair.enter_long_signals + (canShort ? pair.enter_short_signals : 0),
    0,
  );
  if (signals === 0) return 'No trades: the strategy gave no entry signal in this range.';
  const tradable = config.dry_run_wallet * TRADABLE_BALANCE_RATIO;
  if (config.stake_amount !== 'unlimited' && config.stake_amount > tradable) {
    return `No trades: the stake of ${config.stake_amount} is above the ${tradable} of the wallet that may be traded (${TRADABLE_BALANCE_RATIO * 100} %).`;
  }
  return `No trades: none of ${signals} entry signals could be acted on (colliding signals, the last candle, refused or unfilled entries, or a stake below the minimum).`;
}

function ignoredShorts({ canShort, data }: ResultWarningInput): string[] {
  const shorts = data.reduce((count, pair) => count + pair.enter_short_signals, 0);
  if (canShort || shorts === 0) return [];
  return [`${shorts} short signals were ignored: the strategy does not declare canShort.`];
}

function uselessModels({ models }: ResultWarningInput): string[] {
  if (!models) return [];
  const { log_loss, base_log_loss } = models.quality;
  if (log_loss === null || base_log_loss === null || log_loss < base_log_loss) return [];
  return [
    `Out of sample the models predict no better than one fixed probability would (log loss ${log_loss.toFixed(3)}, that of the base rate ${base_log_loss.toFixed(3)}): nothing in this run is their merit.`,
  ];
}

function fillModelWarning({ fillModel, metrics }: ResultWarningInput): string[] {
  const { differing_trades: differing, alternative } = fillModel;
  if (differing === 0) return [];
  return [
    `${differing} trades depend on what is assumed inside a candle: under the ${alternative} fill model the profit is ${fillModel.alternative_total_profit_pct.toFixed(2)} % instead of ${metrics.account.total_profit_pct.toFixed(2)} %.`,
  ];
}
