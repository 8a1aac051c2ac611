import type {
  CandleStore,
  Clock,
  ObjectStore,
  OnCorrupt,
  SeriesInfo,
  SeriesKey,
  SeriesMonth,
  SeriesStore,
} from '#domain/ports.ts';
import { CANDLE_COLUMNS, type Candles } from '#engine/candles.ts';
import type { FundingEvents } from '#engine/simulator/types.ts';
import { isOnGrid, TIMEFRAME_MS } from '#engine/timeframe.ts';
import { KeyedLock } from '../keyed-lock.ts';
import { describeMonth } from '../series-months.ts';
import { candlesPrefix, fundingPrefix } from './keys.ts';
import { MonthFiles, type Rows } from './month-files.ts';

/** Usual interval between funding events. */
const FUNDING_MS = 8 * 3_600_000;

export interface CandleStoreDeps {
  readonly objects: ObjectStore;
  readonly series: SeriesStore;
  readonly clock: Clock;
}

/** Reads candles and funding events from monthly Parquet files. */
export class ParquetCandleReader implements Pick<CandleStore, 'read' | 'readFunding'> {
  protected readonly candles: MonthFiles;
  protected readonly funding: MonthFiles;
  readonly #series: Pick<SeriesStore, 'months'>;

  constructor(objects: ObjectStore, series: Pick<SeriesStore, 'months'>) {
    this.candles = new MonthFiles(objects, CANDLE_COLUMNS);
    this.funding = new MonthFiles(objects, ['timestamp', 'rate', 'mark_price']);
    this.#series = series;
  }

  async read(
    series: SeriesKey,
    start: number,
    end: number,
    onCorrupt?: OnCorrupt,
    months?: readonly SeriesMonth[],
  ): Promise<Candles> {
    const step = TIMEFRAME_MS[series.timeframe];
    // Read before the files: a month is recorded after its file was written, so each recorded month had a file.
    const recorded = (months ?? (await this.#series.months(series)))
      .filter(({ count, first, last }) => count > 0 && first < end && last >= start)
      .map(({ month }) => month);
    const checks = { onCorrupt, recorded };
    const rows = await this.candles.read(candlesPrefix(series), { start, end }, step, checks);
    const [timestamp, open, high, low, close, volume] = rows as [...Float64Array[]] & { length: 6 };
    return { timestamp: timestamp!, open: open!, high: high!, low: low!, close: close!, volume: volume! };
  }

  async readFunding(
    exchange: string,
    symbol: string,
    start: number,
    end: number,
    onCorrupt?: OnCorrupt,
  ): Promise<FundingEvents> {
    const prefix = fundingPrefix(exchange, symbol);
    const range = { start, end: end + 1 };
    const rows = await this.funding.read(prefix, range, FUNDING_MS, { onCorrupt });
    const [timestamp, rate, markPrice] = rows;
    return { timestamp: timestamp!, rate: rate!, markPrice: markPrice! };
  }
}

/**
 * Candles and funding events as monthly Parquet files, and their summaries in the series store. A month's file is
 * replaced only if it is unchanged since the merge, so concurrent writers lose no candles. Within this process, writers
 * of one series wait for each other instead of retrying. After a crash between file and series, the series is
 * understated until its candles are written again.
 */
export class ParquetCandleStore extends ParquetCandleReader implements CandleStore {
  readonly #series: SeriesStore;
  readonly #clock: Clock;
  readonly #writers = new KeyedLock();

  constructor({ objects, series, clock }: CandleStoreDeps) {
    super(objects, series);
    this.#series = series;
    this.#clock = clock;
  }

  /** @throws RangeError for candles that are not ascending, not on the timeframe's grid or not finite */
  async write(series: SeriesKey, candles: Candles): Promise<SeriesInfo> {
    const step = TIMEFRAME_MS[series.timeframe];
    const rows = CANDLE_COLUMNS.map((name) => candles[name]);
    checkRows(rows, step);
    const prefix = candlesPrefix(series);
    return this.#writers.run(prefix, async () => {
      const merged = await this.candles.merge(prefix, rows);
      const months = merged.map(({ month, times }) => describeMonth(month, times, step));
      return this.#series.record(series, months, new Date(this.#clock.now()).toISOString());
    });
  }

  /** @throws RangeError for events that are not ascending or not finite */
  async writeFunding(exchange: string, symbol: string, events: FundingEvents): Promise<void> {
    const rows = [events.timestamp, events.rate, events.markPrice];
    checkRows(rows, 1);
    const prefix = fundingPrefix(exchange, symbol);
    await this.#writers.run(prefix, () => this.funding.merge(prefix, rows));
  }
}

function checkRows(rows: Rows, step: number): void {
  const times = rows[0]!;
  if (rows.some((column) => column.length !== times.length)) throw new RangeError('Columns differ in length');
  for (let row = 0, { length } = times; row < length; row++) {
    const time = times[row]!;
    if (!isOnGrid(time, step)) throw new RangeError(`Row ${row}: ${time} is not on the grid of ${step} ms`);
    if (row > 0 && time <= times[row - 1]!) throw new RangeError(`Row ${row}: times do not ascend`);
    if (!rows.every((column) => Number.isFinite(column[row]))) throw new RangeError(`Row ${row}: not finite`);
  }
}
