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

type ReadTable = (request: TableRequest) => Promise<FileSeries[]>;

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
    return ({ path, names, hints }) => readCsvCandles(path, names, hints);
  },
  json: async () => {
    const { readJsonCandles } = await import('./formats/json-candles.ts');
    return ({ path, names, hints }) => readJsonCandles(path, names, hints);
  },
  feather: async () => {
    const { readFeatherCandles } = await import('./formats/feather.ts');
    return ({ path, names, hints }) => readFeatherCandles(path, names, hints);
  },
  parquet: async () => {
    const { readParquetCandles } = await import('./formats/parquet-candles.ts');
    return ({ path, names, hints }) => readParquetCandles(path, names, hints);
  },
} satisfies Readonly<Record<string, () => Promise<ReadTable>>>;

export type TableKind = keyof typeof TABLES;

/** Reads all series of a file. Throws BadFileError, whose message is for the user. */
export async function readTable(request: TableRequest): Promise<FileSeries[]> {
  const read = await TABLES[request.table]();
  return read(request);
}
