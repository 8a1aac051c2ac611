import type { ResolvedBacktestConfig } from '#contract/backtests/backtest.ts';
import type { ReportPairData } from '#contract/backtests/report.ts';
import { CANDLE_NAMES, SIGNAL_NAMES } from '#contract/values/columns-limits.ts';
import { DAY_MS } from '#contract/values/durations.ts';
import { formatCount, formatInteger } from '#contract/values/format-count.ts';
import { isInverse } from '#contract/values/trading-modes.ts';
import type { Analysis } from '../analysis/analyze.ts';
import { plottedColumns } from '../definitions/plot-problems.ts';
import type { WindowFit } from '../ml/fit-window.ts';
import type { PairInput } from '../simulator/types.ts';
import { estimatesOver } from '../slippage/daily-costs.ts';
import type { StrategyDefinition } from '../strategy.ts';
import { TIMEFRAME_MS } from '../timeframe.ts';
import { candlesBetween, type PairHistory, trainingRows } from './history.ts';

/** Thresholds of the warnings, percent. */
const FILLED_WARNING_PCT = 1;
const JUMP_WARNING_PCT = 10;
/** Perpetuals settle at least every 8 h, so a day without an event means missing events. */
const FUNDING_WARNING_MS = 24 * 3_600_000;

/** Warnings about a pair's candles, one sentence each. */
export function dataWarnings(summary: ReportPairData, history: PairHistory): string[] {
  const { pair } = summary;
  const { start, end, stepMs, quality } = history;
  const { outsideRange } = quality;
  const warnings: string[] = [];
  if (isInverse(pair)) {
    const [base, quote] = pair.split(/[/:]/);
    warnings.push(
      `${pair} is an inverse contract, settled in ${base}. It is simulated as a linear one: stake, fees, profits and liquidation are in ${quote}.`,
    );
  }
  if (Date.parse(summary.first) > start) {
    warnings.push(`${pair} is traded from ${summary.first}: ${lateReason(history)}.`);
  }
  if (Date.parse(summary.last) + stepMs < end) {
    warnings.push(
      `The data of ${pair} ends with the candle at ${summary.last}, before the end of the range.`,
    );
  }
  warnings.push(...filledWarning(summary));
  if (summary.largest_jump_pct > JUMP_WARNING_PCT) {
    warnings.push(
      `The price of ${pair} jumps by ${summary.largest_jump_pct.toFixed(1)} % between a close and the next open.`,
    );
  }
  if (outsideRange > 0) {
    warnings.push(
      `An open or close is outside of the range from low to high in ${formatCount(outsideRange, 'candle')} of ${pair}.`,
    );
  }
  return warnings;
}

/** Candles of closed times are no warning. */
function filledWarning({ pair, filled_candles, filled_pct, filled }: ReportPairData): string[] {
  const closed = filled?.closed ?? 0;
  const missing = filled_candles - closed;
  const pct = filled_candles === 0 ? 0 : (filled_pct * missing) / filled_candles;
  if (pct <= FILLED_WARNING_PCT) return [];
  const reasons = [
    ...(filled && filled.damage > 0 ? [`${formatInteger(filled.damage)} lost`] : []),
    ...(filled && filled.no_trades > 0 ? [`${formatInteger(filled.no_trades)} without trades`] : []),
  ].join(', ');
  const others = closed > 0 ? ` So were ${formatInteger(closed)} of closed times.` : '';
  return [
    `${formatCount(missing, 'candle')} of ${pair} (${pct.toFixed(2)} %) ${missing === 1 ? 'was missing and was' : 'were missing and were'} filled flat at the previous close${reasons && `: ${reasons}`}.${others}`,
  ];
}

/** Why the first traded candle is after the start of the run. */
function lateReason({ start, startup, waitsFor }: PairHistory): string {
  if (waitsFor) {
    const { pair, timeframe, candles } = waitsFor;
    return `the ${timeframe} candles of ${pair} do not cover the ${candles} startup candles before ${iso(start)}`;
  }
  if (startup === 0) return 'it has no earlier candles';
  return `its data does not cover the ${startup} startup candles before ${iso(start)}`;
}

type Held = Pick<PairInput, 'pair' | 'candles' | 'funding'>;

/** Warning about the longest interval without funding events, if data must be missing there. Empty without funding. */
export function fundingWarnings(input: Held, stepMs: number): string[] {
  const without = withoutFunding(input, stepMs);
  return without ? [`${without}: no funding is paid or received in that interval.`] : [];
}

/** The same of bitcoin that a run is compared with, but does not trade. */
export function benchmarkWarnings(benchmark: Held): string[] {
  const without = withoutFunding(benchmark, DAY_MS);
  return without ? [`${without}: the benchmark holds it without funding in that interval. Collect it.`] : [];
}

