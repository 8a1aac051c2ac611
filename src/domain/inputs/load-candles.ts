import type { CollectionOutcome, ResolvedBacktestConfig } from '#contract/backtests/backtest.ts';
import type { CollectMode } from '#contract/config/run-fields.ts';
import type { InstrumentRecord } from '#contract/market-data/stored-market-data.ts';
import { CodedError } from '#contract/values/errors.ts';
import { type Candles, indexAtOrAfter } from '#engine/candles.ts';
import type { Instrument } from '#engine/instrument.ts';
import type { PairData } from '#engine/run/history.ts';
import { ALL_TIMEFRAMES, TIMEFRAME_MS, type Timeframe } from '#engine/timeframe.ts';
import { instrumentOf } from '../data/collect-instruments.ts';
import { hasOwnGrid, onCommonGrid } from '../data/exchange-grid.ts';
import { explainGaps, gapRulesOf, gapsBetween } from '../data/gaps/explain-gaps.ts';
import type { InstrumentStore } from '../data/instrument-ports.ts';
import { noInstruments } from '../data/missing-instruments.ts';
import { chooseReads, type PairReads, type StrategyReads } from '../data/plan-reads.ts';
import type { CandleStore, Clock, SeriesInfo, SeriesKey, SeriesStore } from '../ports.ts';
import { CorruptFileError, recordCorruption } from '../shared/corrupt-file.ts';
import { InformativeLoader, readAs } from './load-informative.ts';

export interface LoadCandlesDeps {
  readonly series: Pick<SeriesStore, 'getMany' | 'monthsOfMany' | 'markCorrupt'>;
  readonly instruments: Pick<InstrumentStore, 'getMany'>;
  readonly candles: Pick<CandleStore, 'read' | 'readFunding'>;
  readonly clock: Clock;
}

/** Fewer candles than this in the range leave no room for an entry and an exit. */
const MIN_CANDLES = 3;

/** Result of the collection before a run reads its candles. */
export interface Collected {
  /** Outcome of the run's collection; null when none was needed or the collection did not end. */
  readonly collection: CollectionOutcome | null;
  /** Absent: if_stale. */
  readonly collect?: CollectMode | undefined;
  /** Instruments of the submission by symbol, for a run that keeps them; absent: the ones stored now. */
  readonly instruments?: Readonly<Record<string, InstrumentRecord>> | undefined;
  /** Absent: the run reads the candles of its own timeframe and pairs only. */
  readonly strategy?: StrategyReads | undefined;
}

/** What was read for a run whose pairs may be chosen again: a pair is read once. */
export interface ReadPairs {
  readonly loaded: Map<string, PairData>;
  /** One error for each pair that could not be loaded. */
  readonly corrupt: CorruptFileError[];
}

/**
 * Reads the candles of every pair of a run, and its instrument where the configuration asks for it.
 * Throws DATA003 for a symbol that the exchange does not have, DATA001 for no instrument, none or too few candles in the range,
 * DATA002 for gaps beyond the tolerance, CorruptFileError (DATA005) for a file that must not be traded on.
 *
 * @param dataStart start of the range less the startup candles, ms
 * @param collected what was collected for the run before
 * @param read pairs that are known, to which the others are added; a pair with a corrupt file is added to its errors instead
 */
export async function loadCandles(
  deps: LoadCandlesDeps,
  config: ResolvedBacktestConfig,
  dataStart: number,
  collected: Collected,
  read?: ReadPairs,
): Promise<PairData[]> {
  const strategy = collected.strategy ?? { facts: { ownFeatures: false }, startup: 0 };
  const reads = await chooseReads(deps, config, strategy);
  const instruments = await loadInstruments(deps, config, collected);
  const stored = { ...deps, candles: await withMonths(deps, config, reads) };
  const informative = new InformativeLoader(stored, config);
  const loaded: PairData[] = [];
  for (const { pair, source, start, informative: others } of reads) {
    const known = read?.loaded.get(pair);
    if (known) {
      loaded.push(known);
      continue;
    }
    if (!source)
      throw await notAvailable(deps.series, config, { pair, timeframe: config.timeframe }, collected);
    const missing = others.find((each) => !each.source);
    if (missing) throw await notAvailable(deps.series, config, missing, collected);
    const instrument = instruments.get(pair);
    const from = Math.min(dataStart, start);
    try {
      const candles = {
        ...(await loadPair(stored, config, source.series, from)),
        ...(others.length > 0 && { informative: await informative.load(others) }),
        ...(instrument && { instrument }),
      };
      loaded.push(candles);
      read?.loaded.set(pair, candles);
    } catch (error) {
      if (!read || !(error instanceof CorruptFileError)) throw error;
      read.corrupt.push(error);
    }
  }
  return loaded;
}

/** The candle store with the months of all series of a run: one read, where each series would read its own. */
async function withMonths(
  { series, candles }: LoadCandlesDeps,
  { exchange, timeframe_detail: detail }: ResolvedBacktestConfig,
  reads: readonly PairReads[],
): Promise<LoadCandlesDeps['candles']> {
  const keys = new Map<string, Omit<SeriesKey, 'exchange'>>();
  const add = (symbol: string, timeframe: Timeframe | null | undefined) => {
    if (timeframe) keys.set(`${symbol}#${timeframe}`, { symbol, timeframe });
  };
  for (const { pair, source, informative } of reads) {
    add(pair, source?.timeframe);
    add(pair, detail);
    for (const each of informative) add(each.pair, each.source?.timeframe);
  }
  const months = await series.monthsOfMany(exchange, [...keys.values()]);
  return {
    read: (key, start, end, onCorrupt) =>
      candles.read(key, start, end, onCorrupt, months.get(`${key.symbol}#${key.timeframe}`) ?? []),
    readFunding: (...interval) => candles.readFunding(...interval),
  };
}

