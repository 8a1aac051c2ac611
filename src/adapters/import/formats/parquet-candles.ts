import { RecordBatchReader } from 'apache-arrow';
import { readParquet } from 'parquet-wasm';
import { MAX_ROWS, readWhole } from '../file-rows.ts';
import type { FileSeries, SeriesNames } from '../series-table.ts';
import { ArrowCandles, type ArrowHints, possibleColumns, SAMPLE_ROWS } from './arrow-candles.ts';
import { checkSize, readSmallSchema } from './parquet-size.ts';

/** Rows decompressed in one step: WebAssembly memory never shrinks. */
const ROWS_AT_ONCE = 131_072;

/**
 * Candles of a Parquet file of any writer, by the symbol, timeframe and exchange of the rows. Missing ones are taken from
 * `names`, which its folders give.
 * @throws BadFileError; errors of the Parquet library for a corrupt file
 */
export async function readParquetCandles(
  path: string,
  names: SeriesNames,
  hints: ArrowHints,
): Promise<FileSeries[]> {
  const bytes = await readWhole(path);
  const { fields } = RecordBatchReader.from(readSmallSchema(bytes).intoIPCStream()).open().schema;
  const all = fields.map(({ name }) => name);
  const possible = possibleColumns(all, hints);
  const limits = { rowsAtOnce: ROWS_AT_ONCE, maxRows: MAX_ROWS };
  checkSize(bytes, { ...limits, columns: possible });
  const candles = new ArrowCandles(all, sampleOf(bytes, possible), names, hints);
  const { columns } = candles;
  for (let offset = 0; ; offset += ROWS_AT_ONCE) {
    const read = readParquet(bytes, { columns, offset, limit: ROWS_AT_ONCE });
    for (const batch of RecordBatchReader.from(read.intoIPCStream())) candles.add(batch);
    if (candles.length < offset + ROWS_AT_ONCE) break;
  }
  return candles.finish();
}

function sampleOf(bytes: Uint8Array, columns: string[]) {
  if (columns.length === 0) return undefined;
  const read = readParquet(bytes, { columns, limit: SAMPLE_ROWS });
  for (const batch of RecordBatchReader.from(read.intoIPCStream())) return batch;
  return undefined;
}
