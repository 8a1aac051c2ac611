import { type Candles, indexAtOrAfter, sliceCandles } from '#engine/candles.ts';
import { type Digest, digestCandles, digestFunding } from '#engine/digest.ts';
import type { FundingEvents, PairInput } from '#engine/simulator/types.ts';
import { type Analysis, analyse, SIGNAL_COLUMNS } from '#engine/strategies/analyse.ts';
import type { Columns, ParameterValues, Signals, StrategyDefinition } from '#engine/strategy.ts';
import { TIMEFRAME_MS } from '#engine/timeframe.ts';
import { checkCandles } from './check-candles.ts';
import type { RunConfig } from './config.ts';
import { BacktestError } from './errors.ts';
import { fillGaps } from './fill-gaps.ts';
import { startupRows } from './history.ts';
import { watchCandles } from './watched-candles.ts';

/** Everything read of one pair, as stored. */
export interface PairData {
  readonly pair: string;
  /** Of the run's timeframe, from {@link historyStart} as far as stored; gaps are allowed, rows beyond the end ignored. */
  readonly candles: Candles;
  readonly funding?: FundingEvents;
  /** Of the detail timeframe. */
  readonly detail?: Candles;
}

/** What the report says of one pair's data. */
export interface PairDataSummary {
  readonly pair: string;
  /** Candles traded on, startup candles left out. */
  readonly candles: number;
  /** Open times of the first and last of them, ISO 8601. */
  readonly first: string;
  readonly last: string;
  readonly startup_candles: number;
  readonly filled_candles: number;
  readonly filled_pct: number;
  readonly largest_jump_pct: number;
  readonly enter_long_signals: number;
  readonly enter_short_signals: number;
  readonly market_change_pct: number;
  readonly funding_events: number;
  readonly detail_candles: number;
  readonly digest: string;
}

export interface PreparedPair {
  readonly input: PairInput;
  readonly summary: PairDataSummary;
  readonly warnings: readonly string[];
}

/** A pair that cannot be traded in this run, and why. */
export interface SkippedPair {
  readonly pair: string;
  readonly reason: string;
}

/** Fewer candles leave no room for a signal, an entry and the end of the run. */
const LEAST_CANDLES = 3;
/** Shares beyond which data deserves a warning, percent. */
const FILLED_WARNING_PCT = 1;
const JUMP_WARNING_PCT = 10;
/** Perpetuals settle every 8 h at the latest: after a day without an event some are not known. */
const FUNDING_WARNING_MS = 24 * 3_600_000;

/**
 * Makes one pair ready to simulate: check, fill gaps, analyse with the strategy, cut the startup candles. A pair whose
 * data does not reach back far enough gives up its first candles instead and joins later.
 *
 * @throws BacktestError `invalid_candles` or `strategy`
 */
export function preparePair(
  strategy: StrategyDefinition,
  config: RunConfig,
  data: PairData,
  digest: Digest,
): PreparedPair | SkippedPair {
  const stepMs = TIMEFRAME_MS[config.timeframe];
  const start = Math.ceil(Date.parse(config.date_range.start) / stepMs) * stepMs;
  const end = Date.parse(config.date_range.end);
  const startup = startupRows(strategy, config.params, config.timeframe);
  const read = candlesBetween(data.candles, start - startup * stepMs, end);
  const quality = checkCandles(data.pair, read, stepMs);
  const { candles, filled } = fillGaps(read, stepMs);
  const rows = candles.timestamp.length;
  const from = Math.max(startup, indexAtOrAfter(candles.timestamp, start));
  if (rows - from < LEAST_CANDLES) {
    return { pair: data.pair, reason: tooFew(data.pair, rows, startup, config) };
  }
  const analysis = runStrategy(strategy, config, data.pair, candles);
  const input = cutStartup(data, analysis, candles, from, strategy.callbacks !== undefined);
  const summary: PairDataSummary = {
    pair: data.pair,
    candles: rows - from,
    first: iso(input.candles.timestamp[0]!),
    last: iso(input.candles.timestamp.at(-1)!),
    startup_candles: from,
    filled_candles: filled,
    filled_pct: (filled / rows) * 100,
    largest_jump_pct: quality.largestJumpPct,
    enter_long_signals: countSet(input.signals.enterLong),
    enter_short_signals: countSet(input.signals.enterShort),
    market_change_pct: marketChangePct(input.candles),
    funding_events: input.funding?.timestamp.length ?? 0,
    detail_candles: input.detail?.timestamp.length ?? 0,
    digest: digestPair(read, input, digest),
  };
  const warnings = [
    ...dataWarnings(summary, start, end, stepMs, quality.outsideRange),
    ...fundingWarnings(input, stepMs),
    ...detailWarnings(input, config),
  ];
  return { input, summary, warnings };
}

function candlesBetween(candles: Candles, from: number, to: number): Candles {
  return sliceCandles(
    candles,
    indexAtOrAfter(candles.timestamp, from),
    indexAtOrAfter(candles.timestamp, to),
  );
}

function tooFew(pair: string, rows: number, startup: number, config: RunConfig): string {
  const { start, end } = config.date_range;
  if (rows === 0) return `${pair} has no ${config.timeframe} candles between ${start} and ${end}.`;
  return (
    `${pair} has ${rows} ${config.timeframe} candles up to ${end}: the strategy needs ` +
    `${startup} before its first signal and ${LEAST_CANDLES} to trade on from ${start}.`
  );
}

