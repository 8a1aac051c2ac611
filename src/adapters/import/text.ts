import { createReadStream } from 'node:fs';
import { pipeline } from 'node:stream';
import { StringDecoder } from 'node:string_decoder';
import { createGunzip } from 'node:zlib';
import { BadFileError } from './rows.ts';
import { csvInZip } from './zip.ts';

/** Maximum length of a row, characters. A longer row means another file format, which must not fill the memory. */
export const MAX_ROW_LENGTH = 65_536;

const GZIP_ERRORS: Readonly<Record<string, string>> = {
  Z_BUF_ERROR: 'is truncated',
  Z_DATA_ERROR: 'is not gzipped, or its gzip compressed data is corrupt',
};

/**
 * Text of a file in chunks, decompressed if the name ends with `.gz`; of a `.zip` the text of its only CSV.
 * @throws BadFileError for compressed data that is corrupt
 */
export async function* textOf(path: string): AsyncIterable<string> {
  if (path.endsWith('.zip')) {
    const decoder = new StringDecoder('utf8');
    for await (const bytes of csvInZip(path)) yield decoder.write(bytes);
    return;
  }
  const bytes = createReadStream(path);
  if (!path.endsWith('.gz')) {
    yield* bytes.setEncoding('utf8');
    return;
  }
  const unzipped = createGunzip();
  // Errors are thrown by the iterator below.
  pipeline(bytes, unzipped, () => {});
  try {
    yield* unzipped.setEncoding('utf8');
  } catch (error) {
    const problem = GZIP_ERRORS[(error as NodeJS.ErrnoException).code ?? ''];
    throw problem ? new BadFileError(problem) : error;
  }
}
