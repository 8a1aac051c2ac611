import type { ResolvedBacktestConfig } from '#contract/backtests/backtest.ts';
import { GAP_TOLERANCE } from '#contract/values/backtest-limits.ts';
import { CodedError } from '#contract/values/errors.ts';
import type { InformativeCandles } from '#engine/analysis/informative.ts';
import type { Candles } from '#engine/candles.ts';
import { resampleCandles } from '#engine/indicators/resample.ts';
import { roundNumber } from '#engine/round.ts';
import { ceilTo, ceilToGrid, floorToGrid, TIMEFRAME_MS, type Timeframe } from '#engine/timeframe.ts';
import type { CandleSource } from '../data/candle-source.ts';
import { exchangeGrid } from '../data/exchange-grid.ts';
import { explainGaps, gapRulesOf, gapsBetween } from '../data/gaps/explain-gaps.ts';
import type { TimeInterval } from '../data/missing-ranges.ts';
import type { InformativeRead } from '../data/plan-reads.ts';
import type { CandleStore, Clock, SeriesInfo, SeriesStore } from '../ports.ts';
import { recordCorruption } from '../shared/corrupt-file.ts';
import { isoTime } from '../shared/iso-time.ts';

interface ReadDeps {
  readonly series: Pick<SeriesStore, 'markCorrupt'>;
  readonly candles: Pick<CandleStore, 'read'>;
  readonly clock: Clock;
}

/** How the candles of a series are read. */
interface ReadOptions extends TimeInterval {
  /** Share of candles that may be lost. */
  readonly maxMissing?: number | undefined;
  /** The candles are those that a run trades: they are put on the grid, which their session may begin after. */
  readonly isTraded?: boolean;
}

/**
 * Candles of `timeframe` that open in a range, computed when the stored series has a shorter one: only complete ones then. Gaps are
 * not filled. Traded candles get the times of the grid, which are no later than theirs; other candles are never earlier than they are, so
 * that no run knows them before they have closed.
 * Throws DATA002 for more lost candles than allowed, CorruptFileError (DATA005).
 */
export async function readAs(
  deps: ReadDeps,
  series: SeriesInfo,
  timeframe: Timeframe,
  { start, end, maxMissing = GAP_TOLERANCE, isTraded = false }: ReadOptions,
): Promise<Candles> {
  const stepMs = TIMEFRAME_MS[timeframe];
  const sourceMs = TIMEFRAME_MS[series.timeframe];
  const isComputed = series.timeframe !== timeframe;
  const { exchange, symbol } = series;
  const grid = exchangeGrid(exchange, timeframe);
  const from = isComputed ? grid.floor(start) : start;
  const to = isComputed ? ceilTo(grid, end) : end;
  const key = { exchange, symbol, timeframe: series.timeframe };
  const stored = await recordCorruption(deps, key, () => deps.candles.read(key, from, to));
  checkGaps(stored, series, maxMissing);
  if (!isTraded && !isComputed) return stored;
  const toSource = isTraded ? floorToGrid : ceilToGrid;
  const placed = onGrid(stored, (time) => toSource(time, sourceMs));
  const candles = isComputed ? resampleCandles(placed, sourceMs, stepMs, grid) : placed;
  return isTraded ? onGrid(candles, (time) => floorToGrid(time, stepMs)) : candles;
}

/** The candles with other times; themselves when they have them. */
function onGrid(candles: Candles, place: (time: number) => number): Candles {
  const { timestamp } = candles;
  return timestamp.every((time) => place(time) === time)
    ? candles
    : { ...candles, timestamp: timestamp.map(place) };
}

/** Reads the informative series of a run, each once: pairs share the candles of another pair. */
export class InformativeLoader {
  readonly #deps: ReadDeps;
  readonly #config: ResolvedBacktestConfig;
  readonly #loaded = new Map<string, Candles>();

  constructor(deps: ReadDeps, config: ResolvedBacktestConfig) {
    this.#deps = deps;
    this.#config = config;
  }

  /** @param reads with a source. Throws DATA002, CorruptFileError (DATA005) */
  async load(reads: readonly InformativeRead[]): Promise<InformativeCandles[]> {
    const loaded: InformativeCandles[] = [];
    for (const read of reads) {
      const { key, pair, timeframe } = read;
      const source = read.source!;
      const candles = await this.#candles(read, source);
      loaded.push({ key, pair, timeframe, source: source.timeframe, candles });
    }
    return loaded;
  }

  async #candles({ pair, timeframe, from }: InformativeRead, source: CandleSource): Promise<Candles> {
    const name = `${pair} ${timeframe} ${source.timeframe} ${from}`;
    const known = this.#loaded.get(name);
    if (known) return known;
    const { date_range, max_missing } = this.#config;
    // Candles that close after the run are never read.
    const end = exchangeGrid(source.series.exchange, timeframe).floor(Date.parse(date_range.end));
    const range = { start: from, end, maxMissing: max_missing };
    const candles = await readAs(this.#deps, source.series, timeframe, range);
    this.#loaded.set(name, candles);
    return candles;
  }
}

/** Gaps that a message lists. */
const GAPS_LISTED = 5;

/** Only damage counts: closed times and candles without trades are not lost. */
function checkGaps({ timestamp }: Candles, series: SeriesInfo, tolerance: number): void {
  const { symbol, timeframe } = series;
  const step = TIMEFRAME_MS[timeframe];
  const gaps = gapsBetween(timestamp, step);
  const { closed, no_trades, damage, damaged } = explainGaps(gaps, gapRulesOf(series));
  const missing = closed + no_trades + damage;
  const expected = timestamp.length + missing - closed;
  if (timestamp.length === 0 || damage <= expected * tolerance) return;
  const widest = [...damaged].sort((a, b) => b[1] - a[1]).slice(0, GAPS_LISTED);
  const lines = widest
    .sort((a, b) => a[0] - b[0])
    .map(([start, count]) => `${isoTime(start)} to ${isoTime(start + count * step)} (${count})`);
  const others = [
    ...(closed > 0 ? [`${closed} in closed times`] : []),
    ...(no_trades > 0 ? [`${no_trades} without trades`] : []),
  ].join(' and ');
  throw new CodedError('DATA002', {
    message: `${damage} of ${expected} ${timeframe} candles of ${symbol} are missing, more than ${roundNumber(tolerance * 100)} %${others && `; ${others} are not counted`}. Collect or import them, choose another date_range, or set max_missing. The widest of ${damaged.length} gaps:\n${lines.join('\n')}`,
    context: { symbol, missing: damage, expected, tolerance, closed, no_trades },
  });
}
