import { join, resolve } from 'node:path';
import { SimExchange } from '#adapters/exchange/sim.ts';
import {
  type CheckOptions,
  type CheckOutcome,
  type CheckRequest,
  checkStrategy,
  type WantedSeries,
} from '#adapters/local/strategy-check.ts';
import { openObjectStore } from '#adapters/open-object-store.ts';
import { candlesPrefix } from '#adapters/parquet/keys.ts';
import { MonthFiles } from '#adapters/parquet/month-files.ts';
import { sourceTimeframes } from '#domain/data/candle-source.ts';
import { spotPairs } from '#domain/resolve-trading-mode.ts';
import { CANDLE_COLUMNS, type Candles } from '#engine/candles.ts';
import { resampleCandles } from '#engine/indicators/resample.ts';
import type { PairData } from '#engine/run/history.ts';
import { TIMEFRAME_MS, type Timeframe } from '#engine/timeframe.ts';

/** Exchange of simulated candles. */
export const SIMULATED = 'sim';
/** End of simulated candles without a range; fixed, so that a check is repeatable. */
const SIM_END = Date.UTC(2025, 0, 1);
const MAX_PAIRS = 3;
/** Bucket of candles and funding rates in the data folder. */
export const CANDLES_BUCKET = 'candles';

type CandleCheck = Omit<CheckRequest, 'available' | 'maxPairs' | 'end'> & {
  /** Data folder of stored candles. */
  readonly home: string;
};

/**
 * Certifies a strategy on simulated candles, or on stored ones of the data folder.
 *
 * @throws Error when the strategy fails, or no candles are stored
 */
export async function checkOnCandles(
  { home, pairs, ...request }: CandleCheck,
  options: Omit<CheckOptions, 'loadCandles'>,
): Promise<CheckOutcome> {
  const { exchange, tradingMode, seed } = request;
  const sim = new SimExchange({ seed });
  const listed = await sim.symbols();
  return checkStrategy(
    {
      ...request,
      pairs: pairs?.length ? pairs : undefined,
      available: exchange === SIMULATED ? (tradingMode === 'spot' ? spotPairs(listed) : listed) : undefined,
      maxPairs: MAX_PAIRS,
      end: SIM_END,
    },
    {
      ...options,
      loadCandles: async (config, from, informative) => {
        const end = Date.parse(config.date_range.end);
        const read = (pair: string, timeframe: Timeframe, start: number) =>
          exchange === SIMULATED
            ? sim.fetchCandles(pair, timeframe, start, end)
            : storedCandles(home, { exchange, pair, timeframe }, { start, end });
        const given = new Map<string, Promise<Candles>>();
        const shared = ({ pair, timeframe, from: start }: WantedSeries) => {
          const name = `${pair} ${timeframe} ${start}`;
          given.set(name, given.get(name) ?? read(pair, timeframe, start));
          return given.get(name)!;
        };
        return Promise.all(
          config.pairs.map(async (pair) => ({
            pair,
            candles: await read(pair, config.timeframe, from),
            informative: await Promise.all(
              informative
                .filter(({ tradedPair }) => tradedPair === pair)
                .map(async (wanted) => {
                  const { key, pair: other, timeframe } = wanted;
                  return { key, pair: other, timeframe, source: timeframe, candles: await shared(wanted) };
                }),
            ),
          })),
        ) satisfies Promise<PairData[]>;
      },
    },
  );
}

/** Stored candles of a series, else candles computed from the longest stored timeframe that divides it. */
async function storedCandles(
  home: string,
  {
    exchange,
    pair,
    timeframe,
  }: { readonly exchange: string; readonly pair: string; readonly timeframe: Timeframe },
  { start, end }: { readonly start: number; readonly end: number },
): Promise<Candles> {
  const objects = openObjectStore({ OBJECTS_DIRECTORY: join(resolve(home), 'objects') }, CANDLES_BUCKET);
  const files = new MonthFiles(objects, CANDLE_COLUMNS);
  for (const source of sourceTimeframes(timeframe)) {
    const prefix = candlesPrefix({ exchange, symbol: pair, timeframe: source });
    const columns = await files.read(prefix, start, end, TIMEFRAME_MS[source], undefined, []);
    const candles = Object.fromEntries(
      CANDLE_COLUMNS.map((name, index) => [name, columns[index]!]),
    ) as Record<(typeof CANDLE_COLUMNS)[number], Float64Array>;
    if (candles.timestamp.length > 0) {
      return resampleCandles(candles, TIMEFRAME_MS[source], TIMEFRAME_MS[timeframe]);
    }
  }
  throw new Error(
    `No ${timeframe} candles of ${pair} on ${exchange} are stored in ${home} between ${new Date(start).toISOString()} and ${new Date(end).toISOString()}. Import or collect them first.`,
  );
}
