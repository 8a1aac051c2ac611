import type { SeriesKey } from '#domain/ports.ts';
import { CANDLE_COLUMNS, type Candles } from '#engine/candles.ts';
import type { ImportStore } from './batched-writes.ts';

/** Rows kept of each series. */
const ROWS_SHOWN = 5;

/** Keeps the first rows of each series of candles instead of storing them, to show them. */
export class PreviewStore implements ImportStore {
  readonly #stored: Pick<ImportStore, 'read'>;
  readonly #series = new Map<string, PreviewSeries>();

  /** @param stored prices of funding rates that the files have no marks for */
  constructor(stored: Pick<ImportStore, 'read'>) {
    this.#stored = stored;
  }

  /** In the order of the import. */
  get series(): PreviewSeries[] {
    return [...this.#series.values()];
  }

  async write(key: SeriesKey, candles: Candles): Promise<void> {
    const name = JSON.stringify(key);
    if (this.#series.has(name)) return;
    const count = Math.min(ROWS_SHOWN, candles.timestamp.length);
    const rows = Array.from({ length: count }, (_, row) =>
      CANDLE_COLUMNS.map((column) => candles[column][row]!),
    );
    this.#series.set(name, { ...key, rows });
  }

  async writeFunding(): Promise<void> {}

  read(...given: Parameters<ImportStore['read']>): Promise<Candles> {
    return this.#stored.read(...given);
  }
}

interface PreviewSeries extends SeriesKey {
  /** `timestamp, open, high, low, close, volume`. */
  readonly rows: readonly (readonly number[])[];
}