function runStrategy(
  strategy: StrategyDefinition,
  config: RunConfig,
  pair: string,
  candles: Candles,
): Analysis {
  try {
    const watched = watchCandles(candles);
    // A run may override the timeframe for which the strategy was written.
    const analysis = analyse(
      { ...strategy, timeframe: config.timeframe },
      config.params as ParameterValues,
      watched.candles,
    );
    if (watched.changed()) {
      throw new Error('it wrote into the candles it was given; write into columns of its own');
    }
    return analysis;
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new BacktestError('strategy', `Strategy ${strategy.name} failed on ${pair}: ${reason}`, error);
  }
}

function cutStartup(
  data: PairData,
  analysis: Analysis,
  candles: Candles,
  from: number,
  withColumns: boolean,
): PairInput {
  const signals: Record<string, Uint8Array> = {};
  for (const name of SIGNAL_COLUMNS) {
    const column = analysis.signals[name];
    if (column) signals[name] = column.subarray(from);
  }
  const { tags } = analysis.signals;
  const rows = candles.timestamp.length;
  return {
    pair: data.pair,
    candles: sliceCandles(candles, from, rows),
    signals: { ...signals, ...(tags && { tags }) } as Signals,
    ...(withColumns && { columns: cutColumns(analysis, from) }),
    ...(data.funding && { funding: data.funding }),
    ...(data.detail && { detail: data.detail }),
  };
}

function cutColumns(analysis: Analysis, from: number): Columns {
  return Object.fromEntries(
    Object.entries(analysis.columns).map(([name, column]) => [name, column.subarray(from)]),
  );
}

function digestPair(read: Candles, input: PairInput, digest: Digest): string {
  const parts = [
    digestCandles(read, digest),
    input.detail ? digestCandles(input.detail, digest) : 'no detail',
    input.funding ? digestFunding(input.funding, digest) : 'no funding',
  ];
  return digest(`${input.pair}\n${parts.join('\n')}`);
}

function dataWarnings(
  summary: PairDataSummary,
  start: number,
  end: number,
  stepMs: number,
  outsideRange: number,
): string[] {
  const { pair } = summary;
  const warnings: string[] = [];
  if (Date.parse(summary.first) > start) {
    warnings.push(
      `${pair} joins at ${summary.first}: its data does not reach back over the ${summary.startup_candles} startup candles before ${iso(start)}.`,
    );
  }
  if (Date.parse(summary.last) + stepMs < end) {
    warnings.push(
      `The data of ${pair} ends with the candle at ${summary.last}, before the end of the range.`,
    );
  }
  if (summary.filled_pct > FILLED_WARNING_PCT) {
    warnings.push(
      `${summary.filled_candles} candles of ${pair} (${summary.filled_pct.toFixed(2)} %) were missing and filled flat.`,
    );
  }
  if (summary.largest_jump_pct > JUMP_WARNING_PCT) {
    warnings.push(
      `The price of ${pair} jumps by ${summary.largest_jump_pct.toFixed(1)} % from a close to the next open.`,
    );
  }
  if (outsideRange > 0) {
    warnings.push(`${outsideRange} candles of ${pair} open or close outside their low to high.`);
  }
  return warnings;
}

/** Names the longest time without funding, where it is too long to be the exchange's. None for a run without funding. */
function fundingWarnings({ pair, candles, funding }: PairInput, stepMs: number): string[] {
  if (!funding) return [];
  const [first, end] = [candles.timestamp[0]!, candles.timestamp.at(-1)! + stepMs];
  const known = funding.timestamp.filter((time) => time > first && time < end);
  const times = [first, ...known, end];
  let longest = 1;
  for (let i = 2; i < times.length; i++) {
    if (times[i]! - times[i - 1]! > times[longest]! - times[longest - 1]!) longest = i;
  }
  const [from, to] = [times[longest - 1]!, times[longest]!];
  if (to - from <= FUNDING_WARNING_MS) return [];
  return [
    `No funding rates of ${pair} are stored between ${iso(from)} and ${iso(to)}: none is paid or received there.`,
  ];
}

/** Of candles without detail the simulator assumes the path, as it does in a run that asks for none. */
function detailWarnings({ pair, candles, detail }: PairInput, config: RunConfig): string[] {
  if (!config.timeframe_detail) return [];
  const [stepMs, detailMs] = [TIMEFRAME_MS[config.timeframe], TIMEFRAME_MS[config.timeframe_detail]];
  const wanted = (candles.timestamp.length * stepMs) / detailMs;
  const [first, end] = [candles.timestamp[0]!, candles.timestamp.at(-1)! + stepMs];
  const known = detail ? candlesBetween(detail, first, end).timestamp.length : 0;
  const missingPct = (1 - known / wanted) * 100;
  if (missingPct <= FILLED_WARNING_PCT) return [];
  return [
    `${missingPct.toFixed(2)} % of the ${config.timeframe_detail} candles of ${pair} are missing: there its ${config.timeframe} candles are traded without detail.`,
  ];
}

function marketChangePct({ close }: Candles): number {
  return (close.at(-1)! / close[0]! - 1) * 100;
}

function countSet(column: Uint8Array | undefined): number {
  let count = 0;
  if (column) for (let row = 0; row < column.length; row++) if (column[row] === 1) count++;
  return count;
}

const iso = (time: number) => new Date(time).toISOString();