/** Instruments of every pair; empty for a run without precision. */
async function loadInstruments(
  { instruments }: LoadCandlesDeps,
  { exchange, pairs, precision }: ResolvedBacktestConfig,
  { instruments: kept }: Collected,
): Promise<ReadonlyMap<string, Instrument>> {
  if (precision === 'none') return new Map();
  const stored = kept ? new Map(Object.entries(kept)) : await instruments.getMany(exchange, pairs);
  const missing = pairs.filter((pair) => !stored.has(pair));
  if (missing.length > 0) throw noInstruments('DATA001', exchange, missing);
  return new Map([...stored].map(([pair, record]) => [pair, instrumentOf(record)]));
}

/** Error that names the stored timeframes: the caller may have wanted a run with one of them. */
async function notAvailable(
  series: LoadCandlesDeps['series'],
  { exchange }: ResolvedBacktestConfig,
  { pair, timeframe }: { readonly pair: string; readonly timeframe: Timeframe },
  { collection, collect }: Collected,
): Promise<CodedError> {
  const stored = await series.getMany(
    exchange,
    ALL_TIMEFRAMES.map((each) => ({ symbol: pair, timeframe: each })),
  );
  const others = [...stored.values()].map((info) => info.timeframe);
  const ranges = storedRanges([...stored.values()]);
  const hint = others.length > 0 ? `. Stored timeframes: ${others.join(', ')}${ranges}` : '';
  // Missing candles are collected before the run: without an outcome the collection task was killed.
  const tried = collection ? 'none could be collected' : 'their collection did not finish';
  const reason = collect === 'never' ? 'collect is never' : tried;
  return new CodedError(collection?.unlisted?.includes(pair) ? 'DATA003' : 'DATA001', {
    message: `No ${timeframe} candles of ${pair} on ${exchange} are stored, and ${reason}${hint}`,
    context: { symbol: pair, exchange, timeframe, stored: others },
  });
}

async function loadPair(
  deps: LoadCandlesDeps,
  config: ResolvedBacktestConfig,
  series: SeriesInfo,
  dataStart: number,
): Promise<PairData> {
  const { exchange, timeframe, timeframe_detail: detailTimeframe } = config;
  const start = Date.parse(config.date_range.start);
  const end = Date.parse(config.date_range.end);
  const { symbol: pair, timeframe: source } = series;
  const key = { exchange, symbol: pair, timeframe: source };
  const range = { start: dataStart, end, maxMissing: config.max_missing, isTraded: true };
  const candles = await readAs(deps, series, timeframe, range);
  // A pair of a universe may end, or begin, anywhere: the run leaves out one with too few.
  if (!config.universe) checkEnough(candles, config, series, start);
  // Traded candles are on the common grid, up to a candle before their time: so is what happens in them.
  const isMoved = hasOwnGrid(exchange, timeframe);
  const until = isMoved ? end + TIMEFRAME_MS[timeframe] : end;
  const inCandles = <T extends { readonly timestamp: Float64Array }>(rows: T) =>
    isMoved ? { ...rows, timestamp: rows.timestamp.map(onCommonGrid(exchange, timeframe)) } : rows;
  const readFunding = () => deps.candles.readFunding(exchange, pair, start, until);
  const perpetual = config.trading_mode !== 'spot' && {
    funding: inCandles(await recordCorruption(deps, key, readFunding)),
  };
  const missing = missingRuns(candles, series, timeframe);
  const own = { pair, candles, ...perpetual, ...(source !== timeframe && { source }), ...missing };
  if (detailTimeframe === null) return own;
  const detailKey = { ...key, timeframe: detailTimeframe };
  const detail = await recordCorruption(deps, detailKey, () => deps.candles.read(detailKey, start, until));
  return { ...own, detail: inCandles(detail) };
}

/** Why candles of a pair are missing; nothing when none is. */
function missingRuns(candles: Candles, series: SeriesInfo, timeframe: Timeframe): Pick<PairData, 'missing'> {
  const step = TIMEFRAME_MS[timeframe];
  const gaps = gapsBetween(candles.timestamp, step);
  if (gaps.length === 0) return {};
  const { damaged, quiet } = explainGaps(gaps, { ...gapRulesOf(series), step });
  return { missing: { damage: damaged, no_trades: quiet } };
}

/** Ranges of stored series, one per line, after a line break. */
function storedRanges(series: readonly SeriesInfo[]): string {
  const lines = series.map(
    ({ symbol, timeframe, first, last, count }) =>
      `\n${symbol} ${timeframe}: ${first} to ${last} (${count} candles)`,
  );
  return lines.join('');
}

function checkEnough(
  candles: Candles,
  config: ResolvedBacktestConfig,
  series: SeriesInfo,
  start: number,
): void {
  const pair = series.symbol;
  const inRange = candles.timestamp.length - indexAtOrAfter(candles.timestamp, start);
  if (inRange >= MIN_CANDLES) return;
  throw new CodedError('DATA001', {
    message: `${pair} has ${inRange} stored ${config.timeframe} candles between ${config.date_range.start} and ${config.date_range.end}: a backtest needs at least ${MIN_CANDLES}. Extend date_range or collect more. Stored:${storedRanges([series])}`,
    context: { symbol: pair, candles: inRange, needed: MIN_CANDLES, ...config.date_range },
  });
}
