import { join, resolve } from 'node:path';
import { SIM_LISTED_MS, type SimExchange } from '#adapters/exchange/sim.ts';
import { openObjectStore } from '#adapters/open-object-store.ts';
import { candlesPrefix } from '#adapters/parquet/keys.ts';
import { MonthFiles } from '#adapters/parquet/month-files.ts';
import { describeMonth, summarizeMonths } from '#adapters/series-months.ts';
import { isCollected } from '#domain/data/candle-source.ts';
import type { CandleStore, SeriesInfo, SeriesKey, SeriesStore } from '#domain/ports.ts';
import { CANDLE_COLUMNS, type Candles, indexAtOrAfter, sliceCandles } from '#engine/candles.ts';
import { TIMEFRAME_MS } from '#engine/timeframe.ts';

/** Bucket of candles and funding rates in the data folder. */
export const CANDLES_BUCKET = 'candles';

/** Candles of a check, in the shape in which a task finds those of a platform. */
export interface CheckCandles {
  readonly series: Pick<SeriesStore, 'getMany' | 'markCorrupt'>;
  readonly candles: Pick<CandleStore, 'read'>;
}

interface Range {
  readonly start: number;
  readonly end: number;
}

type Load = (key: SeriesKey) => Promise<Candles>;

/** Candles in a data folder. Its files tell which series there are: a check runs without the database. */
export function folderCandles(home: string, range: Range): CheckCandles {
  const objects = openObjectStore({ OBJECTS_DIRECTORY: join(resolve(home), 'objects') }, CANDLES_BUCKET);
  const files = new MonthFiles(objects, CANDLE_COLUMNS);
  return candlesOf(async (key) => {
    const columns = await files.read(candlesPrefix(key), range, TIMEFRAME_MS[key.timeframe]);
    return Object.fromEntries(CANDLE_COLUMNS.map((name, index) => [name, columns[index]!])) as Record<
      (typeof CANDLE_COLUMNS)[number],
      Float64Array
    >;
  });
}

/** Simulated candles, of the timeframes that a platform collects. */
export function simulatedCandles(sim: SimExchange): CheckCandles {
  const stored = (key: SeriesKey): SeriesInfo => ({
    ...key,
    first: iso(SIM_LISTED_MS),
    last: iso(Date.now()),
    updated_at: iso(SIM_LISTED_MS),
    count: 0,
    gap_count: 0,
    gaps: [],
    longest_omitted_gap: 0,
  });
  return {
    series: {
      getMany: async (exchange, keys) =>
        new Map(
          keys
            .filter(({ timeframe }) => isCollected(timeframe))
            .map((key) => [nameOf(key), stored({ exchange, ...key })]),
        ),
      markCorrupt: async () => undefined,
    },
    candles: { read: ({ symbol, timeframe }, start, end) => sim.fetchCandles(symbol, timeframe, start, end) },
  };
}

/** Each series is loaded once, when its content or its extent is needed. */
function candlesOf(load: Load): CheckCandles {
  const loaded = new Map<string, Promise<Candles>>();
  const loadOnce = (key: SeriesKey) => {
    const known = loaded.get(nameOf(key)) ?? load(key);
    loaded.set(nameOf(key), known);
    return known;
  };
  return {
    series: {
      async getMany(exchange, keys) {
        const found = new Map<string, SeriesInfo>();
        for (const each of keys) {
          const key = { exchange, ...each };
          const { timestamp } = await loadOnce(key);
          if (timestamp.length === 0) continue;
          const month = describeMonth('', timestamp, TIMEFRAME_MS[key.timeframe]);
          found.set(nameOf(key), summarizeMonths(key, [month], iso(timestamp.at(-1)!)));
        }
        return found;
      },
      // A check leaves the data folder as it is.
      markCorrupt: async () => undefined,
    },
    candles: {
      async read(key, start, end) {
        const candles = await loadOnce(key);
        const { timestamp } = candles;
        return sliceCandles(candles, indexAtOrAfter(timestamp, start), indexAtOrAfter(timestamp, end));
      },
    },
  };
}

function nameOf({ symbol, timeframe }: Omit<SeriesKey, 'exchange'>): string {
  return `${symbol}#${timeframe}`;
}

function iso(time: number): string {
  return new Date(time).toISOString();
}
