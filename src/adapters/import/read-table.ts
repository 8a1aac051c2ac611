import type { Spill } from './file-rows.ts';
import type { TableHints } from './formats/csv-plan.ts';
import type { FileSeries, SeriesNames } from './series-table.ts';

export interface TableRequest {
  readonly path: string;
  readonly table: TableKind;
  /** Names of the series where the rows have none. */
  readonly names: SeriesNames;
  /** File of the next day, which may hold the last trades of this one. */
  readonly next?: string;
  /** Path of a file with the SHA-256 of this file, as `sha256sum` writes it. */
  readonly checksum?: string;
  readonly hints: TableHints;
}

type ReadTable = (request: TableRequest, spill?: Spill) => Promise<FileSeries[]>;

/** Files that name their series, and the readers, each loaded for the first such file. */
const TABLES = {
  databento: async () => {
    const { readDatabento } = await import('./vendors/databento.ts');
    return ({ path, names }) => readDatabento(path, names);
  },
  'tardis-bars': async () => {
    const { readTardisBars } = await import('./vendors/tardis-bars.ts');
    return ({ path }) => readTardisBars(path);
  },
  'tardis-trades': async () => {
    const { readTardisTrades } = await import('./vendors/tardis-trades.ts');
    return ({ path, names, next }) => readTardisTrades(path, names, next);
  },
  'tardis-funding': async () => {
    const { readTardisFunding } = await import('./vendors/tardis-funding.ts');
    return ({ path }) => readTardisFunding(path);
  },
  csv: async () => {
    const { readCsvCandles } = await import('./formats/csv-candles.ts');
    return ({ path, names, hints }, spill) => readCsvCandles(path, names, hints, spill);
  },
  json: async () => {
    const { readJsonCandles } = await import('./formats/json-candles.ts');
    return ({ path, names, hints }, spill) => readJsonCandles(path, names, hints, spill);
  },
  feather: async () => {
    const { readFeatherCandles } = await import('./formats/feather.ts');
    return ({ path, names, hints }, spill) => readFeatherCandles(path, names, { ...hints, spill });
  },
  parquet: async () => {
    const { readParquetCandles } = await import('./formats/parquet-candles.ts');
    return ({ path, names, hints }, spill) => readParquetCandles(path, names, { ...hints, spill });
  },
} satisfies Readonly<Record<string, () => Promise<ReadTable>>>;

export type TableKind = keyof typeof TABLES;

/**
 * Reads all series of a file. Throws BadFileError, whose message is for the user.
 * @param spill may be given rows while the file is read
 */
export async function readTable(request: TableRequest, spill?: Spill): Promise<FileSeries[]> {
  const read = await TABLES[request.table]();
  return read(request, spill);
}
