import type { ResolvedBacktestConfig } from '#contract/backtests/backtest.ts';
import { CodedError } from '#contract/values/errors.ts';
import type { InformativeCandles } from '#engine/analysis/informative.ts';
import type { Candles } from '#engine/candles.ts';
import { resampleCandles } from '#engine/indicators/resample.ts';
import { roundNumber } from '#engine/round.ts';
import { ceilToGrid, floorToGrid, TIMEFRAME_MS, type Timeframe } from '#engine/timeframe.ts';
import { GAP_TOLERANCE } from '../data/candle-source.ts';
import type { TimeInterval } from '../data/missing-ranges.ts';
import type { InformativeRead } from '../data/plan-reads.ts';
import type { CandleStore, Clock, SeriesKey, SeriesStore } from '../ports.ts';
import { recordCorruption } from '../shared/corrupt-file.ts';
import { isoTime } from '../shared/iso-time.ts';

interface ReadDeps {
  readonly series: Pick<SeriesStore, 'markCorrupt'>;
  readonly candles: Pick<CandleStore, 'read'>;
  readonly clock: Clock;
}

/**
 * Candles of `timeframe` that open in a range, computed when the stored series has a shorter one: only complete ones then.
 * Gaps are not filled. Throws DATA002 for gaps beyond the tolerance, CorruptFileError (DATA005).
 */
export async function readAs(
  deps: ReadDeps,
  key: SeriesKey,
  timeframe: Timeframe,
  { start, end }: TimeInterval,
  gapTolerance = GAP_TOLERANCE,
): Promise<Candles> {
  const stepMs = TIMEFRAME_MS[timeframe];
  const isComputed = key.timeframe !== timeframe;
  const from = isComputed ? floorToGrid(start, stepMs) : start;
  const to = isComputed ? ceilToGrid(end, stepMs) : end;
  const stored = await recordCorruption(deps, key, () => deps.candles.read(key, from, to));
  checkGaps(stored, key, gapTolerance);
  return resampleCandles(stored, TIMEFRAME_MS[key.timeframe], stepMs);
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
      const source = read.source!.timeframe;
      loaded.push({ key, pair, timeframe, source, candles: await this.#candles(read, source) });
    }
    return loaded;
  }

  async #candles({ pair, timeframe, from }: InformativeRead, source: Timeframe): Promise<Candles> {
    const name = `${pair} ${timeframe} ${source} ${from}`;
    const known = this.#loaded.get(name);
    if (known) return known;
    const { exchange, date_range } = this.#config;
    // Candles that close after the run are never read.
    const end = floorToGrid(Date.parse(date_range.end), TIMEFRAME_MS[timeframe]);
    const key = { exchange, symbol: pair, timeframe: source };
    const candles = await readAs(this.#deps, key, timeframe, { start: from, end });
    this.#loaded.set(name, candles);
    return candles;
  }
}

function checkGaps({ timestamp }: Candles, { symbol, timeframe }: SeriesKey, tolerance: number): void {
  const step = TIMEFRAME_MS[timeframe];
  const expected = (timestamp.at(-1)! - timestamp[0]!) / step + 1;
  const missing = expected - timestamp.length;
  if (timestamp.length === 0 || missing <= expected * tolerance) return;
  let widest = 1;
  for (let i = 2; i < timestamp.length; i++) {
    if (timestamp[i]! - timestamp[i - 1]! > timestamp[widest]! - timestamp[widest - 1]!) widest = i;
  }
  throw new CodedError('DATA002', {
    message: `${missing} of ${expected} ${timeframe} candles of ${symbol} are missing, more than ${roundNumber(tolerance * 100)} %; the widest gap ends at ${isoTime(timestamp[widest]!)}. Collect them again or choose another date_range`,
    context: { symbol, missing, expected, tolerance },
  });
}
