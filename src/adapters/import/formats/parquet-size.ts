import { checkParquetSize, LargeParquetError, type SizeLimits } from '../../parquet/check-size.ts';
import { BadFileError } from '../file-rows.ts';

/** Throws BadFileError for a Parquet file that would take too much memory to read. */
export function checkSize(bytes: Uint8Array, limits: SizeLimits): void {
  try {
    checkParquetSize(bytes, limits);
  } catch (error) {
    throw error instanceof LargeParquetError ? new BadFileError(error.message, { cause: error }) : error;
  }
}