function withoutFunding({ pair, candles, funding }: Held, stepMs: number): string | undefined {
  if (!funding) return undefined;
  const [first, end] = [candles.timestamp[0]!, candles.timestamp.at(-1)! + stepMs];
  const known = funding.timestamp.filter((time) => time > first && time < end);
  const times = [first, ...known, end];
  let longest = 1;
  for (let i = 2, { length } = times; i < length; i++) {
    if (times[i]! - times[i - 1]! > times[longest]! - times[longest - 1]!) longest = i;
  }
  const [from, to] = [times[longest - 1]!, times[longest]!];
  if (to - from <= FUNDING_WARNING_MS) return undefined;
  return `No funding rates of ${pair} are stored between ${iso(from)} and ${iso(to)}`;
}

/** Warning about missing detail candles: the simulator assumes the path of a candle that has none. */
export function detailWarnings(
  { pair, candles, detail }: PairInput,
  config: ResolvedBacktestConfig,
): string[] {
  if (!config.timeframe_detail) return [];
  const [stepMs, detailMs] = [TIMEFRAME_MS[config.timeframe], TIMEFRAME_MS[config.timeframe_detail]];
  const wanted = (candles.timestamp.length * stepMs) / detailMs;
  const [first, end] = [candles.timestamp[0]!, candles.timestamp.at(-1)! + stepMs];
  const known = detail ? candlesBetween(detail, first, end).timestamp.length : 0;
  const missingPct = (1 - known / wanted) * 100;
  if (missingPct <= FILLED_WARNING_PCT) return [];
  return [
    `${missingPct.toFixed(2)} % of the ${config.timeframe_detail} candles of ${pair} are missing. The affected ${config.timeframe} candles are simulated without detail.`,
  ];
}

const iso = (time: number) => new Date(time).toISOString();

/** Result of a window without its model, which may have been released. */
export type FittedWindow = Omit<WindowFit, 'model'>;

/** Reason why a pair without a single model cannot be traded with the ML engine; undefined when a window has a model. */
export function noModelReason(
  { data, read, startup, start, stepMs }: PairHistory,
  { timeframe, ml_engine }: ResolvedBacktestConfig,
  fits: readonly FittedWindow[],
): string | undefined {
  if (fits.some(({ skipped }) => skipped === null)) return undefined;
  const training = trainingRows(timeframe, ml_engine);
  const needed = new Date(start - (startup + training) * stepMs).toISOString();
  const first = new Date(read.timestamp[0]!).toISOString();
  return (
    `${data.pair} has no window with a trained model (${fits[0]!.skipped}). Before the first prediction the ` +
    `ML engine needs ${training} ${timeframe} training candles (train_period_days ${ml_engine?.train_period_days}) ` +
    `and ${startup} startup candles. Candles from ${needed} are needed; the stored candles begin at ${first}.`
  );
}

/** Warning about the windows of a pair that have no model. */
export function modelWarnings(pair: string, fits: readonly FittedWindow[]): string[] {
  const without = fits.filter(({ skipped, from, to }) => skipped !== null && to > from);
  const [first] = without;
  if (!first) return [];
  const at = new Date(first.window.from).toISOString();
  return [
    `${without.length} of ${fits.length} windows of ${pair} have no model and no predictions. Reason in the window from ${at}: ${first.skipped}.`,
  ];
}

/** Warning about the days of a pair whose fills pay the constant slippage only. */
export function slippageWarnings({ pair, candles, costs }: PairInput): string[] {
  if (!costs) return [];
  const { days_without_estimate: days } = estimatesOver(candles.timestamp, costs);
  if (days === 0) return [];
  return [
    `${pair} has too few candles to estimate spread or impact before ${days === 1 ? 'its first day' : `each of its first ${formatInteger(days)} days`}: market fills there pay only the constant slippage.`,
  ];
}

/** Columns that the plot of a strategy names and the run lacks. The same for each pair. */
export function plotWarnings(
  { name, plot }: Pick<StrategyDefinition, 'name' | 'plot'>,
  { columns, informative }: Pick<Analysis, 'columns' | 'informative'>,
): string[] {
  if (!plot) return [];
  const of = Object.entries(informative).flatMap(([key, each]) =>
    Object.keys(each).map((column) => `${key}:${column}`),
  );
  const known = new Set([...CANDLE_NAMES, ...Object.values(SIGNAL_NAMES), ...Object.keys(columns), ...of]);
  const missing = plottedColumns(plot).filter((column) => !known.has(column));
  if (missing.length === 0) return [];
  return [`plot of ${name} names columns that the run lacks: ${missing.slice(0, 10).join(', ')}.`];
}
