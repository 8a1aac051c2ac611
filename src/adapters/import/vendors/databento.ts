import { BadFileError } from '../file-rows.ts';
import { CsvColumns, type CsvLine, csvColumns, csvLines, wrongValue } from '../formats/csv-table.ts';
import { type FileSeries, type SeriesNames, SeriesTable } from '../series-table.ts';

const COLUMNS = ['ts_event', 'rtype', 'open', 'high', 'low', 'close', 'volume'];
/** Length of a candle by record type (Databento, "Common fields, enums and types"). */
const TIMEFRAMES: Readonly<Record<string, string>> = {
  '32': '1s',
  '33': '1m',
  '34': '1h',
  '35': '1d',
  '36': 'eod',
};
/** A name that follows the contracts of a product: `ES.c.0` by calendar, `.n.0` by open interest, `.v.0` by volume. */
const CONTINUOUS = /\.[cnv]\.\d+$/;
/** Price of a record that has none: the largest 64-bit integer. */
const UNDEFINED_PRICE = '9223372036854775807';

/** True for the columns of a Databento CSV file of the schemas `ohlcv-...`. */
export function isDatabentoCandles(header: readonly string[]): boolean {
  return new CsvColumns(header).has(...COLUMNS);
}

/** Encoding of the prices of a file: integers of 1e-9, or decimals (`pretty_px`). */
type PriceForm = 'integers' | 'decimals';

/**
 * Candles of a Databento CSV file of a schema `ohlcv-...`, by symbol. Without the column `symbol` (`map_symbols`) the
 * instrument ID names the series.
 * @throws BadFileError
 */
export async function readDatabento(path: string, names: SeriesNames): Promise<FileSeries[]> {
  const columns = await csvColumns(path, [...COLUMNS, 'instrument_id']);
  const table = new SeriesTable(6, 'line');
  const nameColumn = columns.has('symbol') ? 'symbol' : 'instrument_id';
  const instruments = new Instruments();
  let form: PriceForm | undefined;
  const price = (line: CsvLine, name: string): number => {
    const text = columns.text(line, name);
    if (text === '' || text === UNDEFINED_PRICE) return Number.NaN;
    const value = columns.number(line, name);
    const found = /[.eE]/.test(text) ? 'decimals' : 'integers';
    form ??= found;
    if (found !== form) throw wrongValue(line, name, text, `${form}, as in the lines before`);
    // The decimal exponent in the text rounds once; a division would round integers above 2^53 twice.
    return form === 'integers' ? Number(`${text}e-9`) : value;
  };
  for await (const lines of csvLines(path)) {
    for (const line of lines) {
      const rtype = columns.text(line, 'rtype');
      const timeframe = TIMEFRAMES[rtype];
      if (timeframe === undefined) throw wrongValue(line, 'rtype', rtype, 'a candle, 32 to 36');
      const symbol = columns.text(line, nameColumn);
      const series = { symbol: symbol || names.symbol, exchange: names.exchange, timeframe };
      instruments.check(columns, line, `${symbol} ${timeframe}`);
      const values = [
        columns.time(line, 'ts_event'),
        price(line, 'open'),
        price(line, 'high'),
        price(line, 'low'),
        price(line, 'close'),
        columns.number(line, 'volume'),
      ];
      table.add(series, values, line.number);
    }
  }
  return table.finish('candles').map((series) => ({
    ...series,
    notes: instruments.notesOf(series),
  }));
}

/** Publishers and contracts of each series. */
class Instruments {
  readonly #publishers = new Map<string, string>();
  readonly #contracts = new Map<string, Set<string>>();

  /** @throws BadFileError for a second publisher: its candles are of another venue, so they are not duplicates */
  check(columns: CsvColumns, line: CsvLine, series: string): void {
    if (columns.has('publisher_id')) {
      const publisher = columns.text(line, 'publisher_id');
      const first = this.#publishers.get(series) ?? publisher;
      this.#publishers.set(series, first);
      if (first !== publisher) {
        throw new BadFileError(
          `line ${line.number}: ${series} has candles of the publishers ${first} and ${publisher}: keep the rows of one`,
        );
      }
    }
    if (!columns.has('instrument_id')) return;
    const contracts = this.#contracts.get(series) ?? new Set();
    this.#contracts.set(series, contracts.add(columns.text(line, 'instrument_id')));
  }

  /** The contract may change between two files, so a continuous name is noted with one contract too. */
  notesOf({ symbol, timeframe }: SeriesNames): string[] {
    const contracts = this.#contracts.get(`${symbol} ${timeframe}`)?.size ?? 0;
    const follows = 'follow each other: prices are not adjusted where they change';
    if (contracts > 1) return [`${contracts} contracts ${follows}`];
    return CONTINUOUS.test(symbol ?? '') ? [`contracts ${follows}`] : [];
  }
}
