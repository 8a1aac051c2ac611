import type { ResolvedBacktestConfig } from '#contract/backtest.ts';
import type { ReportPairData } from '#contract/report.ts';
import { countSet } from '#engine/byte-columns.ts';
import { type Candles, sliceCandles } from '#engine/candles.ts';
import { type Digest, digestCandles, digestFunding } from '#engine/digest.ts';
import { type PairModels, pairModels } from '#engine/report/models.ts';
import type { PairInput } from '#engine/simulator/types.ts';
import { type Analysis, SIGNAL_COLUMNS } from '#engine/strategies/analyze.ts';
import type { Columns, Signals, StrategyDefinition } from '#engine/strategy.ts';
import { modelWarnings, whyNothingLearned } from './model-warnings.ts';
import { type PairData, type PairHistory, readHistory, type SkippedPair } from './pair-history.ts';
import { dataWarnings, detailWarnings, fundingWarnings } from './pair-warnings.ts';
import { runStrategy } from './run-strategy.ts';

export interface PreparedPair {
  readonly input: PairInput;
  readonly summary: ReportPairData;
  readonly warnings: readonly string[];
  /** Of a run with the ML engine. */
  readonly models?: PairModels;
}

/**
 * Makes one pair ready to simulate: check, fill gaps, analyse with the strategy, cut the startup candles. Pauses after each
 * model of a run with the ML engine, with the share of them that is done.
 *
 * @throws BacktestError `invalid_candles` or `strategy`
 */
export function* preparePair(
  strategy: StrategyDefinition,
  config: ResolvedBacktestConfig,
  data: PairData,
  digest: Digest,
): Generator<number, PreparedPair | SkippedPair> {
  const history = readHistory(strategy, config, data);
  if ('reason' in history) return history;
  const analysis = yield* runStrategy(strategy, config, history);
  const learned = 'fits' in analysis ? analysis : undefined;
  const nothing = learned && whyNothingLearned(history, config, learned.fits);
  if (nothing) return { pair: data.pair, reason: nothing };
  const rows = history.candles.timestamp.length;
  const input = cutRows(strategy, history, analysis, history.from, rows);
  const summary = summarise(history, input, digest);
  const warnings = [
    ...dataWarnings(summary, history),
    ...(learned ? modelWarnings(summary.pair, learned.fits) : []),
    ...fundingWarnings(input, history.stepMs),
    ...detailWarnings(input, config),
  ];
  const models = learned && pairModels(config, data.pair, learned);
  return { input, summary, warnings, ...(models && { models }) };
}

function summarise(history: PairHistory, input: PairInput, digest: Digest): ReportPairData {
  const { candles, filled, from, quality, read } = history;
  const rows = candles.timestamp.length;
  return {
    pair: history.data.pair,
    candles: rows - from,
    first: iso(input.candles.timestamp[0]!),
    last: iso(input.candles.timestamp.at(-1)!),
    startup_candles: from,
    filled_candles: filled,
    filled_pct: (filled / rows) * 100,
    largest_jump_pct: quality.largestJumpPct,
    enter_long_signals: countSet(input.signals.enterLong ?? NO_SIGNALS),
    enter_short_signals: countSet(input.signals.enterShort ?? NO_SIGNALS),
    market_change_pct: marketChangePct(input.candles),
    funding_events: input.funding?.timestamp.length ?? 0,
    detail_candles: input.detail?.timestamp.length ?? 0,
    digest: digestPair(read, input, digest),
  };
}

/** What the simulator reads of the rows [from, to). */
export function cutRows(
  strategy: StrategyDefinition,
  { data, candles, ticks }: PairHistory,
  { columns, signals: all }: Pick<Analysis, 'columns' | 'signals'>,
  from: number,
  to: number,
): PairInput {
  const signals: Record<string, Uint8Array> = {};
  for (const name of SIGNAL_COLUMNS) {
    const column = all[name];
    if (column) signals[name] = column.subarray(from, to);
  }
  const { tags } = all;
  return {
    pair: data.pair,
    candles: sliceCandles(candles, from, to),
    signals: { ...signals, ...(tags && { tags }) } as Signals,
    ...(strategy.callbacks && { columns: cutColumns(columns, from, to) }),
    ...(data.funding && { funding: data.funding }),
    ...(data.detail && { detail: data.detail }),
    ...(data.instrument && { instrument: data.instrument, ticks }),
  };
}

function cutColumns(columns: Columns, from: number, to: number): Columns {
  return Object.fromEntries(
    Object.entries(columns).map(([name, column]) => [name, column.subarray(from, to)]),
  );
}

/** Digest of everything that was read of a pair. */
export function digestPair(read: Candles, input: PairInput, digest: Digest): string {
  const parts = [
    digestCandles(read, digest),
    input.detail ? digestCandles(input.detail, digest) : 'no detail',
    input.funding ? digestFunding(input.funding, digest) : 'no funding',
  ];
  return digest(`${input.pair}\n${parts.join('\n')}`);
}

export function marketChangePct({ close }: Candles): number {
  return (close.at(-1)! / close[0]! - 1) * 100;
}

const NO_SIGNALS = new Uint8Array(0);
const iso = (time: number) => new Date(time).toISOString();
