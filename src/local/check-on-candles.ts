import { join, resolve } from 'node:path';
import { SimExchange } from '#adapters/exchange/sim.ts';
import {
  type CheckOptions,
  type CheckOutcome,
  type CheckRequest,
  checkStrategy,
} from '#adapters/local/strategy-check.ts';
import { openObjectStore } from '#adapters/open-object-store.ts';
import { candlesPrefix } from '#adapters/parquet/keys.ts';
import { MonthFiles } from '#adapters/parquet/month-files.ts';
import type { ResolvedBacktestConfig } from '#contract/backtest.ts';
import { spotPairs } from '#domain/resolve-trading-mode.ts';
import { CANDLE_COLUMNS, type Candles } from '#engine/candles.ts';
import type { PairData } from '#engine/run/history.ts';
import { TIMEFRAME_MS } from '#engine/timeframe.ts';

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
      loadCandles: (config, from) =>
        Promise.all(
          config.pairs.map(async (pair) => ({
            pair,
            candles:
              exchange === SIMULATED
                ? await sim.fetchCandles(pair, config.timeframe, from, Date.parse(config.date_range.end))
                : await storedCandles(home, config, pair, from),
          })),
        ) satisfies Promise<PairData[]>,
    },
  );
}

async function storedCandles(
  home: string,
  config: ResolvedBacktestConfig,
  pair: string,
  from: number,
): Promise<Candles> {
  const { exchange, timeframe } = config;
  const objects = openObjectStore({ OBJECTS_DIRECTORY: join(resolve(home), 'objects') }, CANDLES_BUCKET);
  const files = new MonthFiles(objects, CANDLE_COLUMNS);
  const prefix = candlesPrefix({ exchange, symbol: pair, timeframe });
  const end = Date.parse(config.date_range.end);
  const columns = await files.read(prefix, from, end, TIMEFRAME_MS[timeframe], undefined, []);
  const candles = Object.fromEntries(CANDLE_COLUMNS.map((name, index) => [name, columns[index]!])) as Record<
    (typeof CANDLE_COLUMNS)[number],
    Float64Array
  >;
  if (candles.timestamp.length > 0) return candles;
  throw new Error(
    `No ${timeframe} candles of ${pair} on ${exchange} are stored in ${home} between ${new Date(from).toISOString()} and ${config.date_range.end}. Import or collect them first.`,
  );
}
