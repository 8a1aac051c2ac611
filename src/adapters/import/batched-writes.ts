import type { Calendar } from '#contract/values/calendars.ts';
import type { SeriesKeeper } from '#domain/data/series-ports.ts';
import type { CandleStore, SeriesKey } from '#domain/ports.ts';
import {
  CANDLE_COLUMNS,
  type Candles,
  createCandles,
  indexAtOrAfter,
  sliceCandles,
} from '#engine/candles.ts';

/** Rows kept in memory, 12 MB: half a year of 1m. */
const MAX_ROWS = 2 ** 18;

/** Part of a candle store that an import uses. */
export interface ImportStore {
  /** Their arrays may be reused afterwards. */
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
  #candles = createCandles(0);
  #rows = 0;

  constructor(store: ImportStore) {
    this.#store = store;
  }

  /** @param candles ascending; their arrays may be reused then */
  async write(key: SeriesKey, candles: Candles): Promise<void> {
    const rows = candles.timestamp.length;
    const [first, last] = [candles.timestamp[0]!, this.#candles.timestamp[this.#rows - 1]!];
    const joins = this.#key !== undefined && sameSeries(this.#key, key) && first > last;
    if (!joins) await this.flush();
    else if (this.#rows + rows > MAX_ROWS) await this.#flushMonths(first);
    if (rows > MAX_ROWS) {
      await this.flush();
      await this.#store.write(key, candles);
      return;
    }
    this.#key = key;
    this.#makeRoom(rows);
    for (const name of CANDLE_COLUMNS) this.#candles[name].set(candles[name], this.#rows);
    this.#rows += rows;
  }

  #makeRoom(rows: number): void {
    const room = this.#candles.timestamp.length;
    if (this.#rows + rows <= room) return;
    const before = sliceCandles(this.#candles, 0, this.#rows);
    this.#candles = createCandles(Math.max(this.#rows + rows, Math.min(2 * room, MAX_ROWS)));
    for (const name of CANDLE_COLUMNS) this.#candles[name].set(before[name]);
  }

  /** Writes the candles before the month of a time: those of the month are written with the ones that follow. */
  async #flushMonths(next: number): Promise<void> {
    const date = new Date(next);
    const month = Date.UTC(date.getUTCFullYear(), date.getUTCMonth());
    const all = sliceCandles(this.#candles, 0, this.#rows);
    const from = indexAtOrAfter(all.timestamp, month);
    if (from === 0) {
      await this.flush();
      return;
    }
    await this.#store.write(this.#key!, sliceCandles(all, 0, from));
    for (const name of CANDLE_COLUMNS) all[name].copyWithin(0, from);
    this.#rows -= from;
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
    const [key, rows] = [this.#key, this.#rows];
    [this.#key, this.#rows] = [undefined, 0];
    if (key !== undefined && rows > 0) await this.#store.write(key, sliceCandles(this.#candles, 0, rows));
  }
}

function sameSeries(a: SeriesKey, b: SeriesKey): boolean {
  return a.exchange === b.exchange && a.symbol === b.symbol && a.timeframe === b.timeframe;
}
