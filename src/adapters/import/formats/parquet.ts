import { RecordBatchReader } from 'apache-arrow';
import { readParquet } from 'parquet-wasm';
import { ColumnBuilder, FIRST_ROW, type FileRows, type Layout, MAX_ROWS, readWhole } from '../file-rows.ts';
import { columnsOfBatch, layoutIn } from './arrow-columns.ts';
import { checkSize, readSmallSchema } from './parquet-size.ts';

/** Rows decompressed in one step: WebAssembly memory never shrinks. */
const ROWS_AT_ONCE = 262_144;

/**
 * Reads Parquet of any writer and compression; other columns are ignored.
 * @throws BadFileError; errors of the Parquet library for a corrupt file
 */
export async function readParquetFile(path: string, layouts: readonly Layout[]): Promise<FileRows> {
  const bytes = await readWhole(path);
  const columns = [...layoutOf(bytes, layouts)];
  checkSize(bytes, { rowsAtOnce: ROWS_AT_ONCE, maxRows: MAX_ROWS, columns });
  const builder = new ColumnBuilder(columns.length);
  for (let offset = 0; ; offset += ROWS_AT_ONCE) {
    const table = readParquet(bytes, { columns, offset, limit: ROWS_AT_ONCE });
    for (const batch of RecordBatchReader.from(table.intoIPCStream())) {
      builder.addBlock(columnsOfBatch(batch, columns));
    }
    if (builder.length < offset + ROWS_AT_ONCE) break;
  }
  return { columns: builder.finish(), first: FIRST_ROW };
}

function layoutOf(bytes: Uint8Array, layouts: readonly Layout[]): Layout {
  const schema = readSmallSchema(bytes);
  try {
    return layoutIn((name) => {
      try {
        schema.indexOf(name);
        return true;
      } catch {
        return false;
      }
    }, layouts);
  } finally {
    schema.free();
  }
}
