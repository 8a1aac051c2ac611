import type { Calendar } from '#contract/values/calendars.ts';
import type { SeriesKeeper } from '#domain/data/series-ports.ts';
import type { CandleStore, SeriesKey } from '#domain/ports.ts';
import { type Candles, joinCandles } from '#engine/candles.ts';

/** Rows kept in memory, 24 MB: a year of 1m. */
const MAX_ROWS = 2 ** 19;

/** Part of a candle store that an import uses. */
export interface ImportStore {
  write(series: SeriesKey, candles: Candles): Promise<unknown>;
  writeFunding: CandleStore['writeFunding'];
  /** Stored candles: their opens are the prices of funding rates without mark prices. */
  read: CandleStore['read'];
}

/** Writes candles as one import: what they replace is kept. @param calendar of their markets; absent: found in the candles */
export function keepingReplaced(
  candles: CandleStore & SeriesKeeper,
  importId: string,
  calendar?: Calendar,
): ImportStore {
  return {
    write: (series, rows) => candles.import(series, rows, importId, calendar),
    writeFunding: (...given) => candles.writeFunding(...given),
    read: (...given) => candles.read(...given),
  };
}

/**
 * Joins the candles of consecutive files of one series into one write. A download of days would otherwise write the file of a month
 * thirty times. Files that overlap, or come in another order, are written one by one, so that the last file still wins.
 */
export class BatchedWrites implements ImportStore {
  readonly #store: ImportStore;
  #key: SeriesKey | undefined;
  #parts: Candles[] = [];
  #rows = 0;

  constructor(store: ImportStore) {
    this.#store = store;
  }

  /** @param candles ascending; kept until they are written */
  async write(key: SeriesKey, candles: Candles): Promise<void> {
    const last = this.#parts.at(-1)?.timestamp.at(-1) ?? Number.NEGATIVE_INFINITY;
    const rows = candles.timestamp.length;
    const joins = this.#key !== undefined && sameSeries(this.#key, key) && candles.timestamp[0]! > last;
    if (!joins || this.#rows + rows > MAX_ROWS) await this.flush();
    this.#key = key;
    this.#parts.push(candles);
    this.#rows += rows;
  }

  writeFunding(...given: Parameters<ImportStore['writeFunding']>): Promise<void> {
    return this.#store.writeFunding(...given);
  }

  /** Includes the candles that were given to `write`. */
  async read(...given: Parameters<ImportStore['read']>): Promise<Candles> {
    await this.flush();
    return this.#store.read(...given);
  }

  /** Call it at the end: candles that are not flushed are not stored. */
  async flush(): Promise<void> {
    const [key, parts] = [this.#key, this.#parts];
    [this.#key, this.#parts, this.#rows] = [undefined, [], 0];
    if (key !== undefined) await this.#store.write(key, joinCandles(parts));
  }
}

function sameSeries(a: SeriesKey, b: SeriesKey): boolean {
  return a.exchange === b.exchange && a.symbol === b.symbol && a.timeframe === b.timeframe;
}
