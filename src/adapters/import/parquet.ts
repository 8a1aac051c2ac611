import { RecordBatchReader } from 'apache-arrow';
import { readParquet, readSchema } from 'parquet-wasm';
import { columnsOfBatch, nameIn } from './arrow-columns.ts';
import { ColumnBuilder, FIRST_ROW, type FileRows, readWhole, TIME_NAMES } from './rows.ts';

/** Rows unpacked at once: what they take in WebAssembly's memory is never given back. */
const ROWS_AT_ONCE = 262_144;

/**
 * Reads Parquet of any writer and compression; further columns are not looked at.
 * @throws BadFileError; errors of the Parquet library for a damaged file
 */
export async function readParquetFile(path: string, names: readonly string[]): Promise<FileRows> {
  const bytes = await readWhole(path);
  const time = timeColumn(bytes);
  const columns = [time, ...names.slice(1)];
  const builder = new ColumnBuilder(names.length);
  for (let offset = 0; ; offset += ROWS_AT_ONCE) {
    const table = readParquet(bytes, { columns, offset, limit: ROWS_AT_ONCE });
    for (const batch of RecordBatchReader.from(table.intoIPCStream())) {
      builder.addBlock(columnsOfBatch(batch, columns));
    }
    if (builder.length < offset + ROWS_AT_ONCE) break;
  }
  return { columns: builder.finish(), first: FIRST_ROW };
}

function timeColumn(bytes: Uint8Array): string {
  const schema = readSchema(bytes);
  try {
    return nameIn((name) => {
      try {
        schema.indexOf(name);
        return true;
      } catch {
        return false;
      }
    }, TIME_NAMES);
  } finally {
    schema.free();
  }
}
