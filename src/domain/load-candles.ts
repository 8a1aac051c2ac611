import type { CollectionOutcome, ResolvedBacktestConfig } from '#contract/backtest.ts';
import { CodedError } from '#contract/errors.ts';
import { type Candles, indexAtOrAfter } from '#engine/candles.ts';
import type { FundingEvents } from '#engine/simulator/types.ts';
import { TIMEFRAME_MS, TIMEFRAMES } from '#engine/timeframe.ts';
import { notingDamage } from './data/damaged-file.ts';
import type { CandleStore, Clock, SeriesStore } from './ports.ts';
import { isoTime } from './validate.ts';

/** Everything stored of one pair that a backtest reads. Gaps are not filled. */
export interface PairCandles {
  readonly pair: string;
  /** From the start less the startup candles, as far as stored, to the end. */
  readonly candles: Candles;
  readonly funding: FundingEvents;
  readonly detail?: Candles;
}

export interface LoadCandlesDeps {
  readonly series: SeriesStore;
  readonly candles: CandleStore;
  readonly clock: Clock;
}

/** Share of a pair's candles that may be missing between its first and last in the range; they are filled flat. */
const GAP_TOLERANCE = 0.05;
/** Fewer candles than this in the range leave no room for an entry and an exit. */
const MIN_CANDLES = 3;

/**
 * Reads the candles of every pair of a run.
 * Throws DATA003 for a symbol that the exchange does not have, DATA001 for none or too few candles in the range,
 * DATA002 for holes beyond {@link GAP_TOLERANCE}, DamagedFileError (DATA005) for a file that must not be traded on.
 *
 * @param dataStart start of the range less the startup candles, ms
 * @param collection that of this run; null when none was needed, or none came to its end
 */
export async function loadCandles(
  deps: LoadCandlesDeps,
  config: ResolvedBacktestConfig,
  dataStart: number,
  collection: CollectionOutcome | null,
): Promise<PairCandles[]> {
  const { exchange, timeframe } = config;
  const stored = await deps.series.getMany(
    exchange,
    config.pairs.map((symbol) => ({ symbol, timeframe })),
  );
  const loaded: PairCandles[] = [];
  for (const pair of config.pairs) {
    if (!stored.has(`${pair}#${timeframe}`)) {
      throw await notAvailable(deps.series, config, pair, collection);
    }
    loaded.push(await loadPair(deps, config, pair, dataStart));
  }
  return loaded;
}

/** Says which timeframes are stored: a run with another one may be what was wanted. */
async function notAvailable(
  series: SeriesStore,
  { exchange, timeframe }: ResolvedBacktestConfig,
  pair: string,
  collection: CollectionOutcome | null,
): Promise<CodedError> {
  const stored = await series.getMany(
    exchange,
    TIMEFRAMES.map((each) => ({ symbol: pair, timeframe: each })),
  );
  const others = [...stored.values()].map((info) => info.timeframe);
  const hint = others.length > 0 ? `; stored: ${others.join(', ')}` : '';
  // What is not stored is always collected first: without an outcome that task was killed.
  const why = collection ? 'none could be collected' : 'collecting them did not come to its end';
  return new CodedError(collection?.unlisted?.includes(pair) ? 'DATA003' : 'DATA001', {
    message: `No ${timeframe} candles of ${pair} on ${exchange} are stored, and ${why}${hint}`,
    context: { symbol: pair, exchange, timeframe, stored: others },
  });
}

async function loadPair(
  deps: LoadCandlesDeps,
  config: ResolvedBacktestConfig,
  pair: string,
  dataStart: number,
): Promise<PairCandles> {
  const { exchange, timeframe, timeframe_detail: detailTimeframe } = config;
  const start = Date.parse(config.date_range.start);
  const end = Date.parse(config.date_range.end);
  const key = { exchange, symbol: pair, timeframe };
  const candles = await notingDamage(deps, key, () => deps.candles.read(key, dataStart, end));
  checkEnough(candles, config, pair, start);
  checkHoles(candles, config, pair);
  const funding = await notingDamage(deps, key, () => deps.candles.readFunding(exchange, pair, start, end));
  if (detailTimeframe === null) return { pair, candles, funding };
  const detailKey = { ...key, timeframe: detailTimeframe };
  const detail = await notingDamage(deps, detailKey, () => deps.candles.read(detailKey, start, end));
  return { pair, candles, funding, detail };
}

function checkEnough(candles: Candles, config: ResolvedBacktestConfig, pair: string, start: number): void {
  const inRange = candles.timestamp.length - indexAtOrAfter(candles.timestamp, start);
  if (inRange >= MIN_CANDLES) return;
  throw new CodedError('DATA001', {
    message: `Of ${pair}, ${inRange} ${config.timeframe} candles are stored between ${config.date_range.start} and ${config.date_range.end}: a backtest needs at least ${MIN_CANDLES}`,
    context: { symbol: pair, candles: inRange, needed: MIN_CANDLES, ...config.date_range },
  });
}

function checkHoles({ timestamp }: Candles, config: ResolvedBacktestConfig, pair: string): void {
  const step = TIMEFRAME_MS[config.timeframe];
  const expected = (timestamp.at(-1)! - timestamp[0]!) / step + 1;
  const missing = expected - timestamp.length;
  if (missing <= expected * GAP_TOLERANCE) return;
  let widest = 1;
  for (let i = 2; i < timestamp.length; i++) {
    if (timestamp[i]! - timestamp[i - 1]! > timestamp[widest]! - timestamp[widest - 1]!) widest = i;
  }
  throw new CodedError('DATA002', {
    message: `${missing} of ${expected} ${config.timeframe} candles of ${pair} are missing, more than ${GAP_TOLERANCE * 100} %; the widest hole ends at ${isoTime(timestamp[widest]!)}`,
    context: { symbol: pair, missing, expected, tolerance: GAP_TOLERANCE },
  });
}
