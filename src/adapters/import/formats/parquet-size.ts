import { readSchema } from 'parquet-wasm';
import {
  checkParquetSize,
  LargeParquetError,
  readParquetMetadata,
  type SizeLimits,
} from '../../parquet/check-size.ts';
import { BadFileError } from '../file-rows.ts';

/** Throws BadFileError for a Parquet file that would take too much memory to read. */
export function checkSize(bytes: Uint8Array, limits: SizeLimits): void {
  checked(() => checkParquetSize(bytes, limits));
}

const END = 'PAR1';

/** Schema of a file, which needs its metadata in memory. Throws BadFileError where these are too large. */
export function readSmallSchema(bytes: Uint8Array): ReturnType<typeof readSchema> {
  if (Buffer.from(bytes.subarray(-END.length)).toString('latin1') !== END) {
    throw new BadFileError(`does not end with ${END}: it is truncated, or encrypted`);
  }
  checked(() => readParquetMetadata(bytes));
  return readSchema(bytes);
}

function checked(check: () => void): void {
  try {
    check();
  } catch (error) {
    throw error instanceof LargeParquetError ? new BadFileError(error.message, { cause: error }) : error;
  }
}
